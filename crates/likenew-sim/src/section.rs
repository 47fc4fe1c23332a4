//! Strict reading of a drive's TOML: every key is known, every number has an allowed range, every value a source.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::error::SimError;
use crate::file_text::{Text, spell};
use crate::parameter_range::{self, ParameterRange};

/// A value of a drive's file and its source.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SourceEntry {
    /// The key, such as `nand.program_ns`.
    pub key: String,
    /// The value as it is spelled in the file.
    pub value: String,
    /// Its source; "assumed" where nothing better is known.
    pub source: String,
    /// What else it could be, where that is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<ParameterRange>,
}

impl SourceEntry {
    /// Whether it is assumed.
    pub fn is_assumed(&self) -> bool {
        self.source.contains("assumed")
    }
}

/// A place in a file.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    text: Text<'a>,
    at: usize,
}

impl Site<'_> {
    pub(crate) fn error(&self, reason: impl Into<String>) -> SimError {
        self.text.error(self.at, reason)
    }
}

/// One table of the file. Each key is taken once; what is left at the end is unknown.
pub(crate) struct Section<'a> {
    text: Text<'a>,
    name: String,
    at: usize,
    entries: DeTable<'a>,
    keys: Vec<&'static str>,
    /// Every value read, in the order of reading.
    pub(crate) sources: Vec<SourceEntry>,
}

impl<'a> Section<'a> {
    /// The whole file.
    pub(crate) fn parse(text: Text<'a>) -> Result<Self, SimError> {
        let table = DeTable::parse(text.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            text.error(at, format!("this is no TOML: {}", error.message()))
        })?;
        Ok(Self::new(text, String::new(), table))
    }

    fn new(text: Text<'a>, name: String, table: Spanned<DeTable<'a>>) -> Self {
        let at = table.span().start;
        Self { text, name, at, entries: table.into_inner(), keys: Vec::new(), sources: Vec::new() }
    }

    /// A table within this one.
    pub(crate) fn section(&mut self, key: &'static str) -> Result<Self, SimError> {
        let path = self.path(key);
        let found = self.take(key).ok_or_else(|| self.error(format!("the table [{path}] is missing")))?;
        let at = found.span().start;
        match found.into_inner() {
            DeValue::Table(table) => Ok(Self::new(self.text, path, Spanned::new(at..at, table))),
            other => Err(self.text.error(at, format!("{path} is {}: it has to be a table", spell(&other)))),
        }
    }

    /// A table within this one that may be absent.
    pub(crate) fn section_or_none(&mut self, key: &'static str) -> Result<Option<Self>, SimError> {
        if self.has(key) { self.section(key).map(Some) } else { Ok(None) }
    }

    /// A whole number with its source.
    pub(crate) fn integer(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Result<u64, SimError> {
        let allowed = format!("a whole number from {} to {}", range.start(), range.end());
        self.value(key, &allowed, |value| match value {
            DeValue::Integer(number) => parse_whole(number).filter(|number| range.contains(number)),
            _ => None,
        })
    }

    /// A whole number that may be absent.
    pub(crate) fn integer_or_none(
        &mut self,
        key: &'static str,
        range: RangeInclusive<u64>,
    ) -> Result<Option<u64>, SimError> {
        if self.has(key) { self.integer(key, range).map(Some) } else { Ok(None) }
    }

    /// A count that fits 32 bits.
    pub(crate) fn count(&mut self, key: &'static str, range: RangeInclusive<u32>) -> Result<u32, SimError> {
        let range = u64::from(*range.start())..=u64::from(*range.end());
        self.integer(key, range).map(|number| u32::try_from(number).expect("the range fits 32 bits"))
    }

    /// A number with its source.
    pub(crate) fn number(&mut self, key: &'static str, range: RangeInclusive<f64>) -> Result<f64, SimError> {
        let allowed = format!("a number from {} to {}", range.start(), range.end());
        self.value(key, &allowed, |value| {
            let number: f64 = match value {
                DeValue::Float(number) => number.as_str().parse().ok()?,
                DeValue::Integer(number) => parse_whole(number)? as f64,
                _ => return None,
            };
            range.contains(&number).then_some(number)
        })
    }

    /// `true` or `false` with its source.
    pub(crate) fn truth(&mut self, key: &'static str) -> Result<bool, SimError> {
        self.value(key, "true or false", |value| value.as_bool())
    }

    /// `true` or `false` that may be absent.
    pub(crate) fn truth_or_none(&mut self, key: &'static str) -> Result<Option<bool>, SimError> {
        if self.has(key) { self.truth(key).map(Some) } else { Ok(None) }
    }

    /// One of some words with its source; gives which.
    pub(crate) fn choice(&mut self, key: &'static str, words: &[&str]) -> Result<usize, SimError> {
        let allowed = format!("\"{}\"", words.join("\" or \""));
        self.value(key, &allowed, |value| words.iter().position(|word| value.as_str() == Some(word)))
    }

    /// One of some words that may be absent; gives which.
    pub(crate) fn choice_or_none(
        &mut self,
        key: &'static str,
        words: &[&str],
    ) -> Result<Option<usize>, SimError> {
        self.keys.push(key);
        if self.entries.contains_key(key) { self.choice(key, words).map(Some) } else { Ok(None) }
    }

    /// A line of text with its source.
    pub(crate) fn line(&mut self, key: &'static str) -> Result<String, SimError> {
        self.value(key, "a text of 1 to 200 characters", |value| line(value).map(str::to_owned))
    }

    /// A text with its source that may be absent; `allowed` says what it takes, for messages.
    pub(crate) fn parsed_or_none<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SimError> {
        self.keys.push(key);
        if !self.entries.contains_key(key) {
            return Ok(None);
        }
        self.value(key, allowed, |value| line(value).and_then(&parse)).map(Some)
    }

    /// One of the given words, without a source.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, SimError> {
        let path = self.path(key);
        let allowed = words.join("\" or \"");
        let found =
            self.take(key).ok_or_else(|| self.error(format!("{path} is missing: it takes \"{allowed}\"")))?;
        let word = words.iter().find(|word| found.get_ref().as_str() == Some(word));
        word.copied().ok_or_else(|| {
            let found_text = spell(found.get_ref());
            self.text.error(found.span().start, format!("{path} is {found_text}: it takes \"{allowed}\""))
        })
    }

    /// Refuses keys that were not used.
    pub(crate) fn finish(self) -> Result<Vec<SourceEntry>, SimError> {
        match self.entries.keys().next() {
            None => Ok(self.sources),
            Some(key) => {
                let place = if self.name.is_empty() { "the file".into() } else { format!("[{}]", self.name) };
                let known = self.keys.join(", ");
                let reason = format!("{place} has no key {}: it takes {known}", key.get_ref());
                Err(self.text.error(key.span().start, reason))
            }
        }
    }

    /// An error about this table as a whole.
    pub(crate) fn error(&self, reason: impl Into<String>) -> SimError {
        self.site().error(reason)
    }

    /// The place of this table.
    pub(crate) fn site(&self) -> Site<'a> {
        Site { text: self.text, at: self.at }
    }

    fn value<T>(
        &mut self,
        key: &'static str,
        allowed: &str,
        read_value: impl Fn(&DeValue<'_>) -> Option<T>,
    ) -> Result<T, SimError> {
        let path = self.path(key);
        let form = format!("{path} = {{ value = …, source = \"…\" }}");
        let found = self
            .take(key)
            .ok_or_else(|| self.error(format!("{path} is missing: write {form} with {allowed}")))?;
        let at = found.span().start;
        let DeValue::Table(mut table) = found.into_inner() else {
            return Err(self.text.error(at, format!("{path} has no source: write {form} with {allowed}")));
        };
        let (value, source) = (table.remove("value"), table.remove("source"));
        let (range, choices) = (table.remove("range"), table.remove("choices"));
        let (Some(value), Some(source), true) = (value, source, table.is_empty()) else {
            let reason = format!("{path} takes value and source, and perhaps range or choices: write {form}");
            return Err(self.text.error(at, reason));
        };
        let Some(source) = line(source.get_ref()) else {
            let reason = format!("the source of {path} is no text of 1 to 200 characters");
            return Err(self.text.error(at, reason));
        };
        let spelled = spell(value.get_ref());
        let Some(read) = read_value(value.get_ref()) else {
            let reason = format!("{path} is {spelled}: it takes {allowed}");
            return Err(self.text.error(value.span().start, reason));
        };
        let is_allowed = |value: &DeValue<'_>| read_value(value).is_some();
        let range = match (range, choices) {
            (None, None) => None,
            (Some(ends), None) => Some(parameter_range::between(value.get_ref(), ends.get_ref(), is_allowed)),
            (None, Some(list)) => Some(parameter_range::choices(value.get_ref(), list.get_ref(), is_allowed)),
            (Some(_), Some(_)) => Some(Err("it takes one of range and choices".to_owned())),
        };
        let range = range
            .transpose()
            .map_err(|reason| self.text.error(at, format!("{path} is {spelled}, {allowed}: {reason}")))?;
        self.sources.push(SourceEntry { key: path, value: spelled, source: source.to_owned(), range });
        Ok(read)
    }

    /// Whether a key that may be absent is there.
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
