//! A run that is over: what it found, and what it measured; and the tables of many runs, joined.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_select::concat::concat_batches;
use likenew_archive::Record;
use likenew_core::findings::{Findings, Row};
use likenew_core::instrument::Instrument;
use likenew_core::io::Sample;
use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_procedures::all::{from_plan, judge};
use likenew_report::document::Document;
use likenew_report::html;
use likenew_report::labeled_document::label_all;
use likenew_report::run_document::of_run;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use serde::{Deserialize, Serialize};

use super::columns::{self, Table, WindowAxis};
use super::{errors, wording};

/// A run that is over. The package's class `Run` wraps it.
#[derive(Serialize, Deserialize)]
#[pyclass(frozen, module = "likenew._native")]
pub(crate) struct Run {
    document: Document,
    segments: Vec<Segment>,
    samples: Option<Vec<(u32, Sample)>>,
    folder: Option<PathBuf>,
    is_interrupted: bool,
}

impl Run {
    /// From what a run leaves behind.
    pub(crate) fn new(
        evidence: Evidence,
        findings: Findings,
        instrument: Instrument,
        folder: Option<PathBuf>,
        samples: Option<Vec<(u32, Sample)>>,
    ) -> Self {
        let is_interrupted = findings.is_interrupted;
        let segments = evidence.segments.clone();
        let document = of_run(evidence, findings, instrument);
        Self { document, segments, samples, folder, is_interrupted }
    }

    /// The tables of the findings by name.
    pub(crate) fn findings_tables(&self) -> impl Iterator<Item = (&str, &[Row])> {
        self.document.tables.iter().map(|(name, rows)| (name.as_str(), rows.as_slice()))
    }
}

#[pymethods]
impl Run {
    /// From the JSON that pickle keeps.
    #[new]
    fn from_json(text: &[u8]) -> PyResult<Self> {
        serde_json::from_slice(text).map_err(errors::usage)
    }

    fn __getnewargs__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyBytes>,)> {
        Ok((PyBytes::new(py, &serde_json::to_vec(self).map_err(errors::unfinished)?),))
    }

    /// The document that `likenew --json` writes.
    fn document(&self) -> PyResult<String> {
        self.document.to_json().map_err(errors::unfinished)
    }

    /// The page that `likenew --html` writes.
    fn html(&self) -> PyResult<String> {
        html::page(&label_all(vec![self.document.clone()])).map_err(errors::unfinished)
    }

    /// The folder of the run, if it is kept.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// Whether it was stopped before its end.
    #[getter]
    fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Names of the tables.
    fn table_names(&self) -> Vec<String> {
        self.document.tables.keys().cloned().collect()
    }

    /// A table of the findings.
    fn table(&self, name: &str) -> PyResult<Table> {
        let rows = self.document.tables.get(name).ok_or_else(|| PyKeyError::new_err(name.to_owned()))?;
        Ok(Table::from_rows(rows))
    }

    /// One row for each operation of each workload.
    pub(crate) fn segments(&self) -> Table {
        columns::segments(&self.segments)
    }

    /// One row for each window along `"time"` or `"bytes"` of each workload.
    fn windows(&self, along: &str) -> PyResult<Table> {
        let axis = match along {
            "time" => WindowAxis::Time,
            "bytes" => WindowAxis::Bytes,
            other => return Err(errors::usage(wording::other_axis(other))),
        };
        Ok(columns::windows(&self.segments, axis))
    }

    /// One row for each I/O; none where they were not kept.
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        if let Some(samples) = &self.samples {
            return Ok(Some(columns::samples(samples)));
        }
        let Some(folder) = &self.folder else { return Ok(None) };
        let kept = py.detach(|| columns::kept_samples(folder)).map_err(errors::unfinished)?;
        Ok((!kept.is_empty()).then(|| columns::samples(&kept)))
    }
}

/// Reads a kept run. One that was killed before it was judged is judged now, in memory.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, folder: PathBuf) -> PyResult<Run> {
    py.detach(|| open(&folder))
}

fn open(folder: &Path) -> PyResult<Run> {
    let mut record = Record::open(folder).map_err(errors::unfinished)?;
    let findings = record.findings.take();
    let (folder, instrument) = (record.path.clone(), record.header.machine.instrument.clone());
    let evidence = record.take_evidence();
    let findings = match findings {
        Some(findings) => findings,
        None => {
            let procedure = from_plan(&evidence.plan).map_err(errors::usage)?;
            Findings { is_interrupted: true, ..judge(&*procedure, &evidence) }
        }
    };
    Ok(Run::new(evidence, findings, instrument, Some(folder), None))
}

/// What tells a run from the others.
#[derive(Clone, FromPyObject)]
enum Key {
    Number(i64),
    Name(String),
}

/// The table of what was measured, beside those of the findings.
const SEGMENTS: &str = "segments";

/// Joins the tables of runs. A column has one type for all of them, whatever a single run would give it.
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

    /// Adds the tables with these names of a run, or all of them.
    #[pyo3(signature = (key, run, names=None))]
    #[expect(clippy::needless_pass_by_value, reason = "Python's values arrive as values")]
    fn add(&mut self, key: Key, run: &Run, names: Option<Vec<String>>) {
        let is_wanted = |name: &str| names.as_ref().is_none_or(|names| names.iter().any(|one| one == name));
        for (name, rows) in run.findings_tables().filter(|(name, _)| is_wanted(name)) {
            let (keys, all) = self.findings.entry(name.to_owned()).or_default();
            keys.extend(std::iter::repeat_n(key.clone(), rows.len()));
            all.extend_from_slice(rows);
        }
        if is_wanted(SEGMENTS) {
            let table = run.segments();
            let (keys, all) = &mut self.segments;
            keys.extend(std::iter::repeat_n(key, table.batch().num_rows()));
            all.push(table.batch().clone());
        }
    }

    /// The tables by name, the keys in a first column of this name.
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

/// Numbers if all are, else names.
fn column(keys: &[Key]) -> ArrayRef {
    let numbers: Option<Int64Array> = keys
        .iter()
        .map(|key| match key {
            Key::Number(number) => Some(*number),
            Key::Name(_) => None,
        })
        .collect::<Option<Vec<i64>>>()
        .map(Int64Array::from);
    match numbers {
        Some(numbers) => Arc::new(numbers),
        None => Arc::new(StringArray::from_iter_values(keys.iter().map(|key| match key {
            Key::Number(number) => number.to_string(),
            Key::Name(name) => name.clone(),
        }))),
    }
}
