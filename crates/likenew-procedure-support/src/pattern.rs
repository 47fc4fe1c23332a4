//! The order of addresses, with its name on the command line.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::wording;

/// The order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub enum Pattern {
    /// One after the other.
    Sequential,
    /// Uniformly random, on multiples of the block.
    Random,
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if *self == Self::Sequential { "sequential" } else { "random" })
    }
}

impl FromStr for Pattern {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "sequential" => Ok(Self::Sequential),
            "random" => Ok(Self::Random),
            _ => Err(wording::no_such_pattern(text)),
        }
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> Self {
        pattern.to_string()
    }
}

impl TryFrom<String> for Pattern {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_read_back_and_nonsense_does_not() {
        for pattern in [Pattern::Sequential, Pattern::Random] {
            assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
        for text in ["", "seq", "Random"] {
            assert!(text.parse::<Pattern>().unwrap_err().contains("sequential or random"));
        }
    }
}
