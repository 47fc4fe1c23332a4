//! When to stop measuring: as soon as the mean is known precisely enough.
//!
//! A check after every pass that stops at the first narrow interval stops too often at one that is narrow by
//! chance. So the interval here is wider than Student's for a fixed number of passes, by a factor that is
//! counted in `docs/explanation/method.md`.

use crate::interval::{CONFIDENCE_95, Interval, mean_interval};
use crate::summary::mean;

/// How precise a mean is wanted, and for how many passes at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Half the width of the interval over the mean, such as 0.02.
    pub share: f64,
    /// Confidence of the interval, such as 0.95.
    pub confidence: f64,
    /// No stopping before so many passes.
    pub passes_min: usize,
    /// No pass after so many.
    pub passes_max: usize,
}

impl Goal {
    /// Half the width of the interval over the mean, ±2%. Chosen: passes that vary by 5% mostly reach it
    /// within [`PASSES_MAX`](Self::PASSES_MAX).
    pub const SHARE: f64 = 0.02;
    /// Fewer passes are too easily alike by chance.
    pub const PASSES_MIN: usize = 5;
    /// Passes that vary by 5% mostly reach ±2% before.
    pub const PASSES_MAX: usize = 50;
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            share: Self::SHARE,
            confidence: CONFIDENCE_95,
            passes_min: Self::PASSES_MIN,
            passes_max: Self::PASSES_MAX,
        }
    }
}

/// What to do after some passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// Measure another pass.
    More,
    /// The mean is known as precisely as wanted.
    Reached(Interval),
    /// All passes are made, and the interval is wider than wanted.
    Unreachable(Interval),
}

/// How many times as wide as Student's the interval is, as it is checked after every pass. Chosen by the
/// coverage counted in `docs/explanation/method.md`.
const INFLATION: f64 = 1.15;

/// Whether these passes are enough: after the pattern of Chow and Robbins, "On the asymptotic theory of
/// fixed-width sequential confidence intervals for the mean", Annals of Mathematical Statistics 36 (1965)
/// 457–462. To be asked after every pass, with all passes so far.
///
/// # Panics
/// When the goal asks for no positive share, a confidence not between 0 and 1, fewer than two passes, or fewer at most
/// than at least; or when a pass is not a number.
pub fn precision(passes: &[f64], goal: &Goal) -> Precision {
    assert!(goal.share > 0.0, "a precision is a share above zero, not {}", goal.share);
    assert!(
        (2..=goal.passes_max).contains(&goal.passes_min),
        "an interval takes 2 passes or more, not {} to {}",
        goal.passes_min,
        goal.passes_max
    );
    if passes.len() < goal.passes_min {
        return Precision::More;
    }
    let center = mean(passes).expect("there are passes");
    let interval = mean_interval(passes, goal.confidence).expect("two passes have an interval");
    let half = INFLATION * (interval.high - interval.low) / 2.0;
    let interval = Interval { low: center - half, high: center + half };
    if half <= goal.share * center.abs() {
        Precision::Reached(interval)
    } else if passes.len() >= goal.passes_max {
        Precision::Unreachable(interval)
    } else {
        Precision::More
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_passes_suffice_from_the_least_number_on() {
        let goal = Goal::default();
        for count in 0..goal.passes_min {
            assert_eq!(precision(&vec![7.0; count], &goal), Precision::More);
        }
        assert_eq!(
            precision(&vec![7.0; goal.passes_min], &goal),
            Precision::Reached(Interval { low: 7.0, high: 7.0 })
        );
    }

    #[test]
    fn scattered_passes_go_on_to_the_end() {
        let goal = Goal { passes_max: 8, ..Goal::default() };
        let passes = [100.0, 150.0, 60.0, 130.0, 90.0, 110.0, 70.0, 140.0];
        assert!((1..8).all(|count| precision(&passes[..count], &goal) == Precision::More));
        let Precision::Unreachable(interval) = precision(&passes, &goal) else { panic!() };
        let student = mean_interval(&passes, 0.95).unwrap();
        assert!(interval.low < student.low && interval.high > student.high);
    }

    #[test]
    fn a_mean_of_zero_is_never_known_to_a_share_of_itself() {
        let goal = Goal { passes_max: 6, ..Goal::default() };
        assert!(matches!(precision(&[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], &goal), Precision::Unreachable(_)));
    }

    #[test]
    #[should_panic(expected = "2 passes or more, not 9 to 5")]
    fn a_goal_that_cannot_be_met_is_a_mistake() {
        let _ = precision(&[1.0], &Goal { passes_min: 9, passes_max: 5, ..Goal::default() });
    }
}
