//! A positive quantity as a sum of parts, none of which is negative: a time as the cost of each access, of
//! each byte, and so on.

use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::interval::Interval;
use crate::least_squares::{LeastSquares, dot, least_squares, quadratic};

/// The amounts of `PARTS` parts in some values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositiveSum<const PARTS: usize> {
    /// The amount of each part, at least 0.
    pub coefficients: [f64; PARTS],
    /// Of the coefficients of all parts, per square of the scatter.
    inverse: [[f64; PARTS]; PARTS],
    /// Σ (ln(value/sum)/deviation)²: what the sum leaves unexplained.
    pub squares: f64,
    /// Values less parts with a coefficient above 0; at least 0.
    pub freedom: usize,
}

/// Rounds of reweighting, at most; they settle to rounding after five or so.
const ROUNDS_MAX: usize = 40;
/// Relative change at which a fit counts as settled. Chosen: above rounding, far below any error of a
/// measurement.
const CONVERGENCE: f64 = 1e-9;

/// Fits `values[i] ≈ Σ coefficient[k]·parts[i][k]` with coefficients of at least 0, where value *i* scatters
/// by a share `deviations[i]` of itself: the quasi-likelihood of a variance that grows with the square of the
/// mean (McCullagh & Nelder, "Generalized Linear Models", 1989, chapter 8, with the identity as link), by
/// least squares reweighted until the sums settle. Relative errors count, so that a time of a microsecond
/// weighs as much as one of a second. The parts with a coefficient above 0 are found by trying all of their
/// combinations, which is exact for few parts.
///
/// `None` of fewer values than parts used, or when no combination can be distinguished at these values.
///
/// # Panics
/// When there are not as many rows of parts, values and deviations, or a value or deviation is not above 0.
pub fn positive_sum<const PARTS: usize>(
    parts: &[[f64; PARTS]],
    values: &[f64],
    deviations: &[f64],
) -> Option<PositiveSum<PARTS>> {
    assert!(
        parts.len() == values.len() && values.len() == deviations.len(),
        "each value has parts and a deviation"
    );
    assert!(
        values.iter().chain(deviations).all(|of| *of > 0.0 && of.is_finite()),
        "relative errors are of positive numbers"
    );
    let mut around = values.to_vec();
    let mut best = None;
    for _ in 0..ROUNDS_MAX {
        let weights: Vec<f64> =
            around.iter().zip(deviations).map(|(sum, share)| (sum * share).powi(-2)).collect();
        let (used, fit) = best_combination(parts, values, &weights)?;
        let sums: Vec<f64> = parts.iter().map(|row| dot(&fit.coefficients, row)).collect();
        if sums.iter().any(|sum| *sum <= 0.0) {
            return None;
        }
        let moved = sums.iter().zip(&around).map(|(new, old)| (new / old).ln().abs()).fold(0.0, f64::max);
        around = sums;
        best = Some((used, fit, weights));
        if moved < CONVERGENCE {
            break;
        }
    }
    let (used, fit, weights) = best?;
    let squares = values
        .iter()
        .zip(&around)
        .zip(deviations)
        .map(|((value, sum), share)| ((value / sum).ln() / share).powi(2));
    let inverse =
        least_squares(parts, values, &weights, usable(parts)).map_or(fit.inverse, |all| all.inverse);
    let count = used.iter().filter(|used| **used).count();
    Some(PositiveSum {
        coefficients: fit.coefficients,
        inverse,
        squares: squares.sum(),
        freedom: values.len().checked_sub(count)?,
    })
}

/// Parts that are in any of the values at all.
fn usable<const PARTS: usize>(parts: &[[f64; PARTS]]) -> [bool; PARTS] {
    std::array::from_fn(|part| parts.iter().any(|row| row[part] != 0.0))
}

/// The combination of parts that leaves least among those without a negative coefficient.
fn best_combination<const PARTS: usize>(
    parts: &[[f64; PARTS]],
    values: &[f64],
    weights: &[f64],
) -> Option<([bool; PARTS], LeastSquares<PARTS>)> {
    let usable = usable(parts);
    let is_possible = |fit: &LeastSquares<PARTS>| fit.coefficients.iter().all(|of| *of >= 0.0);
    // Nothing leaves less than all parts together.
    if let Some(fit) = least_squares(parts, values, weights, usable).filter(is_possible) {
        return Some((fit.coefficients.map(|of| of > 0.0), fit));
    }
    let combinations = (1u32..1 << PARTS).map(|bits| std::array::from_fn(|part| bits >> part & 1 == 1));
    let possible =
        combinations.filter(|used: &[bool; PARTS]| (0..PARTS).all(|part| usable[part] || !used[part]));
    let fits = possible.filter_map(|used| Some((used, least_squares(parts, values, weights, used)?)));
    fits.filter(|(_, fit)| is_possible(fit))
        .min_by(|(_, one), (_, other)| one.squares.total_cmp(&other.squares))
}

impl<const PARTS: usize> PositiveSum<PARTS> {
    /// The sum where there is so much of each part.
    pub fn at(&self, parts: &[f64; PARTS]) -> f64 {
        dot(&self.coefficients, parts)
    }

    /// How many times as much as the given deviations the values scatter around the sum; `None` without a
    /// degree of freedom.
    pub fn scatter(&self) -> Option<f64> {
        (self.freedom > 0).then(|| (self.squares / self.freedom as f64).sqrt())
    }

    /// The interval of a coefficient by Student's distribution, with the scatter that was seen; no end is
    /// below 0. `None` without a degree of freedom.
    pub fn interval(&self, part: usize, confidence: f64) -> Option<Interval> {
        let only = std::array::from_fn(|index| f64::from(u8::from(index == part)));
        self.interval_at(&only, confidence)
    }

    /// The interval of the sum where there is so much of each part; as [`Self::interval`].
    pub fn interval_at(&self, parts: &[f64; PARTS], confidence: f64) -> Option<Interval> {
        let deviation = quadratic(&self.inverse, parts).max(0.0).sqrt() * self.scatter()?;
        let student = StudentsT::new(0.0, 1.0, self.freedom as f64).expect("there is a degree of freedom");
        let half = student.inverse_cdf((1.0 + confidence) / 2.0) * deviation;
        let center = self.at(parts);
        Some(Interval { low: (center - half).max(0.0), high: center + half })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn times(access: f64, per_byte: f64) -> (Vec<[f64; 2]>, Vec<f64>) {
        let parts: Vec<[f64; 2]> = (9..30).map(|power| [1.0, f64::from(1u32 << power)]).collect();
        let values = parts.iter().map(|row| access + per_byte * row[1]).collect();
        (parts, values)
    }

    #[test]
    fn six_decades_of_times_give_both_ends_back() {
        let (parts, values) = times(447_000.0, 7.63);
        let fit = positive_sum(&parts, &values, &[0.01; 21]).unwrap();
        assert!((fit.coefficients[0] / 447_000.0 - 1.0).abs() < 1e-9, "{fit:?}");
        assert!((fit.coefficients[1] / 7.63 - 1.0).abs() < 1e-9 && fit.freedom == 19, "{fit:?}");
    }

    #[test]
    fn a_part_that_would_be_negative_is_none() {
        let parts: Vec<[f64; 2]> = (1..8).map(|x| [1.0, f64::from(x)]).collect();
        let values: Vec<f64> = (1..8).map(|x| f64::from(x * x)).collect();
        let fit = positive_sum(&parts, &values, &[0.1; 7]).unwrap();
        assert_eq!((fit.coefficients[0], fit.freedom), (0.0, 6));
        assert_eq!(fit.interval(0, 0.95).unwrap().low, 0.0);
    }

    #[test]
    fn too_few_values_have_no_interval() {
        let fit = positive_sum(&[[1.0, 1.0], [1.0, 2.0]], &[3.0, 5.0], &[0.1; 2]).unwrap();
        assert_eq!((fit.scatter(), fit.interval(0, 0.95)), (None, None));
        assert_eq!(positive_sum(&[[1.0, 1.0]], &[3.0], &[0.1]).map(|fit| fit.freedom), Some(0));
        assert_eq!(positive_sum::<2>(&[], &[], &[]), None);
        assert_eq!(positive_sum(&[[0.0]; 3], &[1.0; 3], &[0.1; 3]), None);
    }

    #[test]
    #[should_panic(expected = "positive numbers")]
    fn a_value_of_zero_is_a_mistake() {
        let _ = positive_sum(&[[1.0]; 2], &[0.0, 1.0], &[0.1; 2]);
    }

    proptest! {
        #[test]
        fn units_do_not_matter(noise in prop::collection::vec(0.7..1.4f64, 21), unit in 1e-6..1e6f64) {
            let (parts, values) = times(2e6, 12.0);
            let values: Vec<f64> = values.iter().zip(&noise).map(|(value, noise)| value * noise).collect();
            let scaled: Vec<f64> = values.iter().map(|value| value * unit).collect();
            let one = positive_sum(&parts, &values, &[0.1; 21]).unwrap();
            let other = positive_sum(&parts, &scaled, &[0.1; 21]).unwrap();
            prop_assert!((other.coefficients[1] / (one.coefficients[1] * unit) - 1.0).abs() < 1e-6);
            prop_assert!(one.interval(1, 0.95).unwrap().contains(one.coefficients[1]));
        }
    }
}
