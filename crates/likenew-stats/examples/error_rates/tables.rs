//! The counts as Markdown.

use std::fmt::Write as _;

use crate::counts::{AnswerCounts, Coverage, LENGTHS, SERIES, TwoLevelRow};

pub(crate) fn one_level(rows: &[(&'static str, [AnswerCounts; LENGTHS.len()])]) -> String {
    let lengths = LENGTHS.map(|length| format!("n = {}", thousands(length as u64))).join(" | ");
    let mut out = format!("| one level | {lengths} |\n|---|{}\n", "---|".repeat(LENGTHS.len()));
    for (name, answers) in rows {
        let cells = answers
            .map(|answer| format!("{} / {}", percent(answer.two, SERIES), percent(answer.undecided, SERIES)));
        writeln!(out, "| {name} | {} |", cells.join(" | ")).expect("a string takes text");
    }
    out
}

pub(crate) fn two_levels(rows: &[TwoLevelRow]) -> String {
    let mut out = String::from(
        "| two levels | n | smaller level 1–2 | smaller level 3–5 | smaller level ≥ 6 |\n|---|---|---|---|---|\n",
    );
    for row in rows {
        let cells = row.answers.map(|answer| match answer.total() {
            0..30 => "–".to_owned(),
            total => {
                [answer.two, answer.undecided, answer.one].map(|count| percent(count, total)).join(" / ")
            }
        });
        let (ratio, variation) = (row.levels.ratio, row.levels.variation * 100.0);
        writeln!(
            out,
            "| ratio {ratio}, {variation}% | {} | {} |",
            thousands(row.length as u64),
            cells.join(" | ")
        )
        .expect("a string takes text");
    }
    out
}

pub(crate) fn coverage(rows: &[Coverage]) -> String {
    let mut out = String::from("| values | n | holds the truth |\n|---|---|---|\n");
    for row in rows {
        let values = if row.skewed { "lognormal, σ = 0.8" } else { "normal" };
        writeln!(out, "| {values} | {} | {}% |", thousands(row.length as u64), percent(row.coverage, SERIES))
            .expect("a string takes text");
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
