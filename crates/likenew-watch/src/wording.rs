//! Sentences about a log of watched drives.

use likenew_core::quantity::{Latency, Rate, Share};
use likenew_core::units::Nanos;

pub(crate) const QUESTION: &str = "Stalls";
pub(crate) const IDLE: &str = "no drive had any I/O while it was watched";
pub(crate) const NO_STALLS: &str = "no drive left I/O unanswered for 1 s or longer";
pub(crate) const BETWEEN_READINGS: &str =
    "The kernel's counters are means over intervals, so a wait that ended within one is not seen.";

pub(crate) const IDLE_SUMMARY: &str = "No drive had any I/O while it was watched.";

/// The drive that was busiest, and whether any of them stalled.
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

pub(crate) fn stalled(drive: &str, ns: u64) -> String {
    format!("{drive} left I/O unanswered for at least {}", Nanos(ns))
}

pub(crate) fn stalled_until(drive: &str, ns: u64, until: Nanos) -> String {
    format!("{drive} completed nothing for at least {}, until {until} after the start.", Nanos(ns))
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

pub(crate) fn throughput(drive: &str) -> String {
    format!("Throughput of {drive}")
}

pub(crate) fn trims(drive: &str) -> String {
    format!("TRIM on {drive}")
}

pub(crate) fn latency(drive: &str) -> String {
    format!("Mean latency of {drive}")
}

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
