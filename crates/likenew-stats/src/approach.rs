//! The limit of a series that approaches it by the same share with every step.

/// The limit of a series of the form v∞ − a·rᵏ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// The limit v∞.
    pub limit: f64,
    /// The remaining distance, as a share of the limit.
    pub remaining: f64,
}

/// Ratio assumed for two values, which cannot show how fast they approach anything. Chosen: each step halves
/// what is left.
const RATIO_UNKNOWN: f64 = 0.5;
/// A ratio above this is no approach. Chosen: it could not be distinguished from a drift.
const RATIO_MAX: f64 = 0.95;

/// The limit by the last three values, for which v∞ − a·rᵏ has one solution (A. C. Aitken, "On Bernoulli's
/// Numerical Solution of Algebraic Equations", Proceedings of the Royal Society of Edinburgh 46, 1926); by
/// two values with an assumed ratio. `None` of fewer values, and where steps do not become smaller. Steps
/// that go up and down are scatter around the mean of the last two.
///
/// # Panics
/// When a value is not a number.
pub fn approach(values: &[f64]) -> Option<Approach> {
    crate::summary::refuse_nan(values);
    let (limit, last) = match *values {
        [.., first, second, third] => {
            let (before, step) = (second - first, third - second);
            let limit = match step / before {
                // Nothing moves any more, or never did.
                _ if step == 0.0 => third,
                ratio if ratio < 0.0 => f64::midpoint(second, third),
                ratio if ratio <= RATIO_MAX => third + step * ratio / (1.0 - ratio),
                _ => return None,
            };
            (limit, third)
        }
        [first, second] => (second + (second - first) * RATIO_UNKNOWN / (1.0 - RATIO_UNKNOWN), second),
        _ => return None,
    };
    (limit > 0.0).then(|| Approach { limit, remaining: (limit - last).abs() / limit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_approach_is_solved_exactly() {
        let values: Vec<f64> = (0..5).map(|step| 80.0 - 40.0 * 0.3f64.powi(step)).collect();
        for length in 3..=5 {
            let found = approach(&values[..length]).unwrap();
            let left = 40.0 * 0.3f64.powi(length as i32 - 1) / 80.0;
            assert!((found.limit - 80.0).abs() < 1e-9 && (found.remaining - left).abs() < 1e-9, "{found:?}");
        }
    }

    #[test]
    fn two_values_leave_as_much_as_their_step() {
        let found = approach(&[40.0, 70.0]).unwrap();
        assert!((found.limit - 100.0).abs() < 1e-9 && (found.remaining - 0.3).abs() < 1e-9);
        assert!(approach(&[75.0, 75.0]).unwrap().remaining < 1e-12);
    }

    #[test]
    fn what_has_arrived_has_nothing_left_to_go() {
        assert_eq!(approach(&[39.5, 75.2, 75.2]).unwrap(), Approach { limit: 75.2, remaining: 0.0 });
        assert_eq!(approach(&[75.0, 75.0, 75.0]).unwrap().remaining, 0.0);
        // Scatter is half of its last step from its mean.
        let found = approach(&[74.0, 76.0, 75.0]).unwrap();
        assert!((found.limit - 75.5).abs() < 1e-9 && found.remaining < 0.01);
    }

    #[test]
    fn growing_steps_and_too_few_values_have_no_limit() {
        for values in [&[][..], &[1.0], &[1.0, 2.0, 4.0], &[4.0, 3.0, 1.0], &[1.0, 2.0, 3.0]] {
            assert_eq!(approach(values), None, "{values:?}");
        }
        assert_eq!(approach(&[10.0, 4.0]), None, "a speed does not fall below 0");
        assert_eq!(approach(&[0.0, 0.0, 0.0]), None);
    }

    proptest::proptest! {
        #[test]
        fn the_limit_is_found_wherever_it_lies(limit in 1.0..1e9f64, start in 0.1..3.0f64, ratio in 0.0..0.9f64) {
            let values: Vec<f64> = (0..3).map(|step| limit * (1.0 - (1.0 - start) * ratio.powi(step))).collect();
            if let Some(found) = approach(&values) {
                proptest::prop_assert!((found.limit / limit - 1.0).abs() < 1e-6);
            }
        }
    }
}
