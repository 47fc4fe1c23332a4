//! Tables, shares and repeated rounds as text.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use likenew_stats::summary::{maximum, median, minimum};

/// A Markdown table whose columns are aligned, the first to the left and the others to the right.
pub(crate) fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let head = head.iter().map(ToString::to_string).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..lines[0].len()).map(width).collect();
    let mut text = String::new();
    for (index, line) in lines.iter().enumerate() {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            0 => format!(" {cell:width$} |"),
            _ => format!(" {cell:>width$} |"),
        });
        text += &format!("|{}\n", cells.collect::<String>());
        if index == 0 {
            let rule = |(column, width): (usize, &usize)| {
                format!("{}{}|", "-".repeat(width + 1), if column == 0 { '-' } else { ':' })
            };
            text += &format!("|{}\n", widths.iter().enumerate().map(rule).collect::<String>());
        }
    }
    text
}

/// The cells of a row.
pub(crate) fn row(cells: &[&dyn Display]) -> Vec<String> {
    cells.iter().map(ToString::to_string).collect()
}

/// A confusion table: each truth, and how often each answer was given to it.
pub(crate) fn confusion(title: &str, pairs: impl IntoIterator<Item = (String, String)>) -> String {
    let mut counts: BTreeMap<String, BTreeMap<String, usize>> = BTreeMap::new();
    for (truth, answer) in pairs {
        *counts.entry(truth).or_default().entry(answer).or_default() += 1;
    }
    let rows = counts.into_iter().map(|(truth, answers)| {
        let answers: Vec<String> =
            answers.iter().map(|(answer, count)| format!("{answer} {count}")).collect();
        vec![truth, answers.join(", ")]
    });
    table(&[title, "answers"], rows)
}

/// A part of a whole: `39 of 40 = 97.5%`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Share {
    pub(crate) part: usize,
    pub(crate) whole: usize,
}

impl Share {
    /// Counts the items that have a property.
    pub(crate) fn count<T>(items: impl IntoIterator<Item = T>, has: impl Fn(&T) -> bool) -> Self {
        let mut share = Self::default();
        items.into_iter().for_each(|item| share.add(has(&item)));
        share
    }

    /// Counts one more item.
    pub(crate) fn add(&mut self, is_part: bool) {
        self.part += usize::from(is_part);
        self.whole += 1;
    }

    /// In percent; 0 if nothing was counted.
    pub(crate) fn percent(self) -> f64 {
        100.0 * self.part as f64 / self.whole.max(1) as f64
    }
}

impl Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.whole {
            0 => f.write_str("–"),
            whole => write!(f, "{} of {whole} = {:.1}%", self.part, self.percent()),
        }
    }
}

/// The mark behind a number that misses its goal.
pub(crate) fn mark(is_met: bool) -> &'static str {
    if is_met { "" } else { "  MISSED" }
}

const NO_ROUND: &str = "a round was measured";

/// The median.
pub(crate) fn middle(values: &[f64]) -> f64 {
    median(values).expect(NO_ROUND)
}

/// `1.003 [0.98 … 1.02]`: the median, the lowest and the highest.
pub(crate) fn spread(ratios: &[f64]) -> String {
    let (lowest, highest) = (minimum(ratios).expect(NO_ROUND), maximum(ratios).expect(NO_ROUND));
    format!("{:.3} [{lowest:.2} … {highest:.2}]", middle(ratios))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown_with_even_columns() {
        let text = table(&["family", "right"], [row(&[&"FAST", &Share { part: 39, whole: 40 }])]);
        assert_eq!(
            text,
            "| family |            right |\n|--------|-----------------:|\n| FAST   | 39 of 40 = 97.5% |\n"
        );
        let pairs = [("page", "page"), ("page", "block"), ("page", "page"), ("fast", "fast")];
        let text = confusion("mapping", pairs.map(|(truth, answer)| (truth.to_owned(), answer.to_owned())));
        assert!(text.ends_with("| fast    |          fast 1 |\n| page    | block 1, page 2 |\n"), "{text}");
    }

    #[test]
    fn a_share_of_nothing_has_no_percentage() {
        assert_eq!(Share::default().to_string(), "–");
        assert_eq!(Share::count([1, 2, 3, 4], |number| *number > 3).to_string(), "1 of 4 = 25.0%");
    }
}
