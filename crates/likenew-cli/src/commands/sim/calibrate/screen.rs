//! What a calibration shows on a terminal.

use std::path::Path;

use likenew_calibration::{Calibration, Estimate, Standing};

use crate::wording::calibrate as wording;

/// Rows of the table, so that everything fits a screen.
const ROWS_MAX: usize = 13;

/// The answer, the table, and what to do next.
pub(super) fn text(calibration: &Calibration, path: &Path) -> String {
    let mut lines = vec![wording::answer(calibration), String::new()];
    let is_known = |estimate: &&Estimate| matches!(estimate.standing, Standing::Determined | Standing::Rough);
    let mut known: Vec<&Estimate> = calibration.estimates.iter().filter(is_known).collect();
    known.sort_by(|a, b| (a.high / a.low).total_cmp(&(b.high / b.low)));
    let combined: Vec<&Estimate> =
        calibration.estimates.iter().filter(|estimate| estimate.standing == Standing::Combined).collect();
    let mut rows: Vec<[String; 4]> = known.iter().map(|estimate| wording::row(estimate)).collect();
    // A combination is worth a row where its parts are not known.
    let says_more = |keys: &[&str]| combined.iter().any(|estimate| keys.contains(&estimate.key));
    rows.extend(
        calibration.combinations.iter().filter(|of| says_more(&of.keys)).map(wording::combination_row),
    );
    rows.truncate(ROWS_MAX);
    lines.extend(table(&rows));
    lines.push(String::new());
    lines.extend(wording::combined(&combined));
    let unknown: Vec<&Estimate> =
        calibration.estimates.iter().filter(|estimate| estimate.standing == Standing::Undetermined).collect();
    lines.extend(wording::undetermined(&unknown));
    lines.push(wording::file(path, &calibration.base));
    lines.push(wording::try_it(path, &calibration.state));
    lines.into_iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn table(rows: &[[String; 4]]) -> Vec<String> {
    let head = wording::HEAD.map(str::to_owned);
    let rows: Vec<&[String; 4]> = std::iter::once(&head).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths = [width(0), width(1), width(2)];
    let line = |row: &&[String; 4]| {
        let [name, value, range, base] = row;
        let [first, second, third] = widths;
        format!("  {name:first$}  {value:>second$}  {range:third$}  {base}")
    };
    rows.iter().map(line).collect()
}
