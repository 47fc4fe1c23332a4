//! The sentences of a simulated drive: its history and parts, and its answers to the host.

use likenew_core::io::Op;
use likenew_core::quantity::{Offset, Share};
use likenew_core::units::{Nanos, Number, amount};

use crate::flash::Trim;
use crate::state::{DriveTreatment, State};

pub(crate) fn caveat(assumed: usize, parameters: usize) -> String {
    format!(
        "Simulated drive ({assumed} of {parameters} parameters assumed): no number here comes from a real drive."
    )
}

// History

/// The history of a flash drive in units of `unit_bytes`, of whose addresses a share `deleted` was deleted.
pub(crate) fn flash_past(state: State, past: &DriveTreatment, unit_bytes: u64, deleted: f64) -> String {
    let written = match state {
        State::New if past.fill > 0.0 => format!("new, then {} written once sequentially", filled(past.fill)),
        State::New => "new: erased, nothing written".to_owned(),
        State::Used => format!(
            "used: {} written once sequentially, then overwritten {} at random in units of {}, without TRIM",
            filled(past.fill),
            times(past.overwritten_share),
            amount(unit_bytes)
        ),
    };
    let deleted = match deleted {
        0.0 => String::new(),
        share => format!("; then files deleted from the last {} of that, without TRIM", Share(share)),
    };
    let age =
        if past.age > Nanos::ZERO { format!("; all of that {} ago", ago(past.age)) } else { String::new() };
    written + &deleted + &age
}

/// The addresses that were written: all or the first ones.
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

/// An age, in days from two days on.
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

/// `fill` is the share of the addresses that was overwritten in units of `unit_bytes`.
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

// Parts, and names of parameters in explanations

pub(crate) const CACHED_WRITES_MAX: &str = "cached writes, at most";

pub(crate) fn trim(trim: Trim) -> &'static str {
    match trim {
        Trim::Immediate => "immediate",
        Trim::Lazy => "in idle time",
        Trim::Ignored => "not supported",
    }
}

pub(crate) const BUFFER_SURVIVES: &str = "the write buffer is protected";

/// `always` is the static part in bytes, and `percent` the most that the dynamic part takes of free capacity.
pub(crate) fn slc_cache(always: u64, percent: u32, bits_per_cell: u32) -> String {
    let dynamic = format!("1/{bits_per_cell} of {percent}% of the capacity without data");
    match (always, percent) {
        (0, _) => dynamic,
        (always, 0) => amount(always),
        (always, _) => format!("{} and {dynamic}", amount(always)),
    }
}

likenew_core::sentences! {
    /// The layout of a map of clusters; `logs` is what it calls its log blocks.
    pub(crate) fn cluster_map(name: &str, cluster_bytes: u64, groups: u32, logs: &str, count: u32) =
        "{name}: clusters of {}; groups of dies: {groups}; {logs} of each: {count}", amount(cluster_bytes);
    /// A value that no measurement shows.
    pub(crate) fn hidden(value: &str) = "{value}, which does not show";
    /// With one decimal.
    pub(crate) fn percent(share: f64) = "{:.1}%", share * 100.0;
    /// The first line of a generated file.
    pub(crate) fn generated_file_comment(seed: u64) = "# A drive that was drawn at random, from seed {seed}.";
}

/// The technology of cloud volumes.
pub(crate) const NETWORK_VOLUME: &str = "cloud volume over flash, burst credits";

// Layers that TRIM passes

pub(crate) const ANNOUNCES_TRIM: &str = "it announces TRIM";
pub(crate) const ANNOUNCES_NO_TRIM: &str = "it announces no TRIM";
pub(crate) const BRIDGE_HIDES_TRIM: &str = "it announces no TRIM";
pub(crate) const CONNECT_WITHOUT_BRIDGE: &str = "connect the drive without the bridge";
pub(crate) const ALLOWS_DISCARDS: &str = "its table has allow_discards";

// Facts

/// The source of all facts about a simulated drive.
pub(crate) const ORIGIN: &str = "announced by the simulated drive";
pub(crate) const NOT_REPORTED: &str = "a simulated drive does not report it";
pub(crate) const USED_SPACE_NOT_REPORTED: &str = "nothing reports how much of it is in use";
pub(crate) const GIVES_SIZE_INSTEAD: &str = "its size is reported instead";
pub(crate) const LINK_WITHOUT_STANDARD: &str = "its link has no named standard";
pub(crate) const VOLUME_WITHOUT_HEALTH: &str = "a volume has no health of its own";
pub(crate) const BRIDGE_HIDES_HEALTH: &str = "a USB bridge does not pass health data";
pub(crate) const NOTHING_PASSES_HEALTH: &str = "nothing passes its health data";

// Probes

/// For a drive with `?facts=off`.
pub(crate) const NO_FACTS: &str =
    "the system reports nothing about this drive, as in a container; run likenew on the host";
pub(crate) const NO_OLD_FILES: &str = "a simulated drive is read as it is";
pub(crate) const NO_FILE_SYSTEM: &str = "a simulated drive has no file system";
pub(crate) const NO_TRIM_DETAILS: &str = "a simulated drive reports no details of TRIM";
pub(crate) const NO_TRIM: &str = "no TRIM can be sent to it";
pub(crate) const TOO_SMALL: &str = "it is smaller than the data to write";
pub(crate) const HOLDS_NO_BYTES: &str = "a simulated drive keeps no data without ?data=on";

// Fixes

pub(crate) const NO_PARTITIONS: &str = "it has no partitions";
pub(crate) const NO_FILES: &str = "a simulated drive has no files: its addresses are refreshed";
pub(crate) const NO_SUCH_COMMAND: &str = "a simulated drive has no such command";
pub(crate) const REFUSED: &str = "the drive refused it";

pub(crate) fn io_failed(op: Op, offset: u64) -> String {
    format!("a {op} at offset {} failed, and nothing after it was touched", Offset(offset))
}

// Requests that no simulated drive supports

likenew_core::sentences! {
    pub(crate) fn null_access(drive: &str) =
        "{drive} is a simulated drive, whose clock does not see likenew itself; access null measures nothing";
    pub(crate) fn buffered_data(drive: &str) =
        "{drive} keeps written data, and the simulated page cache does not; leave out data=on, or measure \
         it with direct I/O";
    pub(crate) fn several_lanes(drive: &str, lanes: u32) =
        "{drive} is a simulated drive with one clock and one lane; use 1 lane and a greater depth, not \
         {lanes} lanes";
}
