//! What limits the trust in an import, and how a value of a document is named in an error.

pub(super) mod expected;
pub(super) mod job_file;

use likenew_core::measurement_error::job_reason;
use serde_json::Value;

use super::notes::{Note, Notes};

// ## Caveats

/// Everything that a reader has to know, the most important first. `unbuffered`: all jobs asked for direct I/O.
pub(super) fn caveats(notes: &Notes, unbuffered: bool) -> Vec<String> {
    let mut caveats = vec![
        "measured by fio, not by likenew: its steadiness over time and its slowest I/O are unknown"
            .to_owned(),
    ];
    if notes.documents() > 1 {
        caveats.push(format!(
            "the file holds {} documents, as fio --status-interval writes them: this is the last",
            notes.documents()
        ));
    }
    if !unbuffered {
        caveats.push("not every job asked for direct=1: the system's cache may have answered".to_owned());
    }
    caveats.extend(notes.jobs_by_note().iter().map(|(note, jobs)| caveat(note, jobs)));
    caveats
}

/// What a note says of its jobs.
pub(super) fn caveat(note: &Note, jobs: &[String]) -> String {
    format!("{}: {}", names(jobs), of_jobs(note))
}

/// A few are named, more are counted.
fn names(jobs: &[String]) -> String {
    const NAMED_MAX: usize = 3;
    let quoted = |jobs: &[String]| jobs.iter().map(|job| format!("\"{job}\"")).collect::<Vec<_>>().join(", ");
    match jobs.len() {
        0..=NAMED_MAX => quoted(jobs),
        count => format!("{} and {} more", quoted(&jobs[..1]), count - 1),
    }
}

/// What follows the names of the jobs.
fn of_jobs(note: &Note) -> String {
    match note {
        Note::Failed(errno) => {
            return format!("failed: {}; fio does not report which I/O", job_reason(*errno));
        }
        Note::Unmapped(settings) => {
            return format!("these settings of fio are not part of the workload: {settings}");
        }
        Note::Interpolated => {
            "percentiles between those that fio lists are interpolated; --output-format=json+ gives them exactly"
        }
        Note::CompletionOnly => {
            "percentiles are of fio's completion latency, which leaves out submission; lat_percentiles=1 includes it"
        }
        Note::NoTotal => "latency is fio's completion latency, which leaves out submission (disable_lat)",
        Note::NoLatency => "fio was told not to measure latency",
        Note::MeanOnly => "fio recorded no percentiles; only the mean latency is known",
        Note::Mixed => {
            "fio gave reads and writes as one number; they are divided by the job's rwmixread and share one distribution"
        }
        Note::VerifyCounts => {
            "what the job read, to verify what was written, is shown as a workload of its own, over its own time"
        }
        Note::VerifiedAmong => {
            "fio does not tell the mix's own reads from those that verify: counts, latencies and rates are of both; \
             do_verify=0 measures the mix alone"
        }
        Note::VerifiedBetween => {
            "fio verified between the writes (verify_backlog) and counts their time as one: the rates are of both together"
        }
        Note::DryWrites => {
            "verify_only wrote nothing: the writes that fio counts are left out, and only the verification is shown"
        }
        Note::DryMix => {
            "fio counts the whole mix as done, although verify_only read only what it verified: nothing of it is shown"
        }
        Note::MixedVerify => {
            "fio gave what was written and what was read back to verify it as one number, over the time of the longer: \
             no rate is known; leave out unified_rw_reporting"
        }
        Note::Instant => "took less than the millisecond that fio tells apart: no rate is known",
        Note::Paced => "fio counts a late I/O from when it was submitted; likenew counts from when it was due",
        Note::Overlapping => "each copy covered the whole zone of one file; likenew divides it among copies",
    }
    .to_owned()
}

/// An option as a job file has it.
pub(super) fn option(option: &str, value: &str) -> String {
    if value.is_empty() { option.to_owned() } else { format!("{option}={value}") }
}

// ## Facts

pub(super) fn direct(unbuffered: bool) -> &'static str {
    if unbuffered { "yes" } else { "no, or not for every job" }
}

// ## What was found: "expected a list, found null"

pub(super) const NOTHING: &str = "nothing";

pub(super) fn text(text: &str) -> String {
    format!("the text {text:?}")
}

/// Where a value should have the key that is asked for, and is no object.
pub(super) fn value_above(value: &Value) -> String {
    format!("{} above it", actual(value))
}

pub(super) fn actual(value: &Value) -> String {
    const CHARS_MAX: usize = 40;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(yes) => yes.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(long) if long.chars().count() > CHARS_MAX => {
            format!("{} …", text(&long.chars().take(CHARS_MAX).collect::<String>()))
        }
        Value::String(short) => text(short),
        Value::Array(list) => format!("a list of {}", list.len()),
        Value::Object(object) => {
            let keys: Vec<&str> = object.keys().take(4).map(String::as_str).collect();
            format!("an object of {} keys ({} …)", object.len(), keys.join(", "))
        }
    }
}
