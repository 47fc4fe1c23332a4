//! Finds the distance at which a series repeats when several sources, such as dies, each pulse once in it.
//!
//! No single pulse stands out then, and something fast beats between them. So the series is smoothed by
//! Gaussian windows of many widths: these leave nothing of a fast wave, whatever its length, where sums of
//! values alias it. A real repetition shows at most widths; one that is due to a width, a wave or chance does
//! not.

use std::ops::Range;

use crate::interval::Interval;
use crate::period::folded;
use crate::summary::{mean, median};

/// The repetition of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Recurrence {
    /// Length of one repetition, in values of the series.
    pub length: f64,
    /// The interval of the length, from the agreement of widths and the narrowness of peaks.
    pub interval: Interval,
    /// Mean autocorrelation at this distance and its multiples, 1 for a series that repeats itself exactly.
    pub strength: f64,
    /// How many widths agree.
    pub widths: usize,
    /// Most multiples of the length that fit into a stretch.
    pub times: usize,
}

/// Longer stretches are summed to at least this many values, and less than twice as many.
const VALUES: usize = 2048;
/// Standard deviations of the windows, in values: half an octave apart.
const WIDTHS: [f64; 10] = [4.0, 5.66, 8.0, 11.3, 16.0, 22.6, 32.0, 45.3, 64.0, 90.5];
/// Smoothed values per standard deviation of a window. Chosen: more would add nothing.
const STEPS: f64 = 3.0;
/// Standard deviations from the middle of a window to its ends. Chosen: beyond that the weights are
/// negligible.
const ENDS: f64 = 3.0;
/// Fewest smoothed values of a stretch. Chosen: fewer show no repetition.
const SMOOTHED_MIN: usize = 24;
/// Longest distance that a stretch can show, as a share of it. Chosen: beyond that too few values overlap.
const LAG_SHARE: f64 = 0.75;
/// Shortest distance, in values. Chosen, as for a single series (`period`).
const LENGTH_MIN: f64 = 24.0;
/// Before the first peak that counts, the autocorrelation falls below this. Chosen: without a fall, a slow
/// change of the series would look like a peak.
const TROUGH_MAX: f64 = 0.18;
/// Peaks of the autocorrelation below this do not count. Chosen: well below the mean that a peak must reach
/// with its multiples.
const PEAK_MIN: f64 = 0.3;
/// A multiple refines the length only if its peak has this share of the first one. Chosen: the place of a
/// lower peak is too uncertain.
const REFINES: f64 = 0.5;
/// Multiples that count, at most. Chosen: more add little precision.
const MULTIPLES_MAX: usize = 12;
/// Least mean autocorrelation of a peak and its multiples. Chosen: half of an exact repetition.
const STRENGTH_MIN: f64 = 0.5;
/// A peak with this share of the highest is as good. The shortest such distance counts, as others are its
/// multiples. Chosen: noise lowers a peak by about as much.
const AS_GOOD: f64 = 0.9;
/// Lengths that differ by less than this share are the same. Chosen: the windows blur the peaks.
const SAME: f64 = 0.03;
/// How many widths must agree. Chosen: by chance few do.
const WIDTHS_MIN: usize = 4;
/// How many suffice if no more are narrow enough for the length. Chosen: short lengths fit few widths.
const WIDTHS_LEAST: usize = 3;
/// A width is narrow enough for lengths from this many times itself on. Chosen: a wider window blurs the
/// repetition.
const FITS: f64 = 6.0;
/// Least error of a length, as a share of it. Chosen: the widths share the same values, so their agreement
/// proves no more.
const LENGTH_ERROR_MIN: f64 = 0.0002;
/// Fewest and most places within a period that are distinguished.
const PHASES: Range<usize> = 8..64;

/// Finds the number of values after which stretches of a series repeat; `None` when most widths do not agree.
/// `pulses` limits the excess over the usual level, summed over a period, in the unit of the values. A caller
/// that knows how much is lost in a period keeps other rhythms out.
///
/// # Panics
/// When a value is not a finite number.
pub fn recurrence(stretches: &[Vec<f64>], pulses: Range<f64>) -> Option<Recurrence> {
    assert!(stretches.iter().flatten().all(|value| value.is_finite()), "a series of finite numbers");
    let longest = stretches.iter().map(Vec::len).max()?;
    let each = (longest / VALUES).max(1);
    let sums = |stretch: &Vec<f64>| stretch.chunks_exact(each).map(|part| part.iter().sum()).collect();
    let stretches: Vec<Vec<f64>> = stretches.iter().map(sums).collect();
    let results: Vec<WidthResult> =
        WIDTHS.iter().filter_map(|width| WidthResult::find(&stretches, *width)).collect();
    let agree = |result: &WidthResult| -> Vec<&WidthResult> {
        results.iter().filter(|other| (other.length / result.length - 1.0).abs() < SAME).collect()
    };
    // Wide windows leave only pulses, so theirs is the least loss.
    let least_loss =
        |agreement: &[&WidthResult]| agreement.iter().map(|result| result.loss).fold(f64::INFINITY, f64::min);
    let agreements = results.iter().map(agree).filter(|agreement| pulses.contains(&least_loss(agreement)));
    let most = agreements.rev().max_by_key(Vec::len)?;
    let fit = WIDTHS.iter().filter(|width| FITS * **width <= most[0].length).count();
    let needed = if fit < WIDTHS_LEAST { WIDTHS_MIN } else { fit.min(WIDTHS_MIN) };
    if most.len() < needed {
        return None;
    }
    let values_of =
        |value: fn(&WidthResult) -> f64| most.iter().map(|width| value(width)).collect::<Vec<f64>>();
    let lengths = values_of(|result| result.length);
    let length = median(&lengths)?;
    let apart = lengths.iter().map(|other| (other - length).abs()).sum::<f64>() / lengths.len() as f64;
    let half = each as f64 * apart.max(LENGTH_ERROR_MIN * length);
    let length = each as f64 * length;
    Some(Recurrence {
        length,
        interval: Interval::around(length, half),
        strength: mean(&values_of(|result| result.strength))?,
        widths: most.len(),
        times: most.iter().map(|width| width.times).max()?,
    })
}

/// What one width shows.
struct WidthResult {
    length: f64,
    strength: f64,
    times: usize,
    /// The excess over the usual level in a period.
    loss: f64,
}

impl WidthResult {
    fn find(stretches: &[Vec<f64>], width: f64) -> Option<Self> {
        let step = ((width / STEPS) as usize).max(1);
        let smoothed = stretches.iter().map(|stretch| smooth(stretch, width, step));
        let smoothed: Vec<Vec<f64>> = smoothed.filter(|part| part.len() >= SMOOTHED_MIN).collect();
        let longest = smoothed.iter().map(Vec::len).max()?;
        let correlation = autocorrelation(&smoothed, (LAG_SHARE * longest as f64) as usize);
        let falls = correlation.iter().position(|value| *value < TROUGH_MAX)?;
        let least = (LENGTH_MIN.max(ENDS * width) / step as f64).ceil() as usize;
        let peaks = (falls.max(least).max(1)..correlation.len().saturating_sub(1))
            .filter(|lag| correlation[*lag] > PEAK_MIN && is_peak(&correlation, *lag));
        let combs: Vec<Comb> = peaks.map(|lag| Comb::from_correlation(&correlation, lag)).collect();
        let highest = combs.iter().map(|comb| comb.strength).fold(STRENGTH_MIN, f64::max);
        let Comb { length, strength, times } =
            combs.into_iter().find(|comb| comb.strength >= STRENGTH_MIN.max(AS_GOOD * highest))?;
        let length = step as f64 * length;
        Some(Self { length, strength, times, loss: period_loss(stretches, length, width) })
    }
}

/// A peak and its multiples.
struct Comb {
    length: f64,
    strength: f64,
    times: usize,
}

impl Comb {
    fn from_correlation(correlation: &[f64], first: usize) -> Self {
        let mut length = refine(correlation, first);
        let mut heights = vec![correlation[first]];
        for times in 2..=MULTIPLES_MAX {
            let near = (times as f64 * length).round() as usize;
            let reach = 1 + first / (8 * times);
            if near + reach + 1 >= correlation.len() {
                break;
            }
            let place = (near - reach..=near + reach)
                .max_by(|one, other| correlation[*one].total_cmp(&correlation[*other]))
                .expect("there are places");
            heights.push(correlation[place]);
            if correlation[place] > REFINES * correlation[first] {
                length = refine(correlation, place) / times as f64;
            }
        }
        let strength = heights.iter().sum::<f64>() / heights.len() as f64;
        Self { length, strength, times: heights.len() }
    }
}

fn is_peak(correlation: &[f64], lag: usize) -> bool {
    correlation[lag] >= correlation[lag - 1] && correlation[lag] > correlation[lag + 1]
}

/// Where the parabola through a point and its two neighbors is highest.
fn refine(correlation: &[f64], place: usize) -> f64 {
    let [before, at, after] = [correlation[place - 1], correlation[place], correlation[place + 1]];
    let bend = before - 2.0 * at + after;
    let beside = if bend == 0.0 { 0.0 } else { (before - after) / (2.0 * bend) };
    place as f64 + beside.clamp(-0.5, 0.5)
}

/// Means weighted by a Gaussian window of standard deviation `width`, one every `step` values, for whole
/// windows only.
fn smooth(values: &[f64], width: f64, step: usize) -> Vec<f64> {
    let reach = (ENDS * width).ceil() as i32;
    let weight = |place: i32| (-0.5 * (f64::from(place) / width).powi(2)).exp();
    let weights: Vec<f64> = (-reach..=reach).map(weight).collect();
    let whole: f64 = weights.iter().sum();
    let mean = |window: &[f64]| {
        window.iter().zip(&weights).map(|(value, weight)| value * weight).sum::<f64>() / whole
    };
    values.windows(weights.len()).step_by(step).map(mean).collect()
}

/// Autocorrelation within stretches, each weighted by its length, whatever its level and spread.
fn autocorrelation(stretches: &[Vec<f64>], lag_max: usize) -> Vec<f64> {
    let (mut products, mut squares) = (vec![0.0; lag_max], vec![[0.0; 2]; lag_max]);
    for stretch in stretches {
        let middle = mean(stretch).unwrap_or(0.0);
        let spread = stretch.iter().map(|value| (value - middle).powi(2)).sum::<f64>() / stretch.len() as f64;
        if spread <= 1e-18 * middle * middle {
            continue;
        }
        let apart: Vec<f64> = stretch.iter().map(|value| (value - middle) / spread.sqrt()).collect();
        let (mut ahead, mut behind) = (apart.iter().map(|value| value * value).sum::<f64>(), 0.0);
        behind += ahead;
        for lag in 0..lag_max.min(apart.len()) {
            products[lag] += apart.iter().zip(&apart[lag..]).map(|(one, other)| one * other).sum::<f64>();
            squares[lag][0] += ahead;
            squares[lag][1] += behind;
            ahead -= apart[apart.len() - 1 - lag].powi(2);
            behind -= apart[lag].powi(2);
        }
    }
    let share = |(product, [one, other]): (f64, [f64; 2])| {
        let both = (one.max(0.0) * other.max(0.0)).sqrt();
        if both > 0.0 { product / both } else { 0.0 }
    };
    products.into_iter().zip(squares).map(share).collect()
}

/// The excess of a mean period over its usual level, summed up: the median over stretches that hold a whole
/// period.
fn period_loss(stretches: &[Vec<f64>], length: f64, width: f64) -> f64 {
    let phases = ((length / (2.0 * width)) as usize).clamp(PHASES.start, PHASES.end);
    let loss = |stretch: &Vec<f64>| {
        let whole = (stretch.len() as f64 / length).floor() * length;
        let end = &stretch[stretch.len() - whole as usize..];
        let folded = folded(end, length, phases);
        let profile: Vec<f64> = folded.iter().map(|(sum, count)| sum / (*count).max(1) as f64).collect();
        let level = median(&profile)?;
        let above: f64 = profile.iter().map(|value| (value - level).max(0.0)).sum();
        (!end.is_empty()).then_some(above / phases as f64 * length)
    };
    median(&stretches.iter().filter_map(loss).collect::<Vec<f64>>()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A wave that is no whole number of values repeats, too, but loses less than its length.
    const PULSES: Range<f64> = 16.0..1e9;

    /// Stretches of a wave that takes most of the time, and of dies that pause once a period each, at places
    /// of their own.
    fn unit_series(wave: f64, period: f64, pauses: usize, each: f64, seed: u64) -> Vec<Vec<f64>> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let phases: Vec<f64> = (0..pauses).map(|_| period * random.random::<f64>()).collect();
        let crosses = |index: usize, length: f64, phase: f64| {
            ((index as f64 + 1.0 + phase) / length).floor() - ((index as f64 + phase) / length).floor()
        };
        let mut value = |index: usize| {
            let wave = crosses(index, wave, 0.0) * wave * (1.0 + 0.05 * (random.random::<f64>() - 0.5));
            0.1 + wave + phases.iter().map(|phase| crosses(index, period, *phase) * each).sum::<f64>()
        };
        (0..4).map(|stretch| (4000 * stretch..4000 * (stretch + 1)).map(&mut value).collect()).collect()
    }

    #[test]
    fn pauses_of_many_dies_are_found_on_top_of_a_wave() {
        for (seed, (wave, period, pauses)) in
            [(7.3, 730.0, 5), (2.9, 113.0, 3), (12.0, 960.0, 8), (3.7, 1851.0, 12)].into_iter().enumerate()
        {
            let series = unit_series(wave, period, pauses, 6.0, seed as u64);
            let recurrence = recurrence(&series, 2.0..1e9).unwrap_or_else(|| panic!("{wave} {period}"));
            assert!((recurrence.length / period - 1.0).abs() < 0.01, "{recurrence:?} for {period}");
            assert!(
                recurrence.interval.low <= period && period <= recurrence.interval.high,
                "{recurrence:?} for {period}"
            );
            assert!(recurrence.widths >= WIDTHS_MIN && recurrence.times >= 1, "{recurrence:?}");
        }
    }

    #[test]
    fn a_wave_alone_and_noise_alone_do_not_come_again() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for seed in 0..40 {
            let wave = 1.5 + 12.0 * random.random::<f64>();
            assert_eq!(recurrence(&unit_series(wave, 1e9, 0, 0.0, seed), PULSES), None, "{wave}");
            let noise = (0..4).map(|_| (0..3000).map(|_| 1.0 + random.random::<f64>()).collect());
            assert_eq!(recurrence(&noise.collect::<Vec<_>>(), PULSES), None, "seed {seed}");
        }
        assert_eq!(recurrence(&[], PULSES), None);
        assert_eq!(recurrence(&[vec![1.0; 5000], Vec::new()], PULSES), None);
    }

    #[test]
    fn what_loses_too_little_or_too_much_is_no_pulse() {
        let series = unit_series(7.3, 730.0, 5, 6.0, 0);
        assert!(recurrence(&series, 5.0..60.0).is_some());
        assert_eq!(recurrence(&series, 200.0..400.0), None);
        assert_eq!(recurrence(&series, 0.0..1.0), None);
    }
}
