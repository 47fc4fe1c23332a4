//! Which formats there are, and which one a file has.

use std::fmt;
use std::str::FromStr;

use crate::formats::likenew::FIRST_LINE;

/// A format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The project's own.
    Likenew,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 1] = [Self::Likenew];

    /// What `--format` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Likenew => "likenew",
        }
    }

    /// The format of a file that begins so.
    ///
    /// # Errors
    /// What the file looks like instead.
    pub(crate) fn of(ahead: &[u8]) -> Result<Self, String> {
        if ahead.is_empty() {
            return Err("is empty".to_owned());
        }
        if ahead.starts_with(FIRST_LINE.as_bytes()) {
            return Ok(Self::Likenew);
        }
        Err("is no trace that is known here".to_owned())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            format!("there is no format \"{text}\"; there are {names}")
        })
    }
}
