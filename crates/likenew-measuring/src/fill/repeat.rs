//! How often the space is written.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::wording;

/// A number of passes, or until another pass changes little.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// This many times.
    Times(u32),
    /// Until a pass is within [`Repeat::SETTLED_SHARE`] of the speed of the one before, but at most
    /// [`Repeat::TIMES_MAX`] times.
    UntilSteady,
}

impl Repeat {
    /// Change of speed between passes, as a share, up to which it has settled. SNIA's rule needs five rounds
    /// in a window, and each of these passes writes the whole space: too much wear for what a second pass
    /// usually shows.
    pub const SETTLED_SHARE: f64 = 0.02;
    /// A drive that has not settled by then never does.
    pub const TIMES_MAX: u32 = 10;

    /// Whether this many passes were enough, from the speeds in bytes a second of those that measured any.
    pub(crate) fn is_enough(self, passes: usize, speeds: &[f64]) -> bool {
        match self {
            Self::Times(times) => passes >= times as usize,
            Self::UntilSteady => is_steady(speeds) || passes >= Self::TIMES_MAX as usize,
        }
    }
}

/// Whether the last pass was as fast as the one before.
pub(crate) fn is_steady(speeds: &[f64]) -> bool {
    matches!(speeds, [.., before, last] if change(*before, *last) <= Repeat::SETTLED_SHARE)
}

/// Change of the speed as a share; 1 if there was no speed before.
pub(crate) fn change(before: f64, after: f64) -> f64 {
    if before > 0.0 { (after / before - 1.0).abs() } else { 1.0 }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Times(times) => times.fmt(f),
            Self::UntilSteady => f.pad("until-steady"),
        }
    }
}

impl FromStr for Repeat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            _ if text == "until-steady" => Ok(Self::UntilSteady),
            Ok(times) if (1..=1000).contains(&times) => Ok(Self::Times(times)),
            _ => Err(wording::wrong_passes(text)),
        }
    }
}

impl Serialize for Repeat {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Repeat {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_read_back_and_nonsense_does_not() {
        for text in ["1", "4", "until-steady"] {
            assert_eq!(text.parse::<Repeat>().unwrap().to_string(), text);
        }
        for text in ["", "0", "-1", "1001", "steady", "2.5"] {
            assert!(text.parse::<Repeat>().unwrap_err().contains("until-steady"), "{text}");
        }
    }

    #[test]
    fn another_pass_that_changes_little_is_enough() {
        let enough = |repeat: Repeat, speeds: &[f64]| repeat.is_enough(speeds.len(), speeds);
        assert!(!enough(Repeat::UntilSteady, &[]) && !enough(Repeat::UntilSteady, &[75.0]));
        assert!(
            !enough(Repeat::UntilSteady, &[40.0, 70.0]) && enough(Repeat::UntilSteady, &[40.0, 70.0, 71.0])
        );
        assert!(enough(Repeat::UntilSteady, &[70.0, 69.0]), "slower counts as well");
        let unsettled: Vec<f64> = (0..10).map(|pass| [40.0, 80.0][pass % 2]).collect();
        assert!(!enough(Repeat::UntilSteady, &unsettled[..9]) && enough(Repeat::UntilSteady, &unsettled));
        assert!(!is_steady(&[0.0, 0.0]));
        assert!(enough(Repeat::Times(2), &[1.0, 9.0]) && !enough(Repeat::Times(2), &[1.0]));
    }
}
