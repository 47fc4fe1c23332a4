//! What the screen says: its keys, its help, and what it shows in place of numbers.

use likenew_core::units::Nanos;

use crate::drive_history::State;

// ## The last line

pub(super) const TABLE_KEYS: &str =
    "? help  q quit  Enter detail  < > sort  r reverse  / filter  space freeze";

pub(super) const DETAIL_KEYS: &str =
    "Esc back  ↑ ↓ other drive  space freeze  u units  + - interval  ? help  q quit";

pub(super) const HELP_KEYS: &str = "Esc back";

/// While a filter is typed; `_` stands for the cursor.
pub(super) fn filter_prompt(filter: &str) -> String {
    format!("filter: {filter}_   Enter keeps it, Esc clears it")
}

// ## In place of rows

pub(super) const NO_MEDIUM: &str = "no drive has a medium; a shows idle loop devices and empty slots, too";

pub(super) fn no_match(filter: &str) -> String {
    format!("no drive matches \"{filter}\"; Esc clears the filter")
}

pub(super) const NO_DRIVE: &str = "no drive is shown";

// ## The last interval of one drive

/// A drive without rates.
pub(super) fn uncounted(state: State) -> &'static str {
    match state {
        State::Gone => "disconnected",
        State::Restarted => "its counters restarted",
        State::Appeared | State::IntervalCounts => "counting",
    }
}

/// I/Os that wait for an answer.
pub(super) fn waiting(in_flight: u64, span: Nanos) -> String {
    format!("{in_flight} I/Os in flight; none completed for {}", whole_secs(span))
}

/// I/Os in flight, and how many of them are reads and writes where the system tells.
pub(super) fn in_flight(count: u64, by_operation: Option<[u64; 2]>) -> String {
    match by_operation {
        Some([reads, writes]) => format!("in flight {count} ({reads} reads, {writes} writes)"),
        None => format!("in flight {count}"),
    }
}

pub(super) fn whole_secs(span: Nanos) -> String {
    format!("{} s", span.0 / 1_000_000_000)
}

// ## Help

/// The keys, and what the numbers are. The keys come first: a small terminal shows only them.
pub(super) const HELP: [&str; 21] = [
    "↑ ↓ PgUp PgDn   choose a drive        Enter   its pictures, facts and layers",
    "< >             sort by a column      r       reverse the order",
    "/               filter by text        Esc     clears the filter, goes back",
    "space           freeze, resume        + -     longer, shorter interval",
    "u               MB/s or MiB/s         q       quit",
    "a               also idle loop devices and empty slots",
    "p               also partitions",
    "",
    "MB/s     1,000,000 bytes per second completed in the interval; MiB/s 1,048,576",
    "IOPS     I/Os per s at the device: adjacent requests may have been merged",
    "latency  mean from queueing to completion. The kernel counts whole ms:",
    "         < all together took less than one, ~ fewer than ten, so it is rough",
    "queue    mean number in flight; an I/O counts when it completes",
    "busy     share of time with I/Os in flight. Drives that serve many at once",
    "         can be 100% busy and still have headroom",
    "waiting  stalled: no I/O completed for that long",
    "trim     discards sent; the drive may ignore them",
    "°C       as the driver reports it, read every 10 s",
    "",
    "The sums above count drives only, not layers and partitions.",
    "Programs that read from the page cache cause no I/O here.",
];
