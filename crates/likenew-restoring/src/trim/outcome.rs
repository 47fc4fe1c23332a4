//! The content of freed blocks.

use likenew_core::trim::Content;

/// The content of freed blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Unknown: another file has taken the place, or the drive refused to read it.
    Nothing,
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// Partly zeros or 0xFF, partly the old data.
    Partly,
    /// The old data.
    OldData,
    /// Something else.
    Other,
}

/// Share of the freed bytes from which all of them count as trimmed. Chosen: the edges of TRIM units may keep
/// their data.
const NEARLY_ALL: f64 = 0.9;
/// A smaller share than this is only the edges. Chosen: the complement of `NEARLY_ALL`.
const A_PART: f64 = 0.1;

impl Outcome {
    pub(super) fn from_content(content: &Content) -> Self {
        let known = content.known_bytes() as f64;
        let share = |bytes: u64| bytes as f64 / known;
        if known == 0.0 {
            Self::Nothing
        } else if share(content.zero_bytes) >= NEARLY_ALL {
            Self::Zeros
        } else if share(content.ones_bytes) >= NEARLY_ALL {
            Self::Ones
        } else if share(content.zero_bytes + content.ones_bytes) >= A_PART {
            Self::Partly
        } else if share(content.pattern_bytes) >= NEARLY_ALL {
            Self::OldData
        } else {
            Self::Other
        }
    }

    /// Whether a layer below the file system has obeyed.
    pub(super) fn is_trimmed(self) -> bool {
        matches!(self, Self::Zeros | Self::Ones | Self::Partly)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_outcome_has_its_contents() {
        let of = |zeros, ones, pattern, other, taken| {
            Outcome::from_content(&Content {
                zero_bytes: zeros,
                ones_bytes: ones,
                pattern_bytes: pattern,
                other_bytes: other,
                taken_bytes: taken,
                refused_bytes: 0,
            })
        };
        assert_eq!(of(100, 0, 0, 0, 0), Outcome::Zeros);
        assert_eq!(of(95, 0, 5, 0, 1000), Outcome::Zeros, "what somebody has taken says nothing");
        assert_eq!(of(0, 100, 0, 0, 0), Outcome::Ones);
        assert_eq!(of(50, 0, 50, 0, 0), Outcome::Partly);
        assert_eq!(of(0, 0, 100, 0, 0), Outcome::OldData);
        assert_eq!(of(5, 0, 95, 0, 0), Outcome::OldData);
        assert_eq!(of(0, 0, 0, 100, 0), Outcome::Other);
        assert_eq!(of(0, 0, 50, 50, 0), Outcome::Other);
        assert_eq!(of(0, 0, 0, 0, 100), Outcome::Nothing);
        for outcome in [Outcome::Zeros, Outcome::Ones, Outcome::Partly] {
            assert!(outcome.is_trimmed());
        }
        for outcome in [Outcome::Nothing, Outcome::OldData, Outcome::Other] {
            assert!(!outcome.is_trimmed());
        }
    }
}
