//! Rows of tables from typed structs, and the figures that every table of I/O shares.

use likenew_core::tally::Tally;
use likenew_core::verdict::Row;
use serde::Serialize;

/// A struct as a row: its fields are the columns, in order.
pub(crate) fn row(columns: impl Serialize) -> Row {
    match serde_json::to_value(columns) {
        Ok(serde_json::Value::Object(row)) => row,
        other => panic!("a row is a struct of plain values, not {other:?}"),
    }
}

/// Latency as tables show it, in nanoseconds.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct LatencyColumns {
    latency_ns_mean: f64,
    latency_ns_p50: u64,
    latency_ns_p99: u64,
    latency_ns_max: u64,
}

impl From<&Tally> for LatencyColumns {
    fn from(tally: &Tally) -> Self {
        Self {
            latency_ns_mean: tally.latency_ns_mean(),
            latency_ns_p50: tally.latency.quantile(0.5).0,
            latency_ns_p99: tally.latency.quantile(0.99).0,
            latency_ns_max: tally.latency.max().0,
        }
    }
}
