//! The faults of a drive in words for people.

use std::ops::Range;

use likenew_core::units::{Nanos, Number, amount, rate};

use super::{NeighborParameters, OutlierParameters, StallParameters, ThrottleParameters, TrimDefect};

pub(super) fn real_capacity(real: u64, wrap: Option<u64>) -> String {
    match wrap.filter(|wrap| *wrap != real) {
        None => format!("{}: addresses beyond wrap around", amount(real)),
        Some(wrap) => {
            format!("{}: addresses beyond are dropped, and wrap at {}", amount(real), amount(wrap))
        }
    }
}

likenew_core::sentences! {
    pub(super) fn flipped(place: String, bits: u32) = "{place}: {bits} bits of each sector";
    pub(super) fn lost_writes(every: u64) = "1 of {every} is acknowledged but not written";
    pub(super) fn unreadable(place: String, retries: u32, retry: Nanos) =
        "{place}: reads end in an error after {retries} retries of {retry}";
    pub(super) fn slow(place: String, retries: u32, retry: Nanos) =
        "{place}: reads take 1 to {retries} retries of {retry}";
    pub(super) fn read_only(after_bytes: u64) = "after {} written", amount(after_bytes);
    pub(super) fn neighbor(neighbor: NeighborParameters) =
        "{} random IOPS of {}, {}% of them writes",
        neighbor.ios_per_s, amount(neighbor.io_bytes.into()), neighbor.write_percent;
    pub(super) fn outliers(outliers: OutlierParameters) =
        "1 of {} random I/Os takes {} longer", Number(outliers.every_ios as f64), outliers.span;
    pub(super) fn throttled(throttle: ThrottleParameters) =
        "at most {} for {} of every {}", rate(throttle.bytes_per_s as f64), throttle.span, throttle.interval;
}

pub(super) fn stalls(stall: StallParameters) -> String {
    let StallParameters { every_ios, interval, span } = stall;
    match (every_ios, interval) {
        (Some(ios), Some(interval)) => {
            format!("every {} I/Os and every {interval} for {span}", Number(ios as f64))
        }
        (Some(ios), None) => format!("every {} I/Os for {span}", Number(ios as f64)),
        (None, Some(interval)) => format!("every {interval} for {span}"),
        (None, None) => "never".to_owned(),
    }
}

pub(super) fn trim_defect(defect: TrimDefect) -> String {
    let what = match defect {
        TrimDefect::Hidden => "hides TRIM from the host",
        TrimDefect::Dropped => "acknowledges TRIM and drops it",
    };
    what.to_owned()
}

/// The first range, and how many more there are; `None` without any.
pub(super) fn place(ranges: &[Range<u64>]) -> Option<String> {
    let first = ranges.first()?;
    let (size, start) = (amount(first.end - first.start), amount(first.start));
    Some(match ranges.len() - 1 {
        0 => format!("{size} at {start}"),
        more => format!("{size} at {start} and {more} more"),
    })
}
