//! The part of a drive to test, from the command line.

use likenew_core::units::parse_size;

use super::wording;

/// A part of the address space from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// Bytes.
    Bytes(u64),
    /// Percent of everything.
    Percent(f64),
}

impl std::str::FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "whole" {
            return Ok(Self::Percent(100.0));
        }
        let bad = || wording::unknown_extent(text);
        match text.strip_suffix('%') {
            Some(percent) => {
                let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                percent.map(Self::Percent).ok_or_else(bad)
            }
            None => parse_size(text).map(Self::Bytes).map_err(|_| bad()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_sizes_shares_or_all() {
        for (text, extent) in [
            ("whole", Extent::Percent(100.0)),
            ("12.5%", Extent::Percent(12.5)),
            ("8GiB", Extent::Bytes(8 << 30)),
        ] {
            assert_eq!(text.parse(), Ok(extent), "{text}");
        }
        for text in ["", "%", "101%", "-1%", "NaN%", "half"] {
            assert!(text.parse::<Extent>().unwrap_err().contains("8GiB"), "{text}");
        }
    }
}
