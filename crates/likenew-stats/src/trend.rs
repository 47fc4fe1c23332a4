//! Whether a series rises or falls along its order, and how steeply.

use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::summary::{median, refuse_nan, sorted};

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

/// Fewer values than this have no trend: below it the normal approximation of the test is poor.
pub const VALUES_MIN: usize = 8;
/// A longer series is reduced to the medians of equal pieces, because the slopes of all pairs are computed.
const PIECES_MAX: usize = 200;

/// The line of Theil and Sen (the median of the slopes of all pairs: Sen, "Estimates of the regression
/// coefficient based on Kendall's tau", JASA 63 (1968) 1379–1389) and the two-sided test of Mann and Kendall
/// with its correction for ties (Kendall, "Rank Correlation Methods", 4th ed., 1975, chapter 4). Up to 29 %
/// of outliers do not move the line. `None` below [`VALUES_MIN`] values.
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
    // A shorter rest at the end is left out: its median would count as much as the others.
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
