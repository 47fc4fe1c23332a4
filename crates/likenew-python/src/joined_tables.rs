//! Joins the tables of many runs into one table each, with a column that identifies the run.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use likenew_core::findings::Row;
use pyo3::prelude::*;

use crate::columns::Table;
use crate::errors;
use crate::run::Run;

/// Identifies a run.
#[derive(Clone, FromPyObject)]
enum Key {
    Number(i64),
    Name(String),
}

/// Name of the table of measurements, beside those of the findings.
const SEGMENTS: &str = "segments";

/// Joins the tables of runs. A column gets one type from the values of all runs.
#[pyclass(module = "likenew._native")]
pub(crate) struct JoinedTables {
    findings: BTreeMap<String, (Vec<Key>, Vec<Row>)>,
    segments: (Vec<Key>, Vec<RecordBatch>),
}

#[pymethods]
impl JoinedTables {
    #[new]
    fn new() -> Self {
        Self { findings: BTreeMap::new(), segments: (Vec::new(), Vec::new()) }
    }

    /// Adds a run's tables with these names, or all of its tables.
    #[pyo3(signature = (key, run, names=None))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's values arrive as values")]
    fn add(&mut self, key: Key, run: &Run, names: Option<Vec<String>>) {
        let is_wanted =
            |name: &str| names.as_ref().is_none_or(|names| names.iter().any(|wanted| wanted == name));
        for (name, rows) in run.findings_tables().filter(|(name, _)| is_wanted(name)) {
            let (keys, joined) = self.findings.entry(name.to_owned()).or_default();
            keys.extend(std::iter::repeat_n(key.clone(), rows.len()));
            joined.extend_from_slice(rows);
        }
        if is_wanted(SEGMENTS) {
            let table = run.segments();
            let (keys, batches) = &mut self.segments;
            keys.extend(std::iter::repeat_n(key, table.batch().num_rows()));
            batches.push(table.batch().clone());
        }
    }

    /// All joined tables by name. Their first column, called `key`, identifies the run.
    fn tables(&self, key: &str) -> PyResult<BTreeMap<String, Table>> {
        let findings = self.findings.iter().map(|(name, (keys, rows))| {
            Ok((name.clone(), Table::from_rows(rows).with_first(key, column(keys))))
        });
        let (keys, batches) = &self.segments;
        let segments = batches.first().map(|first| {
            let joined = concat_batches(first.schema_ref(), batches).map_err(errors::unfinished)?;
            Ok((SEGMENTS.to_owned(), Table::from(joined).with_first(key, column(keys))))
        });
        findings.chain(segments).collect()
    }
}

/// A column of numbers if all keys are numbers, or else of names.
fn column(keys: &[Key]) -> ArrayRef {
    let number = |key: &Key| match key {
        Key::Number(number) => Some(*number),
        Key::Name(_) => None,
    };
    if let Some(numbers) = keys.iter().map(number).collect::<Option<Vec<i64>>>() {
        return Arc::new(Int64Array::from(numbers));
    }
    let name = |key: &Key| match key {
        Key::Number(number) => number.to_string(),
        Key::Name(name) => name.clone(),
    };
    Arc::new(StringArray::from_iter_values(keys.iter().map(name)))
}
