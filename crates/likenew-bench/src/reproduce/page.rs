//! Markdown: tables and numbers.

use std::fmt::Write as _;

use likenew_core::findings::Row;

/// A published value of a new drive.
#[derive(Clone, Copy, Debug)]
pub(super) struct PublishedFigure {
    /// The drive's name in tables.
    pub(super) drive: &'static str,
    /// What was measured, with its unit.
    pub(super) metric: &'static str,
    /// As printed.
    pub(super) printed: &'static str,
    /// As a number, to divide by.
    pub(super) value: f64,
}

impl PublishedFigure {
    /// The first cells of a row, which do not depend on a simulation.
    pub(super) fn cells(&self) -> String {
        format!("| {} | {} | {} |", self.drive, self.metric, self.printed)
    }
}

/// Published against simulated; `None` where nothing comes out, or the catalog has no such drive.
pub(super) fn published_table(published: &[PublishedFigure], simulated: &[Option<f64>]) -> String {
    assert_eq!(published.len(), simulated.len(), "every published figure is answered");
    let mut text =
        String::from("| drive | what | published (new) | simulated | ratio |\n|---|---|---|---|---|\n");
    for (row, value) in published.iter().zip(simulated) {
        let answer = match value {
            Some(value) => format!("{} | {:.2}", number(*value), value / row.value),
            None => "none | –".into(),
        };
        writeln!(text, "{} {answer} |", row.cells()).expect("a string takes everything");
    }
    text
}

/// A number from a row of findings.
///
/// # Panics
/// If there is none of this name: procedures and pages are of one version.
pub(super) fn figure(row: &Row, key: &str) -> f64 {
    row.get(key).and_then(|value| value.as_f64()).unwrap_or_else(|| panic!("no number {key} in {row:?}"))
}

/// A table of formatted cells.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
    let mut text = line(head.to_vec()) + &line(vec!["---"; head.len()]).replace(' ', "");
    for row in rows {
        assert_eq!(row.len(), head.len(), "a row has a cell for each column");
        text += &line(row.iter().map(String::as_str).collect());
    }
    text
}

/// Three significant digits, and all digits before the point.
pub(super) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude > 0.0 && magnitude < 0.995 {
        let decimals = (2 - magnitude.log10().floor() as i32).clamp(2, 9) as usize;
        return format!("{value:.decimals$}");
    }
    likenew_core::units::three_digits(value)
}

/// Nanoseconds as milliseconds.
pub(super) fn milliseconds(ns: f64) -> String {
    number(ns / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let texts = [0.0, 0.0229, 0.5, 1.0, 8.6, 76.51, 247.3, 2101.0].map(number);
        assert_eq!(texts, ["0.00", "0.0229", "0.500", "1.00", "8.60", "76.5", "247", "2101"]);
    }

    #[test]
    fn a_missing_drive_has_a_line_that_says_so() {
        let row = PublishedFigure { drive: "A", metric: "speed, MB/s", printed: "10", value: 10.0 };
        let text = published_table(&[row, row], &[Some(11.0), None]);
        let lines: Vec<&str> = text.lines().skip(2).collect();
        assert_eq!(lines, ["| A | speed, MB/s | 10 | 11.0 | 1.10 |", "| A | speed, MB/s | 10 | none | – |"]);
    }

    #[test]
    fn a_table_is_markdown() {
        assert_eq!(table(&["a", "b"], &[vec!["1".into(), "2".into()]]), "| a | b |\n|---|---|\n| 1 | 2 |\n");
    }
}
