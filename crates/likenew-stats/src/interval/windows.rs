//! The interval of a mean of consecutive windows of one run, which depend on one another.

use std::f64::consts::PI;

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::{Interval, tail};
use crate::summary::mean;

/// Fewer windows than this do not show their dependence.
pub const WINDOWS_MIN: usize = 10;
/// The number of cosine waves is this times the number of windows to the power of two thirds, as Lazarus et
/// al. recommend.
const WAVES: f64 = 0.4;

/// The interval of the mean of consecutive windows of one run, as long as they neither rise nor fall: mean ± t·√(Ω/n)
/// with B degrees of freedom, where Ω, the variance of the mean times n, is the mean square of the B slowest cosine
/// waves in the series, and B = 0.4·n^⅔ (Lazarus, Lewis, Stock and Watson, "HAR inference: recommendations for
/// practice", Journal of Business & Economic Statistics 36 (2018) 541–559). Block bootstraps and batch means were
/// counted, too, and held the truth less often.
///
/// `None` below [`WINDOWS_MIN`] values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a finite number.
pub fn window_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    assert!(values.iter().all(|value| value.is_finite()), "a window's value is a finite number");
    if values.len() < WINDOWS_MIN {
        return None;
    }
    let (center, count) = (mean(values)?, values.len() as f64);
    let waves = (WAVES * count.powf(2.0 / 3.0)).round();
    let squares: f64 = (1..=waves as usize).map(|wave| amplitude(values, center, wave).powi(2)).sum();
    let student = StudentsT::new(0.0, 1.0, waves).expect("ten values have two waves");
    let half = student.inverse_cdf(1.0 - tail) * (squares / waves / count).sqrt();
    Some(Interval { low: center - half, high: center + half })
}

/// The amplitude in the series of a cosine with this many half waves. Of independent values the square is, on
/// average, their variance.
fn amplitude(values: &[f64], center: f64, wave: usize) -> f64 {
    let count = values.len() as f64;
    let step = PI * wave as f64 / count;
    let along = |(index, value): (usize, &f64)| (value - center) * (step * (index as f64 + 0.5)).cos();
    (2.0 / count).sqrt() * values.iter().enumerate().map(along).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::mean_interval;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn width(interval: Interval) -> f64 {
        interval.high - interval.low
    }

    /// Sums of coin tosses, each of which counts for so many values.
    fn dependent(count: usize, reach: usize) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let tosses: Vec<f64> = (0..count + reach).map(|_| f64::from(random.random_range(0..2))).collect();
        tosses.windows(reach).take(count).map(|window| window.iter().sum()).collect()
    }

    #[test]
    fn independent_values_have_students_interval_and_dependent_ones_a_wider_one() {
        // The mean of sums of ten tosses varies √10 times as much as that of ten independent sums.
        for (reach, least, most) in [(1, 0.8, 1.25), (10, 2.5, 4.0)] {
            let values = dependent(1_000, reach);
            let own = width(window_interval(&values, 0.95).unwrap());
            let times = own / width(mean_interval(&values, 0.95).unwrap());
            assert!((least..most).contains(&times), "reach {reach}: {times}");
        }
    }

    #[test]
    fn a_worked_example() {
        // Of 0 and 1 in turn, ten values have two waves, of which the first swings once and the second does not show.
        let values: Vec<f64> = (0..10).map(|index| f64::from(index % 2)).collect();
        let first = (2.0f64 / 10.0).sqrt()
            * (0..10).map(|i| f64::from(i % 2) * (PI * (f64::from(i) + 0.5) / 10.0).cos()).sum::<f64>();
        let half = 4.302_653 * (first * first / 2.0 / 10.0).sqrt();
        let interval = window_interval(&values, 0.95).unwrap();
        assert!((interval.low - (0.5 - half)).abs() < 1e-6 && (interval.high - (0.5 + half)).abs() < 1e-6);
    }

    #[test]
    fn few_or_equal_values() {
        assert_eq!(window_interval(&[1.0; 9], 0.95), None);
        assert_eq!(window_interval(&[7.0; 10], 0.95), Some(Interval { low: 7.0, high: 7.0 }));
    }

    #[test]
    #[should_panic(expected = "finite")]
    fn an_infinite_value_is_a_mistake() {
        let _ = window_interval(&[f64::INFINITY; 20], 0.95);
    }
}
