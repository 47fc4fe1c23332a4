//! Summaries of a series in one number: center, spread and extremes.
//!
//! Every function returns `None` where the number does not exist (no values, or the spread of one value) and
//! panics when a value is not a number.

/// The values in ascending order.
///
/// # Panics
/// When a value is not a number.
pub fn sorted(values: &[f64]) -> Vec<f64> {
    refuse_nan(values);
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

pub(crate) fn refuse_nan(values: &[f64]) {
    assert!(!values.iter().any(|value| value.is_nan()), "an estimate needs numbers, and one of these is not");
}

/// The arithmetic mean.
pub fn mean(values: &[f64]) -> Option<f64> {
    refuse_nan(values);
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The standard deviation of a sample (divisor n − 1), in two passes so that a large mean costs no digits.
pub fn standard_deviation(values: &[f64]) -> Option<f64> {
    let mean = mean(values).filter(|_| values.len() > 1)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some((squares / (values.len() - 1) as f64).sqrt())
}

/// The value that a share `share` of the series does not exceed, interpolated between the two nearest: type 7
/// of Hyndman and Fan, "Sample quantiles in statistical packages", The American Statistician 50 (1996)
/// 361–365.
///
/// # Panics
/// When `share` is not in `0 ..= 1`.
pub fn quantile(values: &[f64], share: f64) -> Option<f64> {
    quantile_of_sorted(&sorted(values), share)
}

/// [`quantile`] of values that are in ascending order already.
pub fn quantile_of_sorted(sorted: &[f64], share: f64) -> Option<f64> {
    assert!((0.0..=1.0).contains(&share), "a quantile is a share of 0 to 1, not {share}");
    let last = sorted.len().checked_sub(1)?;
    let place = share * last as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    // Equal values are returned as they are, so that infinities do not turn into not-a-number.
    Some(if below == above { below } else { below + (above - below) * place.fract() })
}

/// The value in the middle: the quantile of ½.
pub fn median(values: &[f64]) -> Option<f64> {
    refuse_nan(values);
    let mut values = values.to_vec();
    let half = values.len() / 2;
    if values.is_empty() {
        return None;
    }
    // Selecting is faster than sorting, and medians are taken by the million.
    let (below, middle, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    let (above, below) = (*middle, below.iter().copied().reduce(f64::max));
    let odd = values.len() % 2 == 1;
    Some(below.filter(|below| !odd && *below != above).map_or(above, |below| below + (above - below) / 2.0))
}

/// The smallest value.
pub fn minimum(values: &[f64]) -> Option<f64> {
    refuse_nan(values);
    values.iter().copied().reduce(f64::min)
}

/// The largest value.
pub fn maximum(values: &[f64]) -> Option<f64> {
    refuse_nan(values);
    values.iter().copied().reduce(f64::max)
}

/// The median absolute deviation from the median, unscaled (Hampel, "The influence curve and its role in
/// robust estimation", JASA 69 (1974) 383–393). For normal data, 1.4826 times this estimates the standard
/// deviation.
pub fn median_absolute_deviation(values: &[f64]) -> Option<f64> {
    let center = median(values)?;
    median(&values.iter().map(|value| (value - center).abs()).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_summary_and_one_value_has_no_spread() {
        for of_nothing in [mean, median, minimum, maximum, median_absolute_deviation, standard_deviation] {
            assert_eq!(of_nothing(&[]), None);
        }
        assert_eq!(
            (mean(&[3.0]), median(&[3.0]), median_absolute_deviation(&[3.0])),
            (Some(3.0), Some(3.0), Some(0.0))
        );
        assert_eq!(standard_deviation(&[3.0]), None);
    }

    #[test]
    fn worked_examples() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(&values), Some(5.0));
        assert_eq!(standard_deviation(&values), Some((32.0f64 / 7.0).sqrt()));
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        // Type 7 of 1 … 10, as R's quantile() prints by default.
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(quantile(&ten, 0.25), Some(3.25));
        assert!((quantile(&ten, 0.1).unwrap() - 1.9).abs() < 1e-12);
        assert_eq!(quantile(&[f64::INFINITY, f64::INFINITY, 1.0], 0.75), Some(f64::INFINITY));
    }

    #[test]
    fn a_large_mean_costs_no_digits() {
        let values: Vec<f64> = [1.0, 2.0, 3.0].iter().map(|value| value + 1e12).collect();
        assert_eq!(standard_deviation(&values), Some(1.0));
    }

    #[test]
    #[should_panic(expected = "needs numbers")]
    fn not_a_number_is_a_mistake() {
        let _ = quantile(&[1.0, f64::NAN], 0.5);
    }

    #[test]
    #[should_panic(expected = "share of 0 to 1")]
    fn a_quantile_beyond_one_is_a_mistake() {
        let _ = quantile(&[1.0], 1.5);
    }

    proptest! {
        #[test]
        fn quantiles_ascend_between_the_extremes(values in prop::collection::vec(-1e9..1e9f64, 1..50), a in 0.0..=1.0f64, b in 0.0..=1.0f64) {
            let (low, high) = (quantile(&values, a.min(b)).unwrap(), quantile(&values, a.max(b)).unwrap());
            prop_assert!(low <= high);
            prop_assert_eq!(median(&values), quantile(&values, 0.5));
            prop_assert_eq!(quantile(&values, 0.0), minimum(&values));
            prop_assert_eq!(quantile(&values, 1.0), maximum(&values));
        }
    }
}
