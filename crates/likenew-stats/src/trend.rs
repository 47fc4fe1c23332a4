//! What the order of values shows: whether a series rises, falls or changes once, whether one quantity rises
//! with another, and whether two kinds of things come in runs.

use statrs::distribution::{ContinuousCDF as _, Normal};
use statrs::function::factorial::ln_binomial;

use super::interval::{CONFIDENCE_95, Interval};
use super::summary::{mean, median, quantile, quantile_of_sorted, refuse_nan, sorted};

/// A straight line through a series, and whether there is a trend at all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Trend {
    /// Change from one value to the next, in the unit of the values.
    pub slope: f64,
    /// The line at the first value, in the unit of the values.
    pub start: f64,
    /// The probability of so steady a rise or fall if the order were random.
    pub p_value: f64,
}

/// Fewest values of a trend: with fewer, the normal approximation of the test is poor.
pub const VALUES_MIN: usize = 8;
/// A longer series is reduced to the medians of equal pieces, because the slopes of all pairs are computed.
const PIECES_MAX: usize = 200;

/// Fits the line of Theil and Sen (the median of the slopes of all pairs: Sen, "Estimates of the regression
/// coefficient based on Kendall's tau", JASA 63 (1968) 1379–1389) and applies the two-sided test of Mann and
/// Kendall with its correction for ties (Kendall, "Rank Correlation Methods", 4th ed., 1975, chapter 4). Up
/// to 29 % of outliers do not move the line. `None` below [`VALUES_MIN`] values.
///
/// # Panics
/// When a value is not a finite number.
pub fn trend(values: &[f64]) -> Option<Trend> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let (pieces, width) = pieces(values);
    let slope = median(&slopes(&pieces)).expect("several pieces make pairs");
    let levels: Vec<f64> =
        pieces.iter().enumerate().map(|(index, value)| value - slope * index as f64).collect();
    let slope_per_value = slope / width as f64;
    let middle_of_the_first = (width - 1) as f64 / 2.0;
    Some(Trend {
        slope: slope_per_value,
        start: median(&levels).expect("there are pieces") - slope_per_value * middle_of_the_first,
        p_value: mann_kendall(&pieces),
    })
}

impl Trend {
    /// The line at the value of this index.
    pub fn at(&self, index: usize) -> f64 {
        self.start + self.slope * index as f64
    }
}

/// The series as at most [`PIECES_MAX`] medians of equally long pieces, and how long each is.
fn pieces(values: &[f64]) -> (Vec<f64>, usize) {
    refuse_nan(values);
    assert!(values.iter().all(|value| value.is_finite()), "a line needs finite values");
    let width = values.len().div_ceil(PIECES_MAX);
    // A shorter piece at the end is left out: its median would count as much as the others.
    let pieces = values.chunks_exact(width).map(|piece| median(piece).expect("a piece has values"));
    (pieces.collect(), width)
}

fn slopes(values: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (index, earlier) in values.iter().enumerate() {
        let later = values[index + 1..].iter().enumerate();
        slopes.extend(later.map(|(steps, later)| (later - earlier) / (steps + 1) as f64));
    }
    slopes
}

/// The two-sided p-value, by the normal approximation with a correction for continuity.
fn mann_kendall(values: &[f64]) -> f64 {
    let mut score = 0i64;
    for (index, earlier) in values.iter().enumerate() {
        for later in &values[index + 1..] {
            score += i64::from(later > earlier) - i64::from(later < earlier);
        }
    }
    let weight = |count: usize| (count * (count - 1) * (2 * count + 5)) as f64;
    let sorted = sorted(values);
    let ties: f64 = sorted.chunk_by(|a, b| a == b).map(|equal| weight(equal.len())).sum();
    let variance = (weight(values.len()) - ties) / 18.0;
    if variance == 0.0 || score == 0 {
        return 1.0;
    }
    let z = (score.abs() - 1) as f64 / variance.sqrt();
    2.0 * Normal::standard().sf(z)
}

/// How far the order of one series is the order of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// Spearman's ρ: 1 for the same order, −1 for the reverse, 0 for no order.
    pub value: f64,
    /// The interval at 95 %.
    pub interval: Interval,
}

/// Fewest pairs: with fewer, the interval says next to nothing.
pub const PAIRS_MIN: usize = 10;

/// The rank correlation of pairs (Spearman, "The proof and measurement of association between two things", American
/// Journal of Psychology 15 (1904) 72–101), equal values sharing the mean of their ranks. The interval is that of
/// Fisher's transformation with the variance (1 + ρ²/2)/(n − 3) of Bonett and Wright, "Sample size requirements for
/// estimating Pearson, Kendall and Spearman correlations", Psychometrika 65 (2000) 23–28. `None` below [`PAIRS_MIN`]
/// pairs, or when all values of a series are equal.
///
/// # Panics
/// When the series are of different lengths, or a value is not a number.
pub fn rank_correlation(one: &[f64], other: &[f64]) -> Option<Correlation> {
    assert_eq!(one.len(), other.len(), "values come in pairs");
    if one.len() < PAIRS_MIN {
        return None;
    }
    let value = product_moment(&ranks(one), &ranks(other))?;
    // At ±1 the transformation is infinite.
    let transformed = value.clamp(-1.0 + 1e-12, 1.0 - 1e-12).atanh();
    let z = Normal::standard().inverse_cdf((1.0 + CONFIDENCE_95) / 2.0);
    let half = z * ((1.0 + value * value / 2.0) / (one.len() as f64 - 3.0)).sqrt();
    let interval = Interval { low: (transformed - half).tanh(), high: (transformed + half).tanh() };
    Some(Correlation { value, interval })
}

/// The rank of each value, from 1 on; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    refuse_nan(values);
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for equal in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let shared = before as f64 + (equal.len() as f64 + 1.0) / 2.0;
        equal.iter().for_each(|index| ranks[*index] = shared);
        before += equal.len();
    }
    ranks
}

fn product_moment(one: &[f64], other: &[f64]) -> Option<f64> {
    let centered = |values: &[f64]| {
        let center = mean(values)?;
        Some(values.iter().map(|value| value - center).collect::<Vec<f64>>())
    };
    let (one, other) = (centered(one)?, centered(other)?);
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let scale = (product(&one, &one) * product(&other, &other)).sqrt();
    (scale > 0.0).then(|| product(&one, &other) / scale)
}

/// How often a sequence of two kinds changes between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Runs {
    /// Runs counted: one more than the changes.
    pub observed: usize,
    /// Runs to be expected if the order were random.
    pub expected: f64,
    /// The probability of so few runs, or fewer, if the order were random.
    pub p_value: f64,
}

impl Runs {
    /// Below this probability, [`Runs::is_clustered`] holds.
    pub const SIGNIFICANCE: f64 = 0.01;

    /// Whether equal things come together more than chance would have it.
    pub fn is_clustered(&self) -> bool {
        self.p_value < Self::SIGNIFICANCE
    }
}

/// The exact one-sided runs test against clustering (Wald and Wolfowitz, "On a test whether two samples are from the
/// same population", Annals of Mathematical Statistics 11 (1940) 147–162). `None` unless both kinds occur.
pub fn runs_test(kinds: &[bool]) -> Option<Runs> {
    let ones = kinds.iter().filter(|kind| **kind).count();
    let others = kinds.len() - ones;
    if ones == 0 || others == 0 {
        return None;
    }
    let observed = 1 + kinds.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let expected = 1.0 + 2.0 * ones as f64 * others as f64 / kinds.len() as f64;
    let p_value = (2..=observed).map(|runs| probability(runs, ones, others)).sum::<f64>().min(1.0);
    Some(Runs { observed, expected, p_value })
}

/// The probability of exactly `runs` runs of `a` and `b` things in random order.
fn probability(runs: usize, a: usize, b: usize) -> f64 {
    let half = runs / 2;
    let orders = ln_binomial((a + b) as u64, a as u64);
    if runs.is_multiple_of(2) {
        2.0 * (ln_cuts(a, half) + ln_cuts(b, half) - orders).exp()
    } else {
        (ln_cuts(a, half + 1) + ln_cuts(b, half) - orders).exp()
            + (ln_cuts(a, half) + ln_cuts(b, half + 1) - orders).exp()
    }
}

/// The logarithm of the number of ways to cut `count` things into `runs` runs.
fn ln_cuts(count: usize, runs: usize) -> f64 {
    if runs > count { f64::NEG_INFINITY } else { ln_binomial(count as u64 - 1, runs as u64 - 1) }
}

/// How a series of speeds goes from its first value to its last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SpeedPattern {
    /// The speed stays: [`spread`] is at most [`SPREAD_FLAT_MAX`].
    Flat,
    /// The speed follows a straight line.
    Sloping(Trend),
    /// The speed changes once from one level to another.
    Stepped(Step),
    /// The speed varies more than a flat one, and neither a line nor a step explains it.
    Uneven,
}

/// One change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Index of the first value after the change.
    pub at: usize,
    /// Median before the change.
    pub before: f64,
    /// Median after the change.
    pub after: f64,
}

/// A series whose 95th percentile is at most this many times its 5th counts as flat. Values scattered by 6.8 %
/// (normal, one standard deviation) just reach it.
pub const SPREAD_FLAT_MAX: f64 = 1.25;
/// A line or a step has to remove at least this share of the absolute deviations from the median. The best
/// step removes half of those of a straight line, so a lower limit could not distinguish the two.
const EXPLAINED_MIN: f64 = 0.5;
/// A line counts only when values in random order would be as steady with less than this probability. Chosen:
/// one series in a thousand.
const TREND_SIGNIFICANCE: f64 = 0.001;
/// Fewest values of a level.
const LEVEL_MIN: usize = 3;

/// How far a series is spread: its 95th over its 5th percentile, so that one value in twenty at either end
/// may stand apart. 1 is perfectly even. `None` for no values, or when the 5th percentile is not above zero.
///
/// # Panics
/// When a value is not a number.
pub fn spread(values: &[f64]) -> Option<f64> {
    let sorted = sorted(values);
    let low = quantile_of_sorted(&sorted, 0.05).filter(|low| *low > 0.0)?;
    Some(quantile_of_sorted(&sorted, 0.95)? / low)
}

/// The pattern of a series of speeds. `None` below [`VALUES_MIN`] values.
///
/// A line and a step are fitted, and the one that removes more of the absolute deviations from the median is
/// named if it removes at least half.
///
/// # Panics
/// When a value is not a finite number.
pub fn speed_pattern(values: &[f64]) -> Option<SpeedPattern> {
    let line = trend(values)?;
    if spread(values).is_some_and(|spread| spread <= SPREAD_FLAT_MAX) {
        return Some(SpeedPattern::Flat);
    }
    let step = step(values);
    let level = median(values)?;
    let explained =
        |fit: &dyn Fn(usize) -> f64| 1.0 - deviations(values, fit) / deviations(values, &|_| level);
    let by_line = explained(&|index| line.at(index));
    let by_step = explained(&|index| if index < step.at { step.before } else { step.after });
    Some(if by_step >= EXPLAINED_MIN && by_step > by_line {
        SpeedPattern::Stepped(step)
    } else if by_line >= EXPLAINED_MIN && line.p_value < TREND_SIGNIFICANCE {
        SpeedPattern::Sloping(line)
    } else {
        SpeedPattern::Uneven
    })
}

/// Least ratio of the levels before and after a fall. Chosen: above the scatter of files, below the smallest
/// SLC cache's gain.
const FALL_MIN: f64 = 1.15;

/// Finds the fall of a series from a first level, however short, to a lower one on which it stays. Nine of
/// ten values before the fall are above 19 of 20 after it, and a line explains less than the step. `None` for
/// other series and below [`VALUES_MIN`] values.
///
/// # Panics
/// When a value is not a finite number.
pub fn fall(values: &[f64]) -> Option<Step> {
    let line = trend(values)?;
    let step = step(values);
    let (before, after) = values.split_at(step.at);
    let by_step = deviations(values, &|index| if index < step.at { step.before } else { step.after });
    let is_apart = quantile(before, 0.1)? > quantile(after, 0.95)? && step.before >= FALL_MIN * step.after;
    (is_apart && by_step < deviations(values, &|index| line.at(index))).then_some(step)
}

/// The sum of absolute deviations from a fit.
fn deviations(values: &[f64], fit: &dyn Fn(usize) -> f64) -> f64 {
    values.iter().enumerate().map(|(index, value)| (value - fit(index)).abs()).sum()
}

/// The best single change of level: where the squares between the two sides are largest.
fn step(values: &[f64]) -> Step {
    const { assert!(VALUES_MIN >= 2 * LEVEL_MIN) };
    let (center, count) = (mean(values).expect("there are values"), values.len());
    let (mut sum, mut best) = (0.0, (f64::NEG_INFINITY, LEVEL_MIN));
    for at in 1..=count - LEVEL_MIN {
        sum += values[at - 1] - center;
        let between = sum * sum * count as f64 / (at as f64 * (count - at) as f64);
        if at >= LEVEL_MIN && between > best.0 {
            best = (between, at);
        }
    }
    let at = best.1;
    let level = |side: &[f64]| median(side).expect("a level has values");
    Step { at, before: level(&values[..at]), after: level(&values[at..]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_line_is_found_exactly_and_outliers_do_not_move_it() {
        let mut values: Vec<f64> = (0..40).map(|index| 200.0 - 2.5 * f64::from(index)).collect();
        for outlier in [3, 17, 30] {
            values[outlier] = 5.0;
        }
        let line = trend(&values).unwrap();
        assert!((line.slope + 2.5).abs() < 1e-9 && (line.start - 200.0).abs() < 1e-9, "{line:?}");
        assert!((line.at(39) - 102.5).abs() < 1e-9 && line.p_value < 1e-6);
    }

    #[test]
    fn a_fall_is_found_however_short_the_first_level_is() {
        let scatter = |index: usize| 1.0 + 0.03 * ((index * 7919 % 101) as f64 / 101.0 - 0.5);
        let series = |level: &dyn Fn(usize) -> f64| -> Vec<f64> {
            (0..400).map(|at| scatter(at) * level(at)).collect()
        };
        for end in [4, 30, 390] {
            let step = fall(&series(&|at| if at < end { 550.0 } else { 420.0 })).unwrap();
            assert_eq!(step.at, end);
            assert!((step.before / 550.0 - 1.0).abs() < 0.02 && (step.after / 420.0 - 1.0).abs() < 0.02);
        }
        assert_eq!(fall(&series(&|at| if at < 30 { 420.0 } else { 550.0 })), None, "a rise");
        assert_eq!(fall(&series(&|at| 550.0 - at as f64)), None, "a slope");
        assert_eq!(fall(&series(&|at| if at % 40 < 25 { 75.0 } else { 6.0 })), None, "slow regions");
        assert_eq!(fall(&series(&|_| 420.0)), None, "one level");
    }

    #[test]
    fn a_long_series_has_the_same_line() {
        for count in [1_000, 1_001, 7_777] {
            let values: Vec<f64> = (0..count).map(|index| 10.0 + 0.25 * f64::from(index)).collect();
            let line = trend(&values).unwrap();
            assert!(
                (line.slope - 0.25).abs() < 1e-9 && (line.start - 10.0).abs() < 1e-6,
                "{count}: {line:?}"
            );
        }
    }

    #[test]
    fn no_trend_in_equal_or_few_values() {
        assert_eq!(trend(&[1.0; 7]), None);
        assert_eq!(trend(&[4.0; 30]), Some(Trend { slope: 0.0, start: 4.0, p_value: 1.0 }));
    }

    #[test]
    fn the_test_agrees_with_a_worked_example() {
        // S = 23 of 28 pairs with one tie: var = (8·7·21 − 2·1·9) / 18 = 64.333, z = 22 / √64.333 = 2.7429.
        let values = [1.0, 2.0, 4.0, 3.0, 5.0, 5.0, 7.0, 6.0];
        assert!((mann_kendall(&values) - 0.006_09).abs() < 2e-5, "{}", mann_kendall(&values));
    }

    #[test]
    #[should_panic(expected = "finite")]
    fn an_infinite_value_is_a_mistake() {
        let _ = trend(&[f64::INFINITY; 9]);
    }

    #[test]
    fn a_worked_example() {
        // Ranks 1 2 3 … 10 against these: Σd² = 194, ρ = 1 − 6·194/990.
        let shuffled = [7.0, 6.0, 5.0, 10.0, 9.0, 8.0, 3.0, 2.0, 1.0, 4.0];
        let ascending: Vec<f64> = (1..=10).map(f64::from).collect();
        let squares: f64 = ascending.iter().zip(shuffled).map(|(a, b)| (a - b).powi(2)).sum();
        let correlation = rank_correlation(&ascending, &shuffled).unwrap();
        assert!(
            (correlation.value - (1.0 - 6.0 * squares / 990.0)).abs() < 1e-12,
            "{correlation:?} {squares}"
        );
        assert!(correlation.interval.contains(correlation.value));
    }

    #[test]
    fn few_or_equal_values_have_none() {
        assert_eq!(rank_correlation(&[1.0; 9], &[1.0; 9]), None);
        let rising: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(rank_correlation(&rising, &[3.0; 20]), None);
        assert!(rank_correlation(&rising, &rising).unwrap().interval.low > 0.99);
    }

    #[test]
    fn of_what_has_no_order_the_interval_holds_zero_as_often_as_it_says() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut series = || (0..200).map(|_| random.random::<f64>()).collect::<Vec<f64>>();
        let hits = (0..400)
            .filter(|_| rank_correlation(&series(), &series()).unwrap().interval.contains(0.0))
            .count();
        assert!((368..=392).contains(&hits), "{hits} of 400");
    }

    proptest! {
        #[test]
        fn only_the_order_counts(pairs in prop::collection::vec((0u32..50, 0u32..50), 10..60)) {
            let (one, other): (Vec<f64>, Vec<f64>) =
                pairs.iter().map(|(a, b)| (f64::from(*a), f64::from(*b))).unzip();
            let bent: Vec<f64> = one.iter().map(|value| value.powi(3) + 7.0).collect();
            prop_assert_eq!(rank_correlation(&one, &other), rank_correlation(&bent, &other));
            if let Some(correlation) = rank_correlation(&one, &other) {
                prop_assert!((-1.0..=1.0).contains(&correlation.value));
                let turned: Vec<f64> = one.iter().map(|value| -value).collect();
                let against = rank_correlation(&turned, &other).unwrap();
                prop_assert!((correlation.value + against.value).abs() < 1e-9);
            }
        }
    }

    fn kinds(text: &str) -> Vec<bool> {
        text.bytes().map(|byte| byte == b'x').collect()
    }

    #[test]
    fn one_kind_has_no_runs_to_test() {
        assert_eq!((runs_test(&[]), runs_test(&kinds("xxx")), runs_test(&kinds("..."))), (None, None, None));
    }

    #[test]
    fn the_distribution_is_exact() {
        // Of the 6 orders of xx.. two have 2 runs, two have 3, two have 4.
        let p = |text| runs_test(&kinds(text)).unwrap().p_value;
        assert!((p("xx..") - 2.0 / 6.0).abs() < 1e-12);
        assert!((p("x..x") - 4.0 / 6.0).abs() < 1e-12);
        assert!((p("x.x.") - 1.0).abs() < 1e-12);
        // 5 + 5 things in 2 runs: 2 of 252 orders.
        assert!((p("xxxxx.....") - 2.0 / 252.0).abs() < 1e-12);
    }

    #[test]
    fn all_numbers_of_runs_together_are_certain() {
        for (a, b) in [(1, 1), (1, 9), (7, 3), (40, 60), (500, 500)] {
            let total: f64 = (2..=a + b).map(|runs| probability(runs, a, b)).sum();
            assert!((total - 1.0).abs() < 1e-9, "{a} and {b}: {total}");
        }
    }

    #[test]
    fn blocks_are_clustered_and_alternation_is_not() {
        let blocks = runs_test(&kinds(&"xxxx......".repeat(10))).unwrap();
        assert!(blocks.is_clustered() && blocks.observed == 20 && (blocks.expected - 49.0).abs() < 1e-9);
        assert!(!runs_test(&kinds(&"x.".repeat(50))).unwrap().is_clustered());
    }

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    #[test]
    fn a_new_drive_is_flat_even_with_a_hiccup() {
        let mut values = series(100, |index| 76.0 + (index * 7 % 5) as f64 * 0.4);
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Flat));
        values[40] = 9.0;
        values[41] = 7.0;
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Flat));
        assert!(spread(&values).unwrap() < 1.03);
    }

    #[test]
    fn a_disk_slopes() {
        let Some(SpeedPattern::Sloping(line)) = speed_pattern(&series(60, |index| 120.0 - index as f64))
        else {
            panic!()
        };
        assert!((line.slope + 1.0).abs() < 1e-9);
        let zones = series(64, |index| 120.0 - (index / 4 * 4) as f64);
        assert!(matches!(speed_pattern(&zones), Some(SpeedPattern::Sloping(_))));
    }

    #[test]
    fn a_cache_that_runs_full_is_a_step() {
        let values = series(50, |index| if index < 12 { 500.0 } else { 190.0 } + (index % 3) as f64);
        let Some(SpeedPattern::Stepped(step)) = speed_pattern(&values) else {
            panic!("{:?}", speed_pattern(&values))
        };
        assert_eq!((step.at, step.before, step.after), (12, 501.0, 191.0));
    }

    #[test]
    fn an_aged_drive_is_uneven() {
        let values = series(100, |index| if index / 7 % 2 == 0 { 76.0 } else { 5.0 });
        assert_eq!(speed_pattern(&values), Some(SpeedPattern::Uneven));
    }

    #[test]
    fn few_or_vanishing_values() {
        assert_eq!((speed_pattern(&[1.0; 7]), spread(&[]), spread(&[0.0, 0.0, 1.0])), (None, None, None));
        assert_eq!(speed_pattern(&[0.0; 20]), Some(SpeedPattern::Uneven));
        assert_eq!(spread(&[3.0]), Some(1.0));
    }
}
