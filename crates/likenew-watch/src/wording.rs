//! Sentences about a log of watched drives, and texts of the screen: keys, help, and messages in place of numbers.

use crate::drives::State;
use likenew_core::quantity::{Latency, Rate, Share};
use likenew_core::units::Nanos;

pub(crate) const QUESTION: &str = "Stalls";
pub(crate) const IDLE: &str = "no drive had any I/O while it was watched";
pub(crate) const NO_STALLS: &str = "no drive left I/O unanswered for 1 s or longer";
pub(crate) const BETWEEN_READINGS: &str =
    "The kernel's counters are means over intervals, so a wait that ended within one is not seen.";

pub(crate) const IDLE_SUMMARY: &str = "No drive had any I/O while it was watched.";

/// Names the busiest drive, and the longest stall, if any.
pub(crate) fn summary(drive: &str, busy: f64, read: f64, write: f64, stalled: Option<(&str, u64)>) -> String {
    let activity = format!(
        "{drive} was busy {} of the time, reading {} and writing {}.",
        Share(busy),
        Rate(read),
        Rate(write)
    );
    match stalled {
        Some((drive, ns)) => format!("{drive} stalled for {}. {activity}", Nanos(ns)),
        None => activity,
    }
}

likenew_core::sentences! {
    pub(crate) fn stalled(drive: &str, ns: u64) = "{drive} left I/O unanswered for at least {}", Nanos(ns);
    pub(crate) fn stalled_until(drive: &str, ns: u64, until: Nanos) =
        "{drive} completed nothing for at least {}, until {until} after the start.", Nanos(ns);
    pub(crate) fn throughput(drive: &str) = "Throughput of {drive}";
    pub(crate) fn trims(drive: &str) = "TRIM on {drive}";
    pub(crate) fn latency(drive: &str) = "Mean latency of {drive}";
}

pub(crate) const HEADINGS: [&str; 6] = ["drive", "busy", "read", "write", "read latency", "write latency"];

pub(crate) fn cells(
    drive: &str,
    busy: f64,
    [read, write]: [f64; 2],
    latencies: [Option<f64>; 2],
) -> [String; 6] {
    let [read_latency, write_latency] =
        latencies.map(|ns| ns.map_or_else(|| "–".to_owned(), |ns| Latency(ns).to_string()));
    [
        drive.to_owned(),
        Share(busy).to_string(),
        Rate(read).to_string(),
        Rate(write).to_string(),
        read_latency,
        write_latency,
    ]
}

// # The screen

// ## The last line

pub(crate) const TABLE_KEYS: &str =
    "? help  q quit  Enter detail  < > sort  r reverse  / filter  space freeze";

pub(crate) const DETAIL_KEYS: &str =
    "Esc back  ↑ ↓ other drive  space freeze  u units  + - interval  ? help  q quit";

pub(crate) const HELP_KEYS: &str = "Esc back";

likenew_core::sentences! {
    /// The prompt while a filter is typed; `_` is the cursor.
    pub(crate) fn filter_prompt(filter: &str) = "filter: {filter}_   Enter keeps it, Esc clears it";
    pub(crate) fn no_match(filter: &str) = "no drive matches \"{filter}\"; Esc clears the filter";
}

// ## In place of rows

pub(crate) const NO_MEDIUM: &str = "no drive has a medium; a shows idle loop devices and empty slots, too";

pub(crate) const NO_DRIVE: &str = "no drive is shown";

// ## The last interval of one drive

/// Why a drive has no rates.
pub(crate) fn uncounted(state: State) -> &'static str {
    match state {
        State::Gone => "disconnected",
        State::Restarted => "its counters restarted",
        State::Appeared | State::Counted => "counting",
    }
}

likenew_core::sentences! {
    /// I/Os in flight of which none completes.
    pub(crate) fn waiting(in_flight: u64, span: Nanos) =
        "{in_flight} I/Os in flight; none completed for {}", whole_secs(span);
    pub(crate) fn whole_secs(span: Nanos) = "{} s", span.0 / 1_000_000_000;
}

/// I/Os in flight, and how many are reads and writes if the system counts them.
pub(crate) fn in_flight(count: u64, by_operation: Option<[u64; 2]>) -> String {
    match by_operation {
        Some([reads, writes]) => format!("in flight {count} ({reads} reads, {writes} writes)"),
        None => format!("in flight {count}"),
    }
}

// ## Help

/// The help. Keys come first, because a small terminal shows only them.
pub(crate) const HELP: [&str; 21] = [
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_of_a_log() {
        assert_eq!(
            summary("sda", 0.26, 77.2e6, 0.0, None),
            "sda was busy 26% of the time, reading 77.2 MB/s and writing 0 MB/s."
        );
        assert_eq!(
            summary("sda", 0.26, 0.0, 0.0, Some(("sdb", 2_000_000_000))),
            "sdb stalled for 2.00 s. sda was busy 26% of the time, reading 0 MB/s and writing 0 MB/s."
        );
        assert_eq!(stalled("sdb", 1_500_000_000), "sdb left I/O unanswered for at least 1.50 s");
    }
}
