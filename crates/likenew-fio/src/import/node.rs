//! A value within a document, with the path to it.

use serde_json::Value;

use super::ImportError;
use super::wording::{self, expected};

/// A value and its path.
#[derive(Clone, Debug)]
pub(super) struct Node<'a> {
    value: &'a Value,
    path: String,
}

/// Larger counts (of bytes, I/Os, nanoseconds) cannot have been measured; sums of smaller ones still fit 64
/// bits.
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

    /// The value of this key, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<Self> {
        self.value.get(key).map(|value| self.child(value, key))
    }

    /// The value of this key.
    pub(super) fn need(&self, key: &str, expected: &str) -> Result<Self, ImportError> {
        self.get(key).ok_or_else(|| {
            let found = match self.value {
                Value::Object(_) => wording::NOTHING.to_owned(),
                other => wording::value_above(other),
            };
            let path = self.child(&Value::Null, key).path;
            ImportError::Unexpected { path, expected: expected.to_owned(), actual: found }
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
