//! Records the I/O of all programs to a drive, from the kernel's block tracepoints: no tools, no modules, no
//! eBPF.
//!
//! A [`Recording`] has its own tracing instance, filtered in the kernel to the recorded drives, and reads the
//! raw pages of its buffers. It pairs each request that left for a drive with its end, and passes on I/Os in
//! the order in which they left. It changes no drive and no other tracing, keeps no contents, and takes
//! memory within fixed bounds: what does not fit is counted and reported as lost.
//!
//! The names of events and files are the kernel's (Documentation/trace/ftrace.rst, include/trace/events/block.h).

mod applications;
mod event;
mod format;
mod instance;
mod page;
mod pairing;
mod processor;
mod recorded_drive;
mod recording;
mod root;
mod write_out;

pub use instance::remove_all;
pub use pairing::PairCounts;
pub use recorded_drive::RecordedDrive;
pub use recording::{Recording, RecordingCounts, this_thread};
pub use write_out::{WriteOut, step_back};

/// The kernel's version, where /proc says it.
pub fn kernel() -> Option<String> {
    Some(std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?.trim().to_owned())
}

/// Reads a page by formats, for fuzzers; whether all of it made sense.
pub(crate) fn fuzz_parse(head: &str, issue: &str, complete: &str, page: &[u8]) -> bool {
    use event::Step;
    let formats =
        [(Step::Issue, "issue", issue.to_owned()), (Step::Complete, "complete", complete.to_owned())];
    let (Ok(layout), Ok(decoder)) = (page::PageLayout::parse(head), event::Decoder::new(&formats)) else {
        return false;
    };
    let _ = layout.page_bytes();
    let Some(mut records) = layout.records(page) else { return false };
    let (mut applications, mut events) = (applications::Applications::new(), 0);
    for record in records.by_ref() {
        events += usize::from(decoder.decode(record.at, record.bytes, &mut applications).is_some());
    }
    records.is_whole() && events > 0
}
