//! Finds knees and zones: where a series changes its level.
//!
//! All work is on the logarithms, because ratios of speeds and latencies are what matters. Single outliers
//! are moved in to their neighbors, so that a hiccup makes no level. Then the series is cut so that the
//! squares around the levels, plus a penalty for each level, are least. The penalty grows with the noise and
//! with the correlation of neighbors. A part that a line explains better than a staircase is one sloping
//! level. `docs/explanation/method.md` has the formulas and the counted errors.

use std::ops::Range;

use statrs::distribution::{Binomial, DiscreteCDF as _};

use super::interval::{CONFIDENCE_95, Interval, mean_interval, window_interval};
use super::summary::{mean, median};

/// A stretch of a series at one level, or along one slope.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Indices of its values.
    pub range: Range<usize>,
    /// Median, in the unit of the values.
    pub median: f64,
    /// Mean, in the unit of the values.
    pub mean: f64,
    /// The interval of the mean at 95 %: [`window_interval`], or [`mean_interval`] below ten values. It is
    /// wide for a slope, whose values have no common mean, and `None` for one value.
    pub interval: Option<Interval>,
}

/// Where one level ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Median of the level before the knee.
    pub before: f64,
    /// Median of the level from the knee on.
    pub after: f64,
    /// First index at which the change may be, at 95%.
    pub at_low: usize,
    /// Last index at which the change may be, at 95%.
    pub at_high: usize,
}

/// A smaller change than this share of the level is no knee. Chosen: a user of the drive would not notice it.
pub const LEAST_CHANGE: f64 = 0.05;
/// A smaller change between zones of a disk does not count. Chosen: zones differ by a few percent.
pub const LEAST_CHANGE_OF_ZONES: f64 = 0.01;
/// Fewest values of a level: one or two that stand apart are a hiccup.
pub const LEVEL_MIN: usize = 3;

/// A longer series is reduced to the medians of equal pieces, because all pairs of places are tried.
const PIECES_MAX: usize = 5_000;

/// Finds the levels of a series, in order. A series without a change is one level. A change counts if it is
/// significant and at least [`LEAST_CHANGE`] of the level. A slope is one level, straight or bent, and so is
/// a staircase of steps too small to count. A flat part and the slope after it are two.
///
/// No values have no level. Above 5 000 values, places are known to the length of one of 5 000 pieces.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn levels(values: &[f64]) -> Vec<Level> {
    find_levels(values, LEAST_CHANGE)
}

/// Finds the zones of a disk: [`levels`] with changes from [`LEAST_CHANGE_OF_ZONES`] on. That takes steps far
/// above the noise; otherwise the disk slopes, and is one level here, too.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn zones(values: &[f64]) -> Vec<Level> {
    find_levels(values, LEAST_CHANGE_OF_ZONES)
}

/// The changes between the [`levels`] of a series, and how well their places are known.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn knees(values: &[f64]) -> Vec<Knee> {
    let search = Search::new(values);
    let ranges = search.ranges(LEAST_CHANGE);
    ranges.windows(2).map(|pair| search.knee(values, &pair[0], &pair[1])).collect()
}

fn find_levels(values: &[f64], least_change: f64) -> Vec<Level> {
    let search = Search::new(values);
    search.ranges(least_change).iter().map(|range| level(values, search.indices(range))).collect()
}

fn level(values: &[f64], range: Range<usize>) -> Level {
    let stretch = &values[range.clone()];
    let interval = window_interval(stretch, CONFIDENCE_95).or_else(|| mean_interval(stretch, CONFIDENCE_95));
    let (median, mean) =
        (median(stretch).expect("a level has values"), mean(stretch).expect("a level has values"));
    Level { range, median, mean, interval }
}

/// A series made ready to be cut.
struct Search {
    /// Number of values in the series.
    count: usize,
    /// Number of values in each piece.
    width: usize,
    /// Logarithms of the pieces.
    logs: Vec<f64>,
    sums: Sums,
    long_run_variance: f64,
}

impl Search {
    fn new(values: &[f64]) -> Self {
        let all_have_a_level = values.iter().all(|value| *value >= 0.0 && value.is_finite());
        assert!(all_have_a_level, "a level is of finite numbers of at least zero");
        let width = values.len().div_ceil(PIECES_MAX).max(1);
        let pieces = values.chunks(width).map(|piece| median(piece).expect("a piece has values"));
        let logs = without_hiccups(&pieces.collect::<Vec<_>>());
        let (sums, long_run_variance) = (Sums::new(&logs), long_run_variance(&logs));
        Self { count: values.len(), width, logs, sums, long_run_variance }
    }

    /// The levels, as ranges of pieces.
    fn ranges(&self, least_change: f64) -> Vec<Range<usize>> {
        let penalty = penalty(self.long_run_variance, self.logs.len());
        partition(&self.logs, &self.sums, penalty, least_change)
    }

    /// Indices of the values in these pieces.
    fn indices(&self, pieces: &Range<usize>) -> Range<usize> {
        pieces.start * self.width..(pieces.end * self.width).min(self.count)
    }

    /// The knee between two levels. It may be at every place that the likelihood cannot distinguish from the
    /// best one: the region of Hansen, "Sample splitting and threshold estimation", Econometrica 68 (2000)
    /// 575–603, where twice the logarithm of the ratio is at most −2·ln(1 − √0.95) = 7.35.
    fn knee(&self, values: &[f64], before: &Range<usize>, after: &Range<usize>) -> Knee {
        let (own, next) = (self.sums.mean(before), self.sums.mean(after));
        let squares = |at: usize| {
            self.sums.squares_around(&(before.start..at), own)
                + self.sums.squares_around(&(at..after.end), next)
        };
        let limit = squares(after.start) - 2.0 * (1.0 - CONFIDENCE_95.sqrt()).ln() * self.long_run_variance;
        let possible = |at: &usize| squares(*at) <= limit;
        let at_low = (before.start + 1..=after.start).find(possible).expect("the place itself is possible");
        let at_high = (after.start..after.end).rfind(possible).expect("the place itself is possible");
        let level =
            |pieces: &Range<usize>| median(&values[self.indices(pieces)]).expect("a level has values");
        Knee {
            at: after.start * self.width,
            before: level(before),
            after: level(after),
            at_low: at_low * self.width,
            at_high: at_high * self.width,
        }
    }
}

/// Values further than this ratio from the median are clipped to it, so that zero has a logarithm. Chosen:
/// far beyond any real speed.
const RATIO_MAX: f64 = 1_000.0;
/// Differences below this share are not resolved, so that exactly equal values have a noise. Chosen: half the
/// smallest change that counts.
const RESOLUTION: f64 = 0.005;
/// Width of the running median, in values; one or two of them may be outliers.
const NEIGHBORS: usize = 5;
/// Standard deviations beyond which a value is not noise.
const DEVIATIONS_MAX: f64 = 3.0;
/// The median of the absolute values of a normal distribution, over its standard deviation.
const NORMAL_MEDIAN: f64 = 0.674_49;
/// The variance of a normal distribution cut off at three standard deviations, over that of the whole.
const TRUNCATED_NORMAL_VARIANCE: f64 = 0.973_3;
/// Chosen: this many large differences may be changes of level, for each value of the lag, besides
/// [`LARGE_SHARE`].
const CHANGES: f64 = 3.0;
/// Share of all differences that may be changes of level. Chosen: when more are large, they are the noise.
const LARGE_SHARE: f64 = 0.1;
/// Correlation of neighbors that is assumed, as few values do not show it. Chosen: windows of one run are
/// seldom independent.
const CORRELATION_EXPECTED: f64 = 0.3;
/// Number of values that [`CORRELATION_EXPECTED`] counts as. Chosen: fewer values estimate a correlation
/// badly.
const CORRELATION_WEIGHT: f64 = 30.0;
/// Limit of the correlation. Chosen: more would be a wave or a slope.
const CORRELATION_MAX: f64 = 0.7;
/// A change of level has to reduce the squares by this many long-run variances, plus twice the logarithm of
/// the number of values. Chosen so that few of the plain series of `docs/explanation/method.md` have a knee.
const PENALTY: f64 = 8.0;

/// The logarithms, with outliers moved in to the median of their five nearest neighbors ± three standard
/// deviations (Hampel's identifier: Davies and Gather, "The identification of multiple outliers", JASA 88
/// (1993) 782–792). All are zero when the median of the series is zero.
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
    let small: Vec<f64> =
        differences.iter().copied().filter(|difference| *difference <= DEVIATIONS_MAX * first).collect();
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
/// It is estimated from the differences at lags 1 and 2. In autoregressive noise their variances are
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

/// How much a further level has to reduce the squares of `count` values.
pub(super) fn penalty(long_run_variance: f64, count: usize) -> f64 {
    long_run_variance * (PENALTY + 2.0 * (count.max(1) as f64).ln())
}

/// Cost of a line, in penalties of a level. Chosen: it has one number more than a level, but, unlike a second
/// level, no place to search for.
const PENALTIES_OF_A_LINE: f64 = 1.75;
/// Cost of a parabola, in penalties of a level. Chosen: it has one number more than a line.
const PENALTIES_OF_A_PARABOLA: f64 = 2.25;
/// Chance may bring some values of one level together so that they look like another. This is the probability
/// up to which a level counts, anywhere in the series. Chosen: one series in a hundred.
const CHANCE_MAX: f64 = 0.01;

/// Cuts a series into stretches. Each level or slope costs a penalty; changes count from `least_change` on.
///
/// Optimal partitioning (Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE Signal
/// Processing Letters 12 (2005) 105–108), first into levels, and then, between the boundaries found, into levels, lines
/// and parabolas.
pub(super) fn partition(logs: &[f64], sums: &Sums, penalty: f64, least_change: f64) -> Vec<Range<usize>> {
    if logs.is_empty() {
        return Vec::new();
    }
    let places: Vec<usize> = (0..=logs.len()).collect();
    let stairs = best(&places, LEVEL_MIN, |range| sums.squares_of_level(range) + penalty);
    let boundaries: Vec<usize> = std::iter::once(0).chain(stairs.iter().map(|range| range.end)).collect();
    // Steps too small to count deviate from their line with this variance.
    let forgiven = least_change * least_change / 12.0;
    let segments = best(&boundaries, 1, |range| {
        let (line, bent) = sums.squares_of_curves(range);
        let curve = |squares: f64, penalties: f64| {
            (squares - range.len() as f64 * forgiven).max(0.0) + penalties * penalty
        };
        (sums.squares_of_level(range) + penalty)
            .min(curve(line, PENALTIES_OF_A_LINE))
            .min(curve(bent, PENALTIES_OF_A_PARABOLA))
    });
    let least = (1.0 + least_change).ln();
    // Two doubts: how much a change is below the least that counts, and how likely chance made a level.
    let small = |a: &Range<usize>, b: &Range<usize>| least - (sums.mean(a) - sums.mean(b)).abs();
    let segments = join_segments(segments, 0.0, small);
    join_segments(segments, CHANCE_MAX / logs.len() as f64, |a, b| chance(logs, a, b))
}

/// The cheapest way to cut at some of the places into stretches of at least `length_min` places.
fn best(places: &[usize], length_min: usize, cost: impl Fn(&Range<usize>) -> f64) -> Vec<Range<usize>> {
    // The cost up to each place, and where the last stretch up to it starts. A series too short to cut stays
    // whole.
    let mut cheapest = vec![(0.0f64, 0)];
    for end in 1..places.len() {
        let whole = if end < length_min { f64::INFINITY } else { cost(&(places[0]..places[end])) };
        let mut cut = (whole, 0);
        for start in length_min..(end + 1).saturating_sub(length_min) {
            let before = cheapest[start].0;
            if before < cut.0 {
                let with = before + cost(&(places[start]..places[end]));
                if with < cut.0 {
                    cut = (with, start);
                }
            }
        }
        cheapest.push(cut);
    }
    let (mut parts, mut end) = (Vec::new(), places.len() - 1);
    while end > 0 {
        let start = cheapest[end].1;
        parts.push(places[start]..places[end]);
        end = start;
    }
    parts.reverse();
    parts
}

/// Joins neighboring stretches, the most doubtful pair first, until no doubt is above the limit.
fn join_segments(
    mut parts: Vec<Range<usize>>,
    limit: f64,
    doubt: impl Fn(&Range<usize>, &Range<usize>) -> f64,
) -> Vec<Range<usize>> {
    let mut doubts: Vec<f64> = parts.windows(2).map(|pair| doubt(&pair[0], &pair[1])).collect();
    loop {
        let most = doubts.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        let Some((at, _)) = most.filter(|(_, doubt)| *doubt > limit) else { return parts };
        parts[at].end = parts.remove(at + 1).end;
        doubts.remove(at);
        if at > 0 {
            doubts[at - 1] = doubt(&parts[at - 1], &parts[at]);
        }
        if at < doubts.len() {
            doubts[at] = doubt(&parts[at], &parts[at + 1]);
        }
    }
}

/// The probability that the shorter stretch was drawn from the longer one, by a sign test: how many of its
/// values are on its own side of the middle between the two. The longer one is credited with half a value
/// more there than it has.
fn chance(logs: &[f64], a: &Range<usize>, b: &Range<usize>) -> f64 {
    let level = |range: &Range<usize>| logs[range.clone()].iter().sum::<f64>() / range.len() as f64;
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let (own, other) = (level(short), level(long));
    let middle = (own + other) / 2.0;
    let beyond = |range: &Range<usize>| {
        logs[range.clone()].iter().filter(|log| (**log < middle) == (own < other)).count()
    };
    let share = (beyond(long) as f64 + 0.5) / (long.len() as f64 + 1.0);
    match beyond(short) as u64 {
        0 => 1.0,
        hits => Binomial::new(share, short.len() as u64).expect("a share is a probability").sf(hits - 1),
    }
}

/// Least share of the series on which a parabola is tried: through few values it fits a knee, too.
const BENT_SHARE_MIN: f64 = 0.05;

/// Running sums of a series of logarithms.
pub(super) struct Sums {
    /// Sums of the logarithms and of their squares before each index.
    level: Vec<[f64; 2]>,
    /// Sums before each index, for curves through the values themselves, weighted by one over their size: of
    /// v²; of v, vx, vx²; and of 1, x, x², x³, x⁴, where v is the value over the median around it, and x the
    /// place.
    curve: Vec<[f64; 9]>,
}

impl Sums {
    pub(super) fn new(logs: &[f64]) -> Self {
        let center = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        let (mut level, mut curve) = (vec![[0.0; 2]], vec![[0.0; 9]]);
        for (index, (log, smooth)) in logs.iter().zip(running_median(logs)).enumerate() {
            let place = index as f64 / logs.len() as f64;
            let weight = (center - smooth).exp();
            let value = (log - smooth).exp();
            let (product, square) = (value * weight, weight * weight);
            let terms = [
                value * value,
                product,
                product * place,
                product * place.powi(2),
                square,
                square * place,
                square * place.powi(2),
                square * place.powi(3),
                square * place.powi(4),
            ];
            let log = log - center;
            level.push(plus(level[index], [log, log * log]));
            curve.push(plus(curve[index], terms));
        }
        Self { level, curve }
    }

    /// Values in the series.
    pub(super) fn count(&self) -> usize {
        self.level.len() - 1
    }

    /// Mean of the logarithms, less the mean of the whole series.
    pub(super) fn mean(&self, range: &Range<usize>) -> f64 {
        minus(self.level[range.end], self.level[range.start])[0] / range.len() as f64
    }

    /// Squares of the logarithms around their mean.
    pub(super) fn squares_of_level(&self, range: &Range<usize>) -> f64 {
        self.squares_around(range, self.mean(range))
    }

    /// Squares of the logarithms around a level.
    pub(super) fn squares_around(&self, range: &Range<usize>, level: f64) -> f64 {
        let [sum, squares] = minus(self.level[range.end], self.level[range.start]);
        (squares - 2.0 * level * sum + range.len() as f64 * level * level).max(0.0)
    }

    /// Squares of the relative distances from the best line through the values, and from the best parabola.
    pub(super) fn squares_of_curves(&self, range: &Range<usize>) -> (f64, f64) {
        let [vv, v0, v1, v2, w0, w1, w2, w3, w4] = minus(self.curve[range.end], self.curve[range.start]);
        // Moments around the center of the stretch, where the constant and the linear term are orthogonal.
        let x = w1 / w0;
        let (v1, v2) = (v1 - x * v0, v2 - x * (2.0 * v1 - x * v0));
        let (w2, w3, w4) = (
            w2 - x * w1,
            w3 - 3.0 * x * w2 + 3.0 * x * x * w1 - x.powi(3) * w0,
            w4 - 4.0 * x * w3 + 6.0 * x * x * w2 - 4.0 * x.powi(3) * w1 + x.powi(4) * w0,
        );
        if w2 <= 0.0 {
            return (f64::INFINITY, f64::INFINITY);
        }
        let line = (vv - v0 * v0 / w0 - v1 * v1 / w2).max(0.0);
        // The part of the quadratic term that is orthogonal to the others, and the values along that part.
        let (along_constant, along_line) = (w2 / w0, w3 / w2);
        let own = w4 - along_constant * w2 - along_line * w3;
        let product = v2 - along_constant * v0 - along_line * v1;
        let long = range.len() as f64 >= BENT_SHARE_MIN * self.count() as f64;
        let bent = if long && own > 0.0 { (line - product * product / own).max(0.0) } else { f64::INFINITY };
        (line, bent)
    }
}

fn plus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] + b[index])
}

fn minus<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|index| a[index] - b[index])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    /// Where levels end.
    fn ends(levels: &[Level]) -> Vec<usize> {
        assert!(levels.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
        levels.iter().map(|level| level.range.end).collect()
    }

    #[test]
    fn an_exact_change_is_found_where_it_is() {
        let values = series(40, |index| if index < 17 { 500.0 } else { 190.0 });
        assert_eq!(knees(&values), [Knee { at: 17, before: 500.0, after: 190.0, at_low: 17, at_high: 17 }]);
        let levels = levels(&values);
        assert_eq!(ends(&levels), [17, 40]);
        assert_eq!((levels[0].median, levels[1].mean), (500.0, 190.0));
        assert_eq!(levels[1].interval, Some(Interval { low: 190.0, high: 190.0 }));
    }

    #[test]
    fn hiccups_make_no_level_and_do_not_hide_one() {
        let mut values = series(60, |index| 76.0 + (index * 7 % 5) as f64 * 0.4);
        (values[0], values[20], values[21], values[40], values[59]) = (3.0, 9.0, 0.0, 700.0, 5.0);
        assert_eq!(ends(&levels(&values)), [60]);
        (30..60).for_each(|index| values[index] /= 2.0);
        assert_eq!(ends(&levels(&values)), [30, 60]);
    }

    #[test]
    fn a_line_is_one_level_and_steps_are_zones() {
        for count in [20, 50, 240, 1000] {
            let line = series(count, |index| 100.0 - 50.0 * index as f64 / count as f64);
            assert_eq!((levels(&line).len(), zones(&line).len()), (1, 1), "{count}");
        }
        let sixteen = series(240, |index| 100.0 - (index / 15 * 3) as f64);
        assert_eq!(ends(&zones(&sixteen)), (1..=16).map(|zone| zone * 15).collect::<Vec<_>>());
        assert_eq!(levels(&sixteen).len(), 1);
    }

    #[test]
    fn slopes_bends_and_waves_are_one_level() {
        let disk = series(300, |index| 200.0 * (1.0 - 0.75 * index as f64 / 300.0).sqrt());
        let wave = series(300, |index| 100.0 + 20.0 * (index as f64 / 2.0).sin());
        assert_eq!((levels(&disk).len(), levels(&wave).len()), (1, 1));
        let mut after_a_cache = disk.clone();
        (0..40).for_each(|index| after_a_cache[index] = 600.0);
        assert_eq!(ends(&levels(&after_a_cache)), [40, 300]);
    }

    #[test]
    fn a_long_series_is_cut_to_the_piece() {
        let values = series(23_000, |index| if index < 8_000 { 90.0 } else { 60.0 } + (index % 7) as f64);
        let knees = knees(&values);
        assert!(knees.len() == 1 && knees[0].at.abs_diff(8_000) <= 5, "{knees:?}");
        assert_eq!(levels(&values)[1].range.end, 23_000);
    }

    #[test]
    fn few_or_vanishing_values() {
        assert_eq!(levels(&[]), []);
        assert_eq!((ends(&levels(&[5.0])), knees(&[1.0, 100.0])), (vec![1], vec![]));
        assert_eq!(ends(&levels(&[0.0; 30])), [30]);
        assert_eq!(levels(&[5.0])[0].interval, None);
    }

    #[test]
    #[should_panic(expected = "at least zero")]
    fn a_negative_value_is_a_mistake() {
        let _ = levels(&[-1.0; 20]);
    }

    proptest! {
        #[test]
        fn levels_cover_the_series_and_the_unit_does_not_matter(values in prop::collection::vec(prop_oneof![1.0..2.0f64, 20.0..30.0f64], 0..60)) {
            let original = levels(&values);
            prop_assert_eq!(ends(&original).last().copied().unwrap_or(0), values.len());
            let scaled: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
            prop_assert_eq!(ends(&levels(&scaled)), ends(&original));
            for knee in knees(&values) {
                prop_assert!(knee.at_low <= knee.at && knee.at <= knee.at_high);
            }
        }
    }

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

    #[test]
    fn the_cheapest_cut_is_found() {
        // Cost: the squares around the mean of 0 0 0 0 9 9 9, and 1 for each stretch.
        let values = [0.0, 0.0, 0.0, 0.0, 9.0, 9.0, 9.0];
        let sums = Sums::new(&values);
        let places: Vec<usize> = (0..=values.len()).collect();
        let cost = |range: &Range<usize>| sums.squares_of_level(range) + 1.0;
        assert_eq!(best(&places, 3, cost), [0..4, 4..7]);
        // Stretches of four do not fit twice, so that all are one.
        assert_eq!(best(&places, 4, cost).len(), 1);
        assert_eq!(best(&places[..2], 3, cost).len(), 1);
    }

    #[test]
    fn the_most_doubtful_are_joined_first() {
        let width = |a: &Range<usize>, b: &Range<usize>| 1.0 / (a.len() + b.len()) as f64;
        assert_eq!(join_segments(vec![0..4, 4..5, 5..7, 7..20], 0.2, width), [0..4, 4..7, 7..20]);
        assert_eq!(join_segments(Vec::new(), 0.0, width), []);
    }

    #[test]
    fn three_low_values_may_be_chance_where_a_third_is_low() {
        let mut logs = vec![1.0; 40];
        (30..33).for_each(|index| logs[index] = 0.0);
        assert!(chance(&logs, &(0..30), &(30..33)) < 1e-5);
        (0..30).step_by(3).for_each(|index| logs[index] = 0.0);
        let share: f64 = 10.5 / 31.0;
        assert!((chance(&logs, &(0..30), &(30..33)) - share.powi(3)).abs() < 1e-9);
    }

    fn logs(count: usize, value: impl Fn(f64) -> f64) -> Vec<f64> {
        (0..count).map(|index| value(index as f64 / count as f64).ln()).collect()
    }

    #[test]
    fn squares_around_a_level_are_those_of_the_stretch() {
        let values = [1.0, 5.0, 2.0, 4.0, 9.0];
        let sums = Sums::new(&values);
        // 5, 2, 4 have the mean 11/3 and squares 14/3 around it.
        assert!((sums.squares_of_level(&(1..4)) - 14.0 / 3.0).abs() < 1e-9);
        assert!((sums.mean(&(1..4)) - (11.0 / 3.0 - 4.2)).abs() < 1e-9);
        assert!((sums.squares_around(&(1..4), 1.0 - 4.2) - (16.0 + 1.0 + 9.0)).abs() < 1e-9);
    }

    #[test]
    fn a_line_and_a_parabola_are_recognised_wherever_they_lie() {
        let line = Sums::new(&logs(400, |x| 100.0 - 60.0 * x));
        let parabola = Sums::new(&logs(400, |x| 100.0 - 60.0 * x * x));
        for range in [0..400, 0..40, 100..300, 360..400] {
            assert!(line.squares_of_curves(&range).0 < 1e-9, "{range:?}");
            let (straight, bent) = parabola.squares_of_curves(&range);
            assert!(bent < 1e-8 && straight > bent, "{range:?}: {straight} {bent}");
        }
        assert!(parabola.squares_of_curves(&(0..400)).0 > 0.1);
    }
}
