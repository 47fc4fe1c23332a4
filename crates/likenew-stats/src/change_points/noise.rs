//! What of a series is noise: values that stand alone, and how much the mean of a stretch varies by chance.

use crate::summary::median;

/// Values further than this ratio from the median count as just so far, so that zero has a logarithm.
const RATIO_MAX: f64 = 1_000.0;
/// Differences of 0.5 % are not resolved, so that exactly equal values have a noise.
const RESOLUTION: f64 = 0.005;
/// A median of so many neighbours, of which one or two may stand alone.
const NEIGHBOURS: usize = 5;
/// Values further from their neighbours than so many standard deviations are moved in to there.
const ALONE: f64 = 3.0;
/// The median of the absolute values of a normal distribution is this share of its standard deviation.
const NORMAL_MEDIAN: f64 = 0.674_49;
/// A smooth series has neighbours that are almost equal; more dependence than this is a wave or a slope.
const CORRELATION_MAX: f64 = 0.9;

/// The logarithms, with values that stand alone moved in to the median of their five nearest neighbours ± three standard
/// deviations (Hampel's identifier: Davies and Gather, "The identification of multiple outliers", JASA 88 (1993)
/// 782–792). All zero when the typical value is zero.
pub(super) fn without_hiccups(values: &[f64]) -> Vec<f64> {
    let centre = median(values).unwrap_or(0.0);
    if centre == 0.0 {
        return vec![0.0; values.len()];
    }
    let logs: Vec<f64> =
        values.iter().map(|value| value.clamp(centre / RATIO_MAX, centre * RATIO_MAX).ln()).collect();
    let smooth = running_median(&logs);
    let limit = ALONE * (spread(&logs, 1) / 2f64.sqrt()).max(RESOLUTION);
    logs.iter().zip(smooth).map(|(log, smooth)| log.clamp(smooth - limit, smooth + limit)).collect()
}

/// The median of the five nearest values; at the ends, of the five outermost.
pub(super) fn running_median(values: &[f64]) -> Vec<f64> {
    let width = NEIGHBOURS.min(values.len());
    let around = |index: usize| {
        let start = index.saturating_sub(width / 2).min(values.len() - width);
        median(&values[start..start + width]).expect("there are neighbours")
    };
    (0..values.len()).map(around).collect()
}

/// The standard deviation of the differences at this lag, from the median of their absolute values: few changes of level
/// do not enter.
fn spread(values: &[f64], lag: usize) -> f64 {
    let differences: Vec<f64> =
        values.iter().zip(values.iter().skip(lag)).map(|(a, b)| (b - a).abs()).collect();
    median(&differences).unwrap_or(0.0) / NORMAL_MEDIAN
}

/// How much the mean of many values varies by chance.
#[derive(Clone, Copy, Debug)]
pub(super) struct LongRun {
    /// Variance of the mean of many values, times their number.
    pub(super) variance: f64,
}

impl LongRun {
    /// From the differences at lags 1 and 2, as of a series of autoregressive noise: their variances are 2σ²(1 − ρ) and
    /// 2σ²(1 − ρ²) (Chakar, Lebarbier, Lévy-Leduc and Robin, "A robust approach for estimating change-points in the mean
    /// of an AR(1) process", Bernoulli 23 (2017) 1408–1447), and the long-run variance is σ²(1 + ρ)/(1 − ρ).
    pub(super) fn of(logs: &[f64]) -> Self {
        let floor = RESOLUTION * RESOLUTION;
        let (near, far) =
            (spread(logs, 1).powi(2).max(2.0 * floor), spread(logs, 2).powi(2).max(2.0 * floor));
        let correlation = (far / near - 1.0).clamp(0.0, CORRELATION_MAX);
        Self { variance: near / 2.0 * (1.0 + correlation) / (1.0 - correlation).powi(2) }
    }

    /// What one change of level has to take away from the squares.
    pub(super) fn penalty(self, count: usize) -> f64 {
        self.variance * (10.0 + 2.0 * (count.max(1) as f64).ln())
    }
}
