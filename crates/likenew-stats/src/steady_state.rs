//! Steady state as the Solid State Storage Performance Test Specification of SNIA defines it (PTS 2.0.2, definitions
//! 2.1.13 and 2.1.24): a window of five consecutive rounds whose values neither spread nor drift too far.
//!
//! The rule is kept to the letter. It is a convention, not a test: `docs/explanation/method.md` counts how
//! often it calls a series steady that still falls. [`level_changes`] finds when a number that is measured
//! again and again changed for good, and by how much.

use std::ops::Range;

use super::interval::{CONFIDENCE_99, Interval, repeatability, student};
use super::summary::{maximum, mean, minimum, refuse_nan};

/// Rounds of the measurement window.
pub const ROUNDS: usize = 5;
/// After this many rounds a test may stop without steady state, and must say so.
pub const ROUNDS_MAX: usize = 25;
/// Largest minus smallest value of the window is at most this share of the mean.
pub const RANGE_SHARE_MAX: f64 = 0.2;
/// The best straight line through the window rises or falls, from its first round to its last, by at most this share
/// of the mean.
pub const SLOPE_SHARE_MAX: f64 = 0.1;

/// Tolerance of both limits, so that a last binary digit does not decide.
const ROUNDING: f64 = 1e-9;

/// The last [`ROUNDS`] rounds of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Mean, in the unit of the values.
    pub mean: f64,
    /// Largest minus smallest value, over the mean.
    pub range_share: f64,
    /// How far the line of least squares rises or falls from the first round of the window to the last, over the mean.
    pub slope_share: f64,
}

impl Window {
    /// The window at the end of these rounds. `None` below [`ROUNDS`] rounds, or when the mean is not above
    /// zero.
    ///
    /// # Panics
    /// When a value is not a finite number.
    pub fn last(rounds: &[f64]) -> Option<Self> {
        let window = &rounds[rounds.len().checked_sub(ROUNDS)?..];
        assert!(window.iter().all(|value| value.is_finite()), "a round is a finite number");
        let mean = mean(window).filter(|mean| *mean > 0.0)?;
        let range = maximum(window)? - minimum(window)?;
        let last = (ROUNDS - 1) as f64;
        Some(Self { mean, range_share: range / mean, slope_share: slope(window).abs() * last / mean })
    }

    /// Whether both limits hold.
    pub fn is_steady(&self) -> bool {
        self.range_share <= RANGE_SHARE_MAX + ROUNDING && self.slope_share <= SLOPE_SHARE_MAX + ROUNDING
    }
}

/// Number of rounds after which steady state was first reached; `None` when it never was.
///
/// # Panics
/// When a value is not a finite number.
pub fn steady_at(rounds: &[f64]) -> Option<usize> {
    (ROUNDS..=rounds.len()).find(|end| Window::last(&rounds[..*end]).is_some_and(|window| window.is_steady()))
}

/// The slope of the line of least squares, per round.
fn slope(window: &[f64]) -> f64 {
    let middle = (window.len() - 1) as f64 / 2.0;
    let (mut products, mut squares) = (0.0, 0.0);
    for (round, value) in window.iter().enumerate() {
        let place = round as f64 - middle;
        products += place * value;
        squares += place * place;
    }
    products / squares
}

/// Degrees of freedom of the assumed scatter: two differences, as in [`repeatability`].
const ASSUMED: f64 = 2.0;

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LevelChange {
    /// Index of the first value of the new level.
    pub at: usize,
    /// The new level less the old one.
    pub difference: f64,
    /// The interval of the difference at the confidence asked for; it never contains 0.
    pub interval: Interval,
}

/// Finds the changes of level in numbers that are in the order they were measured, the earliest first.
/// `assumed` is the standard deviation of their scatter before any of them has shown it.
///
/// A series is cut in two where the means of both parts differ most in units of their standard error, if that
/// is significant. Both parts are then cut alike (binary segmentation: Scott and Knott, "A cluster analysis
/// method for grouping means in the analysis of variance", Biometrics 30 (1974) 507–512). These cuts are
/// candidates at 99%, with the scatter from [`repeatability`], which a change of level hardly touches. Once
/// the parts are known, the scatter is that of the values around the means of their parts, with the assumed
/// one counted as two more values. As a place is chosen among n − 1, each change is tested at
/// (1 − confidence)/(n − 1) (Bonferroni), and its interval is as wide as that.
///
/// # Panics
/// When a value is not a number, `assumed` is not above 0, or `confidence` is not between 0 and 1.
pub fn level_changes(values: &[f64], assumed: f64, confidence: f64) -> Vec<LevelChange> {
    refuse_nan(values);
    assert!(assumed > 0.0, "no number repeats exactly");
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence is between 0 and 1, not {confidence}");
    if values.len() < 2 {
        return Vec::new();
    }
    let steps = (values.len() - 1) as f64;
    let tail = (1.0 - confidence) / steps / 2.0;
    let known = Scatter { deviation: repeatability(values, assumed), freedom: ASSUMED + EFFICIENCY * steps };
    let mut ends = vec![0];
    cut(values, 0..values.len(), known.reach((1.0 - CONFIDENCE_99) / 2.0), &mut ends);
    ends.push(values.len());
    let parts: Vec<&[f64]> = ends.windows(2).map(|end| &values[end[0]..end[1]]).collect();
    let squares: f64 =
        parts.iter().map(|part| part.iter().map(|value| (value - center(part)).powi(2)).sum::<f64>()).sum();
    let freedom = ASSUMED + (values.len() - parts.len()) as f64;
    let within = Scatter { deviation: ((ASSUMED * assumed.powi(2) + squares) / freedom).sqrt(), freedom };
    let changes = parts.windows(2).zip(&ends[1..]).map(|(pair, at)| {
        let (difference, error) = difference(pair[0], pair[1]);
        let half = within.reach(tail) * error;
        LevelChange { at: *at, difference, interval: Interval::around(difference, half) }
    });
    changes.filter(|change| !change.interval.contains(0.0)).collect()
}

/// Efficiency of the median of successive differences, relative to the values themselves: the median of
/// absolute values of a normal distribution has 0.37, and such differences have 2/3.
const EFFICIENCY: f64 = 0.25;

/// A standard deviation and its degrees of freedom.
struct Scatter {
    deviation: f64,
    freedom: f64,
}

impl Scatter {
    /// Half of an interval per unit of standard error; `tail` is the probability beyond each end.
    fn reach(&self, tail: f64) -> f64 {
        student(self.freedom, 1.0 - tail) * self.deviation
    }
}

/// Adds the places at which a part of the series is cut.
fn cut(values: &[f64], range: Range<usize>, reach: f64, ends: &mut Vec<usize>) {
    let part = &values[range.clone()];
    let cuts = (1..part.len()).map(|at| {
        let (difference, error) = difference(&part[..at], &part[at..]);
        (at, difference.abs() / error)
    });
    let Some((at, significance)) = cuts.max_by(|one, other| one.1.total_cmp(&other.1)) else { return };
    if significance <= reach {
        return;
    }
    let at = range.start + at;
    cut(values, range.start..at, reach, ends);
    ends.push(at);
    cut(values, at..range.end, reach, ends);
}

/// The difference of two means, with its standard error if the scatter is 1.
fn difference(before: &[f64], after: &[f64]) -> (f64, f64) {
    let error = (1.0 / before.len() as f64 + 1.0 / after.len() as f64).sqrt();
    (center(after) - center(before), error)
}

fn center(part: &[f64]) -> f64 {
    mean(part).expect("a part has values")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn both_limits_are_limits_and_belong_to_it() {
        // Range 20 % of 100 with a slope of zero; a hair more; a line that rises by 10 %; a hair more.
        let steady = |rounds: [f64; 5]| Window::last(&rounds).unwrap().is_steady();
        assert!(steady([90.0, 100.0, 120.0 - 10.0, 100.0, 100.0 - 0.0]));
        assert!(steady([100.0, 90.0, 100.0, 110.0, 100.0]));
        assert!(!steady([100.0, 89.9, 100.0, 110.1, 100.0]));
        assert!(steady([95.0, 97.5, 100.0, 102.5, 105.0]));
        assert!(!steady([94.9, 97.5, 100.0, 102.5, 105.1]));
        // In tenths the range is a last binary digit above 20 %.
        assert!(steady([1.0, 0.9, 1.0, 1.1, 1.0]));
    }

    #[test]
    fn a_worked_example() {
        let window = Window::last(&[9.0, 1.0, 2.0, 4.0, 3.0, 5.0]).unwrap();
        // Slope of 1, 2, 4, 3, 5: (−2 − 2 + 3 + 10) / 10 = 0.9.
        assert_eq!((window.mean, window.range_share), (3.0, 4.0 / 3.0));
        assert!((window.slope_share - 0.9 * 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_first_steady_window_counts() {
        let falling = [500.0, 400.0, 320.0, 260.0, 210.0];
        assert_eq!(steady_at(&falling), None);
        let settled: Vec<f64> = falling.into_iter().chain([200.0; 6]).collect();
        // The window of rounds 5 to 9 is 210 and four times 200.
        assert_eq!(steady_at(&settled), Some(9));
        assert_eq!(steady_at(&[100.0; 5]), Some(5));
    }

    #[test]
    fn few_rounds_or_none_above_zero() {
        assert_eq!((Window::last(&[1.0; 4]), steady_at(&[1.0; 4])), (None, None));
        assert_eq!((Window::last(&[0.0; 9]), steady_at(&[0.0; 9])), (None, None));
    }

    #[test]
    #[should_panic(expected = "finite")]
    fn not_a_number_is_a_mistake() {
        let _ = Window::last(&[f64::NAN; 5]);
    }

    proptest! {
        #[test]
        fn the_unit_and_the_direction_do_not_matter(rounds in prop::collection::vec(1.0..3.0f64, 5..12)) {
            let window = Window::last(&rounds).unwrap();
            let scaled = Window::last(&rounds.iter().map(|value| value * 4096.0).collect::<Vec<_>>()).unwrap();
            prop_assert!((window.slope_share - scaled.slope_share).abs() < 1e-9);
            prop_assert_eq!(window.is_steady(), scaled.is_steady());
            let last: Vec<f64> = rounds[rounds.len() - ROUNDS..].iter().rev().copied().collect();
            let turned = Window::last(&last).unwrap();
            prop_assert!((window.slope_share - turned.slope_share).abs() < 1e-9);
            prop_assert!(window.range_share >= window.slope_share / 2.0);
        }
    }

    /// A series of `count` runs with this scatter, whose level changes by `step` at `at`.
    fn series(count: usize, scatter: f64, at: usize, step: f64, seed: u64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let noise = Normal::new(0.0, scatter).unwrap();
        (0..count).map(|index| noise.sample(&mut random) + if index >= at { step } else { 0.0 }).collect()
    }

    fn share(holds: impl Fn(u64) -> bool) -> f64 {
        (0..400).filter(|seed| holds(*seed)).count() as f64 / 400.0
    }

    #[test]
    fn a_drive_that_did_not_change_seldom_shows_a_change() {
        for (scatter, counts) in [(0.005, &[2, 3, 8, 30][..]), (0.04, &[2, 3, 8, 30]), (0.3, &[8, 30])] {
            for count in counts {
                let wrong = share(|seed| {
                    !level_changes(&series(*count, scatter, 0, 0.0, seed), 0.04, 0.95).is_empty()
                });
                // One in twenty, and what 400 series may differ from that.
                assert!(wrong <= 0.06, "{scatter} {count}: {wrong}");
            }
        }
    }

    #[test]
    fn a_change_is_found_where_it_is() {
        let located = share(|seed| {
            let changes = level_changes(&series(12, 0.03, 7, -0.13, seed), 0.04, 0.95);
            matches!(changes[..], [LevelChange { at: 6..=8, .. }])
        });
        assert!(located > 0.9, "{located}");
        let covered = share(|seed| {
            let changes = level_changes(&series(12, 0.03, 7, -0.2, seed), 0.04, 0.95);
            changes.first().is_some_and(|change| change.interval.contains(-0.2))
        });
        assert!(covered > 0.95, "{covered}");
    }

    #[test]
    fn a_fall_and_its_repair_are_two_changes() {
        let mut values = series(15, 0.02, 5, -0.5, 1);
        values[10..].iter_mut().for_each(|value| *value += 0.5);
        let changes = level_changes(&values, 0.04, 0.95);
        let places: Vec<(usize, bool)> =
            changes.iter().map(|change| (change.at, change.difference > 0.0)).collect();
        assert_eq!(places, [(5, false), (10, true)]);
    }

    #[test]
    fn two_runs_show_a_change_only_if_it_is_large() {
        assert_eq!(level_changes(&[0.0, -0.3], 0.04, 0.95), []);
        let [change] = level_changes(&[0.0, -0.6], 0.04, 0.95)[..] else { panic!() };
        // t(0.975, 2) = 4.3027 times 0.04·√2.
        assert!((change.interval.high - (-0.6 + 4.3027 * 0.04 * 2f64.sqrt())).abs() < 1e-4, "{change:?}");
        assert_eq!(level_changes(&[], 0.04, 0.95), []);
        assert_eq!(level_changes(&[1.0], 0.04, 0.95), []);
    }
}
