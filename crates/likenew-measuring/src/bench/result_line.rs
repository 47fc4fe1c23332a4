//! One line of the table: a test, an operation, and all its passes.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::Nanos;
use likenew_stats::interval::Interval;
use likenew_stats::precision::Goal;
use likenew_stats::summary::{maximum, mean, minimum};
use serde::Serialize;

use likenew_procedure_support::precision_goal::{self, MeanPrecision};
use likenew_procedure_support::profile::Test;
use likenew_procedure_support::rows::LatencyColumns;

use super::wording::TableRow;

/// One line of the table with its passes.
pub(super) struct ResultLine<'a> {
    pub(super) test: &'a Test,
    pub(super) op: Mix,
    /// Those that measured something.
    pub(super) passes: Vec<Pass<'a>>,
    /// Bytes a second of each pass.
    pub(super) speeds: Vec<f64>,
    /// Interval of the mean of the passes.
    pub(super) interval: Option<Interval>,
    /// Whether it is as narrow as asked for.
    is_precise: bool,
    total: Tally,
}

/// One pass that measured something.
pub(super) struct Pass<'a> {
    /// From 1, failed ones included.
    number: usize,
    pub(super) segment: &'a Segment,
    bytes_per_s: f64,
    iops: f64,
}

impl<'a> Pass<'a> {
    fn from_segment(number: usize, segment: &'a Segment) -> Option<Self> {
        Some(Self { number, segment, bytes_per_s: segment.bytes_per_s()?, iops: segment.iops()? })
    }
}

#[derive(Serialize)]
pub(super) struct ResultRow {
    test: String,
    op: String,
    bytes_per_s: f64,
    bytes_per_s_low: Option<f64>,
    bytes_per_s_high: Option<f64>,
    iops: f64,
    #[serde(flatten)]
    latency: LatencyColumns,
}

#[derive(Serialize)]
pub(super) struct PassRow {
    test: String,
    op: String,
    pass: usize,
    bytes_per_s: f64,
    iops: f64,
    latency_ns_mean: f64,
    latency_ns_max: u64,
    covered_percent: f64,
}

impl<'a> ResultLine<'a> {
    /// `None` if no pass measured anything.
    pub(super) fn new(test: &'a Test, op: Mix, segments: &[&'a Segment], goal: Option<Goal>) -> Option<Self> {
        let numbered = segments.iter().enumerate();
        let passes: Vec<Pass<'a>> =
            numbered.filter_map(|(index, segment)| Pass::from_segment(index + 1, segment)).collect();
        let mut total = Tally::new(0, Op::Read);
        passes.iter().for_each(|pass| total.merge(&pass.segment.total()));
        let speeds: Vec<f64> = passes.iter().map(|pass| pass.bytes_per_s).collect();
        let (interval, is_precise) = precision_goal::interval(&speeds, goal.as_ref());
        let is_precise = is_precise.unwrap_or(false);
        (!passes.is_empty()).then_some(Self { test, op, passes, speeds, interval, is_precise, total })
    }

    pub(super) fn precision(&self) -> MeanPrecision {
        let half = self.interval.map_or(f64::INFINITY, |interval| (interval.high - interval.low) / 2.0);
        MeanPrecision {
            name: self.name(),
            passes: self.speeds.len(),
            share: half / self.mean_speed(),
            enough: self.is_precise,
        }
    }

    pub(super) fn mean_speed(&self) -> f64 {
        mean(&self.speeds).expect("a line has a pass")
    }

    pub(super) fn name(&self) -> String {
        format!("{} {}", self.test, self.op)
    }

    pub(super) fn mean_iops(&self) -> f64 {
        let iops: Vec<f64> = self.passes.iter().map(|pass| pass.iops).collect();
        mean(&iops).expect("a line has a pass")
    }

    pub(super) fn overview(&self) -> TableRow {
        // An imported measurement may have only the mean, or nothing.
        let (latency, sum) = (&self.total.latency, self.total.latency_ns_sum);
        let known = latency.count() > 0;
        TableRow {
            name: self.name(),
            bytes_per_s: self.mean_speed(),
            interval: self.interval,
            iops: self.mean_iops(),
            latency_ns_mean: (known || sum > 0).then(|| self.total.latency_ns_mean()),
            latency_p99: known.then(|| latency.quantile(0.99)),
            latency_max: known.then(|| latency.max()),
        }
    }

    pub(super) fn result(&self) -> ResultRow {
        ResultRow {
            test: self.test.to_string(),
            op: self.op.to_string(),
            bytes_per_s: self.mean_speed(),
            bytes_per_s_low: self.interval.map(|interval| interval.low.max(0.0)),
            bytes_per_s_high: self.interval.map(|interval| interval.high),
            iops: self.mean_iops(),
            latency: (&self.total).into(),
        }
    }

    pub(super) fn rows(&self) -> impl Iterator<Item = PassRow> {
        self.passes.iter().map(|Pass { number, segment, bytes_per_s, iops }| PassRow {
            test: self.test.to_string(),
            op: self.op.to_string(),
            pass: *number,
            bytes_per_s: *bytes_per_s,
            iops: *iops,
            latency_ns_mean: segment.total().latency_ns_mean(),
            latency_ns_max: segment.latencies().max().0,
            covered_percent: self.coverage(segment) * 100.0,
        })
    }

    /// The share of the span's bytes that a pass moved.
    fn coverage(&self, segment: &Segment) -> f64 {
        let bytes = segment.workload.until.bytes.expect("a pass is bounded by its span");
        segment.total().bytes as f64 / bytes as f64
    }

    pub(super) fn slowest(&self) -> f64 {
        minimum(&self.speeds).expect("a line has a pass")
    }

    pub(super) fn fastest(&self) -> f64 {
        maximum(&self.speeds).expect("a line has a pass")
    }

    /// Whether a pass ran into its time limit; a pass with failed I/Os covers less than its span as well.
    pub(super) fn reached_time(&self, time: Nanos) -> bool {
        self.passes.iter().any(|pass| pass.segment.elapsed() >= time)
    }

    /// The smallest share of the span that one of its passes covered.
    pub(super) fn coverage_min(&self) -> f64 {
        self.passes.iter().map(|pass| self.coverage(pass.segment)).fold(1.0, f64::min)
    }

    /// Fastest pass over slowest; infinite when a pass moved nothing.
    pub(super) fn ratio(&self) -> f64 {
        let (slowest, fastest) = (self.slowest(), self.fastest());
        if slowest > 0.0 { fastest / slowest } else { f64::INFINITY }
    }
}
