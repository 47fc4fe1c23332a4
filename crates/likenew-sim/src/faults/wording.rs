//! The faults of a drive as names and values for people.

use std::ops::Range;

use likenew_core::units::{Nanos, Number, amount, rate};

type Described = (&'static str, String);

pub(super) fn real_capacity(real: u64, wrap: Option<u64>) -> Described {
    let what = match wrap.filter(|wrap| *wrap != real) {
        None => format!("{}: addresses beyond wrap around", amount(real)),
        Some(wrap) => {
            format!("{}: addresses beyond are dropped, and wrap at {}", amount(real), amount(wrap))
        }
    };
    ("real capacity", what)
}

pub(super) fn flipped(ranges: &[Range<u64>], bits: u32) -> Option<Described> {
    let place = place(ranges)?;
    Some(("flipped bits", format!("{place}: {bits} bits of each sector")))
}

pub(super) fn lost_writes(every: u64) -> Described {
    ("lost writes", format!("1 of {every} is acknowledged but not written"))
}

pub(super) fn unreadable(ranges: &[Range<u64>], retries: u32, retry: Nanos) -> Option<Described> {
    let place = place(ranges)?;
    Some(("unreadable", format!("{place}: reads end in an error after {retries} retries of {retry}")))
}

pub(super) fn slow(ranges: &[Range<u64>], retries: u32, retry: Nanos) -> Option<Described> {
    let place = place(ranges)?;
    Some(("slow region", format!("{place}: reads take 1 to {retries} retries of {retry}")))
}

pub(super) fn read_only(after_bytes: u64) -> Described {
    ("read-only", format!("after {} written", amount(after_bytes)))
}

pub(super) fn stalls(every_ios: Option<u64>, interval: Option<Nanos>, span: Nanos) -> Described {
    let what = match (every_ios, interval) {
        (Some(ios), Some(interval)) => {
            format!("every {} I/Os and every {interval} for {span}", Number(ios as f64))
        }
        (Some(ios), None) => format!("every {} I/Os for {span}", Number(ios as f64)),
        (None, Some(interval)) => format!("every {interval} for {span}"),
        (None, None) => "never".to_owned(),
    };
    ("stalls", what)
}

pub(super) fn hidden_trim() -> Described {
    ("bridge", "hides TRIM from the host".to_owned())
}

pub(super) fn dropped_trim() -> Described {
    ("bridge", "acknowledges TRIM and drops it".to_owned())
}

pub(super) fn neighbor(ios_per_s: u32, io_bytes: u32, write_percent: u32) -> Described {
    let size = amount(io_bytes.into());
    ("other I/O", format!("{ios_per_s} random IOPS of {size}, {write_percent}% of them writes"))
}

pub(super) fn outliers(every_ios: u64, span: Nanos) -> Described {
    ("outliers", format!("1 of {} random I/Os takes {span} longer", Number(every_ios as f64)))
}

pub(super) fn throttled(bytes_per_s: u64, span: Nanos, interval: Nanos) -> Described {
    ("throttling", format!("at most {} for {span} of every {interval}", rate(bytes_per_s as f64)))
}

/// The first range, and how many more there are.
fn place(ranges: &[Range<u64>]) -> Option<String> {
    let first = ranges.first()?;
    let (size, start) = (amount(first.end - first.start), amount(first.start));
    Some(match ranges.len() - 1 {
        0 => format!("{size} at {start}"),
        more => format!("{size} at {start} and {more} more"),
    })
}
