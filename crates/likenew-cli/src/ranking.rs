//! Drives on which the same trace was replayed, sorted by how long its programs would have waited.

use likenew_core::findings::Row;
use likenew_core::units::Nanos;
use likenew_report::labeled_document::LabeledDocument;

use crate::wording;

/// The column that decides, and the one beside it.
const WAITING: (&str, &str) = ("waiting_ns", "saved_percent");
const BUSY: (&str, &str) = ("busy_ns", "busy_saved_percent");

/// The ranking, as text; `None` if fewer than two replays can be compared, because they differ in trace or
/// settings.
pub(crate) fn ranking(documents: &[LabeledDocument]) -> Option<String> {
    let replays: Vec<&LabeledDocument> =
        documents.iter().filter(|labeled| labeled.document.procedure == "replay").collect();
    let first = alike(replays.first()?)?;
    if replays.len() < 2 || replays.iter().any(|replay| alike(replay).as_ref() != Some(&first)) {
        return None;
    }
    // At full speed, waiting only shows how deep the queue was.
    let by = if first.mode == "fast" { BUSY } else { WAITING };
    let mut ranked: Vec<(f64, &LabeledDocument)> = replays
        .into_iter()
        .map(|replay| Some((column_mean(replay, by.0)?, replay)))
        .collect::<Option<_>>()?;
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let width = ranked.iter().map(|(_, replay)| replay.label.chars().count()).max().unwrap_or(0);
    let is_busy = by == BUSY;
    let mut text = wording::ranking_title(is_busy);
    for (place, (value, replay)) in ranked.iter().enumerate() {
        let label = format!("{:width$}", replay.label);
        text += &wording::ranking_line(place + 1, &label, is_busy, span(*value), column_mean(replay, by.1));
    }
    Some(text)
}

/// What has to be equal.
#[derive(PartialEq)]
struct ComparisonKey {
    digest: String,
    mode: String,
    ios: f64,
}

fn alike(replay: &LabeledDocument) -> Option<ComparisonKey> {
    let options = &replay.document.plan.options;
    let digest = options.get("summary")?.get("digest")?.as_str()?.to_owned();
    let mode = options.get("mode").and_then(|mode| mode.as_str()).unwrap_or("dependent").to_owned();
    Some(ComparisonKey { digest, mode, ios: column_mean(replay, "ios")? })
}

/// The mean of a column over the passes.
fn column_mean(replay: &LabeledDocument, key: &str) -> Option<f64> {
    let rows: &[Row] = replay.document.tables.get("summary")?;
    let values: Vec<f64> = rows.iter().map(|row| row.get(key)?.as_f64()).collect::<Option<_>>()?;
    likenew_stats::summary::mean(&values)
}

fn span(ns: f64) -> Nanos {
    Nanos(ns.round() as u64)
}
