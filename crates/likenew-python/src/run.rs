//! A finished run: its findings and measurements.

use std::path::{Path, PathBuf};

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

use crate::columns::Table;
use crate::run_columns::{self, WindowAxis};
use crate::{errors, wording};

/// A finished run. The package's class `Run` wraps it.
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
    /// Makes a run from its evidence and findings.
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

    /// Tables of the findings by name.
    pub(crate) fn findings_tables(&self) -> impl Iterator<Item = (&str, &[Row])> {
        self.document.tables.iter().map(|(name, rows)| (name.as_str(), rows.as_slice()))
    }
}

#[pymethods]
impl Run {
    /// Reads the JSON that pickle stores.
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

    /// The run's folder, if it was kept.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.folder.clone()
    }

    /// Whether the run was stopped before its end.
    #[getter]
    fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    /// Names of the findings' tables.
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
        run_columns::segments(&self.segments)
    }

    /// One row for each window of each workload, along `"time"` or `"bytes"`.
    fn windows(&self, along: &str) -> PyResult<Table> {
        let axis = match along {
            "time" => WindowAxis::Time,
            "bytes" => WindowAxis::Bytes,
            other => return Err(errors::usage(wording::other_axis(other))),
        };
        Ok(run_columns::windows(&self.segments, axis))
    }

    /// One row for each I/O; `None` if samples were not kept.
    fn samples(&self, py: Python<'_>) -> PyResult<Option<Table>> {
        if let Some(samples) = &self.samples {
            return Ok(Some(run_columns::samples(samples)));
        }
        let Some(folder) = &self.folder else { return Ok(None) };
        let kept = py.detach(|| run_columns::kept_samples(folder)).map_err(errors::unfinished)?;
        Ok((!kept.is_empty()).then(|| run_columns::samples(&kept)))
    }
}

/// Reads a kept run. A run that was killed before it was judged is judged now, in memory.
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
