//! Compares two areas, or two ways to write, that differ in one thing: issues their I/Os side by side, and
//! tests whether their times differ.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Stream, Until, Workload};
use likenew_stats::interval::{CONFIDENCE_99, Interval, median_interval};
use likenew_stats::summary::median;

/// Random reads of `block` bytes in both areas at QD1, `each` of them in random turns, so that a drift
/// affects both alike.
pub(super) fn reads_of_both(name: &str, areas: [Range<u64>; 2], block: u32, each: u32) -> Workload {
    let stream = |area: Range<u64>| Stream {
        arrival: Arrival::Interleaved { weight: 1, depth: 1, per_second: None },
        ..Stream::closed(
            Mix::Only(Op::Read),
            block,
            AccessPattern::Random(Region::bytes(area)),
            1,
            DataClass::Random,
        )
    };
    let streams = areas.into_iter().map(stream).collect();
    Workload { samples: 2 * each, ..Workload::new(name, Until::ops(u64::from(2 * each)), streams) }
}

/// Writes an area once sequentially, then flushes it.
pub(super) fn write_in_order(name: &str, area: Range<u64>, data: DataClass) -> Workload {
    let bytes = area.end - area.start;
    let block = (64 << 10).min(bytes) as u32;
    let stream =
        Stream::closed(Mix::Only(Op::Write), block, AccessPattern::Sequential(Region::bytes(area)), 4, data);
    Workload { flush: true, ..Workload::new(name, Until::bytes(bytes), vec![stream]) }
}

/// Latencies of the kept I/Os of a stream, in nanoseconds.
pub(super) fn latencies(segment: &Segment, stream: u16) -> Vec<f64> {
    let samples = segment.samples.iter().filter(|sample| sample.stream == stream && sample.op != Op::Flush);
    samples.map(|sample| sample.latency().0 as f64).collect()
}

/// The medians of two sets of latencies, and the interval of their ratio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MedianComparison {
    pub(super) first: f64,
    pub(super) second: f64,
    one_interval: Interval,
    other_interval: Interval,
}

impl MedianComparison {
    /// From two sets of latencies; `None` if there are fewer than eight, or no time passed.
    pub(super) fn from_times(first: &[f64], second: &[f64]) -> Option<Self> {
        Some(Self {
            first: median(first).filter(|first| *first > 0.0)?,
            second: median(second).filter(|second| *second > 0.0)?,
            one_interval: median_interval(first, CONFIDENCE_99)?,
            other_interval: median_interval(second, CONFIDENCE_99)?,
        })
    }

    /// Of the first two streams of a segment.
    pub(super) fn in_segment(segment: &Segment) -> Option<Self> {
        Self::from_times(&latencies(segment, 0), &latencies(segment, 1))
    }

    /// The first median over the second.
    pub(super) fn ratio(&self) -> f64 {
        self.first / self.second
    }

    /// Whether the first is less, by at least this share of the other and beyond chance.
    pub(super) fn is_less(&self, share: f64) -> bool {
        self.first < (1.0 - share) * self.second && self.one_interval.high < self.other_interval.low
    }

    /// Whether they are the same within this share of the other and chance.
    pub(super) fn is_same(&self, share: f64) -> bool {
        let Interval { low, high } = self.one_interval;
        let within = |value: f64| (value / self.second - 1.0).abs() <= share;
        (self.ratio() - 1.0).abs() <= share
            || (low <= self.other_interval.high
                && self.other_interval.low <= high
                && within(low)
                && within(high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_count_beyond_chance_only() {
        let even = |level: f64, spread: f64| -> Vec<f64> {
            (0..64).map(|index| level + spread * f64::from(index % 9 - 4)).collect()
        };
        let compared =
            |first: Vec<f64>, second: Vec<f64>| MedianComparison::from_times(&first, &second).unwrap();
        let apart = compared(even(80.0, 1.0), even(100.0, 1.0));
        assert!(apart.is_less(0.05) && !apart.is_same(0.05));
        assert!(!apart.is_less(0.25), "not by as much as that");
        let same = compared(even(100.0, 1.0), even(100.5, 1.0));
        assert!(!same.is_less(0.0) && same.is_same(0.02));
        let noisy = compared(even(80.0, 30.0), even(100.0, 30.0));
        assert!(!noisy.is_less(0.05) && !noisy.is_same(0.05), "noise decides nothing");
        assert_eq!(MedianComparison::from_times(&[0.0; 20], &[1.0; 20]), None, "a rehearsal has no times");
    }
}
