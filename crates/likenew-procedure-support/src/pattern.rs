//! Sequential or random access, by its name on the command line.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use likenew_core::region::Region;
use likenew_core::serde_as_text;
use likenew_core::workload::AccessPattern;

use crate::wording;

/// The order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Each address after the one before.
    Sequential,
    /// Uniformly random, on multiples of the block.
    Random,
}

impl Pattern {
    /// The access pattern of this order over a range of bytes.
    pub fn over(self, range: Range<u64>) -> AccessPattern {
        match self {
            Self::Sequential => AccessPattern::Sequential(Region::bytes(range)),
            Self::Random => AccessPattern::Random(Region::bytes(range)),
        }
    }
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

serde_as_text!(Pattern);

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
