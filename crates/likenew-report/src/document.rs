//! The output of `--json`: one run of one procedure on one drive, complete and without dates or local paths.
//!
//! Equal plans and seeds on a simulated drive give byte-identical JSON. `schema/report.schema.json` in the
//! repository is its JSON Schema.

use indexmap::IndexMap;
use likenew_core::drive::Identity;
use likenew_core::findings::{Answer, Findings, Overview, OverviewTable, Row, Series};
use likenew_core::instrument::Instrument;
use likenew_core::procedure::Plan;
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

/// The version of the format that this crate writes and reads.
pub const SCHEMA: u32 = 2;
/// The procedure's name in a document that compares others. It is shown before them.
pub const COMPARISON: &str = "compare";

/// The document of one run. JSON keys are in the order of the fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Version of this format: [`SCHEMA`].
    pub schema: u32,
    /// The name of the procedure, as typed on the command line, or [`COMPARISON`].
    pub procedure: String,
    /// The target; a simulated drive has its flash counters at the end of the run.
    pub target: Identity,
    /// The plan of the run.
    pub plan: Plan,
    /// The result, in one or two sentences.
    pub summary: String,
    /// The answers, most important first.
    pub answers: Vec<Answer>,
    /// The part of the findings for one screen.
    pub overview: Overview,
    /// Tables by name, answers first; each column's key ends with its unit.
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
    /// Makes it from findings and what is known of their run; [`crate::run_document`] takes that from evidence.
    pub fn new(
        plan: Plan,
        target: Identity,
        findings: Findings,
        instrument: Instrument,
        bytes_written: u64,
        elapsed: Nanos,
    ) -> Self {
        let Findings { summary, answers, overview, tables, series, is_interrupted: _ } = findings;
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

    /// The procedure of the runs that it compares, if it compares runs.
    pub(crate) fn compared_procedure(&self) -> Option<&str> {
        (self.procedure == COMPARISON).then(|| self.plan.options.get("procedure")?.as_str()).flatten()
    }

    /// The table of its overview, if that has rows.
    pub(crate) fn overview_table(&self) -> Option<&OverviewTable> {
        self.overview.table.as_ref().filter(|table| !table.rows.is_empty())
    }

    /// The document as indented JSON that ends with a newline.
    ///
    /// # Errors
    /// [`ReportError::NotFinite`] when a number in it is infinite or not a number.
    pub fn to_json(&self) -> Result<String, ReportError> {
        check_numbers(self)?;
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

/// A document that cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// A number is infinite or not a number; JSON has neither, so it would silently become `null`.
    #[error(
        "{place} is {value}, not a number that JSON can hold: correct it where it comes from (a plan's \
         option, or a procedure that divided by zero) and report again; the measurement itself is not affected"
    )]
    NotFinite {
        /// The number, as a path of keys.
        place: String,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
    },
    /// The text is not the JSON of a document.
    #[error("this is not a likenew document: {0}; give a file that was written with --json")]
    NotADocument(#[source] serde_json::Error),
    /// The text is a document of another version of the format.
    #[error(
        "this document has schema {version}, and this version of likenew reads schema {} only: write it again with \
         `likenew report RUN --json FILE`, after `likenew judge RUN` if the run is as old as the document",
        SCHEMA
    )]
    OtherSchema {
        /// The version in the document.
        version: u64,
    },
}

/// Finds a number that JSON cannot hold and would turn into `null`.
///
/// # Errors
/// The first number of the document that is infinite or not a number, with its place.
pub(crate) fn check_numbers(document: &Document) -> Result<(), ReportError> {
    answers(document)?;
    for (name, series) in &document.series {
        for line in &series.lines {
            for value in line.points.iter().flatten() {
                number(*value, || format!("series.{name}.lines[{:?}].points", line.name))?;
            }
            for value in line.band.iter().flatten() {
                number(*value, || format!("series.{name}.lines[{:?}].band", line.name))?;
            }
        }
        for mark in &series.marks {
            number(mark.x, || format!("series.{name}.marks[{:?}].x", mark.label))?;
        }
    }
    if let Some(counters) = &document.target.accounting {
        number(counters.write_amplification, || "target.accounting.write_amplification".into())?;
    }
    if let Some(limits) = &document.instrument.calibration {
        number(limits.nop_iops, || "instrument.calibration.nop_iops".into())?;
        number(limits.overhead_ns_per_io, || "instrument.calibration.overhead_ns_per_io".into())?;
        number(limits.random_data_bytes_per_s, || "instrument.calibration.random_data_bytes_per_s".into())?;
        number(limits.ratio_data_bytes_per_s, || "instrument.calibration.ratio_data_bytes_per_s".into())?;
    }
    table("plan.options", &document.plan.options)
}

fn answers(document: &Document) -> Result<(), ReportError> {
    for (index, answer) in document.answers.iter().enumerate() {
        if let Some(estimate) = &answer.estimate {
            number(estimate.value, || format!("answers[{index}].estimate.value"))?;
        }
        for action in &answer.actions {
            let place = || format!("answers[{index}].actions.{}.time_s", action.id);
            action.time_s.map_or(Ok(()), |seconds| number(seconds, place))?;
        }
    }
    let rows = document.overview.table.iter().flat_map(|table| &table.rows).enumerate();
    for (index, row) in rows {
        let place = || format!("overview.table.rows[{index}].share");
        row.share.map_or(Ok(()), |share| number(share, place))?;
    }
    Ok(())
}

fn number(value: f64, place: impl FnOnce() -> String) -> Result<(), ReportError> {
    if value.is_finite() { Ok(()) } else { Err(ReportError::NotFinite { place: place(), value }) }
}

fn table(place: &str, options: &toml::Table) -> Result<(), ReportError> {
    options.iter().try_for_each(|(key, value)| option(&format!("{place}.{key}"), value))
}

fn option(place: &str, value: &toml::Value) -> Result<(), ReportError> {
    match value {
        toml::Value::Float(value) => number(*value, || place.to_owned()),
        toml::Value::Array(values) => values.iter().try_for_each(|value| option(place, value)),
        toml::Value::Table(options) => table(place, options),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use likenew_core::findings::Mark;
    use likenew_core::instrument::Calibration;

    use super::*;
    use crate::tests::fixtures;

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

    #[test]
    fn every_number_that_json_cannot_hold_is_named() {
        let case = |change: &dyn Fn(&mut Document), place: &str| {
            let mut document = fixtures::bench("sim:new", 1.0);
            assert!(document.to_json().is_ok());
            change(&mut document);
            let error = document.to_json().unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        };
        fn estimate(document: &mut Document) -> &mut likenew_core::findings::Estimate {
            document.answers[0].estimate.as_mut().unwrap()
        }
        case(&|d| estimate(d).value = f64::NAN, "answers[0].estimate.value is NaN");
        case(
            &|d| d.series.get_mut("bandwidth").unwrap().lines[1].points[2][1] = f64::NAN,
            "series.bandwidth.lines[\"write\"].points",
        );
        case(
            &|d| d.series.get_mut("bandwidth").unwrap().lines[0].band = vec![[0.0, f64::NAN, 1.0]],
            "series.bandwidth.lines[\"read\"].band",
        );
        case(
            &|d| {
                let marks = &mut d.series.get_mut("bandwidth").unwrap().marks;
                marks.push(Mark { x: f64::NAN, label: "knee".into() });
            },
            "series.bandwidth.marks[\"knee\"].x",
        );
        case(
            &|d| d.target.accounting.as_mut().unwrap().write_amplification = f64::INFINITY,
            "target.accounting.write_amplification",
        );
        case(
            &|d| {
                d.instrument.calibration = Some(Calibration {
                    timer_step_ns: 1,
                    nop_iops: 1.0,
                    overhead_ns_per_io: 1.0,
                    random_data_bytes_per_s: f64::INFINITY,
                    ratio_data_bytes_per_s: 1.0,
                    added_latency: None,
                });
            },
            "instrument.calibration.random_data_bytes_per_s",
        );
        case(
            &|d| d.plan.options = toml::from_str("a = [1.0, {b = nan}]").unwrap(),
            "plan.options.a.b is NaN",
        );
    }
}
