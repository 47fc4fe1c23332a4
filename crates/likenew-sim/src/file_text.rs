//! The text of a drive's file in messages: its lines, and its values as they are spelled.

use toml::de::DeValue;

use crate::error::SimError;
use crate::file_error::FileError;

/// The text of a file, for messages.
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

/// A value as a message quotes it.
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
