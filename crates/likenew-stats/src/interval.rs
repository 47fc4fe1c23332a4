//! How far an estimate can be trusted: confidence intervals from few passes, from many values, and of counts.
//!
//! One value has no interval: it does not show how the next one would differ. The functions return `None`
//! there, and a report has to say "measured once".

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

use crate::summary::{mean, quantile_of_sorted, refuse_nan, sorted, standard_deviation};

mod counts;
mod medians;
mod ratio;
mod windows;

pub use counts::{rate_interval, share_interval};
pub use medians::median_interval;
pub use ratio::ratio_interval;
pub use windows::{WINDOWS_MIN, window_interval};

/// The confidence of every interval that is reported without its level: 95 of 100 hold the truth. Chosen: the usual level.
pub const CONFIDENCE_95: f64 = 0.95;
/// The confidence of what an x-ray and the indicators of a check are known to: 90 of 100 intervals hold the truth. Chosen:
/// few I/Os tell little, and what follows from them is weighed with other evidence.
pub const CONFIDENCE_90: f64 = 0.9;
/// The confidence of intervals that decide between two answers by not overlapping: 99 of 100 hold the truth. Chosen: a wrong
/// answer is worse than none.
pub const CONFIDENCE_99: f64 = 0.99;

/// The range that an estimate can be trusted to, at the confidence that was asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Lower end, in the unit of the values.
    pub low: f64,
    /// Upper end, in the unit of the values.
    pub high: f64,
}

impl Interval {
    /// Whether it contains a value, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The confidence interval of the mean of a few independent passes: mean ± t·s/√n with n − 1 degrees of
/// freedom (Student, "The probable error of a mean", Biometrika 6 (1908) 1–25). Exact for normal values. For
/// few strongly skewed ones, such as latencies, no interval of the mean reaches its confidence, and the
/// median with [`bootstrap_interval`] is the number to trust. `None` below two values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let deviation = standard_deviation(values)?;
    let center = mean(values)?;
    let count = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, count - 1.0).expect("two values leave a degree of freedom");
    let half = student.inverse_cdf(1.0 - tail) * deviation / count.sqrt();
    Some(Interval { low: center - half, high: center + half })
}

/// Of fewer values than this a bootstrap interval is far too narrow.
pub const BOOTSTRAP_VALUES_MIN: usize = 10;
/// Fewer resamples than this leave the ends of a 95 % interval to a handful of values.
pub const RESAMPLES: usize = 2_000;

/// The bias-corrected and accelerated (BCa) bootstrap interval of any statistic of independent values (Efron,
/// "Better bootstrap confidence intervals", JASA 82 (1987) 171–185), from [`RESAMPLES`] resamples. The
/// acceleration comes from the jackknife. Like every bootstrap it is too narrow for few values: see the
/// counted coverage in `docs/explanation/method.md`. `None` below [`BOOTSTRAP_VALUES_MIN`] values.
///
/// `statistic` gets resampled values in no particular order and must not return not-a-number.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value or a statistic is not a number.
pub fn bootstrap_interval(
    values: &[f64],
    statistic: impl Fn(&[f64]) -> f64,
    confidence: f64,
    seed: u64,
) -> Option<Interval> {
    let tail = tail(confidence);
    refuse_nan(values);
    if values.len() < BOOTSTRAP_VALUES_MIN {
        return None;
    }
    let resampled = resample(values, &statistic, seed);
    let normal = Normal::standard();
    let bias = normal.inverse_cdf(share_below(&resampled, statistic(values)));
    let acceleration = acceleration(values, &statistic);
    let end = |share: f64| {
        let shifted = bias + normal.inverse_cdf(share);
        let adjusted = normal.cdf(bias + shifted / (1.0 - acceleration * shifted));
        quantile_of_sorted(&resampled, adjusted).expect("there are resamples")
    };
    Some(Interval { low: end(tail), high: end(1.0 - tail) })
}

/// The probability beyond each end of an interval.
fn tail(confidence: f64) -> f64 {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence is between 0 and 1, not {confidence}");
    (1.0 - confidence) / 2.0
}

/// The statistic of values drawn with replacement, many times over, in ascending order.
fn resample(values: &[f64], statistic: &impl Fn(&[f64]) -> f64, seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut drawn = vec![0.0; values.len()];
    let statistics: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            drawn.fill_with(|| values[random.random_range(0..values.len())]);
            statistic(&drawn)
        })
        .collect();
    sorted(&statistics)
}

/// The share of resamples below the estimate, ties counted half, kept away from 0 and 1 so that the correction
/// stays finite.
fn share_below(sorted: &[f64], estimate: f64) -> f64 {
    let below = sorted.partition_point(|value| *value < estimate) as f64;
    let not_above = sorted.partition_point(|value| *value <= estimate) as f64;
    let count = sorted.len() as f64;
    ((below + not_above) / 2.0).clamp(0.5, count - 0.5) / count
}

/// A sixth of the skewness of the jackknife: how fast the statistic's spread changes with its value.
fn acceleration(values: &[f64], statistic: &impl Fn(&[f64]) -> f64) -> f64 {
    let mut others = values[1..].to_vec();
    let mut skips = Vec::with_capacity(values.len());
    for index in 0..values.len() {
        skips.push(statistic(&others));
        if index < others.len() {
            others[index] = values[index];
        }
    }
    let center = mean(&skips).expect("there are values");
    let squares: f64 = skips.iter().map(|value| (center - value).powi(2)).sum();
    let cubes: f64 = skips.iter().map(|value| (center - value).powi(3)).sum();
    if squares == 0.0 { 0.0 } else { cubes / (6.0 * squares.powf(1.5)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::summary::median;

    fn average(values: &[f64]) -> f64 {
        mean(values).unwrap()
    }

    #[test]
    fn one_value_has_no_interval() {
        for values in [&[][..], &[1.0]] {
            assert_eq!(mean_interval(values, 0.95), None);
        }
        assert_eq!(bootstrap_interval(&[1.0; 9], average, 0.95, 1), None);
    }

    #[test]
    fn students_interval_of_a_worked_example() {
        // t(0.975, 4) = 2.776445, s = √2.5, n = 5.
        let interval = mean_interval(&[1.0, 2.0, 3.0, 4.0, 5.0], 0.95).unwrap();
        let half = 2.776_445_105 * (2.5f64 / 5.0).sqrt();
        assert!((interval.low - (3.0 - half)).abs() < 1e-6 && (interval.high - (3.0 + half)).abs() < 1e-6);
    }

    #[test]
    fn equal_values_have_an_interval_of_no_width() {
        let equal = Interval { low: 7.0, high: 7.0 };
        assert_eq!(mean_interval(&[7.0; 4], 0.95), Some(equal));
        assert_eq!(bootstrap_interval(&[7.0; 10], average, 0.95, 1), Some(equal));
    }

    #[test]
    fn the_same_seed_gives_the_same_interval_and_another_one_a_close_one() {
        let values: Vec<f64> = (1..=40).map(|value| f64::from(value).sqrt()).collect();
        let interval = |seed| bootstrap_interval(&values, |v| median(v).unwrap(), 0.95, seed).unwrap();
        assert_eq!(interval(1), interval(1));
        assert_ne!(interval(1), interval(2));
        assert!((interval(1).low - interval(2).low).abs() < 0.3);
        assert!(interval(1).contains(median(&values).unwrap()));
    }

    #[test]
    fn each_value_is_left_out_once() {
        let sums = std::cell::RefCell::new(Vec::new());
        acceleration(&[1.0, 2.0, 4.0], &|v| {
            sums.borrow_mut().push(v.iter().sum::<f64>());
            average(v)
        });
        assert_eq!(sums.into_inner(), [6.0, 5.0, 3.0]);
    }

    #[test]
    #[should_panic(expected = "between 0 and 1")]
    fn a_confidence_in_percent_is_a_mistake() {
        let _ = mean_interval(&[1.0, 2.0], 95.0);
    }
}
