//! How precisely a mean is wanted: passes are repeated until its interval is that narrow.

use std::fmt;
use std::str::FromStr;

use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::interval::{Interval, mean_interval};
use likenew_stats::precision::{Goal, Precision, precision};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::CONFIDENCE;

/// Half the width of an interval over its mean, spelled in percent: `2%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionGoal(pub f64);

impl PrecisionGoal {
    /// The rule by which passes are enough: at least so many, and at most.
    pub(crate) fn goal(self, passes_min: usize, passes_max: usize) -> Goal {
        let passes_min = passes_min.max(Goal::PASSES_MIN);
        Goal { share: self.0, passes_min, passes_max: passes_max.max(passes_min), ..Goal::default() }
    }
}

/// The interval of the mean of some passes, and whether it is as narrow as was wanted.
pub(crate) fn interval(passes: &[f64], goal: Option<&Goal>) -> (Option<Interval>, Option<bool>) {
    let usual = || mean_interval(passes, CONFIDENCE);
    match goal.map(|goal| precision(passes, goal)) {
        None => (usual(), None),
        Some(Precision::More) => (usual(), Some(false)),
        Some(Precision::Reached(interval)) => (Some(interval), Some(true)),
        Some(Precision::Unreachable(interval)) => (Some(interval), Some(false)),
    }
}

/// What is said of the means that were wanted so precisely: `(name, passes, share reached, whether that is enough)`.
pub(crate) fn verdict(goal: &Goal, means: &[(String, usize, f64, bool)]) -> Verdict {
    let claim = format!("Every mean is known to {}.", PrecisionGoal(goal.share));
    let wide: Vec<_> = means.iter().filter(|(.., enough)| !enough).collect();
    if wide.is_empty() {
        let most = means.iter().map(|(_, passes, ..)| *passes).max().unwrap_or(0);
        return Verdict::new(claim, Standing::Holds)
            .with_evidence(format!("{most} passes were enough for each"));
    }
    wide.into_iter()
        .fold(Verdict::new(claim, Standing::Fails), |verdict, (name, passes, share, _)| {
            let known = if share.is_finite() {
                format!("known to {}", PrecisionGoal(*share))
            } else {
                "not known".into()
            };
            verdict.with_evidence(format!("{name}: {known} after {passes} passes"))
        })
        .caveat("longer passes scatter less: give a longer --time or a larger --span")
}

impl fmt::Display for PrecisionGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        // Rounded, as 7 % are 0.07 and a hundred times that is a little more than 7.
        let digits = if percent >= 10.0 { 1e1 } else { 1e2 };
        write!(f, "{}%", (percent * digits).round() / digits)
    }
}

impl FromStr for PrecisionGoal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
        percent
            .filter(|percent| (0.1..=50.0).contains(percent))
            .map(|percent| Self(percent / 100.0))
            .ok_or_else(|| format!("\"{text}\" is no precision: write 0.1% to 50%, such as 2%"))
    }
}

impl Serialize for PrecisionGoal {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for PrecisionGoal {
    fn deserialize<D: Deserializer<'de>>(input: D) -> Result<Self, D::Error> {
        String::deserialize(input)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precisions_read_back_and_nonsense_does_not() {
        for text in ["2%", "0.1%", "7%", "12.5%"] {
            assert_eq!(text.parse::<PrecisionGoal>().unwrap().to_string(), text);
        }
        for text in ["", "2", "0%", "51%", "-1%", "NaN%", "two%"] {
            assert!(text.parse::<PrecisionGoal>().unwrap_err().contains("such as 2%"), "{text}");
        }
    }
}
