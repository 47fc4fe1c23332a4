//! Strict reading of a drive's TOML: every key is known, every number has an allowed range, every value a source.

use likenew_core::input::one_line;
use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};

use crate::error::SimError;
use crate::file_error::{FileError, RangeError};
use crate::file_text::{Text, spell};
use crate::parameter_range::{self, ParameterRange};
use crate::wording::domain::Domain;

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
    pub(crate) fn error(&self, reason: impl Into<FileError>) -> SimError {
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
            text.error(at, FileError::NotToml(one_line(error.message())))
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
        let found = self.take(key).ok_or_else(|| self.error(FileError::NoTable(path.clone())))?;
        let at = found.span().start;
        match found.into_inner() {
            DeValue::Table(table) => Ok(Self::new(self.text, path, Spanned::new(at..at, table))),
            other => Err(self.text.error(at, FileError::NotATable { path, found: spell(&other) })),
        }
    }

    /// A table within this one that may be absent.
    pub(crate) fn section_or_none(&mut self, key: &'static str) -> Result<Option<Self>, SimError> {
        if self.has(key) { self.section(key).map(Some) } else { Ok(None) }
    }

    /// A whole number with its source.
    pub(crate) fn integer(&mut self, key: &'static str, range: RangeInclusive<u64>) -> Result<u64, SimError> {
        let domain = Domain::Whole { least: *range.start(), most: *range.end() };
        self.value(key, domain, |value| match value {
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
        let domain = Domain::Number { least: *range.start(), most: *range.end() };
        self.value(key, domain, |value| {
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
        self.value(key, Domain::Truth, |value| value.as_bool())
    }

    /// `true` or `false` that may be absent.
    pub(crate) fn truth_or_none(&mut self, key: &'static str) -> Result<Option<bool>, SimError> {
        if self.has(key) { self.truth(key).map(Some) } else { Ok(None) }
    }

    /// One of some words with its source; gives which.
    pub(crate) fn choice(&mut self, key: &'static str, words: &[&str]) -> Result<usize, SimError> {
        let read_word = |value: &DeValue<'_>| words.iter().position(|word| value.as_str() == Some(word));
        self.value(key, Domain::words(words), read_word)
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
        self.value(key, Domain::Line, |value| line(value).map(str::to_owned))
    }

    /// A text with its source that may be absent.
    pub(crate) fn parsed_or_none<T>(
        &mut self,
        key: &'static str,
        domain: Domain,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, SimError> {
        self.keys.push(key);
        if !self.entries.contains_key(key) {
            return Ok(None);
        }
        self.value(key, domain, |value| line(value).and_then(&parse)).map(Some)
    }

    /// One of the given words, without a source.
    pub(crate) fn word(
        &mut self,
        key: &'static str,
        words: &[&'static str],
    ) -> Result<&'static str, SimError> {
        let path = self.path(key);
        let domain = Domain::words(words);
        let Some(found) = self.take(key) else { return Err(self.error(FileError::NoWord { path, domain })) };
        let word = words.iter().find(|word| found.get_ref().as_str() == Some(word));
        word.copied().ok_or_else(|| {
            let error = FileError::wrong_value(path, spell(found.get_ref()), domain);
            self.text.error(found.span().start, error)
        })
    }

    /// Refuses keys that were not used.
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

    /// An error about this table as a whole.
    pub(crate) fn error(&self, reason: impl Into<FileError>) -> SimError {
        self.site().error(reason)
    }

    /// The place of this table.
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
        let Some(found) = self.take(key) else {
            return Err(self.error(FileError::NoValue { path, domain }));
        };
        let at = found.span().start;
        let DeValue::Table(mut table) = found.into_inner() else {
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
            (Some(ends), None) => Some(parameter_range::between(value.get_ref(), ends.get_ref(), is_allowed)),
            (None, Some(list)) => Some(parameter_range::choices(value.get_ref(), list.get_ref(), is_allowed)),
            (Some(_), Some(_)) => Some(Err(RangeError::Both)),
        };
        let range = range.transpose().map_err(|reason| {
            let (path, found) = (path.clone(), spelled.clone());
            self.text.error(at, FileError::Range { path, found, domain, reason })
        })?;
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
