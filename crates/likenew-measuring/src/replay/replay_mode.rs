//! When the I/Os of a trace leave.

use std::fmt;
use std::str::FromStr;

use likenew_core::serde_as_text;

use super::wording;

/// When the I/Os of a trace leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReplayMode {
    /// As fast as the target takes them.
    Fast,
    /// At the recorded times.
    Timed,
    /// As long after the I/Os that had ended before them as recorded.
    #[default]
    Dependent,
}

impl fmt::Display for ReplayMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fast => "fast",
            Self::Timed => "timed",
            Self::Dependent => "dependent",
        })
    }
}

impl FromStr for ReplayMode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Fast, Self::Timed, Self::Dependent]
            .into_iter()
            .find(|mode| mode.to_string() == text)
            .ok_or_else(|| wording::unknown_mode(text))
    }
}

serde_as_text!(ReplayMode);
