//! Finds fio's JSON in what fio printed, and keeps the path of every value for error messages.

use std::borrow::Cow;

use serde_json::Value;

use super::{ImportError, OtherText};
use crate::wording::{self, expected};

/// The first key of each of fio's documents.
const FIRST_KEY: &str = "\"fio version\"";

/// The last document of a text, and how many there are. fio and other programs may print messages around them.
pub(super) fn last(text: &str) -> Result<(Value, usize), ImportError> {
    let text = without_prefixes(text.trim_start_matches('\u{feff}'));
    let text = text.as_ref();
    let (mut at, mut latest, mut count) = (0, None, 0);
    while let Some(start) = next_start(text, at) {
        let (document, bytes) = document(text, start)?;
        (latest, at) = (Some(document), start + bytes);
        count += 1;
    }
    match latest {
        Some(value) => Ok((value, count)),
        None => other_document(text).map(|value| (value, 1)),
    }
}

/// The document whose opening brace is at `start`, and its length in bytes.
fn document(text: &str, start: usize) -> Result<(Value, usize), ImportError> {
    let mut documents = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
    let document = documents.next().expect("a text that begins with a brace is not empty");
    let document = document.map_err(|error| malformed_error(text, start, &error))?;
    Ok((document, documents.byte_offset()))
}

/// The opening brace of the next document. It may be within a line, since fio's progress line has no line end.
fn next_start(text: &str, from: usize) -> Option<usize> {
    let keys = text[from..].match_indices(FIRST_KEY).map(|(key, _)| from + key);
    let brace = |key: usize| text[from..key].trim_end().strip_suffix('{').map(|before| from + before.len());
    keys.filter_map(brace).next()
}

/// The error for a text without a document of fio: other JSON, or no JSON.
fn other_document(text: &str) -> Result<Value, ImportError> {
    let opens_line = |at: &usize| text[..*at].trim_end_matches([' ', '\t']).ends_with(['\n', '\r']);
    let mut braces = text.match_indices('{').map(|(at, _)| at);
    match braces.find(|at| text[..*at].trim().is_empty() || opens_line(at)) {
        Some(start) if !text.trim_start().starts_with(['[', '<']) => {
            document(text, start).map(|(document, _)| document)
        }
        _ => Err(ImportError::NotFio(other_text(text))),
    }
}

/// Removes what a log puts before each line, such as a time, and colors. It removes as many words as stand before the
/// first key, since times may differ in length.
fn without_prefixes(text: &str) -> Cow<'_, str> {
    let text = without_colors(text);
    let key = text.find(FIRST_KEY);
    let line = key.map_or("", |key| text[..key].rsplit(['\n', '\r']).next().unwrap_or_default());
    let prefix = line.trim_end();
    if prefix.is_empty() || prefix.ends_with('{') {
        return text;
    }
    let words = prefix.split_whitespace().count();
    let unprefixed = |line: &str| {
        let words_off = (0..words).fold(line, |tail, _| {
            tail.trim_start_matches([' ', '\t']).trim_start_matches(|c: char| !c.is_whitespace())
        });
        line.strip_prefix(prefix).unwrap_or(words_off).to_owned()
    };
    Cow::Owned(text.split_inclusive('\n').map(unprefixed).collect())
}

/// Removes terminal sequences that color text or erase a line.
fn without_colors(text: &str) -> Cow<'_, str> {
    const BEGIN: &str = "\u{1b}[";
    if !text.contains(BEGIN) {
        return Cow::Borrowed(text);
    }
    let mut pieces = text.split(BEGIN);
    let first = pieces.next().unwrap_or_default().to_owned();
    let uncolored = |piece: &str| {
        let end = piece.find(|c| matches!(c, '@'..='~')).map_or(piece.len(), |end| end + 1);
        piece[end..].to_owned()
    };
    Cow::Owned(first + &pieces.map(uncolored).collect::<String>())
}

fn malformed_error(text: &str, start: usize, error: &serde_json::Error) -> ImportError {
    let lines_before = text[..start].matches('\n').count();
    let column_before = start - text[..start].rfind('\n').map_or(0, |end| end + 1);
    let column = if error.line() == 1 { column_before } else { 0 } + error.column();
    let message = error.to_string();
    let reason = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    let line = lines_before + error.line();
    let reason = if error.is_eof() { wording::cut_off(reason) } else { reason.to_owned() };
    ImportError::Malformed { line, column, reason }
}

/// What kind of text this is, if not fio's JSON.
fn other_text(text: &str) -> OtherText {
    let start = text.trim_start();
    let is_terse = start.split(';').nth(1).is_some_and(|field| field.starts_with("fio-"));
    match start {
        "" => OtherText::Empty,
        _ if start.starts_with('<') => OtherText::Markup,
        _ if start.starts_with('[') => OtherText::List,
        _ if is_terse => OtherText::Terse,
        _ if start.contains("IOPS=") || start.contains("Run status group") => OtherText::Normal,
        _ => OtherText::NoObject,
    }
}

/// A value and its path.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    value: &'a Value,
    path: String,
}

/// The largest count (bytes, I/Os, nanoseconds) that is accepted. Sums of accepted counts still fit 64 bits.
pub(super) const COUNT_MAX: u64 = 1 << 60;

impl<'a> Node<'a> {
    pub(super) fn root(value: &'a Value) -> Self {
        Self { value, path: String::new() }
    }

    fn child(&self, value: &'a Value, key: &str) -> Self {
        let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let key = if plain { key.to_owned() } else { format!("{key:?}") };
        let path = if self.path.is_empty() { key } else { format!("{}.{key}", self.path) };
        Self { value, path }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value of this key, if present.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.child(value, key))
    }

    /// The value of this key, or an error that names what was expected.
    pub(super) fn need(&self, key: &str, expected: &str) -> Result<Self, ImportError> {
        self.get(key).ok_or_else(|| {
            let actual = match self.value {
                Value::Object(_) => wording::NOTHING.to_owned(),
                other => wording::value_above(other),
            };
            let path = self.child(&Value::Null, key).path;
            ImportError::Unexpected { path, expected: expected.to_owned(), actual }
        })
    }

    pub(super) fn entries(&self) -> Result<Vec<(&'a String, Self)>, ImportError> {
        let object = self.value.as_object().ok_or_else(|| self.unexpected_error(expected::OBJECT))?;
        Ok(object.iter().map(|(key, value)| (key, self.child(value, key))).collect())
    }

    pub(super) fn list(&self) -> Result<Vec<Self>, ImportError> {
        let list = self.value.as_array().ok_or_else(|| self.unexpected_error(expected::LIST))?;
        let node = |(index, value)| Self { value, path: format!("{}[{index}]", self.path) };
        Ok(list.iter().enumerate().map(node).collect())
    }

    pub(super) fn text(&self) -> Result<&'a str, ImportError> {
        self.value.as_str().ok_or_else(|| self.unexpected_error(expected::TEXT))
    }

    /// A whole number that can be a count.
    pub(super) fn count(&self) -> Result<u64, ImportError> {
        let count = self.value.as_u64().filter(|count| *count <= COUNT_MAX);
        count.ok_or_else(|| self.unexpected_error(expected::COUNT))
    }

    /// A number of at least zero.
    pub(super) fn number(&self) -> Result<f64, ImportError> {
        let number = self.value.as_f64().filter(|number| (0.0..=COUNT_MAX as f64).contains(number));
        number.ok_or_else(|| self.unexpected_error(expected::NUMBER))
    }

    /// An error number of the system.
    pub(super) fn errno(&self) -> Result<i32, ImportError> {
        let number = self.value.as_i64().and_then(|number| i32::try_from(number).ok());
        number.ok_or_else(|| self.unexpected_error(expected::ERRNO))
    }

    pub(super) fn unexpected_error(&self, expected: &str) -> ImportError {
        ImportError::Unexpected {
            path: self.path.clone(),
            expected: expected.to_owned(),
            actual: wording::actual(self.value),
        }
    }
}
