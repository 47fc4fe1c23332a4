//! Sequential or random access, by its name on the command line.

use std::ops::Range;

use likenew_core::region::Region;
use likenew_core::serde_as_text;
use likenew_core::workload::AccessPattern;

use crate::wording;

/// The order of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = wording::no_such_pattern)]
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
