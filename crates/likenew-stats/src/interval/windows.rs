//! The interval of a mean of consecutive windows of one run, which depend on one another.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use statrs::distribution::{ContinuousCDF as _, Normal, StudentsT};

use super::{Interval, RESAMPLES, tail};
use crate::summary::{mean, quantile_of_sorted, sorted};

/// Of fewer windows than this their dependence cannot be seen.
pub const WINDOWS_MIN: usize = 10;

/// The interval of the mean of consecutive windows of one run: the stationary bootstrap (Politis and Romano, "The
/// stationary bootstrap", JASA 89 (1994) 1303–1313), whose blocks are as long as the dependence asks for (Politis and
/// White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23 (2004) 53–70, with
/// the correction of Patton, Politis and White, 28 (2009) 372–375). The quantiles are widened as Student's are over
/// the normal ones, with as many degrees of freedom as there are blocks, less one. `None` below [`WINDOWS_MIN`] values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a finite number.
pub fn window_interval(values: &[f64], confidence: f64, seed: u64) -> Option<Interval> {
    let tail = tail(confidence);
    assert!(values.iter().all(|value| value.is_finite()), "a window's value is a finite number");
    if values.len() < WINDOWS_MIN {
        return None;
    }
    let centre = mean(values)?;
    let block = block_length(values);
    let means = sorted(&resampled_means(values, block, seed));
    let blocks = (values.len() as f64 / block).max(2.0);
    let student = StudentsT::new(0.0, 1.0, blocks - 1.0).expect("two blocks leave a degree of freedom");
    let wider = (blocks / (blocks - 1.0)).sqrt() * student.inverse_cdf(1.0 - tail)
        / Normal::standard().inverse_cdf(1.0 - tail);
    let end = |share: f64| {
        let resampled = quantile_of_sorted(&means, share).expect("there are resamples");
        centre + wider * (resampled - centre)
    };
    Some(Interval { low: end(tail), high: end(1.0 - tail) })
}

/// Means of series made of blocks that start anywhere and end after a geometric number of values, `block` on average;
/// the end of the series is followed by its beginning.
fn resampled_means(values: &[f64], block: f64, seed: u64) -> Vec<f64> {
    let count = values.len();
    let mut sums = Vec::with_capacity(2 * count + 1);
    sums.push(0.0);
    let centre = mean(values).expect("there are values");
    for value in values.iter().chain(values) {
        sums.push(sums[sums.len() - 1] + (value - centre));
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let goes_on = (1.0 - 1.0 / block).ln();
    let mut resample = || {
        let (mut left, mut sum) = (count, 0.0);
        while left > 0 {
            let start = random.random_range(0..count);
            let length = 1.0 + ((1.0 - random.random::<f64>()).ln() / goes_on).floor();
            let length = (length as usize).clamp(1, left);
            sum += sums[start + length] - sums[start];
            left -= length;
        }
        centre + sum / count as f64
    };
    (0..RESAMPLES).map(|_| resample()).collect()
}

/// The mean block length that leaves the least error of the estimated variance of the mean: at least 1.
fn block_length(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let lag_max = (values.len() / 2).min(2 * (count.sqrt().ceil() as usize) + 10);
    let covariances = covariances(values, lag_max);
    if covariances[0] == 0.0 {
        return 1.0;
    }
    // Correlations below this do not differ from zero; after so many of them in a row the dependence is over.
    let small = 2.0 * (count.log10() / count).sqrt();
    let quiet = 5.max(count.log10().sqrt().ceil() as usize);
    let is_small = |lag: usize| covariances.get(lag).is_none_or(|of| of.abs() < small * covariances[0]);
    let reach = (0..lag_max).find(|lag| (1..=quiet).all(|more| is_small(lag + more))).unwrap_or(lag_max);
    let window = 2 * reach.max(1);
    let (mut at_zero, mut slope) = (covariances[0], 0.0);
    for (lag, covariance) in covariances.iter().enumerate().take(window + 1).skip(1) {
        let flat_top = (2.0 * (1.0 - lag as f64 / window as f64)).min(1.0);
        at_zero += 2.0 * flat_top * covariance;
        slope += 2.0 * flat_top * lag as f64 * covariance;
    }
    let longest = (3.0 * count.sqrt()).min(count / 3.0).ceil();
    if at_zero <= 0.0 {
        return 1.0;
    }
    ((slope / at_zero).powi(2) * count).cbrt().clamp(1.0, longest)
}

/// Autocovariances from lag 0 on.
fn covariances(values: &[f64], lag_max: usize) -> Vec<f64> {
    let centre = mean(values).expect("there are values");
    let centred: Vec<f64> = values.iter().map(|value| value - centre).collect();
    let products = |lag: usize| centred.iter().zip(&centred[lag..]).map(|(a, b)| a * b).sum::<f64>();
    (0..=lag_max).map(|lag| products(lag) / values.len() as f64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::mean_interval;

    fn width(interval: Interval) -> f64 {
        interval.high - interval.low
    }

    /// A sum of coin tosses, each of which counts for so many values.
    fn dependent(count: usize, reach: usize) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let tosses: Vec<f64> =
            (0..count + reach).map(|_| f64::from(u8::from(random.random_bool(0.5)))).collect();
        tosses.windows(reach).take(count).map(|window| window.iter().sum()).collect()
    }

    #[test]
    fn independent_values_have_students_interval_and_dependent_ones_a_wider_one() {
        for (reach, least, most) in [(1, 0.85, 1.3), (10, 2.2, 4.5)] {
            let values = dependent(400, reach);
            let widths = (
                width(window_interval(&values, 0.95, 1).unwrap()),
                width(mean_interval(&values, 0.95).unwrap()),
            );
            assert!((least..most).contains(&(widths.0 / widths.1)), "reach {reach}: {widths:?}");
        }
    }

    #[test]
    fn few_or_equal_values() {
        assert_eq!(window_interval(&[1.0; 9], 0.95, 1), None);
        assert_eq!(window_interval(&[7.0; 10], 0.95, 1), Some(Interval { low: 7.0, high: 7.0 }));
    }

    #[test]
    fn the_same_seed_gives_the_same_interval() {
        let values: Vec<f64> = dependent(60, 3).iter().map(|value| (1.0 + value).ln()).collect();
        assert_eq!(window_interval(&values, 0.95, 1), window_interval(&values, 0.95, 1));
        assert_ne!(window_interval(&values, 0.95, 1), window_interval(&values, 0.95, 2));
    }
}
