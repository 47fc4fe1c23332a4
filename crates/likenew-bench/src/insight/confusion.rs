//! Confusion matrices: the word in the answer against the right one.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use likenew_sim::truth::TrueValue;

use super::answer::StatedValue;
use super::case::Row;

/// The matrix of a property that is a word: truths in rows, answers in columns.
pub(super) fn matrix<'a>(property: &str, rows: impl IntoIterator<Item = &'a Row>) -> String {
    let mut counts: BTreeMap<(String, String), u32> = BTreeMap::new();
    for row in rows {
        let truth = match row.true_value {
            TrueValue::Word(word) => word,
            TrueValue::HiddenWord(_) | TrueValue::Hidden { .. } => "(hidden)",
            TrueValue::Number(_) | TrueValue::Absent => "(none)",
        };
        let statement = match &row.answer.statement {
            StatedValue::Word(word) => word.as_str(),
            StatedValue::Number { .. } => "(a number)",
            StatedValue::Absent => "absent",
            StatedValue::Undecided => "undecided",
        };
        *counts.entry((truth.to_owned(), statement.to_owned())).or_default() += 1;
    }
    let across: Vec<String> = names(counts.keys().map(|(_, statement)| statement));
    let mut text = format!("{property}: truth down, answer across\n  {:16}", "");
    across.iter().for_each(|statement| write!(text, " {statement:>14}").expect("a text takes all"));
    text.push('\n');
    for truth in names(counts.keys().map(|(truth, _)| truth)) {
        write!(text, "  {truth:16}").expect("a text takes all");
        for statement in &across {
            let count = counts.get(&(truth.clone(), statement.clone())).copied().unwrap_or(0);
            write!(text, " {count:>14}").expect("a text takes all");
        }
        text.push('\n');
    }
    text
}

fn names<'a>(all: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = all.cloned().collect();
    names.sort();
    names.dedup();
    names
}
