//! The period of a series that has one: how far apart its pulses come, when they come at equal distances.
//!
//! Some series carry two rhythms: a fast wave that takes all of the time (units that are written at once), and rare pulses
//! on top of it (pauses). Sampled at steps that do not fit it, the wave shows up at any distance. So the series is summed
//! over whole waves first, as far as they can be told, and a rhythm that most of the sum belongs to is never taken for pulses.

use crate::interval::Interval;
use crate::summary::{mean, median};

/// A rhythm of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// From one pulse to the next, in values of the series.
    pub length: f64,
    /// The length lies in here as far as the peaks of the autocorrelation are wide.
    pub interval: Interval,
    /// Autocorrelation at this distance, 1 for a series that repeats itself exactly.
    pub strength: f64,
    /// The share of the sum of the series that the pulses are, above what is usual between them.
    pub share: f64,
}

/// A period is seen at least so often.
const PERIODS_MIN: usize = 3;
/// Of a summed series: fewer values than this say nothing, and more are not needed at once.
const VALUES_MIN: usize = 48;
const VALUES_MAX: usize = 2048;
/// A period has at least so many summed values.
const LAG_MIN: usize = 6;
/// An autocorrelation below this is no rhythm.
const STRENGTH_MIN: f64 = 0.6;
/// Lengths that differ by less are the same.
const SAME: f64 = 0.02;
/// Values that are summed up, about.
const WIDTHS: [usize; 4] = [64, 16, 4, 1];
/// Less than so many values from one pulse to the next is a wave.
const LENGTH_MIN: f64 = 24.0;
/// So many waves lie between two pulses, at least.
const WAVES_BETWEEN: f64 = 12.0;
/// Between two pulses the autocorrelation falls to this.
const BETWEEN: f64 = 0.18;
/// A distance whose autocorrelation is this share of the highest is as good; the shortest such counts, others are multiples.
const AS_GOOD: f64 = 0.8;
/// Where pulses are more of the sum than this, they are the wave itself.
const SHARE_MAX: f64 = 0.2;
/// Pulses below this share are rounding.
const SHARE_MIN: f64 = 5e-4;
/// How far waves are looked for, and on how many values.
const WAVE_MAX: usize = 128;
const WAVE_VALUES: usize = 4096;

/// The period of the pulses of a series of values that are not negative; `None` when it has none that is seen at least three
/// times, none but the wave that makes up its sum, or several that contradict one another. It is looked for on coarse sums,
/// whose values hold many waves, and on finer ones.
///
/// # Panics
/// When a value is not a finite number.
pub fn period(values: &[f64]) -> Option<Period> {
    assert!(values.iter().all(|value| value.is_finite()), "a series of finite numbers");
    let wave = autocorrelation(&values[..values.len().min(WAVE_VALUES)], WAVE_MAX);
    let found: Vec<Period> =
        WIDTHS.iter().filter_map(|width| of_sums(values, whole_waves(&wave, *width))).collect();
    // Pulses are rare: many waves lie between two of them.
    let waves = found.iter().filter(|of| of.share > SHARE_MAX).map(|of| of.length);
    let wave_max = waves.fold(0.0, f64::max);
    let is_wave = |of: &Period| of.length < WAVES_BETWEEN * wave_max;
    let pulses = found
        .iter()
        .filter(|of| (SHARE_MIN..=SHARE_MAX).contains(&of.share) && of.length >= LENGTH_MIN && !is_wave(of));
    let pulses: Vec<Period> = pulses.copied().collect();
    // Finer sums come later, and know better.
    let shortest = pulses
        .iter()
        .copied()
        .reduce(|one, other| if other.length < one.length * (1.0 + SAME) { other } else { one })?;
    pulses.iter().all(|of| is_multiple(of.length, shortest.length, SAME)).then_some(shortest)
}

/// Whether a length is about a small multiple of another.
fn is_multiple(length: f64, of: f64, tolerance: f64) -> bool {
    let times = (length / of).round();
    (1.0..=8.0).contains(&times) && (length / (times * of) - 1.0).abs() <= tolerance
}

/// About so many values, and as near to a multiple of the wave as there is.
fn whole_waves(wave: &[f64], width: usize) -> usize {
    if width <= 2 {
        return width;
    }
    let candidates = width..(2 * width).min(wave.len());
    candidates.max_by(|a, b| wave[*a].total_cmp(&wave[*b]).then(b.cmp(a))).unwrap_or(width)
}

fn of_sums(values: &[f64], width: usize) -> Option<Period> {
    let mut sums: Vec<f64> = values.chunks_exact(width).map(|chunk| chunk.iter().sum()).collect();
    if sums.len() < VALUES_MIN {
        return None;
    }
    // The end counts: what is looked for may begin on the way.
    sums.drain(..sums.len().saturating_sub(VALUES_MAX));
    // A pulse that falls between two values is seen in both.
    let smooth: Vec<f64> = sums.windows(3).map(|three| three.iter().sum::<f64>() / 3.0).collect();
    let lag_max = smooth.len() / PERIODS_MIN;
    let correlation = autocorrelation(&smooth, lag_max);
    let beyond = correlation.iter().position(|value| *value < BETWEEN)?.max(LAG_MIN);
    let is_peak =
        |lag: &usize| correlation[*lag] >= correlation[lag - 1] && correlation[*lag] >= correlation[lag + 1];
    let peaks: Vec<usize> = (beyond..lag_max.saturating_sub(1)).filter(is_peak).collect();
    let highest = peaks.iter().map(|lag| correlation[*lag]).fold(0.0, f64::max);
    if highest < STRENGTH_MIN {
        return None;
    }
    let first = *peaks.iter().find(|lag| correlation[**lag] >= AS_GOOD * highest)?;
    let (length, times) = refined(&correlation, first, highest);
    let share = pulse_share(&sums, length);
    let (length, half) = (length * width as f64, 0.75 * width as f64 / times as f64);
    let interval = Interval { low: length - half, high: length + half };
    Some(Period { length, interval, strength: highest, share })
}

/// The length as the highest place near its multiples says, as long as these repeat; and the multiple that said it.
fn refined(correlation: &[f64], first: usize, highest: f64) -> (f64, usize) {
    let (mut length, mut times) = (first as f64, 1);
    for multiple in 2.. {
        let near = (multiple as f64 * length).round() as usize;
        let reach = 1 + first / (4 * multiple);
        if near + reach + 1 >= correlation.len() {
            break;
        }
        let place = (near - reach..=near + reach)
            .max_by(|a, b| correlation[*a].total_cmp(&correlation[*b]))
            .expect("there are places");
        if correlation[place] < 0.7 * highest {
            break;
        }
        (length, times) = (place as f64 / multiple as f64, multiple);
    }
    (length, times)
}

/// What is above the usual in a mean period, as a share of its sum.
fn pulse_share(sums: &[f64], length: f64) -> f64 {
    let phases = (length as usize).clamp(4, 64);
    let mut folded = vec![(0.0, 0usize); phases];
    for (index, sum) in sums.iter().enumerate() {
        let phase = ((index as f64 / length).fract() * phases as f64) as usize;
        let place = &mut folded[phase.min(phases - 1)];
        *place = (place.0 + sum, place.1 + 1);
    }
    let profile: Vec<f64> =
        folded.iter().filter(|of| of.1 > 0).map(|(sum, count)| sum / *count as f64).collect();
    let Some(usual) = median(&profile) else { return 0.0 };
    let whole: f64 = profile.iter().sum();
    let above: f64 = profile.iter().map(|value| (value - usual).max(0.0)).sum();
    if whole > 0.0 { above / whole } else { 0.0 }
}

/// Autocorrelation at the lags `0 .. lag_max`, each over the pairs that there are; all zero for a series that is constant.
pub fn autocorrelation(values: &[f64], lag_max: usize) -> Vec<f64> {
    let lag_max = lag_max.min(values.len());
    let Some(middle) = mean(values) else { return Vec::new() };
    let apart: Vec<f64> = values.iter().map(|value| value - middle).collect();
    let squares = apart.iter().map(|value| value * value).sum::<f64>() / apart.len() as f64;
    if squares <= 1e-18 * middle * middle {
        return vec![0.0; lag_max];
    }
    let at = |lag: usize| {
        let products: f64 = apart.iter().zip(&apart[lag..]).map(|(one, other)| one * other).sum();
        products / (apart.len() - lag) as f64 / squares
    };
    (0..lag_max).map(at).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    fn noise(seed: u64) -> impl FnMut() -> f64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        move || random.random::<f64>() - 0.5
    }

    /// Units of `wave` values that take all of the time at their end, and a pause every `pulse` values.
    fn written(count: usize, wave: f64, pulse: f64, pause: f64, noise: &mut dyn FnMut() -> f64) -> Vec<f64> {
        let times = |index: usize, of: f64| ((index + 1) as f64 / of).floor() - (index as f64 / of).floor();
        (0..count)
            .map(|index| {
                0.1 + times(index, wave) * wave * (1.0 + 0.02 * noise()) + times(index, pulse) * pause
            })
            .collect()
    }

    #[test]
    fn pauses_are_found_on_top_of_a_wave() {
        for (seed, (wave, pulse)) in
            [(7.3, 730.0), (0.9, 113.4), (12.0, 960.0), (3.0, 256.0)].into_iter().enumerate()
        {
            let mut noise = noise(seed as u64);
            let series = written(12_000, wave, pulse, 0.03 * pulse, &mut noise);
            let found = period(&series).unwrap_or_else(|| panic!("{wave} {pulse}"));
            assert!((found.length / pulse - 1.0).abs() < 0.02, "{found:?} for {pulse}");
            assert!(found.interval.low <= found.interval.high);
        }
    }

    #[test]
    fn a_wave_alone_and_noise_alone_have_no_pulses() {
        for seed in 0..20 {
            let mut noise = noise(seed);
            let wave = 1.0 + 40.0 * (noise() + 0.5);
            assert_eq!(period(&written(12_000, wave, 1e9, 0.0, &mut noise)), None, "{wave}");
            let series: Vec<f64> = (0..5000).map(|_| 1.0 + noise()).collect();
            assert_eq!(period(&series), None, "seed {seed}");
        }
        assert_eq!(period(&[]), None);
        assert_eq!(period(&[1.0; 5000]), None);
    }

    #[test]
    fn a_period_seen_twice_is_none() {
        let series = written(2000, 1.0, 800.0, 30.0, &mut noise(1));
        assert_eq!(period(&series), None);
    }

    #[test]
    fn autocorrelation_of_a_square_wave() {
        let series: Vec<f64> = (0..400).map(|index| f64::from(index % 4 < 2)).collect();
        let found = autocorrelation(&series, 9);
        assert!((found[4] - 1.0).abs() < 1e-9 && (found[2] + 1.0).abs() < 1e-9, "{found:?}");
    }
}
