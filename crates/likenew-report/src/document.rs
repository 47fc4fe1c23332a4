//! The output of `--json`: one run of one procedure on one drive, complete and without dates or local paths.
//!
//! Equal plans and seeds on a simulated drive give byte-identical JSON. `schema/report.schema.json` in the
//! repository describes the form in JSON Schema.

use indexmap::IndexMap;
use likenew_core::answer::Answer;
use likenew_core::drive::Identity;
use likenew_core::findings::{Findings, Row, Series};
use likenew_core::instrument::Instrument;
use likenew_core::overview::Overview;
use likenew_core::plan::Plan;
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::finite;

/// The version of the form that this crate writes and reads.
pub const SCHEMA: u32 = 2;

/// The document of one run. The order of the fields is the order of the keys.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Version of this form: [`SCHEMA`].
    pub schema: u32,
    /// The name of the procedure, as typed on the command line.
    pub procedure: String,
    /// The target; for a simulated drive with its flash counters at the end of the run.
    pub target: Identity,
    /// The plan of the run.
    pub plan: Plan,
    /// The result, in one or two sentences.
    pub summary: String,
    /// The answers, most important first.
    pub answers: Vec<Answer>,
    /// The part of the findings for one screen.
    pub overview: Overview,
    /// Tables by name, answers first; the end of each column's key is its unit.
    pub tables: IndexMap<String, Vec<Row>>,
    /// Series by name, in the order of reading.
    pub series: IndexMap<String, Series>,
    /// Bytes the run wrote to the drive.
    pub bytes_written: u64,
    /// Time the run took on the drive's own clock, in nanoseconds.
    pub elapsed_ns: u64,
    /// The program and the machine that measured.
    pub instrument: Instrument,
}

impl Document {
    /// From the findings of a run and their evidence.
    pub fn new(
        plan: Plan,
        target: Identity,
        findings: Findings,
        instrument: Instrument,
        bytes_written: u64,
        elapsed: Nanos,
    ) -> Self {
        let Findings { summary, answers, overview, tables, series } = findings;
        Self {
            schema: SCHEMA,
            procedure: plan.procedure.clone(),
            target,
            plan,
            summary,
            answers,
            overview,
            tables,
            series,
            bytes_written,
            elapsed_ns: elapsed.0,
            instrument,
        }
    }

    /// The document as indented JSON that ends with a newline.
    ///
    /// # Errors
    /// [`ReportError::NotFinite`] when a number in it is infinite or not a number.
    pub fn to_json(&self) -> Result<String, ReportError> {
        finite::check(self)?;
        let mut text = serde_json::to_string_pretty(self).expect("a document has only text keys");
        text.push('\n');
        Ok(text)
    }

    /// Reads what [`Document::to_json`] wrote.
    ///
    /// # Errors
    /// [`ReportError::OtherSchema`] for a document of another version, [`ReportError::NotADocument`] for anything
    /// else.
    pub fn from_json(text: &str) -> Result<Self, ReportError> {
        #[derive(Deserialize)]
        struct Version {
            schema: u64,
        }
        let Version { schema } = serde_json::from_str(text).map_err(ReportError::NotADocument)?;
        if schema != u64::from(SCHEMA) {
            return Err(ReportError::OtherSchema { version: schema });
        }
        serde_json::from_str(text).map_err(ReportError::NotADocument)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn a_document_reads_back_and_ends_with_a_newline() {
        for document in fixtures::all() {
            let text = document.to_json().unwrap();
            assert!(text.ends_with("}\n"));
            assert_eq!(Document::from_json(&text).unwrap(), document);
            assert_eq!(Document::from_json(&text).unwrap().to_json().unwrap(), text);
        }
    }

    #[test]
    fn the_keys_stand_in_the_published_order() {
        let text = fixtures::bench("sim:new", 1.0).to_json().unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            [
                "schema",
                "procedure",
                "target",
                "plan",
                "summary",
                "answers",
                "overview",
                "tables",
                "series",
                "bytes_written",
                "elapsed_ns",
                "instrument"
            ]
        );
    }

    #[test]
    fn what_is_no_document_is_refused_with_a_reason() {
        let other =
            fixtures::bench("sim:new", 1.0).to_json().unwrap().replacen("\"schema\": 2", "\"schema\": 1", 1);
        assert!(matches!(Document::from_json(&other), Err(ReportError::OtherSchema { version: 1 })));
        let error = Document::from_json(&other).unwrap_err().to_string();
        assert!(error.contains("likenew report RUN --json FILE"), "it says what to do: {error}");
        for text in ["", "[]", "{}", "null", "{\"schema\": 2}", "{\"schema\": 1e999}", "{\"schema\": -1}"] {
            let error = Document::from_json(text).unwrap_err();
            assert!(matches!(error, ReportError::NotADocument(_)), "{text}: {error}");
        }
        let misspelt = other.replacen("\"schema\": 1", "\"schema\": 2, \"verdict\": []", 1);
        assert!(Document::from_json(&misspelt).unwrap_err().to_string().contains("unknown field `verdict`"));
    }
}
