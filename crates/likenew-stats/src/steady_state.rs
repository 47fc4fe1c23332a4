//! Steady state as the Solid State Storage Performance Test Specification of SNIA defines it (PTS 2.0.2, definitions
//! 2.1.13 and 2.1.24): a window of five consecutive rounds whose values neither spread nor drift too far.
//!
//! The rule is kept to the letter. It is a convention, not a test: `docs/explanation/method.md` counts how
//! often it calls steady what still falls.

use crate::summary::{maximum, mean, minimum};

/// Rounds of the measurement window.
pub const ROUNDS: usize = 5;
/// After so many rounds one may stop without steady state, and must say so.
pub const ROUNDS_MAX: usize = 25;
/// Largest minus smallest value of the window is at most this share of the mean.
pub const RANGE_SHARE_MAX: f64 = 0.2;
/// The best straight line through the window rises or falls, from its first round to its last, by at most this share
/// of the mean.
pub const SLOPE_SHARE_MAX: f64 = 0.1;

/// "At most" is meant of the numbers, not of their last binary digit.
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
    /// The window at the end of these rounds. `None` below [`ROUNDS`] rounds, or when their mean is not above zero.
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

/// After how many rounds steady state was first reached: one past the first window that is steady. `None` when it never
/// was.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
}
