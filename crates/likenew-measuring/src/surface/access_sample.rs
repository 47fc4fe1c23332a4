//! One access and the one before it, and a row of what accesses come to.

use likenew_stats::interval::Interval;
use serde::Serialize;

/// One I/O, and where the one before it ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AccessSample {
    /// The end of the I/O before it.
    pub(super) from: u64,
    pub(super) offset: u64,
    pub(super) length: u32,
    pub(super) latency_ns: f64,
}

impl AccessSample {
    /// Bytes of address space between the two.
    pub(super) fn distance(&self) -> f64 {
        self.offset.abs_diff(self.from) as f64
    }
}

/// A row of the table of access.
#[derive(Serialize)]
pub(super) struct AccessMetric {
    metric: &'static str,
    unit: &'static str,
    value: f64,
    value_low: Option<f64>,
    value_high: Option<f64>,
}

impl AccessMetric {
    pub(super) fn new(
        metric: &'static str,
        unit: &'static str,
        value: f64,
        interval: Option<Interval>,
    ) -> Self {
        let (value_low, value_high) =
            interval.map_or((None, None), |interval| (Some(interval.low), Some(interval.high)));
        Self { metric, unit, value, value_low, value_high }
    }

    /// One that was measured once, or an extreme.
    pub(super) fn once(metric: &'static str, unit: &'static str, value: f64) -> Self {
        Self::new(metric, unit, value, None)
    }
}
