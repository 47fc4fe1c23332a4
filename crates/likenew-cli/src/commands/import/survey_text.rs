//! The content of a trace as text.

use std::path::PathBuf;

use likenew_core::quantity::{Number, Size};
use likenew_core::units::Nanos;
use likenew_trace::{Amount, Survey};
use serde::Serialize;

use super::wording;

/// Most applications shown; the JSON has more.
const APPLICATIONS: usize = 8;

/// The result of reading and converting a trace, as `--json` prints it.
#[derive(Serialize)]
pub(super) struct ImportReport {
    pub(super) file: String,
    pub(super) format: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) compression: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) volume: Option<String>,
    /// The header of the trace, in the project's own format.
    #[serde(skip_serializing_if = "serde_json::Map::is_empty")]
    pub(super) head: serde_json::Map<String, serde_json::Value>,
    pub(super) survey: Survey,
    /// What was skipped or is unknown.
    pub(super) notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) output: Option<PathBuf>,
}

/// The survey as lines.
pub(super) fn text(report: &ImportReport) -> String {
    let ImportReport { file, format, compression, volume, survey, notes, output, .. } = report;
    let mut lines =
        vec![wording::title(file, survey, format, *compression, volume.as_deref()), String::new()];
    lines.extend(align_columns(&operations(survey)));
    lines.push(String::new());
    lines.push(wording::addresses(survey));
    lines.push(wording::latencies(survey));
    lines.push(wording::digest(&survey.digest));
    if survey.applications.iter().any(|share| !share.application.is_empty()) {
        lines.push(String::new());
        lines.extend(align_columns(&applications(survey)));
        let more = survey.applications.len().saturating_sub(APPLICATIONS);
        if more > 0 {
            lines.push(wording::more_applications(more));
        }
    }
    lines.extend(notes.iter().map(|note| wording::note(note)));
    lines.extend(output.iter().map(|path| wording::written_to(path)));
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn operations(survey: &Survey) -> Vec<Vec<String>> {
    let rows =
        [("read", survey.read), ("write", survey.write), ("trim", survey.trim), ("flush", survey.flush)];
    let met = rows.into_iter().filter(|(_, amount)| amount.ios > 0);
    let head = ["op", "I/Os", "amount"].map(str::to_owned).to_vec();
    std::iter::once(head)
        .chain(met.map(|(op, Amount { ios, bytes })| {
            vec![op.to_owned(), Number(ios as f64).to_string(), Size(bytes).to_string()]
        }))
        .collect()
}

fn applications(survey: &Survey) -> Vec<Vec<String>> {
    let time = |ns: Nanos| if ns == Nanos::ZERO { String::new() } else { ns.to_string() };
    let rows = survey.applications.iter().take(APPLICATIONS).map(|share| {
        let name = if share.application.is_empty() { "(unknown)" } else { &share.application };
        vec![
            name.to_owned(),
            Number(share.ios as f64).to_string(),
            Size(share.bytes).to_string(),
            time(share.waiting_ns),
        ]
    });
    let head = ["application", "I/Os", "amount", "waited"].map(str::to_owned).to_vec();
    std::iter::once(head).chain(rows).collect()
}

/// Columns: the first to the left, the others to the right.
fn align_columns(rows: &[Vec<String>]) -> Vec<String> {
    let count = |text: &String| text.chars().count();
    let columns = rows.first().map_or(0, Vec::len);
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| count(&row[column])).max().unwrap_or(0)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    rows.iter().map(line).collect()
}
