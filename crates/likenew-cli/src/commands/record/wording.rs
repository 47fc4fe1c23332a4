//! Every sentence of `likenew record`.

use std::path::Path;

use likenew_core::quantity::{Latency, Rate, Share, Size};
use likenew_core::shell::shell_quote;
use likenew_core::units::{Nanos, Number, exact_duration, exact_size};
use likenew_real::tracefs::RecordingCounts;

use super::trace_file::Account;

/// The command that records again with a larger buffer.
pub(super) fn record_with_buffer(targets: &[String], buffer: u64, time: Option<Nanos>) -> String {
    let targets: Vec<String> = targets.iter().map(|target| shell_quote(target)).collect();
    let time = time.map_or_else(String::new, |time| format!(" --time {}", exact_duration(time)));
    format!("likenew record {} --out FILE --buffer {}{time}", targets.join(" "), exact_size(buffer))
}

likenew_core::sentences! {
    pub(super) fn exists(path: &Path) =
        "{} exists, and nothing was recorded: give another name, or move it away", path.display();
    pub(super) fn simulated(target: &str) =
        "{target} is simulated, so there is nothing to record: give a real drive, or use likenew replay";
    pub(super) fn could_not_begin(path: &Path) = "could not begin the trace {}", path.display();
    pub(super) fn could_not_finish(path: &Path) =
        "could not write {}; what it holds so far is readable", path.display();
    pub(super) fn leftover_removed(name: &str) =
        "Removed the tracing instance {name} of a recorder that was killed.";
    pub(super) fn buffers(bytes: u64) = "The kernel's trace buffers take {}.", Size(bytes);
    pub(super) fn trace_written(path: &Path) = "Trace: {}", path.display();
    pub(super) fn meter(ios: u64, rate: f64, lost: u64, size: u64) =
        "{} I/Os  {}  {lost} records lost  trace {}", Number(ios as f64), Rate(rate), Size(size);
}

pub(super) const TRACE_ON_RECORDED_DRIVE: &str = "The trace is on a drive that is recorded. Its own writes are left out, but not the journal writes they cause; \
     a file on another drive, or in /dev/shm, avoids these.";

pub(super) const COULD_NOT_WRITE: &str = "could not write the trace";

pub(super) fn started(drive: &str, path: &Path, time: Option<Nanos>, bytes: Option<u64>) -> String {
    let time = time.map_or(String::new(), |time| format!("{time} or "));
    let bytes = bytes.map_or(String::new(), |bytes| format!("{} or ", Size(bytes)));
    format!("Recording {drive} to {} until {time}{bytes}Ctrl-C.", path.display())
}

// ---- answers ----

pub(super) const ACTIVITY: &str = "I/O";
pub(super) const COMPLETENESS: &str = "Trace";
pub(super) const FAILED: &str = "Failed I/Os";

pub(super) fn summary(drive: &str, account: &Account, elapsed: Nanos, [read, write]: [u64; 2]) -> String {
    format!(
        "{drive} was busy {} of {elapsed}: {} I/Os, {} read, {} written.",
        busy_share(account, elapsed),
        Number(account.all() as f64),
        Size(read),
        Size(write)
    )
}

pub(super) fn activity(account: &Account, elapsed: Nanos, [read, write, trim]: [u64; 3]) -> String {
    let trimmed = if trim > 0 { format!(", {} trimmed", Size(trim)) } else { String::new() };
    format!(
        "{} in {elapsed}: {} read, {} written{trimmed}; busy {} of the time",
        Number(account.all() as f64),
        Size(read),
        Size(write),
        busy_share(account, elapsed)
    )
}

fn busy_share(account: &Account, elapsed: Nanos) -> Share {
    Share(account.busy.0 as f64 / elapsed.0.max(1) as f64)
}

likenew_core::sentences! {
    pub(super) fn latency(mean: f64, max: Nanos) = "Latency was {} on average, {max} at most.", Latency(mean);
    pub(super) fn without_end(ios: u64) =
        "{} I/Os had not ended when the recording stopped; they have no latency.", Number(ios as f64);
    pub(super) fn without_start(ios: u64) =
        "{} I/Os had begun before the recording and are not in it.", Number(ios as f64);
    pub(super) fn own_ios(ios: u64, bytes: u64) =
        "{} I/Os ({}) that wrote the trace itself are left out; the file system's journal writes for it are \
         not.", Number(ios as f64), Size(bytes);
}

pub(super) const COMPLETE: &str = "complete: it holds every I/O that began during the recording";

pub(super) fn incomplete(counts: &RecordingCounts) -> String {
    match (counts.events_lost, counts.broken_pages) {
        (lost, 0) => format!("incomplete: the kernel lost {} records", Number(lost as f64)),
        (0, broken) => format!("incomplete: {} pages of records were unreadable", Number(broken as f64)),
        (lost, broken) => format!(
            "incomplete: the kernel lost {} records, and {} pages were unreadable",
            Number(lost as f64),
            Number(broken as f64)
        ),
    }
}

pub(super) const LARGER_BUFFER: &str = "Record again with a larger buffer";
pub(super) const RECORDS_PER_IO: &str =
    "Two or three records make one I/O; the machine was too busy, or the buffer too small.";

pub(super) fn failed(ios: u64) -> String {
    if ios == 1 {
        "1 I/O ended with an error".into()
    } else {
        format!("{} I/Os ended with an error", Number(ios as f64))
    }
}

pub(super) const HEADINGS: [&str; 5] = ["application", "read", "written", "waited", "mean latency"];
pub(super) const ALL: &str = "all";
pub(super) const UNKNOWN_APPLICATION: &str = "unknown";

pub(super) fn cells(name: &str, account: &Account, [read, write]: [u64; 2]) -> [String; 5] {
    [
        name.to_owned(),
        Size(read).to_string(),
        Size(write).to_string(),
        account.waiting.to_string(),
        account.latency_mean().map_or_else(|| "unknown".to_owned(), |mean| Latency(mean).to_string()),
    ]
}

pub(super) const THROUGHPUT: &str = "Throughput over time";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_a_recording() {
        let mut account = Account::default();
        (account.busy, account.ios[0]) = (Nanos::from_secs(26), 4940);
        assert_eq!(
            summary("sda", &account, Nanos::from_secs(100), [1 << 30, 2 << 20]),
            "sda was busy 26% of 100 s: 4,940 I/Os, 1 GiB read, 2 MiB written."
        );
        assert_eq!(failed(2), "2 I/Os ended with an error");
        let lost = RecordingCounts { events_lost: 1200, ..RecordingCounts::default() };
        assert_eq!(incomplete(&lost), "incomplete: the kernel lost 1,200 records");
    }
}
