//! Confidence intervals of means, medians, shares, counts and ratios; when to stop measuring; and how much a
//! number varies though nothing changed.
//!
//! One value has no interval: it does not show how the next one would differ. The functions return `None`
//! there, and a report has to say "measured once".

use std::f64::consts::PI;

use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF as _, Gamma, Normal, StudentsT};

use super::summary::{mean, median, refuse_nan, sorted, standard_deviation};

/// The confidence of every interval that is reported without its level: 95 of 100 hold the truth. Chosen: the usual level.
pub const CONFIDENCE_95: f64 = 0.95;
/// The confidence of what an x-ray finds and of the indicators of a check: 90 of 100 intervals hold the
/// truth. Chosen: few I/Os tell little, and what follows from them is weighed with other evidence.
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
    /// From `half` below the center to `half` above it.
    pub(crate) fn around(center: f64, half: f64) -> Self {
        Self { low: center - half, high: center + half }
    }

    /// Whether the interval contains a value, ends included.
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// The confidence interval of the mean of a few independent passes: mean ± t·s/√n with n − 1 degrees of
/// freedom (Student, "The probable error of a mean", Biometrika 6 (1908) 1–25). Exact for normal values. For
/// few strongly skewed ones, such as latencies, no interval of the mean reaches its confidence, and the
/// median with [`median_interval`] is the number to trust. `None` below two values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn mean_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let deviation = standard_deviation(values)?;
    let center = mean(values)?;
    let count = values.len() as f64;
    let half = student(count - 1.0, 1.0 - tail) * deviation / count.sqrt();
    Some(Interval::around(center, half))
}

/// The quantile of Student's distribution, with at least one degree of freedom.
pub(crate) fn student(freedom: f64, probability: f64) -> f64 {
    let distribution = StudentsT::new(0.0, 1.0, freedom).expect("there are degrees of freedom");
    distribution.inverse_cdf(probability)
}

/// The probability beyond each end of an interval.
fn tail(confidence: f64) -> f64 {
    assert!(confidence > 0.0 && confidence < 1.0, "a confidence is between 0 and 1, not {confidence}");
    (1.0 - confidence) / 2.0
}

/// The interval of a share, from `hits` of `cases` independent cases (Wilson, "Probable inference, the law of
/// succession, and statistical inference", JASA 22 (1927) 209–212): the shares that a normal test does not
/// reject. It stays within 0 and 1, and has a width even when none or all were hits. `None` without cases.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or there are more hits than cases.
pub fn share_interval(hits: u64, cases: u64, confidence: f64) -> Option<Interval> {
    let z = Normal::standard().inverse_cdf(1.0 - tail(confidence));
    assert!(hits <= cases, "{hits} hits of {cases} cases");
    if cases == 0 {
        return None;
    }
    let (count, share) = (cases as f64, hits as f64 / cases as f64);
    let weight = z * z / count;
    let center = (share + weight / 2.0) / (1.0 + weight);
    let half = (share * (1.0 - share) * weight + weight * weight / 4.0).sqrt() / (1.0 + weight);
    // Without hits the lower end is exactly 0, with hits only the upper end exactly 1; rounding would miss
    // both.
    let low = if hits == 0 { 0.0 } else { center - half };
    let high = if hits == cases { 1.0 } else { center + half };
    Some(Interval { low, high })
}

/// The interval of the expected number of rare events, such as stalls, of which `count` were seen: exact for
/// independent events (Garwood, "Fiducial limits for the Poisson distribution", Biometrika 28 (1936)
/// 437–442). Without events the lower end is zero, and the upper one, at 95 %, is 3.69. For a rate, divide
/// both ends by what was watched (gigabytes, seconds).
///
/// # Panics
/// When `confidence` is not between 0 and 1.
pub fn rate_interval(count: u64, confidence: f64) -> Interval {
    let tail = tail(confidence);
    // The gamma distribution of shape k is half of χ² with 2k degrees of freedom.
    let gamma = |shape: u64| Gamma::new(shape as f64, 1.0).expect("a shape of at least one");
    let low = if count == 0 { 0.0 } else { gamma(count).inverse_cdf(tail) };
    Interval { low, high: gamma(count + 1).inverse_cdf(1.0 - tail) }
}

/// The interval of the median of independent values of any distribution: from the k-th smallest to the k-th
/// largest, where k is the largest number for which at most a tail's share of coin tosses give fewer than k
/// heads (Thompson, "On confidence ranges for the median and other expectation distributions for populations
/// of unknown distribution form", Annals of Mathematical Statistics 7 (1936) 122–128). It holds the truth at
/// least as often as its confidence says. `None` when even the extremes do not reach that confidence: at 95%
/// below six values.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let ascending = sorted(values);
    let tosses = Binomial::new(0.5, values.len() as u64).expect("a fair coin");
    // Searches how many of the outermost values may be left out at each end: at most half of them.
    let (mut enough, mut too_many) = (None, values.len() as u64 / 2 + 1);
    let mut fewest = 0;
    while fewest < too_many {
        let middle = fewest.midpoint(too_many);
        if tosses.cdf(middle) <= tail {
            (enough, fewest) = (Some(middle as usize), middle + 1);
        } else {
            too_many = middle;
        }
    }
    enough.map(|skips| Interval { low: ascending[skips], high: ascending[values.len() - 1 - skips] })
}

/// The interval of mean(`numerator`) / mean(`denominator`) of two independent sets of a few passes: the
/// ratios ρ for which mean(`numerator`) − ρ·mean(`denominator`) does not differ from zero (Fieller, "Some
/// problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954) 175–185). The sets
/// may scatter differently: the degrees of freedom are by Welch, "The generalization of Student's problem
/// when several different population variances are involved", Biometrika 34 (1947) 28–35.
///
/// `None` when a set has fewer than two values, or when `denominator` is so uncertain that its mean may be
/// zero: then no ratio is too large.
///
/// # Panics
/// When `confidence` is not between 0 and 1, or a value is not a number.
pub fn ratio_interval(numerator: &[f64], denominator: &[f64], confidence: f64) -> Option<Interval> {
    let tail = tail(confidence);
    let (above, below) = (MeanEstimate::from_values(numerator)?, MeanEstimate::from_values(denominator)?);
    if below.mean == 0.0 {
        return None;
    }
    let ratio = above.mean / below.mean;
    // The variance of mean(numerator) − ρ·mean(denominator) at the estimate.
    let (part_above, part_below) = (above.variance, ratio * ratio * below.variance);
    let whole = part_above + part_below;
    if whole == 0.0 {
        return Some(Interval { low: ratio, high: ratio });
    }
    let freedom =
        whole * whole / (part_above * part_above / above.freedom + part_below * part_below / below.freedom);
    let t_squared = student(freedom, 1.0 - tail).powi(2);
    let squared = below.mean * below.mean - t_squared * below.variance;
    if squared <= 0.0 {
        return None;
    }
    let center = above.mean * below.mean / squared;
    let product = above.mean * above.mean - t_squared * above.variance;
    // The quadratic is negative at the estimate, so its discriminant is positive but for rounding.
    let half = (center * center - product / squared).max(0.0).sqrt();
    Some(Interval::around(center, half))
}

/// A mean and how far it can be trusted.
struct MeanEstimate {
    mean: f64,
    /// Variance of the mean.
    variance: f64,
    /// Degrees of freedom.
    freedom: f64,
}

impl MeanEstimate {
    fn from_values(values: &[f64]) -> Option<Self> {
        let count = values.len() as f64;
        let variance = standard_deviation(values)?.powi(2) / count;
        Some(Self { mean: mean(values)?, variance, freedom: count - 1.0 })
    }
}

/// Fewest windows: fewer do not show how they depend on one another.
pub const WINDOWS_MIN: usize = 10;
/// The number of cosine waves is this times the number of windows to the power of two thirds, as Lazarus et
/// al. recommend.
const WAVES: f64 = 0.4;

/// The interval of the mean of consecutive windows of one run, as long as they neither rise nor fall:
/// mean ± t·√(Ω/n) with B degrees of freedom, where Ω, the variance of the mean times n, is the mean square
/// of the B slowest cosine waves in the series, and B = 0.4·n^⅔ (Lazarus, Lewis, Stock and Watson, "HAR
/// inference: recommendations for practice", Journal of Business & Economic Statistics 36 (2018) 541–559).
/// Block bootstraps and batch means were tried, too; their intervals held the truth less often.
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
    let half = student(waves, 1.0 - tail) * (squares / waves / count).sqrt();
    Some(Interval::around(center, half))
}

/// The amplitude of a cosine with `wave` half waves in the series. Its square is, on average, the variance of
/// independent values.
fn amplitude(values: &[f64], center: f64, wave: usize) -> f64 {
    let count = values.len() as f64;
    let step = PI * wave as f64 / count;
    let along = |(index, value): (usize, &f64)| (value - center) * (step * (index as f64 + 0.5)).cos();
    (2.0 / count).sqrt() * values.iter().enumerate().map(along).sum::<f64>()
}

/// How precise a mean has to be, and how many passes that may take.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goal {
    /// Half the width of the interval over the mean, such as 0.02.
    pub share: f64,
    /// Confidence of the interval, such as 0.95.
    pub confidence: f64,
    /// Fewest passes.
    pub passes_min: usize,
    /// Most passes.
    pub passes_max: usize,
}

impl Goal {
    /// Half the width of the interval over the mean, ±2%. Chosen: passes that vary by 5% mostly reach it
    /// within [`PASSES_MAX`](Self::PASSES_MAX).
    pub const SHARE: f64 = 0.02;
    /// Fewest passes: fewer are too easily alike by chance.
    pub const PASSES_MIN: usize = 5;
    /// Most passes: those that vary by 5% mostly reach ±2% before.
    pub const PASSES_MAX: usize = 50;
}

impl Default for Goal {
    fn default() -> Self {
        Self {
            share: Self::SHARE,
            confidence: CONFIDENCE_95,
            passes_min: Self::PASSES_MIN,
            passes_max: Self::PASSES_MAX,
        }
    }
}

/// What to do after some passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Precision {
    /// Measure another pass.
    More,
    /// The mean is known as precisely as wanted.
    Reached(Interval),
    /// All passes are made, and the interval is wider than wanted.
    Unreachable(Interval),
}

/// Factor by which Student's interval is widened, because it is checked after every pass. Chosen by the
/// coverage counted in `docs/explanation/method.md`.
const INFLATION: f64 = 1.15;

/// Decides whether the passes so far are enough, after the pattern of Chow and Robbins, "On the asymptotic
/// theory of fixed-width sequential confidence intervals for the mean", Annals of Mathematical Statistics 36
/// (1965) 457–462. Call it after every pass, with all passes so far.
///
/// # Panics
/// When the goal's share is not above 0, its confidence is not between 0 and 1, `passes_min` is below 2 or
/// above `passes_max`, or a pass is not a number.
pub fn precision(passes: &[f64], goal: &Goal) -> Precision {
    assert!(goal.share > 0.0, "a precision is a share above zero, not {}", goal.share);
    assert!(
        (2..=goal.passes_max).contains(&goal.passes_min),
        "an interval takes 2 passes or more, not {} to {}",
        goal.passes_min,
        goal.passes_max
    );
    if passes.len() < goal.passes_min {
        return Precision::More;
    }
    let center = mean(passes).expect("there are passes");
    let interval = mean_interval(passes, goal.confidence).expect("two passes have an interval");
    let half = INFLATION * (interval.high - interval.low) / 2.0;
    let interval = Interval::around(center, half);
    if half <= goal.share * center.abs() {
        Precision::Reached(interval)
    } else if passes.len() >= goal.passes_max {
        Precision::Unreachable(interval)
    } else {
        Precision::More
    }
}

/// The median of the absolute differences of two values of a normal distribution, in standard deviations: √2
/// times the third quartile.
const DIFFERENCE: f64 = 0.953_872_552_408_939_8;
/// How many differences the assumed value counts as.
const ASSUMED: usize = 2;

/// The repeatability standard deviation (ISO 5725-1) of numbers in the order they were measured. Differences
/// of successive numbers keep slow changes out of the scatter (von Neumann et al., "The mean square
/// successive difference", Annals of Mathematical Statistics 12 (1941) 153–162). Their median, in place of
/// the mean square, keeps out a repair or a failure between two of them. `assumed` is the result without any
/// number. It counts as two differences, so that a single one moves nothing.
///
/// # Panics
/// When a value is not a finite number.
pub fn repeatability(values: &[f64], assumed: f64) -> f64 {
    refuse_nan(values);
    let differences = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let differences: Vec<f64> = differences.chain([assumed * DIFFERENCE; ASSUMED]).collect();
    median(&differences).expect("what was assumed is there") / DIFFERENCE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::mean_interval;
    use crate::summary::median;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use statrs::distribution::Poisson;

    #[test]
    fn one_value_has_no_interval() {
        for values in [&[][..], &[1.0]] {
            assert_eq!(mean_interval(values, 0.95), None);
        }
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
    }

    #[test]
    #[should_panic(expected = "between 0 and 1")]
    fn a_confidence_in_percent_is_a_mistake() {
        let _ = mean_interval(&[1.0, 2.0], 95.0);
    }

    fn assert_near(interval: Interval, low: f64, high: f64) {
        assert!((interval.low - low).abs() < 1e-4 && (interval.high - high).abs() < 1e-4, "{interval:?}");
    }

    #[test]
    fn wilsons_interval_of_worked_examples() {
        // 81 of 263 and 0 of 20: Newcombe, Statistics in Medicine 17 (1998) 857–872, table I, method 3.
        assert_near(share_interval(81, 263, 0.95).unwrap(), 0.2553, 0.3662);
        assert_near(share_interval(0, 20, 0.95).unwrap(), 0.0, 0.1611);
        assert_near(share_interval(1, 29, 0.95).unwrap(), 0.0061, 0.1718);
        assert_eq!(share_interval(7, 7, 0.95).unwrap().high, 1.0);
        assert_eq!(share_interval(0, 0, 0.95), None);
    }

    #[test]
    fn garwoods_interval_of_worked_examples() {
        // −ln 0.025 above none; the other ends solve their defining equations.
        assert_near(rate_interval(0, 0.95), 0.0, 3.688_879);
        assert_near(rate_interval(1, 0.95), 0.025_318, 5.571_643);
        assert_near(rate_interval(10, 0.95), 4.795_389, 18.390_356);
    }

    #[test]
    #[should_panic(expected = "3 hits of 2 cases")]
    fn more_hits_than_cases_are_a_mistake() {
        let _ = share_interval(3, 2, 0.95);
    }

    proptest! {
        #[test]
        fn the_ends_of_a_rate_leave_just_the_tails(count in 1u64..100_000, confidence in 0.5..0.99f64) {
            let interval = rate_interval(count, confidence);
            let tail = (1.0 - confidence) / 2.0;
            let at_most = |rate: f64, count| Poisson::new(rate).unwrap().cdf(count);
            prop_assert!((1.0 - at_most(interval.low, count - 1) - tail).abs() < 1e-5);
            prop_assert!((at_most(interval.high, count) - tail).abs() < 1e-5);
        }

        #[test]
        fn a_share_lies_within_its_interval(hits in 0u64..300, others in 0u64..300, confidence in 0.5..0.999f64) {
            prop_assume!(hits + others > 0);
            let interval = share_interval(hits, hits + others, confidence).unwrap();
            prop_assert!(interval.contains(hits as f64 / (hits + others) as f64));
            prop_assert!(0.0 <= interval.low && interval.low < interval.high && interval.high <= 1.0);
        }
    }

    #[test]
    fn worked_examples() {
        let values = |count: u32| (1..=count).map(f64::from).collect::<Vec<_>>();
        let interval = |count| median_interval(&values(count), 0.95);
        // 2·½⁵ = 6.25 % and 2·½⁶ = 3.1 %; of 10 tosses 1.07 % give at most one head, of 20 2.07 % at most five.
        assert_eq!((interval(0), interval(5)), (None, None));
        assert_eq!(interval(6), Some(Interval { low: 1.0, high: 6.0 }));
        assert_eq!(interval(10), Some(Interval { low: 2.0, high: 9.0 }));
        assert_eq!(interval(20), Some(Interval { low: 6.0, high: 15.0 }));
    }

    proptest! {
        #[test]
        fn it_holds_the_median_of_the_values(values in prop::collection::vec(0.0..1e6f64, 6..200), confidence in 0.5..0.95f64) {
            let interval = median_interval(&values, confidence).unwrap();
            prop_assert!(interval.contains(median(&values).unwrap()));
        }
    }

    fn ratio(numerator: &[f64], denominator: &[f64]) -> Option<Interval> {
        ratio_interval(numerator, denominator, 0.95)
    }

    #[test]
    fn over_an_exact_set_it_is_students_interval() {
        let values = [1.0, 2.0, 4.0];
        let (interval, expected) =
            (ratio(&values, &[2.0; 50]).unwrap(), mean_interval(&values, 0.95).unwrap());
        assert!((interval.low - expected.low / 2.0).abs() < 1e-9);
        assert!((interval.high - expected.high / 2.0).abs() < 1e-9);
    }

    #[test]
    fn the_ends_are_where_the_difference_stops_being_significant() {
        let (numerator, denominator) = ([48.0, 52.0, 50.0], [99.0, 101.0, 100.0]);
        let interval = ratio(&numerator, &denominator).unwrap();
        assert!(interval.contains(0.5) && interval.low > 0.4 && interval.high < 0.6);
        // Variances of the means: 4/3 and 1/3; at the estimate 1.3333 + 0.25/3 = 1.41667 with 2.2486 degrees
        // of freedom.
        let freedom: f64 = 1.416_667f64.powi(2) / (1.333_333f64.powi(2) / 2.0 + 0.083_333f64.powi(2) / 2.0);
        let t = StudentsT::new(0.0, 1.0, freedom).unwrap().inverse_cdf(0.975);
        for end in [interval.low, interval.high] {
            let z = (50.0 - end * 100.0f64).abs() / (4.0f64 / 3.0 + end * end / 3.0).sqrt();
            assert!((z - t).abs() < 1e-3, "{end}: {z} {t}");
        }
    }

    #[test]
    fn no_ratio_of_one_value_or_to_what_may_be_zero() {
        assert_eq!(ratio(&[1.0], &[1.0, 2.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[1.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[0.0, 0.0]), None);
        assert_eq!(ratio(&[1.0, 2.0], &[-1.0, 2.0, 0.1]), None);
        assert_eq!(ratio(&[3.0; 3], &[2.0; 3]), Some(Interval { low: 1.5, high: 1.5 }));
    }

    proptest! {
        #[test]
        fn it_holds_the_estimate_and_the_unit_does_not_matter(
            numerator in prop::collection::vec(90.0..110.0f64, 3..8),
            denominator in prop::collection::vec(40.0..60.0f64, 3..8),
        ) {
            if let Some(interval) = ratio(&numerator, &denominator) {
                prop_assert!(interval.contains(mean(&numerator).unwrap() / mean(&denominator).unwrap()));
                let thousandths: Vec<f64> = numerator.iter().map(|value| value * 1000.0).collect();
                let scaled = ratio(&thousandths, &denominator).unwrap();
                prop_assert!((scaled.low / interval.low / 1000.0 - 1.0).abs() < 1e-9);
            }
        }
    }

    fn width(interval: Interval) -> f64 {
        interval.high - interval.low
    }

    /// Sums of coin tosses, each of which is in `reach` sums.
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
        // Ten values that alternate between 0 and 1 have two waves: the first swings once, the second does
        // not show.
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

    #[test]
    fn equal_passes_suffice_from_the_least_number_on() {
        let goal = Goal::default();
        for count in 0..goal.passes_min {
            assert_eq!(precision(&vec![7.0; count], &goal), Precision::More);
        }
        assert_eq!(
            precision(&vec![7.0; goal.passes_min], &goal),
            Precision::Reached(Interval { low: 7.0, high: 7.0 })
        );
    }

    #[test]
    fn scattered_passes_go_on_to_the_end() {
        let goal = Goal { passes_max: 8, ..Goal::default() };
        let passes = [100.0, 150.0, 60.0, 130.0, 90.0, 110.0, 70.0, 140.0];
        assert!((1..8).all(|count| precision(&passes[..count], &goal) == Precision::More));
        let Precision::Unreachable(interval) = precision(&passes, &goal) else { panic!() };
        let student = mean_interval(&passes, 0.95).unwrap();
        assert!(interval.low < student.low && interval.high > student.high);
    }

    #[test]
    fn a_mean_of_zero_is_never_known_to_a_share_of_itself() {
        let goal = Goal { passes_max: 6, ..Goal::default() };
        assert!(matches!(precision(&[-1.0, 1.0, -1.0, 1.0, -1.0, 1.0], &goal), Precision::Unreachable(_)));
    }

    #[test]
    #[should_panic(expected = "2 passes or more, not 9 to 5")]
    fn a_goal_that_cannot_be_met_is_a_mistake() {
        let _ = precision(&[1.0], &Goal { passes_min: 9, passes_max: 5, ..Goal::default() });
    }

    #[test]
    fn nothing_known_is_what_was_assumed() {
        for values in [&[][..], &[3.0], &[3.0, 9.0]] {
            assert!((repeatability(values, 0.3) - 0.3).abs() < 1e-12, "{values:?}");
        }
    }

    #[test]
    fn neither_a_drift_nor_one_jump_is_scatter() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let noise = Normal::new(0.0, 0.1).unwrap();
        let mut scatters: Vec<f64> = Vec::new();
        for _ in 0..200 {
            let values: Vec<f64> = (0..40)
                .map(|at| {
                    let jump = if at >= 17 { 5.0 } else { 0.0 };
                    0.005 * f64::from(at) + jump + noise.sample(&mut random)
                })
                .collect();
            scatters.push(repeatability(&values, 0.3));
        }
        let middle = median(&scatters).unwrap();
        assert!((0.09..0.115).contains(&middle), "{middle}");
    }
}
