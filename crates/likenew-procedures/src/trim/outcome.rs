//! What it means that bytes were found to be this or that.

use likenew_core::trim::Content;

/// What stands where something was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing is known: somebody has taken it, or the drive refused.
    Nothing,
    /// Zeros.
    Zeros,
    /// 0xFF.
    Ones,
    /// In part zeros or 0xFF, in part what had been there.
    Partly,
    /// What had been there.
    OldData,
    /// Neither.
    Other,
}

/// Nearly all of something is at least this share of it: the edges of what TRIM works in may stay.
const NEARLY_ALL: f64 = 0.9;
/// Less than this share of it is an accident.
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

    /// Whether something below the file system has obeyed.
    pub(super) fn is_trimmed(self) -> bool {
        matches!(self, Self::Zeros | Self::Ones | Self::Partly)
    }

    /// For the answer of a rung.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Nothing => "nothing is known: the place was taken by somebody, or could not be read",
            Self::Zeros => "zeros",
            Self::Ones => "bytes of 0xFF",
            Self::Partly => "in part zeros or 0xFF, in part what had been there",
            Self::OldData => "what had been there: no proof, for a drive may go on showing it",
            Self::Other => "other data: encrypted, or somebody has written there",
        }
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
