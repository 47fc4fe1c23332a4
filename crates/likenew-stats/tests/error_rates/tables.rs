//! The counts as Markdown.

use std::fmt::Display;

use crate::counts::{AnswerCounts, Coverage, LENGTHS, SERIES, TwoLevelRow};

/// The head of a table: the name of its first column, and those of the others.
pub(crate) fn head(first: &str, columns: &[String]) -> String {
    format!("| {first} | {} |\n|---|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
}

/// A row: its name, and the other cells.
pub(crate) fn row(name: impl Display, cells: &[impl Display]) -> String {
    let cells: String = cells.iter().map(|cell| format!(" {cell} |")).collect();
    format!("| {name} |{cells}\n")
}

pub(crate) fn one_level(rows: &[(&'static str, [AnswerCounts; LENGTHS.len()])]) -> String {
    let mut out = head("one level", &LENGTHS.map(|length| format!("n = {}", thousands(length as u64))));
    for (name, answers) in rows {
        let cells = answers
            .map(|answer| format!("{} / {}", percent(answer.two, SERIES), percent(answer.undecided, SERIES)));
        out += &row(name, &cells);
    }
    out
}

pub(crate) fn two_levels(rows: &[TwoLevelRow]) -> String {
    let mut out = String::from(
        "| two levels | n | smaller level 1–2 | smaller level 3–5 | smaller level ≥ 6 |\n|---|---|---|---|---|\n",
    );
    for TwoLevelRow { levels, length, answers } in rows {
        let cells = answers.map(|answer| match answer.total() {
            0..30 => "–".to_owned(),
            total => {
                [answer.two, answer.undecided, answer.one].map(|count| percent(count, total)).join(" / ")
            }
        });
        let name =
            format!("ratio {}, {}% | {}", levels.ratio, levels.variation * 100.0, thousands(*length as u64));
        out += &row(name, &cells);
    }
    out
}

pub(crate) fn coverage(rows: &[Coverage]) -> String {
    let mut out = String::from("| values | n | holds the truth |\n|---|---|---|\n");
    for Coverage { skewed, length, coverage } in rows {
        let values = if *skewed { "lognormal, σ = 0.8" } else { "normal" };
        out += &row(values, &[thousands(*length as u64), percent(*coverage, SERIES) + "%"]);
    }
    out
}

/// A whole number with a comma between thousands.
pub(crate) fn thousands(number: u64) -> String {
    match number / 1000 {
        0 => number.to_string(),
        above => format!("{},{:03}", thousands(above), number % 1000),
    }
}

pub(crate) fn percent(count: u64, total: u64) -> String {
    format!("{:.1}", 100.0 * count as f64 / total as f64)
}
