//! The interval of a ratio of two means.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{Interval, tail};
use crate::summary::{mean, standard_deviation};

/// The interval of mean(`of`) / mean(`to`) of two independent sets of a few passes: the ratios ρ for which
/// mean(`of`) − ρ·mean(`to`) does not differ from zero (Fieller, "Some problems in interval estimation", Journal of the
/// Royal Statistical Society B 16 (1954) 175–185), where the sets may scatter differently (degrees of freedom by
/// Welch, "The generalization of Student's problem when several different population variances are involved",
/// Biometrika 34 (1947) 28–35).
///
/// `None` when a set has fewer than two values, or when `to` is so uncertain that its mean may be zero: then
/// no ratio is too large.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn ratio_interval(of: &[f64], to: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let (above, below) = (MeanEstimate::from_values(of)?, MeanEstimate::from_values(to)?);
    if below.mean == 0.0 {
        return None;
    }
    let ratio = above.mean / below.mean;
    // The variance of mean(of) − ρ·mean(to) at the estimate.
    let (part_above, part_below) = (above.variance, ratio * ratio * below.variance);
    let whole = part_above + part_below;
    if whole == 0.0 {
        return Some(Interval { low: ratio, high: ratio });
    }
    let freedom =
        whole * whole / (part_above * part_above / above.freedom + part_below * part_below / below.freedom);
    let student = StudentsT::new(0.0, 1.0, freedom).expect("degrees of freedom are at least one");
    let t_squared = student.inverse_cdf(1.0 - tail).powi(2);
    let squared = below.mean * below.mean - t_squared * below.variance;
    if squared <= 0.0 {
        return None;
    }
    let center = above.mean * below.mean / squared;
    let product = above.mean * above.mean - t_squared * above.variance;
    // The discriminant is that of a quadratic whose values at the estimate are negative.
    let half = (center * center - product / squared).max(0.0).sqrt();
    Some(Interval { low: center - half, high: center + half })
}

/// A mean and how far it can be trusted.
struct MeanEstimate {
    mean: f64,
    /// Variance of the mean.
    variance: f64,
    /// Degrees of freedom.
    freedom: f64,
}

impl MeanEstimate {
    fn from_values(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let variance = standard_deviation(values)?.powi(2) / count;
        Some(Self { mean: mean(values)?, variance, freedom: count - 1.0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::mean_interval;
    use proptest::prelude::*;

    fn ratio(of: &[f64], to: &[f64]) -> Option<Interval> {
        ratio_interval(of, to, 0.95)
    }

    #[test]
    fn over_an_exact_set_it_is_students_interval() {
        let values = [1.0, 2.0, 4.0];
        let (found, expected) = (ratio(&values, &[2.0; 50]).unwrap(), mean_interval(&values, 0.95).unwrap());
        assert!((found.low - expected.low / 2.0).abs() < 1e-9);
        assert!((found.high - expected.high / 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_ends_are_where_the_difference_stops_being_significant() {
        let (of, to) = ([48.0, 52.0, 50.0], [99.0, 101.0, 100.0]);
        let interval = ratio(&of, &to).unwrap();
        assert!(interval.contains(0.5) && interval.low > 0.4 && interval.high < 0.6);
        // Variances of the means: 4/3 and 1/3; at the estimate 1.3333 + 0.25/3 = 1.41667 with 2.2486 degrees
        // of freedom.
        let freedom: f64 = 1.416_667f64.powi(2) / (1.333_333f64.powi(2) / 2.0 + 0.083_333f64.powi(2) / 2.0);
        let t = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.975);
        for end in [interval.low, interval.high] {
            let z = (50.0 - end * 100.0f64).abs() / (4.0f64 / 3.0 + end * end / 3.0).sqrt();
            assert!((z - t).abs() < 1e-3, "{end}: {z} {t}");
        }
    }

    #[test]
    fn no_ratio_of_one_value_or_to_what_may_be_zero() {
        assert_eq!(ratio(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[0.0, 0.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[-1.0, 2.0, 0.1]), None);
        assert_eq!(ratio(&[3.0; 3], &[2.0; 3]), Some(Interval { low: 1.5, high: 1.5 }));
    }

    proptest! {
        #[test]
        fn it_holds_the_estimate_and_the_unit_does_not_matter(
            of in prop::collection::vec(90.0..110.0f64, 3..8),
            to in prop::collection::vec(40.0..60.0f64, 3..8),
        ) {
            if let Some(interval) = ratio(&of, &to) {
                prop_assert!(interval.contains(mean(&of).unwrap() / mean(&to).unwrap()));
                let thousandths: Vec<f64> = of.iter().map(|value| value * 1000.0).collect();
                let scaled = ratio(&thousandths, &to).unwrap();
                prop_assert!((scaled.low / interval.low / 1000.0 - 1.0).abs() < 1e-9);
            }
        }
    }
}
