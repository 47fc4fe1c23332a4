//! Estimates the noise of a series: single outliers, and how much the mean of a stretch varies by chance.

use crate::summary::median;

/// Values further than this ratio from the median are clipped to it, so that zero has a logarithm. Chosen:
/// far beyond any real speed.
const RATIO_MAX: f64 = 1_000.0;
/// Differences below this share are not resolved, so that exactly equal values have a noise. Chosen: half the
/// smallest change that counts.
const RESOLUTION: f64 = 0.005;
/// Values of a running median, of which one or two may be outliers.
const NEIGHBORS: usize = 5;
/// Standard deviations beyond which a value is not noise.
const DEVIATIONS_MAX: f64 = 3.0;
/// The median of the absolute values of a normal distribution, over its standard deviation.
const NORMAL_MEDIAN: f64 = 0.674_49;
/// The variance of a normal distribution cut off at three standard deviations, over that of the whole.
const TRUNCATED_NORMAL_VARIANCE: f64 = 0.973_3;
/// Differences that may be changes of level, for each value of the lag. Chosen …
const CHANGES: f64 = 3.0;
/// … besides this share of all. Chosen: when more are large, they are the noise of the series.
const LARGE_SHARE: f64 = 0.1;
/// Correlation of neighbors that is assumed, as few values do not show it (chosen: windows of one run are
/// seldom independent) …
const CORRELATION_EXPECTED: f64 = 0.3;
/// … and the number of values whose evidence it weighs as much as. Chosen: fewer values estimate a
/// correlation badly.
const CORRELATION_WEIGHT: f64 = 30.0;
/// Limit of the correlation. Chosen: more would be a wave or a slope.
const CORRELATION_MAX: f64 = 0.7;
/// How much a change of level has to reduce the squares, in long-run variances: this, and twice the logarithm
/// of the number of values. Chosen so that few of the plain series of `docs/explanation/method.md` have a
/// knee.
const PENALTY: f64 = 8.0;

/// The logarithms, with outliers moved in to the median of their five nearest neighbors ± three standard
/// deviations (Hampel's identifier: Davies and Gather, "The identification of multiple outliers", JASA 88
/// (1993) 782–792). All zero when the typical value is zero.
pub(super) fn without_hiccups(values: &[f64]) -> Vec<f64> {
    let center = median(values).unwrap_or(0.0);
    if center == 0.0 {
        return vec![0.0; values.len()];
    }
    let logs: Vec<f64> =
        values.iter().map(|value| value.clamp(center / RATIO_MAX, center * RATIO_MAX).ln()).collect();
    let limit = DEVIATIONS_MAX * spread(&logs, 1) / 2f64.sqrt();
    logs.iter()
        .zip(running_median(&logs))
        .map(|(log, smooth)| log.clamp(smooth - limit, smooth + limit))
        .collect()
}

/// The median of the five nearest values; at the ends, of the five outermost.
pub(super) fn running_median(values: &[f64]) -> Vec<f64> {
    let width = NEIGHBORS.min(values.len());
    let around = |index: usize| {
        let start = index.saturating_sub(width / 2).min(values.len() - width);
        median(&values[start..start + width]).expect("there are neighbors")
    };
    (0..values.len()).map(around).collect()
}

/// The standard deviation of the differences at this lag. A first estimate from the median of their absolute
/// values shows which are large; if they are few, they are changes of level and are left out.
fn spread(values: &[f64], lag: usize) -> f64 {
    let differences: Vec<f64> =
        values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (b - a).abs()).collect();
    let first = median(&differences).unwrap_or(0.0) / NORMAL_MEDIAN;
    let small: Vec<f64> = differences.iter().copied().filter(|of| *of <= DEVIATIONS_MAX * first).collect();
    let few = lag as f64 * (CHANGES + LARGE_SHARE * differences.len() as f64);
    let square = if (differences.len() - small.len()) as f64 <= few {
        mean_square(&small) / TRUNCATED_NORMAL_VARIANCE
    } else {
        mean_square(&differences)
    };
    square.sqrt().max(2f64.sqrt() * RESOLUTION)
}

fn mean_square(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64
}

/// The variance of the mean of many values, times their number.
///
/// It comes from the differences at lags 1 and 2, as of a series of autoregressive noise: their variances are
/// 2σ²(1 − ρ) and 2σ²(1 − ρ²) (Chakar, Lebarbier, Lévy-Leduc and Robin, "A robust approach for estimating
/// change-points in the mean of an AR(1) process", Bernoulli 23 (2017) 1408–1447), and the long-run variance
/// is σ²(1 + ρ)/(1 − ρ).
pub(super) fn long_run_variance(logs: &[f64]) -> f64 {
    let (near, far) = (spread(logs, 1).powi(2), spread(logs, 2).powi(2));
    let count = logs.len() as f64;
    let correlation = ((far / near - 1.0) * count + CORRELATION_EXPECTED * CORRELATION_WEIGHT)
        / (count + CORRELATION_WEIGHT);
    let correlation = correlation.clamp(0.0, CORRELATION_MAX);
    near / 2.0 * (1.0 + correlation) / (1.0 - correlation).powi(2)
}

/// How much a further level has to reduce the squares of so many values.
pub(super) fn penalty(long_run_variance: f64, count: usize) -> f64 {
    long_run_variance * (PENALTY + 2.0 * (count.max(1) as f64).ln())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Autoregressive noise of uniform steps, and the long-run variance it has.
    fn autoregressive(count: usize, on: f64) -> (Vec<f64>, f64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut last = 0.0;
        let mut next = || {
            last = on * last + random.random_range(-0.1..0.1);
            last
        };
        ((0..count).map(|_| next()).collect(), 0.04 / 12.0 / (1.0 - on).powi(2))
    }

    #[test]
    fn the_long_run_variance_of_known_noise() {
        for on in [0.0, 0.3, 0.5] {
            let (logs, expected) = autoregressive(20_000, on);
            let ratio = long_run_variance(&logs) / expected;
            assert!((0.85..1.15).contains(&ratio), "φ = {on}: {ratio}");
        }
    }

    #[test]
    fn steps_do_not_enter_the_noise_and_disorder_does() {
        let (logs, _) = autoregressive(200, 0.0);
        let stepped: Vec<f64> =
            logs.iter().enumerate().map(|(index, log)| log + (index / 70) as f64).collect();
        assert!((long_run_variance(&stepped) / long_run_variance(&logs) - 1.0).abs() < 0.2);
        let disorder: Vec<f64> = logs.iter().map(|log| if *log > 0.05 { log + 2.0 } else { *log }).collect();
        assert!(long_run_variance(&disorder) > 0.5);
    }

    #[test]
    fn one_or_two_values_that_stand_alone_are_moved_in() {
        let mut values = vec![100.0; 30];
        (values[0], values[10], values[11], values[29]) = (1.0, 0.0, 900.0, 2.0);
        let limit = DEVIATIONS_MAX * RESOLUTION + 1e-9;
        assert!(without_hiccups(&values).iter().all(|log| (log - 100f64.ln()).abs() < limit));
        (10..13).for_each(|index| values[index] = 50.0);
        assert!((without_hiccups(&values)[11] - 50f64.ln()).abs() < limit);
    }
}
