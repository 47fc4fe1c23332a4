//! Finds the period of a series: the distance between its pulses, when they come at equal distances.
//!
//! Some series have two rhythms: a fast wave that takes most of the time (units that are written at once),
//! and rare pulses on top of it (pauses). Sums over steps that the wave does not fit beat at any distance. So
//! the wave is found first, and the series is summed over whole waves.

use std::f64::consts::TAU;

use crate::interval::Interval;
use crate::summary::{mean, median};

/// A rhythm of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Period {
    /// Distance from one pulse to the next, in values of the series.
    pub length: f64,
    /// The interval of the length, from the width of the peaks of the autocorrelation.
    pub interval: Interval,
    /// Autocorrelation at this distance, 1 for a series that repeats itself exactly.
    pub strength: f64,
    /// What the pulses add to the usual level between them, as a share of the sum of the series.
    pub share: f64,
}

/// How many times a period must be seen.
const PERIODS_MIN: usize = 3;
/// Least number of values or sums. Chosen: fewer show no rhythm.
const VALUES_MIN: usize = 48;
const VALUES_MAX: usize = 2048;
/// Fewest sums in a period.
const LAG_MIN: usize = 6;
/// An autocorrelation below this is no rhythm. Chosen: with it no series of noise and no wave alone was taken
/// for pulses, of 40 each (`docs/explanation/method.md`).
const STRENGTH_MIN: f64 = 0.6;
/// Least autocorrelation of a wave. Chosen: lower, because its noise is not summed up.
const WAVE_STRENGTH_MIN: f64 = 0.3;
/// Between two pulses the autocorrelation falls below this. Chosen: without a fall, a slow change of the
/// series would look like a peak.
const TROUGH_MAX: f64 = 0.18;
/// A peak with this share of the highest autocorrelation is as good. The shortest such distance counts, as
/// others are its multiples. Chosen: noise lowers a peak by about as much.
const AS_GOOD: f64 = 0.9;
/// A series with this autocorrelation is periodic without a search for a wave. Chosen: nearly an exact
/// repetition.
const PLAIN: f64 = 0.9;
/// Limit of the pulses' share of the sum if the caller knows the least period. Chosen: a longer period is
/// then no wave, though it may have one within.
const SHARE_MAX_PLAIN: f64 = 0.5;
/// Limit of the pulses' share of the sum; with more they are a wave, or its beat. It lies between the two
/// kinds on 68 simulated drives (`docs/explanation/method.md`): 0.059 at most for pulses, 0.066 at least for
/// waves.
const SHARE_MAX: f64 = 0.065;
/// Pulses below this share of the sum do not count. Chosen: they are rounding.
const SHARE_MIN: f64 = 5e-4;
/// Lengths that differ by less than this share are the same. Chosen: far less than lies between the multiples
/// that are compared.
const SAME: f64 = 0.02;
/// Higher multiples are not compared. Chosen: coarse sums cannot distinguish them from other lengths.
const MULTIPLES_MAX: f64 = 8.0;
/// Values in a sum, approximately. Chosen: from sums that hold many waves down to the single values.
const WIDTHS: [f64; 4] = [64.0, 16.0, 4.0, 1.0];
/// Least number of values between two pulses; fewer are a wave. Chosen: pulses are rare.
const LENGTH_MIN: f64 = 24.0;
/// Fewest waves between two pulses. Chosen: pulses are rare (an erase block has 64 units and more).
const WAVES_PER_PULSE_MIN: f64 = 40.0;
/// Values at the end of a series that are searched for a wave.
const WAVE_VALUES: usize = 8192;
/// The first peak may span several waves: up to this many are tried on [`SCREEN_POINTS`], the best refined.
const PARTS_MAX: u32 = 48;
const SCREEN_POINTS: usize = 512;
const SHARPEN_PASSES: usize = 3;
/// Least share of the sum in a wave's spectral line. Chosen: a wave makes up most of the time.
const LINE_MIN: f64 = 0.25;

/// Finds the period of the pulses of a series of values that are not negative. It is searched for on coarse
/// sums, which hold many waves each, and on finer ones. It is not shorter than `least` values: a caller that
/// knows the least distance of pulses keeps other rhythms out. Waves shorter than 6 values are untested.
/// `None` when no period is seen three times, when only the wave is, or when periods contradict one another.
///
/// # Panics
/// When a value is not a finite number.
pub fn period(values: &[f64], least: f64) -> Option<Period> {
    assert!(values.iter().all(|value| value.is_finite()), "a series of finite numbers");
    let mut pulses: Vec<Period> = plain(values, least).into_iter().collect();
    let wave = Wave::find(values);
    let least = wave.map_or(LENGTH_MIN, |wave| LENGTH_MIN.max(WAVES_PER_PULSE_MIN * wave.length)).max(least);
    for width in WIDTHS {
        let (sums, width) = match wave {
            Some(wave) => wave.sums(values, width),
            None => (values.chunks_exact(width as usize).map(|chunk| chunk.iter().sum()).collect(), width),
        };
        pulses.extend(of_sums(&sums, width, least).filter(|pulse| {
            (SHARE_MIN..=SHARE_MAX).contains(&pulse.share)
                && pulse.length >= least.max(LAG_MIN as f64 * width)
        }));
    }
    // Finer sums come later, and are more precise.
    let shortest = pulses
        .iter()
        .copied()
        .reduce(|one, other| if other.length < one.length * (1.0 + SAME) { other } else { one })?;
    pulses.iter().all(|pulse| is_multiple(pulse.length, shortest.length)).then_some(shortest)
}

/// The period of a series that nearly repeats itself. A wave that seems to be in it is a part of it, and
/// hides its first multiples.
fn plain(values: &[f64], least: f64) -> Option<Period> {
    let end = &values[values.len().saturating_sub(VALUES_MAX)..];
    let rhythm = rhythm(end, 2, PLAIN).filter(|rhythm| rhythm.length >= LENGTH_MIN.max(least))?;
    let share = pulse_share(end, rhythm.length);
    let most = if least > LENGTH_MIN { SHARE_MAX_PLAIN } else { SHARE_MAX };
    (SHARE_MIN..=most).contains(&share).then(|| rhythm.period(1.0, share))
}

/// Whether a length is about a multiple of another, or so long that its sums are too coarse to show the
/// other.
fn is_multiple(length: f64, base: f64) -> bool {
    let times = (length / base).round();
    times > MULTIPLES_MAX || (times >= 1.0 && (length / (times * base) - 1.0).abs() <= SAME)
}

/// The rhythm that makes up most of a series.
#[derive(Clone, Copy, Debug)]
struct Wave {
    length: f64,
    /// An index midway between two crests.
    trough: f64,
}

impl Wave {
    /// Finds the wave at the end of a series.
    fn find(values: &[f64]) -> Option<Self> {
        let start = values.len().saturating_sub(WAVE_VALUES);
        let end = &values[start..];
        let sum: f64 = end.iter().sum();
        let last = &end[end.len().saturating_sub(VALUES_MAX)..];
        let rough = [last.to_vec(), smooth(last)];
        let rough = rough.iter().filter_map(|series| rhythm(series, 2, WAVE_STRENGTH_MIN));
        // The first peak may span several waves, if one wave is no whole number of values.
        let few = &end[end.len().saturating_sub(SCREEN_POINTS)..];
        let lengths =
            rough.flat_map(|rhythm| (1..=PARTS_MAX).map(move |part| rhythm.length / f64::from(part)));
        let mut lengths: Vec<(f64, f64)> =
            lengths.filter(|length| *length >= 1.5).map(|length| (length, line(few, length).0)).collect();
        lengths.sort_by(|one, other| other.1.total_cmp(&one.1));
        // Harmonics may fill the list: their multiples are tried, too.
        let attempts = lengths.iter().take(SHARPEN_PASSES);
        let attempts = attempts.flat_map(|(length, _)| (1..=4).map(move |times| length * f64::from(times)));
        let lines = attempts.map(|length| {
            let length = sharpen(end, length);
            (length, line(end, length).0 / sum)
        });
        let lines: Vec<(f64, f64)> = lines.filter(|(_, share)| *share > LINE_MIN).collect();
        let highest = lines.iter().map(|(_, share)| *share).fold(0.0, f64::max);
        // Narrow crests have strong harmonics, which are shorter, so the longest length is the wave.
        let good = lines.iter().filter(|(_, share)| *share > AS_GOOD * highest);
        let length = good.map(|(length, _)| *length).max_by(f64::total_cmp)?;
        let crest = line(end, length).1 / TAU * length;
        Some(Self { length, trough: (start as f64 + crest + length / 2.0).rem_euclid(length) })
    }

    /// Sums over whole waves, as near to `width` values as possible, and how many values each holds.
    fn sums(&self, values: &[f64], width: f64) -> (Vec<f64>, f64) {
        let each = self.length * (width / self.length).round().max(1.0);
        let edge = |index: usize| ((self.trough + index as f64 * each).ceil() as usize).min(values.len());
        let count = ((values.len() as f64 - self.trough) / each).max(0.0) as usize;
        ((0..count).map(|index| values[edge(index)..edge(index + 1)].iter().sum()).collect(), each)
    }
}

/// The length near this one whose spectral line is highest.
fn sharpen(values: &[f64], length: f64) -> f64 {
    const STEPS: i32 = 10;
    let mut best = (length, line(values, length).0);
    // The search spans half a line of the shorter part that the length was found in, and narrows each time.
    let mut reach = 0.5 * length * length / VALUES_MAX.min(values.len()) as f64 + 1e-3 * length;
    for _ in 0..4 {
        let middle = best.0;
        for step in -STEPS..=STEPS {
            let attempts = middle + reach * f64::from(step) / f64::from(STEPS);
            let height = line(values, attempts).0;
            if height > best.1 {
                best = (attempts, height);
            }
        }
        reach /= 5.0;
    }
    best.0
}

/// Height and phase of the spectral line of this length.
fn line(values: &[f64], length: f64) -> (f64, f64) {
    let (turn_sin, turn_cos) = (TAU / length).sin_cos();
    let (mut cos, mut sin, mut real, mut imaginary) = (1.0, 0.0, 0.0, 0.0);
    for value in values {
        real += value * cos;
        imaginary += value * sin;
        (cos, sin) = (cos * turn_cos - sin * turn_sin, sin * turn_cos + cos * turn_sin);
    }
    (f64::hypot(real, imaginary), f64::atan2(imaginary, real))
}

/// Running mean of three: a pulse that falls between two values is seen in both.
fn smooth(values: &[f64]) -> Vec<f64> {
    values.windows(3).map(|three| three.iter().sum::<f64>() / 3.0).collect()
}

/// The period of sums of `width` values. Only the end is searched, because a rhythm may begin on the way.
fn of_sums(sums: &[f64], width: f64, least: f64) -> Option<Period> {
    let sums = &sums[sums.len().saturating_sub(VALUES_MAX)..];
    let lag_min = LAG_MIN.max((least / width) as usize);
    let rhythm = rhythm(&smooth(sums), lag_min, STRENGTH_MIN)?;
    Some(rhythm.period(width, pulse_share(sums, rhythm.length)))
}

/// A distance at which a series repeats itself.
struct Rhythm {
    length: f64,
    /// The highest multiple that the length was read from.
    times: usize,
    strength: f64,
}

impl Rhythm {
    /// The period, from sums of `width` values whose pulses are this share.
    fn period(&self, width: f64, share: f64) -> Period {
        let (length, half) = (self.length * width, 0.75 * width / self.times as f64);
        let interval = Interval::around(length, half);
        Period { length, interval, strength: self.strength, share }
    }
}

fn rhythm(series: &[f64], lag_min: usize, strength_min: f64) -> Option<Rhythm> {
    if series.len() + 2 < VALUES_MIN {
        return None;
    }
    let lag_max = series.len() / PERIODS_MIN;
    let correlation = autocorrelation(series, lag_max);
    let beyond = correlation.iter().position(|value| *value < TROUGH_MAX)?.max(lag_min);
    let is_peak =
        |lag: &usize| correlation[*lag] >= correlation[lag - 1] && correlation[*lag] >= correlation[lag + 1];
    let peaks: Vec<usize> = (beyond..lag_max.saturating_sub(1)).filter(is_peak).collect();
    let strength = peaks.iter().map(|lag| correlation[*lag]).fold(0.0, f64::max);
    if strength < strength_min {
        return None;
    }
    let first = *peaks.iter().find(|lag| correlation[**lag] >= AS_GOOD * strength)?;
    let (length, times) = refine(&correlation, first, strength);
    Some(Rhythm { length, times, strength })
}

/// Refines a length by the highest place near each multiple, as long as these repeat. Returns the last
/// multiple, too.
fn refine(correlation: &[f64], first: usize, highest: f64) -> (f64, usize) {
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

/// How far a mean period exceeds its usual level, as a share of its sum.
fn pulse_share(sums: &[f64], length: f64) -> f64 {
    let phases = folded(sums, length, (length as usize).clamp(4, 64));
    let profile: Vec<f64> =
        phases.iter().filter(|phase| phase.1 > 0).map(|(sum, count)| sum / *count as f64).collect();
    let Some(level) = median(&profile) else { return 0.0 };
    let whole: f64 = profile.iter().sum();
    let above: f64 = profile.iter().map(|value| (value - level).max(0.0)).sum();
    if whole > 0.0 { above / whole } else { 0.0 }
}

/// Lays the periods of a series over one another: for each of `phases` equal parts of a period, the sum of its values,
/// and how many there are.
pub(crate) fn folded(values: &[f64], length: f64, phases: usize) -> Vec<(f64, usize)> {
    let mut folded = vec![(0.0, 0); phases];
    for (index, value) in values.iter().enumerate() {
        let phase = ((index as f64 / length).fract() * phases as f64) as usize;
        let (sum, count) = &mut folded[phase.min(phases - 1)];
        (*sum, *count) = (*sum + value, *count + 1);
    }
    folded
}

/// Autocorrelation at the lags `0 .. lag_max`, each over all pairs at that distance; all zero for a constant
/// series.
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
    fn unit_series(
        count: usize,
        wave: f64,
        pulse: f64,
        pause: f64,
        noise: &mut dyn FnMut() -> f64,
    ) -> Vec<f64> {
        let times = |index: usize, length: f64| {
            ((index + 1) as f64 / length).floor() - (index as f64 / length).floor()
        };
        (0..count)
            .map(|index| {
                0.1 + times(index, wave) * wave * (1.0 + 0.02 * noise()) + times(index, pulse) * pause
            })
            .collect()
    }

    #[test]
    fn pauses_are_found_on_top_of_a_wave() {
        for (seed, (wave, pulse)) in
            [(7.3, 730.0), (1.0, 113.0), (12.0, 960.0), (3.0, 256.0)].into_iter().enumerate()
        {
            let mut noise = noise(seed as u64);
            let series = unit_series(12_000, wave, pulse, 0.03 * pulse, &mut noise);
            let period = period(&series, 0.0).unwrap_or_else(|| panic!("{wave} {pulse}"));
            assert!((period.length / pulse - 1.0).abs() < 0.02, "{period:?} for {pulse}");
            assert!(period.interval.low <= period.interval.high);
        }
    }

    #[test]
    fn a_wave_alone_and_noise_alone_have_no_pulses() {
        for seed in 0..40 {
            let mut noise = noise(seed);
            let wave = 6.0 + 40.0 * (noise() + 0.5);
            assert_eq!(period(&unit_series(12_000, wave, 1e9, 0.0, &mut noise), 0.0), None, "{wave}");
            let series: Vec<f64> = (0..5000).map(|_| 1.0 + noise()).collect();
            assert_eq!(period(&series, 0.0), None, "seed {seed}");
        }
        assert_eq!(period(&[], 0.0), None);
        assert_eq!(period(&[1.0; 5000], 0.0), None);
    }

    #[test]
    fn a_wave_that_is_a_part_of_the_period_does_not_hide_it() {
        // Two dies that write in turn, and erase every 63 values; a wave of a third of that would ask for a
        // longer period.
        let series: Vec<f64> = (0..4000)
            .map(|index: usize| 1.0 + 0.5 * f64::from(index % 21 == 20) + 2.5 * f64::from(index % 63 == 62))
            .collect();
        let period = period(&series, 0.0).unwrap();
        assert!((period.length - 63.0).abs() < 0.5, "{period:?}");
    }

    #[test]
    fn what_comes_sooner_than_it_can_is_not_taken() {
        let series = unit_series(12_000, 1.0, 113.0, 3.4, &mut noise(3));
        assert_eq!(period(&series, 0.0).map(|period| period.length.round()), Some(113.0));
        assert!(period(&series, 150.0).is_none_or(|period| period.length >= 150.0));
    }

    #[test]
    fn a_period_seen_twice_is_none() {
        let series = unit_series(2000, 1.0, 800.0, 30.0, &mut noise(1));
        assert_eq!(period(&series, 0.0), None);
    }

    #[test]
    fn autocorrelation_of_a_square_wave() {
        let series: Vec<f64> = (0..400).map(|index| f64::from(index % 4 < 2)).collect();
        let correlation = autocorrelation(&series, 9);
        assert!(
            (correlation[4] - 1.0).abs() < 1e-9 && (correlation[2] + 1.0).abs() < 1e-9,
            "{correlation:?}"
        );
    }
}
