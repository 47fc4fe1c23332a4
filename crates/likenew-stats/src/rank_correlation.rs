//! Whether one quantity rises with another, whatever the shape of the rise.

use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::interval::{CONFIDENCE_95, Interval};
use crate::summary::{mean, refuse_nan};

/// How far the order of one series is the order of another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Correlation {
    /// Spearman's ρ: 1 for the same order, −1 for the reverse, 0 for no order.
    pub value: f64,
    /// The interval at 95 %.
    pub interval: Interval,
}

/// Of fewer pairs than this the interval says next to nothing.
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

/// The rank of each value from 1 on; equal values share the mean of theirs.
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand::SeedableRng as _;
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn a_worked_example() {
        // Ranks 1 2 3 … 10 against these: Σd² = 194, ρ = 1 − 6·194/990.
        let other = [7.0, 6.0, 5.0, 10.0, 9.0, 8.0, 3.0, 2.0, 1.0, 4.0];
        let one: Vec<f64> = (1..=10).map(f64::from).collect();
        let squares: f64 = one.iter().zip(other).map(|(a, b)| (a - b).powi(2)).sum();
        let found = rank_correlation(&one, &other).unwrap();
        assert!((found.value - (1.0 - 6.0 * squares / 990.0)).abs() < 1e-12, "{found:?} {squares}");
        assert!(found.interval.contains(found.value));
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
            if let Some(found) = rank_correlation(&one, &other) {
                prop_assert!((-1.0..=1.0).contains(&found.value));
                let turned: Vec<f64> = one.iter().map(|value| -value).collect();
                let against = rank_correlation(&turned, &other).unwrap();
                prop_assert!((found.value + against.value).abs() < 1e-9);
            }
        }
    }
}
