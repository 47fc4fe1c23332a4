//! The metrics of a check, for comparison with another one.

use likenew_core::findings::{Findings, Row};
use likenew_diagnosis::Metric;
use serde::de::DeserializeOwned;

use super::check_options::IndicatorOption;

/// The metrics and indicators of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CheckMetrics {
    /// In bytes a second; those of small I/Os in IOPS.
    pub metrics: Vec<(Metric, f64)>,
    /// Its indicators.
    pub indicators: Vec<IndicatorOption>,
}

impl CheckMetrics {
    /// From the findings that [`Check`](super::Check) makes.
    pub fn from_findings(findings: &Findings) -> Self {
        let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        Self {
            metrics: rows("metrics")
                .iter()
                .map(|row| (cell(row, "metric"), cell(row, "measured_per_s")))
                .collect(),
            indicators: rows("indicators")
                .iter()
                .map(|row| IndicatorOption { indicator: cell(row, "indicator"), value: cell(row, "value") })
                .collect(),
        }
    }
}

/// A cell of one of this program's tables.
fn cell<T: DeserializeOwned>(row: &Row, key: &str) -> T {
    let cell = row.get(key).and_then(|value| serde_json::from_value(value.clone()).ok());
    cell.unwrap_or_else(|| panic!("a row of a check has no {key}: {row:?}"))
}
