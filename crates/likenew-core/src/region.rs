//! A region of a drive's addresses, given in bytes or percent.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::units::{exact_size, parse_size};
use crate::{serde_as_text, wording};

/// A range of addresses, spelled `whole`, `0..8GiB` or `25%..50%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Region {
    start: Bound,
    end: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    Bytes(u64),
    Percent(f64),
}

impl Region {
    /// All addresses.
    pub const WHOLE: Self = Self { start: Bound::Percent(0.0), end: Bound::Percent(100.0) };

    /// These bytes.
    pub fn bytes(range: Range<u64>) -> Self {
        Self { start: Bound::Bytes(range.start), end: Bound::Bytes(range.end) }
    }

    /// The bytes that it covers on a drive of `capacity` bytes, with both ends rounded down to `block`.
    ///
    /// # Errors
    /// A sentence, when that range is empty or reaches beyond the drive.
    pub fn resolve(&self, capacity: u64, block: u32) -> Result<Range<u64>, String> {
        let at = |bound| {
            let bytes = match bound {
                Bound::Bytes(bytes) => bytes,
                Bound::Percent(percent) => (capacity as f64 * percent / 100.0) as u64,
            };
            bytes - bytes % u64::from(block)
        };
        let range = at(self.start)..at(self.end);
        if range.end > capacity {
            return Err(wording::region_beyond_end(self, capacity));
        }
        if range.is_empty() {
            return Err(wording::empty_region(self, capacity, block));
        }
        Ok(range)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => f.write_str(&exact_size(*bytes)),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::WHOLE { f.write_str("whole") } else { write!(f, "{}..{}", self.start, self.end) }
    }
}

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "whole" {
            return Ok(Self::WHOLE);
        }
        let bad = || wording::not_a_region(text);
        let (start, end) = text.split_once("..").ok_or_else(bad)?;
        let bound = |text: &str| match text.strip_suffix('%') {
            Some(percent) => {
                percent.parse().ok().filter(|p| (0.0..=100.0).contains(p)).map(Bound::Percent).ok_or_else(bad)
            }
            None => parse_size(text).map(Bound::Bytes).map_err(|_| bad()),
        };
        Ok(Self { start: bound(start)?, end: bound(end)? })
    }
}

serde_as_text!(Region);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_resolve_to_whole_blocks() {
        let resolve = |text: &str| text.parse::<Region>().unwrap().resolve(1_000_000, 4096);
        assert_eq!(resolve("whole"), Ok(0..999_424));
        assert_eq!(resolve("50%..100%"), Ok(499_712..999_424));
        assert_eq!(resolve("4k..8k"), Ok(4096..8192));
        assert!(resolve("0..1GiB").unwrap_err().contains("beyond"));
        assert!(resolve("8k..4k").unwrap_err().contains("empty"));
    }

    #[test]
    fn regions_read_back_and_nonsense_does_not() {
        for text in ["whole", "0..8GiB", "25%..50%", "512..1MiB"] {
            assert_eq!(text.parse::<Region>().unwrap().to_string(), text);
        }
        for text in ["", "..", "0..", "0-4k", "0%..101%", "a..b", "NaN%..5%"] {
            assert!(text.parse::<Region>().is_err(), "{text}");
        }
    }
}
