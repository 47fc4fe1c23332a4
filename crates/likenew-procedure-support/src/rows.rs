//! Rows of tables from typed structs, and the columns that every table of I/O shares.

use likenew_core::findings::Row;
use likenew_core::tally::Tally;
use serde::Serialize;

/// A struct as a row: its fields are the columns, in the order of declaration.
pub fn row(columns: impl Serialize) -> Row {
    match serde_json::to_value(columns) {
        Ok(serde_json::Value::Object(row)) => row,
        other => panic!("a row is a struct of plain values, not {other:?}"),
    }
}

/// Latency columns of tables, in nanoseconds. An imported measurement may have only the mean, or nothing.
#[derive(Clone, Copy, Default, Serialize)]
pub struct LatencyColumns {
    latency_ns_mean: Option<f64>,
    latency_ns_p50: Option<u64>,
    latency_ns_p99: Option<u64>,
    latency_ns_max: Option<u64>,
}

impl From<&Tally> for LatencyColumns {
    fn from(tally: &Tally) -> Self {
        let spread = (tally.latency.count() > 0 || tally.ios == 0).then_some(&tally.latency);
        let known = spread.is_some() || tally.latency_ns_sum > 0;
        Self {
            latency_ns_mean: known.then(|| tally.latency_ns_mean()),
            latency_ns_p50: spread.map(|latency| latency.quantile(0.5).0),
            latency_ns_p99: spread.map(|latency| latency.quantile(0.99).0),
            latency_ns_max: spread.map(|latency| latency.max().0),
        }
    }
}
