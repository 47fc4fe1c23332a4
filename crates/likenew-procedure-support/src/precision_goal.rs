//! The precision that a user asks for: passes repeat until the interval of their mean is narrow enough.

use std::fmt;
use std::str::FromStr;

use likenew_core::findings::Answer;
use likenew_core::serde_as_text;
use likenew_stats::interval::Goal;

use crate::wording;

/// Half the width of an interval over its mean, typed in percent: `2%`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PrecisionGoal(pub f64);

impl PrecisionGoal {
    /// The rule that ends the passes, with the fewest and the most of them.
    pub fn goal(self, passes_min: usize, passes_max: usize) -> Goal {
        let passes_min = passes_min.max(Goal::PASSES_MIN);
        Goal { share: self.0, passes_min, passes_max: passes_max.max(passes_min), ..Goal::default() }
    }
}

/// The precision that a mean reached.
#[derive(Clone, Debug, PartialEq)]
pub struct MeanPrecision {
    /// The name of the test.
    pub name: String,
    /// Passes that were made for it.
    pub passes: usize,
    /// Half the width of its interval over the mean; infinite if the passes give no interval.
    pub share: f64,
    /// Whether the interval is narrow enough.
    pub enough: bool,
}

/// Whether all means are precise enough.
pub fn answer(goal: &Goal, means: &[MeanPrecision]) -> Answer {
    let wanted = PrecisionGoal(goal.share);
    let wide: Vec<&MeanPrecision> = means.iter().filter(|mean| !mean.enough).collect();
    if wide.is_empty() {
        let passes_most = means.iter().map(|mean| mean.passes).max().unwrap_or(0);
        return wording::means_are_precise(wanted, passes_most);
    }
    let answer = wording::means_are_imprecise(wanted, wide.len(), means.len());
    wide.into_iter().fold(answer, |answer, mean| {
        let reached = mean.share.is_finite().then_some(PrecisionGoal(mean.share));
        answer.with_evidence(wording::precision_of_mean(&mean.name, reached, mean.passes))
    })
}

impl fmt::Display for PrecisionGoal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = self.0 * 100.0;
        // Rounded, because 0.07 times a hundred is a little more than 7.
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
            .ok_or_else(|| wording::no_such_precision(text))
    }
}

serde_as_text!(PrecisionGoal);

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
