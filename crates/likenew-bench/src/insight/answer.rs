//! The answer of an X-ray on one property.

use anyhow::{Context as _, bail};
use likenew_core::findings::Findings;
use serde::Deserialize;

/// A row of the table `properties`.
#[derive(Clone, Debug, Deserialize)]
struct Row {
    property: String,
    state: String,
    word: Option<String>,
    value: Option<f64>,
    value_low: Option<f64>,
    value_high: Option<f64>,
    confidence_percent: Option<f64>,
    bytes_written: u64,
}

/// The value in an answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum StatedValue {
    /// A word.
    Word(String),
    /// A number, with the ends of a 90% interval.
    Number { value: f64, low: f64, high: f64 },
    /// The drive does not have it.
    Absent,
    /// Unknown.
    Undecided,
}

/// The answer on a property, and its confidence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PropertyResult {
    pub(super) property: String,
    pub(super) statement: StatedValue,
    /// 0 if it is unknown.
    pub(super) confidence: f64,
    pub(super) bytes_written: u64,
}

/// All answers of an X-ray.
///
/// # Errors
/// It has no table of properties, or one in another form.
pub(super) fn answers(findings: &Findings) -> anyhow::Result<Vec<PropertyResult>> {
    let table = findings.tables.get("properties").context("the X-ray has no table of properties")?;
    table.iter().map(|row| answer(serde_json::from_value(row.clone().into())?)).collect()
}

fn answer(row: Row) -> anyhow::Result<PropertyResult> {
    let Row { property, state, word, value, value_low, value_high, confidence_percent, bytes_written } = row;
    let statement = match (state.as_str(), word, value) {
        // The simulator names the truth in words, the X-ray in identifiers.
        ("found", Some(word), None) => StatedValue::Word(word.replace('_', " ")),
        ("found", None, Some(value)) => StatedValue::Number {
            value,
            low: value_low.with_context(|| format!("{property} has a number without an interval"))?,
            high: value_high.with_context(|| format!("{property} has a number without an interval"))?,
        },
        ("absent", None, None) => StatedValue::Absent,
        ("undecided", None, None) => StatedValue::Undecided,
        other => bail!("{property} is {other:?}, not an answer"),
    };
    Ok(PropertyResult {
        property,
        statement,
        confidence: confidence_percent.unwrap_or(0.0) / 100.0,
        bytes_written,
    })
}
