//! UL's score: one number from bandwidth and access time.

use likenew_core::io::Op;
use likenew_core::segment::Segment;

/// Bandwidth over busy time, in bytes a second, that together with an access time of [`REFERENCE_ACCESS_NS`]
/// scores 1.
///
/// UL defines "PCMark 10 Storage score = geometric mean (bandwidth, 1 / average access time)", where
/// bandwidth is bytes over busy time and average access time the arithmetic mean over all reads and writes
/// (PCMark 10 technical guide, Full System Drive Benchmark:
/// support.benchmarks.ul.com/support/solutions/articles/44002171465), and prints no units. With MB/s and
/// seconds the formula gives numbers of the size that PCMark 10 prints, which is why these two are chosen.
pub(crate) const REFERENCE_BYTES_PER_S: f64 = 1e6;
/// Access time that scores 1, in nanoseconds: one second. See [`REFERENCE_BYTES_PER_S`] for the source.
pub(crate) const REFERENCE_ACCESS_NS: f64 = 1e9;

/// The totals of one application in one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct PassTotals {
    pub(crate) reads: u64,
    pub(crate) writes: u64,
    pub(crate) bytes_read: u64,
    pub(crate) bytes_written: u64,
    /// Time in which at least one I/O was outstanding.
    pub(crate) busy_ns: f64,
    latency_ns_sum: f64,
}

impl PassTotals {
    /// From the segments of one pass; `None` if nothing was moved.
    pub(crate) fn from_segments<'a>(segments: impl IntoIterator<Item = &'a Segment>) -> Option<Self> {
        let mut pass_totals = Self::default();
        for segment in segments {
            pass_totals.reads += segment.ios(Op::Read);
            pass_totals.writes += segment.ios(Op::Write);
            pass_totals.bytes_read += segment.bytes(Op::Read);
            pass_totals.bytes_written += segment.bytes(Op::Write);
            pass_totals.latency_ns_sum += segment.total().latency_ns_sum as f64;
            let busy = if segment.busy.0 > 0 { segment.busy } else { segment.elapsed() };
            pass_totals.busy_ns += busy.0 as f64;
        }
        (pass_totals.bytes() > 0.0 && pass_totals.busy_ns > 0.0 && pass_totals.latency_ns_sum > 0.0)
            .then_some(pass_totals)
    }

    fn bytes(&self) -> f64 {
        (self.bytes_read + self.bytes_written) as f64
    }

    /// Over busy time.
    pub(crate) fn bytes_per_s(&self) -> f64 {
        self.bytes() * 1e9 / self.busy_ns
    }

    /// Over busy time.
    pub(crate) fn iops(&self) -> f64 {
        (self.reads + self.writes) as f64 * 1e9 / self.busy_ns
    }

    /// Mean of all reads and writes.
    pub(crate) fn access_time_ns(&self) -> f64 {
        self.latency_ns_sum / (self.reads + self.writes) as f64
    }

    /// See [`score`].
    pub(crate) fn score(&self) -> f64 {
        score(self.bytes_per_s(), self.access_time_ns())
    }
}

/// The geometric mean of bandwidth in [`REFERENCE_BYTES_PER_S`] and of accesses in [`REFERENCE_ACCESS_NS`].
pub(crate) fn score(bytes_per_s: f64, access_time_ns: f64) -> f64 {
    (bytes_per_s / REFERENCE_BYTES_PER_S * REFERENCE_ACCESS_NS / access_time_ns).sqrt()
}

/// The mean of several applications, each of which counts the same, however fast it is; `None` if one is
/// missing or zero.
pub(crate) fn geometric_mean(values: &[Option<f64>]) -> Option<f64> {
    let logarithms: Option<Vec<f64>> =
        values.iter().map(|value| value.filter(|value| *value > 0.0).map(f64::ln)).collect();
    likenew_stats::summary::mean(&logarithms?).map(f64::exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_references_score_one_and_both_metrics_count_the_same() {
        assert_eq!(score(1e6, 1e9), 1.0);
        assert!((score(4e8, 1e5) - 2000.0).abs() < 1e-9);
        assert!((score(2e6, 1e9) - score(1e6, 5e8)).abs() < 1e-12);
    }

    #[test]
    fn a_geometric_mean_needs_every_application() {
        assert!((geometric_mean(&[Some(1.0), Some(4.0)]).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(&[Some(1.0), None]), None);
        assert_eq!(geometric_mean(&[Some(1.0), Some(0.0)]), None);
        assert_eq!(geometric_mean(&[]), None);
    }
}
