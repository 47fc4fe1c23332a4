//! What a check came to, as another check is held against it.

use likenew_core::verdict::{Findings, Row};
use serde::de::DeserializeOwned;

use super::check_options::{FigureName, ShapeOption};

/// The figures and shapes of one check.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answers {
    /// Bytes a second, or I/Os a second of small ones.
    pub figures: Vec<(FigureName, f64)>,
    /// What its shapes were like.
    pub shapes: Vec<ShapeOption>,
}

impl Answers {
    /// Out of the findings that [`Check`](super::Check) makes.
    pub fn of(findings: &Findings) -> Self {
        let rows = |name: &str| findings.tables.get(name).map(Vec::as_slice).unwrap_or_default();
        Self {
            figures: rows("figures")
                .iter()
                .map(|row| (cell(row, "figure"), cell(row, "measured_per_s")))
                .collect(),
            shapes: rows("shapes")
                .iter()
                .map(|row| ShapeOption { shape: cell(row, "shape"), value: cell(row, "value") })
                .collect(),
        }
    }
}

/// A cell of a table of our own.
fn cell<T: DeserializeOwned>(row: &Row, key: &str) -> T {
    let cell = row.get(key).and_then(|value| serde_json::from_value(value.clone()).ok());
    cell.unwrap_or_else(|| panic!("a row of a check has no {key}: {row:?}"))
}
