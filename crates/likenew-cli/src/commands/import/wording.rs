//! Sentences about the content of a trace.

use std::path::Path;

use likenew_core::quantity::{Number, Share, Size};
use likenew_trace::Survey;

/// The line while a file is read, as indicatif draws it.
pub(super) const PROGRESS: &str = "{bar:24} {percent:>3}%  {bytes} read  {bytes_per_sec}  {eta} left";

pub(super) fn title(
    file: &str,
    survey: &Survey,
    format: &str,
    compression: Option<&str>,
    volume: Option<&str>,
) -> String {
    let compression = compression.map_or_else(String::new, |name| format!(", {name}"));
    let volume = volume.map_or_else(String::new, |name| format!(", volume {name}"));
    let records = Number(survey.records as f64);
    format!("{file}: {records} I/Os in {} (format: {format}{compression}{volume})", survey.span_ns)
}

pub(super) fn addresses(survey: &Survey) -> String {
    format!(
        "Addresses up to {}; largest I/O {}; {} sequential.",
        Size(survey.end_max_bytes),
        Size(survey.length_max_bytes),
        Share(survey.sequential_share)
    )
}

pub(super) fn latencies(survey: &Survey) -> String {
    match &survey.latency {
        Some(latency) => format!(
            "Busy {}, total wait {}; queue depth {:.1} on average while busy, max {}.",
            latency.busy_ns, latency.waiting_ns, latency.depth_mean, latency.depth_max
        ),
        None => "The trace has no latencies.".to_owned(),
    }
}

pub(super) fn digest(digest: &str) -> String {
    format!("Digest of all records: {digest}")
}

pub(super) fn more_applications(count: usize) -> String {
    format!("… and {count} more: --json has them")
}

pub(super) fn note(note: &str) -> String {
    format!("Note: {note}.")
}

pub(super) fn written_to(path: &Path) -> String {
    format!("Written to {}.", path.display())
}
