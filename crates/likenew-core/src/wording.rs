//! All sentences of this crate, except those at the variants of an error.
//!
//! It imports only units and quantities, because everything else imports it.

use std::fmt::Display;

use crate::quantity::{Offset, Size};
use crate::units::{Nanos, Number, amount};

// What was typed where something else was expected

crate::sentences! {
    pub(crate) fn not_an_operation(text: &str) =
        "\"{text}\" is not an operation; write read, write, trim, flush, or mix:70 for 70% reads and 30% \
         writes";
    pub(crate) fn not_a_length(text: &str) =
        "\"{text}\" is not a length of an I/O; write 1 byte to 1GiB, with a weight 1..1000000 after a colon \
         if there are several";
    pub(crate) fn not_a_region(text: &str) =
        "\"{text}\" is not a region; write whole, FROM..TO in sizes (0..8GiB) or in percent (25%..50%)";
    pub(crate) fn not_a_fit(text: &str) = "\"{text}\" is not a way to fit addresses; write modulo or scale";
    pub(crate) fn not_a_stamp(text: &str) =
        "\"{text}\" is not a stamp; write KEY or KEY:PASS as whole numbers";
    pub(crate) fn not_a_data_class(text: &str) =
        "\"{text}\" is not a kind of data; write zero, random, the share 0..1 that the data compresses to, \
         such as 0.5, or stamped:KEY";
}

// What a drive cannot do

crate::sentences! {
    pub(crate) fn no_page_cache(drive: &str) =
        "{drive} has no page cache in front of it: leave out access and cold, or give a folder or a \
         simulated drive";
    pub(crate) fn no_old_files(drive: &str) =
        "{drive} has no old files beside what is measured: give a folder";
    pub(crate) fn nothing_measured(reason: &str) = "Nothing was measured: {reason}.";
    pub(crate) fn region_beyond_end(region: impl Display, capacity: u64) =
        "the region {region} reaches beyond the {} bytes of the drive", Number(capacity as f64);
    pub(crate) fn empty_region(region: impl Display, capacity: u64, block: u32) =
        "the region {region} is empty on a drive of {} in blocks of {}", Size(capacity), Size(block.into());
}

pub(crate) const CANNOT_BE_QUERIED: &str = "this kind of drive cannot be queried";
pub(crate) const NO_POWER: &str = "there is no power";

// I/Os that failed

crate::sentences! {
    /// `read of 4 KiB at offset 8 KiB`
    pub(crate) fn io_at(op: impl Display, length: &str, offset: u64) =
        "{op} of {length} at offset {}", Offset(offset);
    pub(crate) fn short_io(bytes: u32) = "{} were moved", Size(bytes.into());
    pub(crate) fn only_short_io(bytes: u32) = "only {} were moved", Size(bytes.into());
    pub(crate) fn error_of_other_system(number: u32) = "error {number} of the system that it ran on";
}

/// `ios` are the first I/Os still waited for; `more` is how many others there are.
pub(crate) fn hang(target: &str, silent: Nanos, ios: &[String], more: usize) -> String {
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!(
        "{target} has not answered for {silent}; waiting for: {}{more}. What was measured until then is kept. \
         See dmesg",
        ios.join(", ")
    )
}

pub(crate) const IO_NOT_RECORDED: &str = "which I/O failed was not recorded";

/// The meaning of an error number that fio itself uses.
pub(crate) const DATA_DIFFERS: &str = "it read other data than was written";

/// What is wrong with a stored distribution.
pub(crate) const NO_LATENCIES: &str = "these are no latencies with their counts";

// Facts without a value

pub(crate) const DRY_RUN: &str = "this is a dry run";
pub(crate) const NOT_KNOWN_BEFORE: &str = "it was not known before";
pub(crate) const OTHER_FORM: &str = "another version of likenew has written it in a form of its own";

// What is measured now

pub(crate) const REPLAY: &str = "replaying a recording";
pub(crate) const REST: &str = "leaving the drive idle";
pub(crate) const READS: &str = "reads";
pub(crate) const WRITES: &str = "writes";
pub(crate) const TRIMS: &str = "TRIM";
pub(crate) const FLUSHES: &str = "flushes";

crate::sentences! {
    pub(crate) fn rest(time: Nanos) = "{REST} for {time}";
    /// `4K random reads at QD32`.
    pub(crate) fn ios(length: Option<u64>, pattern: &str, ios: &str, depth: u64) =
        "{}{pattern} {ios}{}", io_length(length), at_depth(depth);
    pub(crate) fn durable(writes: &str) = "durable {writes}";
    pub(crate) fn mixed_ios(length: Option<u64>, pattern: &str, reads_percent: u8, depth: u64) =
        "{}{pattern} I/Os{}, {reads_percent}% of them reads", io_length(length), at_depth(depth);
}

/// A length as engineers write it before a pattern: `4K ` below 1 MiB; empty where lengths differ.
fn io_length(length: Option<u64>) -> String {
    match length {
        None => String::new(),
        Some(bytes) if bytes < 1 << 20 && bytes % 1024 == 0 => format!("{}K ", bytes >> 10),
        Some(bytes) => format!("{} ", Size(bytes)),
    }
}

fn at_depth(depth: u64) -> String {
    if depth > 1 { format!(" at QD{depth}") } else { String::new() }
}

pub(crate) fn side_by_side(kinds: &[String]) -> String {
    kinds.join(" and ")
}

// What a progress bar calls probes and fixes

pub(crate) const COLLECT_FACTS: &str = "collecting facts";
pub(crate) const FIND_OLD_FILES: &str = "looking for old files";
pub(crate) const MAP_FILES: &str = "mapping files to addresses";
pub(crate) const CHECK_TRIM_PATH: &str = "checking TRIM through the layers";
pub(crate) const READ_TRIM_SUPPORT: &str = "reading the drive's TRIM support";
pub(crate) const READ_BACK_TRIMMED: &str = "reading back trimmed blocks";
pub(crate) const RELEASE_TEST_DATA: &str = "releasing test data";
pub(crate) const CHECK_FIXES: &str = "checking possible fixes";
pub(crate) const TRIM_FREE_SPACE: &str = "TRIM of free space";
pub(crate) const TRIM_UNPARTITIONED: &str = "TRIM of unpartitioned space";
pub(crate) const TRIM_EVERYTHING: &str = "TRIM of everything";
pub(crate) const REWRITE_DATA: &str = "rewriting data in place";
pub(crate) const REWRITE_OLD_FILES: &str = "rewriting old files";
pub(crate) const REWRITE_ALL_DATA: &str = "rewriting all data in place";
pub(crate) const REWRITE_ALL_FILES: &str = "rewriting all files in place";
pub(crate) const FORMAT: &str = "format by the drive";

// Whose health it is

pub(crate) fn disk_of_volume(volume: &str, device_type: &str) -> String {
    format!("{volume} (disk {device_type})")
}

// Why a number in evidence cannot have been measured

crate::sentences! {
    pub(crate) fn too_late(name: &str, at: Nanos) =
        "{name} is {} ns, and no clock reads more than 70 years", at.0;
    pub(crate) fn too_many(name: &str, count: u64, most: u64) =
        "{name} is {count}, and can be at most {most}";
    pub(crate) fn not_in_order(names: &str) = "{names} are not in the order of time";
    pub(crate) fn impossible_block(bytes: u32, most: u32) =
        "a block of {bytes} bytes is not between 1 byte and {}", amount(most.into());
    pub(crate) fn impossible_boundary(bytes: u64) =
        "a boundary of {bytes} bytes is not between 1 byte and 1 EiB";
    pub(crate) fn unknown_stream(stream: u16, streams: usize) =
        "a tally is of stream {stream}, and the workload has {streams}";
}

pub(crate) const NO_WIDTH: &str = "a window has no width";

// What is counted or timed: the subjects of the sentences above

pub(crate) const IO_OFFSET: &str = "the offset of an I/O";
pub(crate) const IO_TIMES: &str = "due, sent and done of an I/O";
pub(crate) const WINDOWS: &str = "the number of windows";
pub(crate) const WINDOW_WIDTH: &str = "the width of a window";
pub(crate) const WINDOW_END: &str = "the end of a window";
pub(crate) const WINDOW_IOS: &str = "the I/Os of a window";
pub(crate) const WINDOW_BYTES: &str = "the bytes of a window";
pub(crate) const WINDOW_LATENCIES: &str = "the latencies of a window";
pub(crate) const WINDOW_LATENCY_MAX: &str = "the longest latency of a window";
pub(crate) const WINDOWS_IOS: &str = "the I/Os of all windows";
pub(crate) const WINDOWS_BYTES: &str = "the bytes of all windows";
pub(crate) const WINDOWS_LATENCIES: &str = "the latencies of all windows";
pub(crate) const DEVICE_COUNTS: &str = "what a device counted";
pub(crate) const DEVICE_COUNTS_ALL: &str = "what a device counted in all";
pub(crate) const DEVICE_BUSY: &str = "busy of a device";
pub(crate) const MACHINE_KERNEL: &str = "kernel of a machine";
pub(crate) const SEGMENT_TIMES: &str = "began and ended";
pub(crate) const TALLY_LATENCIES: &str = "the latencies of a tally";
pub(crate) const TALLIES_LATENCIES: &str = "latency_ns_sum of all tallies";
pub(crate) const PROBE_BYTES: &str = "the bytes that were written for it";
pub(crate) const WORKLOADS_IOS: &str = "ios of all workloads";
pub(crate) const WORKLOADS_BYTES: &str = "bytes of all workloads";
pub(crate) const WORKLOADS_LATENCIES: &str = "latencies of all workloads";
pub(crate) const WORKLOADS_TIME: &str = "the time of all workloads";
