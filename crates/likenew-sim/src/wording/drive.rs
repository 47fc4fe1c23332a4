//! What reports say of a simulated drive: its past, its parts, and how far to trust it.

use likenew_core::quantity::{Number, Share};
use likenew_core::units::{Nanos, amount};

use crate::flash::flash_parameters::Trim;
use crate::state::State;

pub(crate) fn caveat(assumed: usize, parameters: usize) -> String {
    format!(
        "Simulated drive ({assumed} of {parameters} parameters assumed): no number here comes from a real drive."
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
    let written = match past.state {
        State::New if past.fill > 0.0 => format!("new, then {} written once sequentially", filled(past.fill)),
        State::New => "new: erased, nothing written".to_owned(),
        State::Used => format!(
            "used: {} written once sequentially, then overwritten {} at random in units of {}, without TRIM",
            filled(past.fill),
            times(past.overwritten_share),
            amount(past.unit_bytes)
        ),
    };
    let deleted = match past.deleted {
        0.0 => String::new(),
        share => format!("; then files deleted from the last {} of that, without TRIM", Share(share)),
    };
    let age =
        if past.age > Nanos::ZERO { format!("; all of that {} ago", ago(past.age)) } else { String::new() };
    written + &deleted + &age
}

/// The addresses that were written: all of them, or the first.
fn filled(share: f64) -> String {
    if share >= 1.0 { "all of it".to_owned() } else { format!("the first {}", Share(share)) }
}

/// How often everything was overwritten: `once`, `twice`, `1.5 times`.
fn times(share: f64) -> String {
    match share {
        1.0 => "once".to_owned(),
        2.0 => "twice".to_owned(),
        share => format!("{} times", Number(share)),
    }
}

/// From two days on in days, as people say it.
fn ago(age: Nanos) -> String {
    const DAY_S: f64 = 86_400.0;
    let days = age.as_secs_f64() / DAY_S;
    if days < 2.0 { age.to_string() } else { format!("{} days", Number(days.round())) }
}

pub(crate) fn disk_past(state: State) -> &'static str {
    match state {
        State::New => "new",
        State::Used => "used: a hard disk does not slow down with use, so it is like new",
    }
}

/// `fill` is the share of the addresses that was overwritten in units of so many bytes.
pub(crate) fn shingled_disk_past(state: State, unit_bytes: u64, fill: f64) -> String {
    match state {
        State::New => "new: the persistent cache is empty".to_owned(),
        State::Used => format!(
            "used: random writes of {} over {} have filled the persistent cache",
            amount(unit_bytes),
            filled(fill)
        ),
    }
}

pub(crate) fn volume_past(state: State) -> &'static str {
    match state {
        State::New => "new: full burst credits",
        State::Used => "used: no burst credits left",
    }
}

// Parts

pub(crate) fn trim(trim: Trim) -> &'static str {
    match trim {
        Trim::Immediate => "immediate",
        Trim::Lazy => "in idle time",
        Trim::Ignored => "not supported",
    }
}

pub(crate) const BUFFER_SURVIVES: &str = "the write buffer is protected";

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
