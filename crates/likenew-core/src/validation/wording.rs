//! Sentences on why a number in evidence cannot have been measured.

use crate::units::{Nanos, amount};

crate::sentences! {
    pub(super) fn too_late(name: &str, at: Nanos) =
        "{name} is {} ns, and no clock reads more than 70 years", at.0;
    pub(super) fn too_many(name: &str, count: u64, most: u64) =
        "{name} is {count}, and can be at most {most}";
    pub(super) fn not_in_order(names: &str) = "{names} are not in the order of time";
    pub(super) fn impossible_block(bytes: u32, most: u32) =
        "a block of {bytes} bytes is not between 1 byte and {}", amount(most.into());
    pub(super) fn impossible_boundary(bytes: u64) =
        "a boundary of {bytes} bytes is not between 1 byte and 1 EiB";
    pub(super) fn unknown_stream(stream: u16, streams: usize) =
        "a tally is of stream {stream}, and the workload has {streams}";
}

pub(super) const NO_WIDTH: &str = "a window has no width";

// What is counted or timed: the subjects of the sentences above

pub(super) const IO_OFFSET: &str = "the offset of an I/O";
pub(super) const IO_TIMES: &str = "due, sent and done of an I/O";
pub(super) const WINDOWS: &str = "the number of windows";
pub(super) const WINDOW_WIDTH: &str = "the width of a window";
pub(super) const WINDOW_END: &str = "the end of a window";
pub(super) const WINDOW_IOS: &str = "the I/Os of a window";
pub(super) const WINDOW_BYTES: &str = "the bytes of a window";
pub(super) const WINDOW_LATENCIES: &str = "the latencies of a window";
pub(super) const WINDOW_LATENCY_MAX: &str = "the longest latency of a window";
pub(super) const WINDOWS_IOS: &str = "the I/Os of all windows";
pub(super) const WINDOWS_BYTES: &str = "the bytes of all windows";
pub(super) const WINDOWS_LATENCIES: &str = "the latencies of all windows";
pub(super) const DEVICE_COUNTS: &str = "what a device counted";
pub(super) const DEVICE_COUNTS_ALL: &str = "what a device counted in all";
pub(super) const DEVICE_BUSY: &str = "busy of a device";
pub(super) const MACHINE_KERNEL: &str = "kernel of a machine";
pub(super) const SEGMENT_TIMES: &str = "began and ended";
pub(super) const TALLY_LATENCIES: &str = "the latencies of a tally";
pub(super) const TALLIES_LATENCIES: &str = "latency_ns_sum of all tallies";
pub(super) const PROBE_BYTES: &str = "the bytes that were written for it";
pub(super) const WORKLOADS_IOS: &str = "ios of all workloads";
pub(super) const WORKLOADS_BYTES: &str = "bytes of all workloads";
pub(super) const WORKLOADS_LATENCIES: &str = "latencies of all workloads";
pub(super) const WORKLOADS_TIME: &str = "the time of all workloads";
