//! Builds rows of tables, with the speed and latency columns that many tables share.

use likenew_core::findings::{Row, cell};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use serde::Serialize;

use crate::estimate::Estimate;

/// A struct as a row: its fields become the columns, in order of declaration.
pub fn row(columns: impl Serialize) -> Row {
    match serde_json::to_value(columns) {
        Ok(serde_json::Value::Object(row)) => row,
        other => panic!("a row is a struct of plain values, not {other:?}"),
    }
}

/// Adds columns to a row. The name of a column ends with its unit.
pub trait Columns: Sized {
    /// A column of this name.
    #[must_use]
    fn with(self, name: &str, value: impl Serialize) -> Self;

    /// All columns of another row.
    #[must_use]
    fn with_all(self, others: Row) -> Self;

    /// A column, only if its value is known.
    #[must_use]
    fn with_known(self, name: &str, value: Option<impl Serialize>) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }

    /// A number with both ends of its interval: `NAME`, `NAME_low` and `NAME_high`.
    #[must_use]
    fn with_estimate(self, name: &str, estimate: Option<Estimate>) -> Self {
        self.with(name, estimate.map(|estimate| estimate.value))
            .with(&format!("{name}_low"), estimate.and_then(|estimate| estimate.low()))
            .with(&format!("{name}_high"), estimate.and_then(|estimate| estimate.high()))
    }

    /// Mean, percentiles and maximum of latencies.
    #[must_use]
    fn with_latency(self, latency: impl Into<LatencyColumns>) -> Self {
        let latency: LatencyColumns = latency.into();
        self.with_all(row(latency))
    }

    /// Speed and latencies of one pass.
    #[must_use]
    fn with_pass(self, segment: &Segment) -> Self {
        let total = segment.total();
        self.with("bytes_per_s", segment.bytes_per_s())
            .with("iops", segment.iops())
            .with("latency_ns_mean", total.latency_ns_mean())
            .with("latency_ns_max", total.latency.max().0)
    }
}

impl Columns for Row {
    fn with(mut self, name: &str, value: impl Serialize) -> Self {
        self.insert(name.to_owned(), cell(value));
        self
    }

    fn with_all(mut self, others: Row) -> Self {
        self.extend(others);
        self
    }
}

/// Latency columns of tables, in nanoseconds. An imported measurement may have only the mean, or nothing.
#[derive(Clone, Copy, Default, Serialize)]
pub struct LatencyColumns {
    /// The mean of all I/Os.
    pub latency_ns_mean: Option<f64>,
    /// The median.
    pub latency_ns_p50: Option<u64>,
    /// The 99th percentile.
    pub latency_ns_p99: Option<u64>,
    /// The 99.9th percentile; `None` below a thousand I/Os.
    pub latency_ns_p999: Option<u64>,
    /// The 99.99th percentile; `None` below ten thousand I/Os.
    pub latency_ns_p9999: Option<u64>,
    /// The longest.
    pub latency_ns_max: Option<u64>,
}

impl From<&Tally> for LatencyColumns {
    fn from(tally: &Tally) -> Self {
        let spread = (tally.latency.count() > 0 || tally.ios == 0).then_some(&tally.latency);
        let of_many = |least: u64, share: f64| {
            spread.filter(|latency| latency.count() >= least).map(|latency| latency.quantile(share).0)
        };
        let known = spread.is_some() || tally.latency_ns_sum > 0;
        Self {
            latency_ns_mean: known.then(|| tally.latency_ns_mean()),
            latency_ns_p50: spread.map(|latency| latency.quantile(0.5).0),
            latency_ns_p99: spread.map(|latency| latency.quantile(0.99).0),
            latency_ns_p999: of_many(1_000, 0.999),
            latency_ns_p9999: of_many(10_000, 0.9999),
            latency_ns_max: spread.map(|latency| latency.max().0),
        }
    }
}
