//! What else a parameter could be, and how a drive's file is written with other values in it.
//!
//! A file states a range where nobody publishes a value and the result depends on it. Drawing values from ranges is left to
//! whoever wants to know how far a prediction follows from what is known: the simulator does no statistics.

use likenew_core::input::one_line;
use std::fmt;
use std::ops::Range;

use serde::Serialize;
use toml::de::{DeTable, DeValue};

use crate::error::SimError;
use crate::file_error::{FileError, RangeError};
use crate::file_text::{Text, spell};

/// What else a parameter could be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterRange {
    /// Any number from the first to the last, in the unit of the parameter.
    Between {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// Only whole numbers.
        whole: bool,
    },
    /// One of these, as files spell them.
    Choices(Vec<String>),
}

impl ParameterRange {
    /// The value at a position from 0 (the smallest, or the first choice) up to but without 1, as files spell it. Equal
    /// parts of the positions belong to equal parts of the range, and to each choice.
    ///
    /// # Panics
    /// When the position is outside of that.
    pub fn at(&self, position: f64) -> String {
        assert!((0.0..1.0).contains(&position), "a position is a share below 1");
        match self {
            Self::Between { low, high, whole: true } => {
                let steps = high - low + 1.0;
                format!("{}", (low + (position * steps).floor()).min(*high) as u64)
            }
            Self::Between { low, high, whole: false } => format!("{:?}", low + position * (high - low)),
            Self::Choices(choices) => choices[(position * choices.len() as f64) as usize].clone(),
        }
    }
}

impl fmt::Display for ParameterRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Between { low, high, .. } => write!(f, "{low} to {high}"),
            Self::Choices(choices) => f.write_str(&choices.join(", ")),
        }
    }
}

/// Reads `range = [LOW, HIGH]` beside a value. The ends have to be allowed as values.
pub(crate) fn between(
    value: &DeValue<'_>,
    ends: &DeValue<'_>,
    is_allowed: impl Fn(&DeValue<'_>) -> bool,
) -> Result<ParameterRange, RangeError> {
    let DeValue::Array(ends) = ends else { return Err(RangeError::NotTwoEnds) };
    let [low, high] = &**ends else { return Err(RangeError::NotTwoEnds) };
    let (low, high) = (low.get_ref(), high.get_ref());
    if let Some(end) = [low, high].into_iter().find(|end| !is_allowed(end)) {
        return Err(RangeError::WrongEnd(spell(end)));
    }
    let whole = [value, low, high].into_iter().all(DeValue::is_integer);
    let (Some(value), Some(low), Some(high)) = (number(value), number(low), number(high)) else {
        return Err(RangeError::NotNumbers);
    };
    if !(low..=high).contains(&value) || low == high {
        return Err(RangeError::ValueOutside { low, high });
    }
    Ok(ParameterRange::Between { low, high, whole })
}

/// Reads `choices = [A, B]` beside a value.
pub(crate) fn choices(
    value: &DeValue<'_>,
    list: &DeValue<'_>,
    is_allowed: impl Fn(&DeValue<'_>) -> bool,
) -> Result<ParameterRange, RangeError> {
    let DeValue::Array(list) = list else { return Err(RangeError::NotAList) };
    if let Some(choice) = list.iter().find(|choice| !is_allowed(choice.get_ref())) {
        return Err(RangeError::WrongChoice(spell(choice.get_ref())));
    }
    let choices: Vec<String> = list.iter().map(|choice| spell(choice.get_ref())).collect();
    if choices.len() < 2 || !choices.contains(&spell(value)) {
        return Err(RangeError::ValueNotAmongChoices);
    }
    Ok(ParameterRange::Choices(choices))
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Integer(number) => {
            u64::from_str_radix(number.as_str(), number.radix()).ok().map(|n| n as f64)
        }
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// The text of a drive's file with other values at some of its keys, such as `("nand.program_ns", "800000")`, each spelled as
/// files spell it. Everything else stays, so that the result is read as strictly as any file.
///
/// # Errors
/// The text is not TOML, or has no value at a key.
pub fn replace_values(file: &str, text: &str, values: &[(&str, &str)]) -> Result<String, SimError> {
    replace_spans(file, text, values, |table, key| Some(entry(table, key)?.1.get("value")?.span()))
}

/// The text of a drive's file with other entries at some of its keys, such as
/// `("nand.program_ns", "{ value = 800000, source = \"measured\" }")`: value, range and source are all replaced.
///
/// # Errors
/// The text is not TOML, or has no value at a key.
pub fn replace_entries(file: &str, text: &str, entries: &[(&str, &str)]) -> Result<String, SimError> {
    replace_spans(file, text, entries, |table, key| Some(entry(table, key)?.0))
}

/// Replaces what `find` finds at each key.
fn replace_spans(
    file: &str,
    text: &str,
    values: &[(&str, &str)],
    find: impl Fn(&DeTable<'_>, &str) -> Option<Range<usize>>,
) -> Result<String, SimError> {
    let whole = Text { file, text };
    let table = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        whole.error(at, FileError::NotToml(one_line(error.message())))
    })?;
    let mut spans = Vec::new();
    for (key, value) in values {
        let span = find(table.get_ref(), key)
            .ok_or_else(|| whole.error(0, FileError::NoSuchValue((*key).to_owned())))?;
        spans.push((span, *value));
    }
    spans.sort_by_key(|(span, _)| span.start);
    let (mut replaced, mut copied) = (String::with_capacity(text.len()), 0);
    for (span, value) in spans {
        if span.start < copied {
            return Err(whole.error(span.start, FileError::TwoReplacements));
        }
        replaced += &text[copied..span.start];
        replaced += value;
        copied = span.end;
    }
    Ok(replaced + &text[copied..])
}

/// Where the entry of a key such as `nand.program_ns` stands in the text, and what it holds.
fn entry<'a, 'b>(table: &'b DeTable<'a>, key: &str) -> Option<(Range<usize>, &'b DeTable<'a>)> {
    let (section, name) = key.split_once('.')?;
    let entry = table.get(section)?.get_ref().as_table()?.get(name)?;
    Some((entry.span(), entry.get_ref().as_table()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::model::Model;

    fn tiny() -> &'static str {
        catalog::catalog().iter().find(|entry| entry.name == "tiny-flash").unwrap().text
    }

    #[test]
    fn positions_spread_over_a_range_and_its_choices() {
        let whole = ParameterRange::Between { low: 1.0, high: 2.0, whole: true };
        assert_eq!([0.0, 0.49, 0.5, 0.99].map(|position| whole.at(position)), ["1", "1", "2", "2"]);
        let share = ParameterRange::Between { low: 0.5, high: 1.5, whole: false };
        assert_eq!([0.0, 0.25].map(|position| share.at(position)), ["0.5", "0.75"]);
        let words = ParameterRange::Choices(vec!["\"greedy\"".into(), "\"fifo\"".into()]);
        assert_eq!([0.0, 0.6].map(|position| words.at(position)), ["\"greedy\"", "\"fifo\""]);
    }

    #[test]
    fn a_replaced_value_is_read_and_checked_like_any_other() {
        let text = replace_values("tiny", tiny(), &[("nand.program_ns", "777"), ("link.command_slots", "3")]);
        let model = Model::parse("tiny", &text.unwrap()).unwrap();
        assert_eq!(model.mechanism.link().command_slots, 3);
        assert_eq!(model.source("nand.program_ns").unwrap().value, "777");
        let wild = replace_values("tiny", tiny(), &[("link.command_slots", "0")]).unwrap();
        assert!(Model::parse("tiny", &wild).unwrap_err().to_string().contains("link.command_slots is 0"));
        for (values, says) in [
            (&[("nand.nonsense", "1")][..], "has no value nand.nonsense"),
            (&[("nonsense", "1")], "has no value nonsense"),
            (&[("nand.read_ns", "1"), ("nand.read_ns", "2")], "replaced twice"),
        ] {
            let error = replace_values("tiny", tiny(), values).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }

    #[test]
    fn a_replaced_entry_takes_its_source_and_range_with_it() {
        let text = catalog::catalog().iter().find(|entry| entry.name == "intel-x25-m-80gb").unwrap().text;
        let entry = "{ value = 20, source = \"counted\" }";
        let model = Model::parse("x", &replace_entries("x", text, &[("nand.programs_max", entry)]).unwrap());
        let model = model.unwrap();
        let found = model.source("nand.programs_max").unwrap();
        assert_eq!((found.value.as_str(), found.source.as_str(), &found.range), ("20", "counted", &None));
        assert!(replace_entries("x", text, &[("nand.nonsense", entry)]).is_err());
    }

    #[test]
    fn a_drive_opens_with_other_values_unless_they_are_out_of_range() {
        let spec = crate::Spec::parse("sim:intel-x25-m-80gb").unwrap();
        let open = |value: &str| {
            let values = [("nand.programs_max", value)];
            spec.open_with(&values, |_| unreachable!("it is no file")).map(drop)
        };
        open("12").unwrap();
        let error = open("20").unwrap_err().to_string();
        assert!(error.contains("nand.programs_max is 20") && error.contains("from 10 to 12"), "{error}");
    }

    #[test]
    fn a_range_holds_its_value_and_allowed_ends_only() {
        let with = |extra: &str| {
            let old = "command_slots = { value = 32, ";
            assert!(tiny().contains(old));
            Model::parse("tiny", &tiny().replace(old, &format!("{old}{extra}")))
        };
        let model = with("range = [8, 64], ").unwrap();
        let range = model.source("link.command_slots").unwrap().range.clone();
        assert_eq!(range, Some(ParameterRange::Between { low: 8.0, high: 64.0, whole: true }));
        assert_eq!(range.unwrap().to_string(), "8 to 64");
        let model = with("choices = [1, 32], ").unwrap();
        let choices = model.source("link.command_slots").unwrap().range.clone().unwrap();
        assert_eq!(choices.to_string(), "1, 32");
        for (extra, says) in [
            ("range = [33, 64], ", "not within its range from 33 to 64"),
            ("range = [32, 32], ", "or that is empty"),
            ("range = [0, 64], ", "0 in its range is not allowed"),
            ("range = [1, 8, 64], ", "range takes its smallest and its largest"),
            ("range = \"all\", ", "range takes its smallest and its largest"),
            ("choices = [32], ", "two values or more"),
            ("choices = [1, 8], ", "its own among them"),
            ("choices = [0, 32], ", "0 in its choices is not allowed"),
            ("choices = 7, ", "choices takes a list"),
            ("choices = [1, 32], range = [1, 32], ", "one of range and choices"),
        ] {
            let error = with(extra).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("link.command_slots"), "{error}");
        }
    }
}
