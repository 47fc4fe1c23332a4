//! The result of each point in the measurement window.

use likenew_core::io::Op;
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_stats::interval::{CONFIDENCE_95, Interval, mean_interval};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::snia::Progress;
use super::snia_plan::{Point, TrackedMetric, read_percent};
use super::wording::PointCells;

/// A point over the rounds of the window.
pub(super) struct Results<'a> {
    pub(super) point: Point,
    pub(super) is_steady: bool,
    segments: Vec<&'a Segment>,
    pub(super) total: Tally,
}

#[derive(Serialize)]
pub(super) struct ResultRow {
    test: String,
    op: String,
    read_percent: u8,
    block_bytes: u32,
    is_steady: bool,
    iops: f64,
    iops_low: Option<f64>,
    iops_high: Option<f64>,
    bytes_per_s: f64,
    latency_ns_mean: f64,
    latency_ns_p99999: Option<u64>,
    latency_ns_max: u64,
}

/// With fewer I/Os than this, the 99.999th percentile is unknown.
const P99999_IOS_MIN: u64 = 100_000;

impl<'a> Results<'a> {
    /// Each point of a phase; empty before its first whole round.
    pub(super) fn of_phase(progress: &Progress<'a>, is_steady: bool) -> Vec<Self> {
        let window = progress.window();
        if window.is_empty() {
            return Vec::new();
        }
        let points = progress.phase.points.iter().enumerate().map(|(index, point)| {
            let segments: Vec<&Segment> = window.iter().map(|round| &round[index]).collect();
            let mut total = Tally::new(0, Op::Read);
            segments.iter().for_each(|segment| total.merge(&segment.total()));
            Self { point: *point, is_steady, segments, total }
        });
        points.collect()
    }

    /// Rounds of the window.
    pub(super) fn rounds(&self) -> usize {
        self.segments.len()
    }

    /// The mean over the rounds, and its interval.
    pub(super) fn metric(&self, metric: TrackedMetric) -> (f64, Option<Interval>) {
        let rounds: Vec<f64> = self.segments.iter().filter_map(|segment| metric.value(segment)).collect();
        (mean(&rounds).expect("a window has a round"), mean_interval(&rounds, CONFIDENCE_95))
    }

    /// The 99.999th percentile of latency, in nanoseconds.
    pub(super) fn latency_ns_p99999(&self) -> Option<u64> {
        (self.total.ios >= P99999_IOS_MIN).then(|| self.total.latency.quantile(0.99999).0)
    }

    /// Its row on the first screen.
    pub(super) fn cells(&self) -> PointCells {
        PointCells {
            test: self.point.test.to_string(),
            op: self.point.op,
            iops: self.metric(TrackedMetric::Iops).0,
            bytes_per_s: self.metric(TrackedMetric::BytesPerS).0,
            mean_ns: self.total.latency_ns_mean(),
            p99999_ns: self.latency_ns_p99999(),
            max_ns: self.total.latency.max().0,
        }
    }

    pub(super) fn row(&self) -> ResultRow {
        let (iops, interval) = self.metric(TrackedMetric::Iops);
        ResultRow {
            test: self.point.test.to_string(),
            op: self.point.op.to_string(),
            read_percent: read_percent(self.point.op),
            block_bytes: self.point.test.block,
            is_steady: self.is_steady,
            iops,
            iops_low: interval.map(|interval| interval.low.max(0.0)),
            iops_high: interval.map(|interval| interval.high),
            bytes_per_s: self.metric(TrackedMetric::BytesPerS).0,
            latency_ns_mean: self.total.latency_ns_mean(),
            latency_ns_p99999: self.latency_ns_p99999(),
            latency_ns_max: self.total.latency.max().0,
        }
    }
}
