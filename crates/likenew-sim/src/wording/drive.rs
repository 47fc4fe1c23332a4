//! What reports say of a simulated drive: its past, its parts, and how far to trust it.

use likenew_core::units::{Nanos, amount};

use crate::flash::flash_parameters::Trim;
use crate::state::State;

pub(crate) fn caveat(assumed: usize, parameters: usize) -> String {
    format!(
        "This drive is simulated (assumed parameters: {assumed} of {parameters}): no number here comes from a \
         real drive."
    )
}

// The past

/// The past of a flash drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FlashPast {
    pub(crate) state: State,
    /// Share of the addresses that was written.
    pub(crate) fill: f64,
    /// Share of that which was overwritten in units of so many bytes.
    pub(crate) overwritten_share: f64,
    pub(crate) unit_bytes: u64,
    /// Share of the addresses whose files were deleted.
    pub(crate) deleted: f64,
    pub(crate) age: Nanos,
}

pub(crate) fn flash_past(past: &FlashPast) -> String {
    let fill = percent(past.fill);
    let written = match past.state {
        State::New if past.fill > 0.0 => format!("new, then the first {fill} written once sequentially"),
        State::New => "new: erased, nothing written".to_owned(),
        State::Used => format!(
            "used: the first {fill} written once sequentially, then {} of that overwritten at random in units \
             of {}, without TRIM",
            percent(past.overwritten_share),
            amount(past.unit_bytes)
        ),
    };
    let deleted = match past.deleted {
        0.0 => String::new(),
        share => format!("; then files were deleted from the last {} of that, without TRIM", percent(share)),
    };
    let age = if past.age > Nanos::ZERO { format!("; all of that {} ago", past.age) } else { String::new() };
    written + &deleted + &age
}

pub(crate) fn disk_past(state: State) -> &'static str {
    match state {
        State::New => "new",
        State::Used => "used: a disk does not slow down by use, so it is like new",
    }
}

/// `fill` is the share of the addresses that was overwritten in units of so many bytes.
pub(crate) fn shingled_disk_past(state: State, unit_bytes: u64, fill: f64) -> String {
    match state {
        State::New => "new: the persistent cache is empty".to_owned(),
        State::Used => format!(
            "used: writes of {} at random over the first {} have filled the persistent cache",
            amount(unit_bytes),
            percent(fill)
        ),
    }
}

pub(crate) fn volume_past(state: State) -> &'static str {
    match state {
        State::New => "new: all burst credits are there",
        State::Used => "used: all burst credits are spent",
    }
}

// Parts

pub(crate) const IGNORED: &str = "is ignored";

pub(crate) fn trim(trim: Trim) -> &'static str {
    match trim {
        Trim::Immediate => "works at once",
        Trim::Lazy => "works in idle time",
        Trim::Ignored => IGNORED,
    }
}

pub(crate) const BUFFER_SURVIVES: &str = "the write buffer survives it";

/// `always` is how many bytes are always there, and `percent` what it may take of free capacity at most.
pub(crate) fn slc_cache(always: u64, percent: u32, bits_per_cell: u32) -> String {
    let dynamic = format!("1/{bits_per_cell} of {percent}% of the capacity without data");
    match (always, percent) {
        (0, _) => dynamic,
        (always, 0) => amount(always),
        (always, _) => format!("{} and {dynamic}", amount(always)),
    }
}

/// The log blocks of a map of clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LogBlocks {
    /// Of a block map.
    Replacement(u32),
    /// Of BAST or FAST.
    Log(u32),
}

pub(crate) fn cluster_map(name: &str, cluster_bytes: u64, groups: u32, logs: LogBlocks) -> String {
    let cluster = amount(cluster_bytes);
    match logs {
        LogBlocks::Replacement(count) => format!(
            "{name}: clusters of {cluster}; groups of dies: {groups}; replacement blocks of each: {count}"
        ),
        LogBlocks::Log(count) => {
            format!("{name}: clusters of {cluster}; groups of dies: {groups}; log blocks of each: {count}")
        }
    }
}

/// A value of the drive that no measurement shows.
pub(crate) fn hidden(value: &str) -> String {
    format!("{value}, which does not show")
}

/// With one digit after the point.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}
