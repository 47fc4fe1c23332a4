//! Reads the TOML file of a drive strictly: every key must be known, every number in its allowed range, and
//! every value must have a source. Also replaces values in such a file.
//!
//! [`parameters`] declares what a table of the file holds: the struct, and key and range of each field.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use likenew_core::input::one_line;
use likenew_core::units::Nanos;
use serde::Serialize;
use strum::VariantNames;
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};
use toml_edit::{DocumentMut, TableLike, TomlError, Value};

use crate::error::{Domain, FileError, RangeError, SimError};

/// A value of a drive's file, with its source.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SourceEntry {
    /// Its key, such as `nand.program_ns`.
    pub key: String,
    /// The value as spelled in the file.
    pub value: String,
    /// Its source; "assumed" if none is known.
    pub source: String,
    /// What else the value could be, if the file states that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<ParameterRange>,
}

impl SourceEntry {
    /// Whether its source is "assumed".
    pub fn is_assumed(&self) -> bool {
        self.source.contains("assumed")
    }
}

/// Declares parameters that a drive's file gives, as a struct. Each field names the method of [`Section`] that reads it,
/// its key and its range; a field that names none is filled in from other values. What follows the arrow is the
/// parameter's name in explanations and the kind of [`Value`](crate::value::Value) that it has there. `read` reads, and
/// `facts` explains, them in this order.
macro_rules! parameters {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $(
                $(#[$field_attribute:meta])*
                $field_visibility:vis $field:ident: $type:ty
                    $(= $method:ident($($argument:expr),*) $(=> ($label:expr, $value:expr))?)?,
            )*
        }
    ) => {
        $(#[$attribute])*
        $visibility struct $name {
            $($(#[$field_attribute])* $field_visibility $field: $type,)*
        }

        impl $name {
            /// Reads the fields that have a key.
            pub(crate) fn read(
                section: &mut $crate::drive_file::Section<'_>,
            ) -> Result<Self, $crate::error::SimError> {
                Ok(Self {
                    $($field: $crate::drive_file::parameters!(@value section $($method($($argument),*))?),)*
                })
            }
        }

        impl $crate::value::Explained for $name {
            fn facts(&self) -> Vec<$crate::value::Fact> {
                vec![$($($($crate::value::Fact::new($label, $value(self.$field.into())),)?)?)*]
            }
        }
    };
    (@value $section:ident) => { Default::default() };
    (@value $section:ident $method:ident($($argument:expr),*)) => { $section.$method($($argument),*)? };
}
pub(crate) use parameters;

/// Nanoseconds per second.
pub(crate) const SECOND_NS: u64 = 1_000_000_000;
/// Range of a rate in bytes per second.
pub(crate) const RATE: RangeInclusive<u64> = 1_000_000..=100_000_000_000;
/// Range of a time within an I/O, in nanoseconds.
const WITHIN_IO: RangeInclusive<u64> = 0..=10 * SECOND_NS;
/// Range of a time that may exceed an I/O by far, in nanoseconds.
pub(crate) const ANY_TIME: RangeInclusive<u64> = 1..=100 * 86_400 * SECOND_NS;
/// Range of a count of I/Os after which something happens.
pub(crate) const ANY_COUNT: RangeInclusive<u64> = 1..=u64::MAX >> 1;

/// A position in a file, for errors.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    text: Text<'a>,
    at: usize,
}

impl Site<'_> {
    pub(crate) fn error(&self, reason: impl Into<FileError>) -> SimError {
        self.text.error(self.at, reason)
    }
}

/// A table of the file. Reading a key takes it out of the table; [`finish`](Self::finish) refuses those that are left.
pub(crate) struct Section<'a> {
    text: Text<'a>,
    name: String,
    at: usize,
    entries: DeTable<'a>,
    keys: Vec<&'static str>,
    /// All values read so far from this table and its subtables, in order.
    sources: Vec<SourceEntry>,
}

impl<'a> Section<'a> {
    /// Parses a whole file.
    pub(crate) fn parse(text: Text<'a>) -> Result<Self, SimError> {
        let table = DeTable::parse(text.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            text.error(at, FileError::NotToml(one_line(error.message())))
        })?;
        Ok(Self::new(text, String::new(), table))
    }

    fn new(text: Text<'a>, name: String, table: Spanned<DeTable<'a>>) -> Self {
        let at = table.span().start;
        Self { text, name, at, entries: table.into_inner(), keys: Vec::new(), sources: Vec::new() }
    }

    /// Reads a subtable with `read`, and refuses keys that `read` does not take.
    pub(crate) fn table<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, SimError>,
    ) -> Result<T, SimError> {
        let path = self.path(key);
        let entry = self.take(key).ok_or_else(|| self.error(FileError::NoTable(path.clone())))?;
        let at = entry.span().start;
        let mut section = match entry.into_inner() {
            DeValue::Table(table) => Self::new(self.text, path, Spanned::new(at..at, table)),
            other => return Err(self.text.error(at, FileError::NotATable { path, found: spell(&other) })),
        };
        let value = read(&mut section)?;
        self.sources.extend(section.finish()?);
        Ok(value)
    }

    /// Reads a subtable that may be absent.
    pub(crate) fn table_or_none<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self) -> Result<T, SimError>,
    ) -> Result<Option<T>, SimError> {
        self.optional(key, |section, key| section.table(key, read))
    }

    /// Reads a key with `read`, if it is present.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Result<T, SimError>,
    ) -> Result<Option<T>, SimError> {
        if self.has(key) { read(self, key).map(Some) } else { Ok(None) }
    }

    /// Reads a whole number that has a source.
    pub(crate) fn whole<T: Copy + Into<u64> + TryFrom<u64>>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<T, SimError> {
        let (least, most) = ((*range.start()).into(), (*range.end()).into());
        self.value(key, Domain::Whole { least, most }, |value| match value {
            DeValue::Integer(number) => {
                parse_whole(number).filter(|number| (least..=most).contains(number))?.try_into().ok()
            }
            _ => None,
        })
    }

    /// Reads a whole number that may be absent.
    pub(crate) fn whole_or_none<T: Copy + Into<u64> + TryFrom<u64>>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
    ) -> Result<Option<T>, SimError> {
        self.optional(key, |section, key| section.whole(key, range))
    }

    /// Reads a whole number with a default.
    pub(crate) fn whole_or<T: Copy + Into<u64> + TryFrom<u64>>(
        &mut self,
        key: &'static str,
        range: RangeInclusive<T>,
        default: T,
    ) -> Result<T, SimError> {
        Ok(self.whole_or_none(key, range)?.unwrap_or(default))
    }

    /// Reads a key that may be absent with `read`.
    pub(crate) fn or_default<T: Default>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Self, &'static str) -> Result<T, SimError>,
    ) -> Result<T, SimError> {
        Ok(self.optional(key, read)?.unwrap_or_default())
    }

    /// Reads several keys of this table with `read`.
    pub(crate) fn part<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, SimError>,
    ) -> Result<T, SimError> {
        read(self)
    }

    /// Reads a time in nanoseconds.
    pub(crate) fn time(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Result<Nanos, SimError> {
        self.whole(key, range).map(Nanos)
    }

    /// Reads a time within an I/O in nanoseconds.
    pub(crate) fn span(&mut self, key: &'static str) -> Result<Nanos, SimError> {
        self.time(key, WITHIN_IO)
    }

    /// Reads a multiple of another value.
    pub(crate) fn multiple(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
        (unit_key, value): (&'static str, u64),
    ) -> Result<u64, SimError> {
        let number = self.whole(key, range)?;
        if number.is_multiple_of(value) {
            return Ok(number);
        }
        self.refuse(key, number, Domain::MultipleOf { key: unit_key, value })
    }

    /// Reads a number that has a source.
    pub(crate) fn number(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Result<f64, SimError> {
        let domain = Domain::Number { least: *range.start(), most: *range.end() };
        self.value(key, domain, |value| number(value).filter(|number| range.contains(number)))
    }

    /// Reads `true` or `false` with its source.
    pub(crate) fn truth(&mut self, key: &'static str) -> Result<bool, SimError> {
        self.value(key, Domain::Truth, |value| value.as_bool())
    }

    /// Reads a word that stands for one of the variants of `T`.
    pub(crate) fn one_of<T: FromStr + VariantNames>(&mut self, key: &'static str) -> Result<T, SimError> {
        self.value(key, Domain::Words(T::VARIANTS), |value| value.as_str()?.parse().ok())
    }

    /// Reads a line of text with its source.
    pub(crate) fn line(&mut self, key: &'static str) -> Result<String, SimError> {
        self.value(key, Domain::Line, |value| line(value).map(str::to_owned))
    }

    /// Reads and parses a text.
    pub(crate) fn parsed<T>(
        &mut self,
        key: &'static str,
        domain: Domain,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<T, SimError> {
        self.value(key, domain, |value| line(value).and_then(&parse))
    }

    /// Reads one of `words` that has no source.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &'static [&'static str],
    ) -> Result<&'static str, SimError> {
        let path = self.path(key);
        let domain = Domain::Words(words);
        let Some(entry) = self.take(key) else { return Err(self.error(FileError::NoWord { path, domain })) };
        let word = words.iter().find(|word| entry.get_ref().as_str() == Some(word));
        word.copied().ok_or_else(|| {
            let error = FileError::wrong_value(path, spell(entry.get_ref()), domain);
            self.text.error(entry.span().start, error)
        })
    }

    /// Refuses keys that nothing has read.
    pub(crate) fn finish(self) -> Result<Vec<SourceEntry>, SimError> {
        match self.entries.keys().next() {
            None => Ok(self.sources),
            Some(key) => {
                let table = if self.name.is_empty() { "the file".into() } else { format!("[{}]", self.name) };
                let (key, at, known) = (key.get_ref().to_string(), key.span().start, self.keys.join(", "));
                Err(self.text.error(at, FileError::UnknownKey { table, key, known }))
            }
        }
    }

    /// An error about this table.
    pub(crate) fn error(&self, reason: impl Into<FileError>) -> SimError {
        self.site().error(reason)
    }

    /// Refuses a number that contradicts other values.
    pub(crate) fn refuse<T>(&self, key: &str, value: impl ToString, domain: Domain) -> Result<T, SimError> {
        Err(self.error(FileError::wrong_value(self.path(key), value, domain)))
    }

    /// Where this table begins in the file.
    pub(crate) fn site(&self) -> Site<'a> {
        Site { text: self.text, at: self.at }
    }

    fn value<T>(
        &mut self,
        key: &'static str,
        domain: Domain,
        read_value: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<T, SimError> {
        let path = self.path(key);
        let Some(entry) = self.take(key) else {
            return Err(self.error(FileError::NoValue { path, domain }));
        };
        let at = entry.span().start;
        let DeValue::Table(mut table) = entry.into_inner() else {
            return Err(self.text.error(at, FileError::NoSource { path, domain }));
        };
        let (value, source) = (table.remove("value"), table.remove("source"));
        let (range, choices) = (table.remove("range"), table.remove("choices"));
        let (Some(value), Some(source), true) = (value, source, table.is_empty()) else {
            return Err(self.text.error(at, FileError::OtherParts { path }));
        };
        let Some(source) = line(source.get_ref()) else {
            return Err(self.text.error(at, FileError::SourceNotALine { path }));
        };
        let spelled = spell(value.get_ref());
        let Some(read) = read_value(value.get_ref()) else {
            return Err(self.text.error(value.span().start, FileError::wrong_value(path, spelled, domain)));
        };
        let is_allowed = |value: &DeValue<'_>| read_value(value).is_some();
        let range = match (range, choices) {
            (None, None) => None,
            (Some(ends), None) => Some(read_range(value.get_ref(), ends.get_ref(), is_allowed)),
            (None, Some(list)) => Some(read_choices(value.get_ref(), list.get_ref(), is_allowed)),
            (Some(_), Some(_)) => Some(Err(RangeError::Both)),
        };
        let range = range.transpose().map_err(|reason| {
            let (path, found) = (path.clone(), spelled.clone());
            self.text.error(at, FileError::Range { path, found, domain, reason })
        })?;
        self.sources.push(SourceEntry { key: path, value: spelled, source: source.to_owned(), range });
        Ok(read)
    }

    /// Whether an optional key is present.
    fn has(&mut self, key: &'static str) -> bool {
        self.keys.push(key);
        self.entries.contains_key(key)
    }

    fn take(&mut self, key: &'static str) -> Option<Spanned<DeValue<'a>>> {
        if !self.keys.contains(&key) {
            self.keys.push(key);
        }
        self.entries.remove(key)
    }

    fn path(&self, key: &str) -> String {
        if self.name.is_empty() { key.to_owned() } else { format!("{}.{key}", self.name) }
    }
}

fn parse_whole(number: &DeInteger<'_>) -> Option<u64> {
    u64::from_str_radix(number.as_str(), number.radix()).ok()
}

fn line<'v>(value: &'v DeValue<'_>) -> Option<&'v str> {
    value.as_str().filter(|text| (1..=200).contains(&text.chars().count()) && !text.contains('\n'))
}

/// The text of a file, with its name for messages.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
}

impl Text<'_> {
    pub(crate) fn error(&self, at: usize, reason: impl Into<FileError>) -> SimError {
        let line =
            1 + self.text.as_bytes()[..at.min(self.text.len())].iter().filter(|b| **b == b'\n').count();
        SimError::Catalog { file: self.file.to_owned(), line, reason: reason.into().to_string() }
    }
}

/// A value as messages quote it.
pub(crate) fn spell(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("\"{text}\""),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.as_str().to_owned(),
        DeValue::Boolean(truth) => truth.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

// The range or choices of a parameter, and how to put other values into a file.
//
// A file states a range where nobody publishes the value and results depend on it. Whoever wants to know how
// uncertain a prediction is draws values from the ranges; the simulator does no statistics.

/// The values that a parameter could have.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ParameterRange {
    /// Any number from `low` to `high`, in the parameter's unit.
    Between {
        /// The smallest.
        low: f64,
        /// The largest.
        high: f64,
        /// Whether only whole numbers are possible.
        whole: bool,
    },
    /// One of these values, as spelled in files.
    Choices(Vec<String>),
}

impl ParameterRange {
    /// The value at a position, as spelled in files. Position 0 is the smallest value or the first choice; positions
    /// are below 1. Equal parts of the positions stand for equal parts of the range, or for one choice each.
    ///
    /// # Panics
    /// The position is not in `0 .. 1`.
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

/// Reads `range = [LOW, HIGH]` beside a value. Both ends must be allowed values.
pub(crate) fn read_range(
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

/// Reads `choices = [A, B]` beside a value. All choices must be allowed values.
pub(crate) fn read_choices(
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
        DeValue::Integer(number) => parse_whole(number).map(|whole| whole as f64),
        DeValue::Float(number) => number.as_str().parse().ok(),
        _ => None,
    }
}

/// Replaces values in the text of a drive's file. A pair such as `("nand.program_ns", "800000")` names a key and
/// its new value, as spelled in files. The rest of the text stays, so the result is read as strictly as any file.
///
/// # Errors
/// The text or a value is not TOML, or a key has no value.
pub fn replace_values(file: &str, text: &str, values: &[(&str, &str)]) -> Result<String, SimError> {
    edit(file, text, values, |entry, value| {
        let old = entry.get_mut("value")?.as_value_mut()?;
        let decor = old.decor().clone();
        *old = value;
        *old.decor_mut() = decor;
        Some(())
    })
}

/// Replaces whole entries (value, range and source) in the text of a drive's file, such as
/// `("nand.program_ns", "{ value = 800000, source = \"measured\" }")`.
///
/// # Errors
/// The text or an entry is not TOML, or a key has no entry.
pub fn replace_entries(
    file: &str,
    text: &str,
    entries: &[(&str, impl AsRef<str>)],
) -> Result<String, SimError> {
    edit(file, text, entries, |entry, parts| {
        let parts = parts.as_inline_table()?;
        entry.clear();
        for (key, part) in parts {
            entry.insert(key, part.clone().into());
        }
        Some(())
    })
}

/// Calls `change` with the entry of each key, an inline table or a section, and the new value.
fn edit(
    file: &str,
    text: &str,
    values: &[(&str, impl AsRef<str>)],
    change: impl Fn(&mut dyn TableLike, Value) -> Option<()>,
) -> Result<String, SimError> {
    let whole = Text { file, text };
    let not_toml = |error: TomlError| {
        let at = error.span().map_or(0, |span| span.start);
        whole.error(at, FileError::NotToml(one_line(error.message())))
    };
    let mut document = text.parse::<DocumentMut>().map_err(not_toml)?;
    for (key, value) in values {
        let value = value.as_ref().parse().map_err(not_toml)?;
        let put = || {
            let (section, name) = key.split_once('.')?;
            let section = document.get_mut(section)?.as_table_like_mut()?;
            change(section.get_mut(name)?.as_table_like_mut()?, value)
        };
        put().ok_or_else(|| whole.error(0, FileError::NoSuchValue((*key).to_owned())))?;
    }
    Ok(document.to_string())
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
            (&[("nand.read_ns", "1 2")], "not TOML"),
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
        let sourced = model.source("nand.programs_max").unwrap();
        assert_eq!(
            (sourced.value.as_str(), sourced.source.as_str(), &sourced.range),
            ("20", "counted", &None)
        );
        assert!(replace_entries("x", text, &[("nand.nonsense", entry)]).is_err());
    }

    #[test]
    fn entries_are_replaced_in_every_form_and_the_rest_of_the_file_stays() {
        let inline = tiny();
        let line = inline.lines().find(|line| line.starts_with("command_slots = ")).unwrap();
        // The form in which Python writes the file of a drive that it has changed.
        let sections: toml::Table = toml::from_str(inline).unwrap();
        let sections = toml::to_string(&sections).unwrap();
        assert!(sections.contains("[link.command_slots]"), "{sections}");
        let dotted = inline.replace(line, "command_slots.value = 32 # slots\ncommand_slots.source = \"x\"");
        for text in [inline, &sections, &dotted] {
            let slots = |text: &str| {
                let model = Model::parse("tiny", text).unwrap();
                let sourced = model.source("link.command_slots").unwrap();
                (sourced.value.clone(), sourced.source.clone())
            };
            let (_, source) = slots(text);
            let replaced = replace_values("tiny", text, &[("link.command_slots", "3")]).unwrap();
            assert_eq!(slots(&replaced), ("3".into(), source));
            let other = |text: &str| {
                let others = text.lines().filter(|line| !line.contains("32") && !line.contains('3'));
                others.map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(other(&replaced), other(text));
            let entry = [("link.command_slots", "{ value = 5, source = \"counted\" }")];
            let replaced = replace_entries("tiny", text, &entry).unwrap();
            assert_eq!(slots(&replaced), ("5".into(), "counted".into()), "{replaced}");
        }
        let nothing = replace_values("tiny", inline, &[]).unwrap();
        assert_eq!(nothing, inline);
        let three = replace_values("tiny", inline, &[("link.command_slots", "3")]).unwrap();
        assert_eq!(three, inline.replace(line, &line.replacen("32", "3", 1)));
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
