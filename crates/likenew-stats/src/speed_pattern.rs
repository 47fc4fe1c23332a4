//! The course of a series along its order: flat as on a new drive, sloping as along a disk's zones, stepped as behind
//! a cache, or none of these.

use crate::summary::{mean, median, quantile_of_sorted, sorted};
use crate::trend::{self, Trend, trend};

/// What a series of speeds does from its first value to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedPattern {
    /// It stays: [`spread`] is at most [`SPREAD_FLAT_MAX`].
    Flat,
    /// It follows a straight line.
    Sloping(Trend),
    /// It changes once from one level to another.
    Stepped(Step),
    /// It varies more than a flat one, and neither a line nor a step explains it.
    Uneven,
}

/// One change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the first value after it.
    pub at: usize,
    /// Median before it.
    pub before: f64,
    /// Median from it on.
    pub after: f64,
}

/// A series whose 95th percentile is at most this many times its 5th counts as flat. Values scattered by 6.8 %
/// (normal, one standard deviation) just reach it.
pub const SPREAD_FLAT_MAX: f64 = 1.25;
/// A line or a step has to remove at least this share of the absolute deviations from the median. The best
/// step removes half of those of a straight line, so a lower limit could not distinguish the two.
const EXPLAINED_MIN: f64 = 0.5;
/// A line counts only when values in random order would be as steady with less than this probability. Chosen:
/// one series in a thousand.
const TREND_SIGNIFICANCE: f64 = 0.001;
/// A level has at least so many values.
const LEVEL_MIN: usize = 3;

/// How far a series is spread: its 95th over its 5th percentile, so that one value in twenty at either end may stand
/// apart. 1 is perfectly even. `None` of nothing, or when the 5th percentile is not above zero.
///
/// # Panics
/// When a value is not a number.
pub fn spread(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let low = quantile_of_sorted(&sorted, 0.05).filter(|low| *low > 0.0)?;
    Some(quantile_of_sorted(&sorted, 0.95)? / low)
}

/// What a series does along its order. `None` below [`trend::VALUES_MIN`] values.
///
/// A line and a step are fitted, and the one that removes more of the absolute deviations from the median is
/// named if it removes at least half.
///
/// # Panics
/// When a value is not a finite number.
pub fn speed_pattern(values: &[f64]) -> Option<SpeedPattern> {
    let line = trend(values)?;
    if spread(values).is_some_and(|spread| spread <= SPREAD_FLAT_MAX) {
        return Some(SpeedPattern::Flat);
    }
    let step = step(values);
    let level = median(values)?;
    let explained =
        |fit: &dyn Fn(usize) -> f64| 1.0 - deviations(values, fit) / deviations(values, &|_| level);
    let by_line = explained(&|index| line.at(index));
    let by_step = explained(&|index| if index < step.at { step.before } else { step.after });
    Some(if by_step >= EXPLAINED_MIN && by_step > by_line {
        SpeedPattern::Stepped(step)
    } else if by_line >= EXPLAINED_MIN && line.p_value < TREND_SIGNIFICANCE {
        SpeedPattern::Sloping(line)
    } else {
        SpeedPattern::Uneven
    })
}

/// The sum of absolute deviations from a fit.
fn deviations(values: &[f64], fit: &dyn Fn(usize) -> f64) -> f64 {
    values.iter().enumerate().map(|(index, value)| (value - fit(index)).abs()).sum()
}

/// The best single change of level: where the squares between the two sides are largest.
fn step(values: &[f64]) -> Step {
    const { assert!(trend::VALUES_MIN >= 2 * LEVEL_MIN) };
    let (center, count) = (mean(values).expect("there are values"), values.len());
    let (mut sum, mut best) = (0.0, (f64::NEG_INFINITY, LEVEL_MIN));
    for at in 1..=count - LEVEL_MIN {
        sum += values[at - 1] - center;
        let between = sum * sum * count as f64 / (at as f64 * (count - at) as f64);
        if at >= LEVEL_MIN && between > best.0 {
            best = (between, at);
        }
    }
    let at = best.1;
    let level = |side: &[f64]| median(side).expect("a level has values");
    Step { at, before: level(&values[..at]), after: level(&values[at..]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    #[test]
    fn a_new_drive_is_flat_even_with_a_hiccup() {
        let mut values = series(100, |index| 76.0 + (index * 7 % 5) as f64 * 0.4);
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Flat));
        values[40] = 9.0;
        values[41] = 7.0;
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Flat));
        assert!(spread(&values).unwrap() < 1.03);
    }

    #[test]
    fn a_disk_slopes() {
        let Some(SpeedPattern::Sloping(line)) = speed_pattern(&series(60, |index| 120.0 - index as f64))
        else {
            panic!()
        };
        assert!((line.slope + 1.0).abs() < 1e-9);
        let zones = series(64, |index| 120.0 - (index / 4 * 4) as f64);
        assert!(matches!(speed_pattern(&zones), Some(SpeedPattern::Sloping(_))));
    }

    #[test]
    fn a_cache_that_runs_full_is_a_step() {
        let values = series(50, |index| if index < 12 { 500.0 } else { 190.0 } + (index % 3) as f64);
        let Some(SpeedPattern::Stepped(step)) = speed_pattern(&values) else {
            panic!("{:?}", speed_pattern(&values))
        };
        assert_eq!((step.at, step.before, step.after), (12, 501.0, 191.0));
    }

    #[test]
    fn an_aged_drive_is_uneven() {
        let values = series(100, |index| if index / 7 % 2 == 0 { 76.0 } else { 5.0 });
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Uneven));
    }

    #[test]
    fn few_or_vanishing_values() {
        assert_eq!((speed_pattern(&[1.0; 7]), spread(&[]), spread(&[0.0, 0.0, 1.0])), (None, None, None));
        assert_eq!(speed_pattern(&[0.0; 20]), Some(SpeedPattern::Uneven));
        assert_eq!(spread(&[3.0]), Some(1.0));
    }
}
