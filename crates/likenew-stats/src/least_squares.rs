//! Weighted linear least squares: how much of each of a few known shapes is in some values. Also fits without
//! negative amounts and with an unknown knee, and finds the limit that a series approaches.

use nalgebra::{SMatrix, SVector};

use super::interval::{Interval, student};

/// The result of a fit of `SHAPES` shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquares<const SHAPES: usize> {
    /// The amount of each shape; 0 for those that were left out.
    pub coefficients: [f64; SHAPES],
    /// The inverse of the weighted normal matrix. Times the variance of a value of weight 1, it is the
    /// covariance of the coefficients.
    pub inverse: [[f64; SHAPES]; SHAPES],
    /// Sum of the weighted squares of what is left.
    pub squares: f64,
}

/// Shapes whose directions differ by less than this count as one. Chosen: rounding errors are smaller.
const SMALL: f64 = 1e-10;

/// Finds the coefficients of the shapes `used` that leave the least of Σ *wᵢ*·(*yᵢ* − Σ *cₖ·xᵢₖ*)². It solves
/// the normal equations by Cholesky's factors, with shapes scaled to one length so that units do not matter.
///
/// `None` when these values cannot distinguish the shapes used, or none is used.
///
/// # Panics
/// When `shapes`, `values` and `weights` differ in length.
pub fn least_squares<const SHAPES: usize>(
    shapes: &[[f64; SHAPES]],
    values: &[f64],
    weights: &[f64],
    used: [bool; SHAPES],
) -> Option<LeastSquares<SHAPES>> {
    assert!(
        shapes.len() == values.len() && values.len() == weights.len(),
        "each value has shapes and a weight"
    );
    let rows = || shapes.iter().zip(values).zip(weights);
    let mut products = SMatrix::<f64, SHAPES, SHAPES>::zeros();
    let mut right = SVector::<f64, SHAPES>::zeros();
    for ((row, value), weight) in rows() {
        let row = SVector::from(*row);
        products += row * row.transpose() * *weight;
        right += row * (*weight * *value);
    }
    let scale: [f64; SHAPES] = std::array::from_fn(|shape| products[(shape, shape)].sqrt());
    if !(0..SHAPES).any(|shape| used[shape]) || (0..SHAPES).any(|shape| used[shape] && scale[shape] <= 0.0) {
        return None;
    }
    let both = |one: usize, other: usize| used[one] && used[other];
    let scaled = SMatrix::<f64, SHAPES, SHAPES>::from_fn(|row, column| {
        if both(row, column) {
            products[(row, column)] / (scale[row] * scale[column])
        } else {
            // A shape that is left out gets its own equation, with the result 0.
            f64::from(u8::from(row == column))
        }
    });
    let factors = scaled.cholesky()?;
    if (0..SHAPES).any(|shape| factors.l_dirty()[(shape, shape)].powi(2) <= SMALL) {
        return None;
    }
    let inverse = factors.inverse();
    let entry = |row: usize, column: usize| {
        if both(row, column) { inverse[(row, column)] / (scale[row] * scale[column]) } else { 0.0 }
    };
    let inverse: [[f64; SHAPES]; SHAPES] =
        std::array::from_fn(|row| std::array::from_fn(|column| entry(row, column)));
    let coefficients = inverse.map(|row| dot(&row, &right.into()));
    let left = rows().map(|((row, value), weight)| weight * (value - dot(&coefficients, row)).powi(2));
    Some(LeastSquares { coefficients, inverse, squares: left.sum() })
}

/// The sum of products.
pub(crate) fn dot<const SHAPES: usize>(one: &[f64; SHAPES], other: &[f64; SHAPES]) -> f64 {
    one.iter().zip(other).map(|(a, b)| a * b).sum()
}

/// The vector times the matrix times the vector: the variance of a sum of coefficients.
pub(crate) fn quadratic<const SHAPES: usize>(
    inverse: &[[f64; SHAPES]; SHAPES],
    vector: &[f64; SHAPES],
) -> f64 {
    dot(&inverse.map(|row| dot(&row, vector)), vector)
}

/// Values as a sum of `PARTS` parts, none of them negative.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PositiveSum<const PARTS: usize> {
    /// The amount of each part, at least 0.
    pub coefficients: [f64; PARTS],
    /// Covariance of the coefficients of all parts, per square of the scatter.
    inverse: [[f64; PARTS]; PARTS],
    /// Σ (ln(value/sum)/deviation)²: what the sum leaves unexplained.
    pub squares: f64,
    /// Number of values less number of parts with a coefficient above 0; at least 0.
    pub freedom: usize,
}

/// Most rounds of reweighting; they settle to rounding after five or so.
const ROUNDS_MAX: usize = 40;
/// Relative change at which a fit counts as settled. Chosen: above rounding, far below any error of a
/// measurement.
const CONVERGENCE: f64 = 1e-9;

/// Fits `values[i] ≈ Σ coefficient[k]·parts[i][k]` with coefficients of at least 0, where value *i* scatters
/// by a share `deviations[i]` of itself. Relative errors count, so that a time of a microsecond weighs as
/// much as one of a second. This is the quasi-likelihood of a variance that grows with the square of the mean
/// (McCullagh & Nelder, "Generalized Linear Models", 1989, chapter 8, with the identity as link), by least
/// squares reweighted until the sums settle. All combinations of parts with a coefficient above 0 are tried,
/// which is exact for few parts.
///
/// `None` with fewer values than parts used, or when these values distinguish no combination.
///
/// # Panics
/// When `parts`, `values` and `deviations` differ in length, or a value or deviation is not above 0.
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
        values.iter().chain(deviations).all(|number| *number > 0.0 && number.is_finite()),
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
        least_squares(parts, values, &weights, usable(parts)).map_or(fit.inverse, |fit| fit.inverse);
    let count = used.iter().filter(|used| **used).count();
    Some(PositiveSum {
        coefficients: fit.coefficients,
        inverse,
        squares: squares.sum(),
        freedom: values.len().checked_sub(count)?,
    })
}

/// Which parts occur in any of the values.
fn usable<const PARTS: usize>(parts: &[[f64; PARTS]]) -> [bool; PARTS] {
    std::array::from_fn(|part| parts.iter().any(|row| row[part] != 0.0))
}

/// The combination of parts with the least squares among those without a negative coefficient.
fn best_combination<const PARTS: usize>(
    parts: &[[f64; PARTS]],
    values: &[f64],
    weights: &[f64],
) -> Option<([bool; PARTS], LeastSquares<PARTS>)> {
    let usable = usable(parts);
    let is_possible =
        |fit: &LeastSquares<PARTS>| fit.coefficients.iter().all(|coefficient| *coefficient >= 0.0);
    // Nothing leaves less than all parts together.
    if let Some(fit) = least_squares(parts, values, weights, usable).filter(is_possible) {
        return Some((fit.coefficients.map(|coefficient| coefficient > 0.0), fit));
    }
    let combinations = (1u32..1 << PARTS).map(|bits| std::array::from_fn(|part| bits >> part & 1 == 1));
    let possible =
        combinations.filter(|used: &[bool; PARTS]| (0..PARTS).all(|part| usable[part] || !used[part]));
    let fits = possible.filter_map(|used| Some((used, least_squares(parts, values, weights, used)?)));
    fits.filter(|(_, fit)| is_possible(fit))
        .min_by(|(_, one), (_, other)| one.squares.total_cmp(&other.squares))
}

impl<const PARTS: usize> PositiveSum<PARTS> {
    /// The sum at a point with these amounts of the parts.
    pub fn at(&self, parts: &[f64; PARTS]) -> f64 {
        dot(&self.coefficients, parts)
    }

    /// Scatter of the values around the sum, in multiples of the given deviations; `None` without a degree of
    /// freedom.
    pub fn scatter(&self) -> Option<f64> {
        (self.freedom > 0).then(|| (self.squares / self.freedom as f64).sqrt())
    }

    /// The interval of a coefficient by Student's distribution, with the scatter that was seen; no end is
    /// below 0. `None` without a degree of freedom.
    pub fn interval(&self, part: usize, confidence: f64) -> Option<Interval> {
        let only = std::array::from_fn(|index| f64::from(u8::from(index == part)));
        self.interval_at(&only, confidence)
    }

    /// The interval of the sum at a point with these amounts of the parts; as [`Self::interval`].
    pub fn interval_at(&self, parts: &[f64; PARTS], confidence: f64) -> Option<Interval> {
        let deviation = quadratic(&self.inverse, parts).max(0.0).sqrt() * self.scatter()?;
        let half = student(self.freedom as f64, (1.0 + confidence) / 2.0) * deviation;
        let center = self.at(parts);
        Some(Interval { low: (center - half).max(0.0), high: center + half })
    }
}

/// The best candidate for a shape, and all that the scatter cannot distinguish from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile<const PARTS: usize> {
    /// The best of the candidates.
    pub shape: f64,
    /// The fit with the best candidate.
    pub sum: PositiveSum<PARTS>,
    /// The candidates that cannot be distinguished from `shape` at the confidence asked for, itself included,
    /// in ascending order.
    pub possible: Vec<(f64, PositiveSum<PARTS>)>,
}

/// Tries all `candidates`: `parts(candidate, index)` are the parts of the value of that index. A candidate is
/// possible when its squares are at most (1 + *t*²/*f*) times the least, where *f* are the degrees of freedom
/// with one taken for the candidate itself: the region that the ratio of likelihoods gives (Bates & Watts,
/// "Nonlinear Regression Analysis", 1988, chapter 6).
///
/// `None` when no candidate can be fitted with a degree of freedom to spare.
///
/// # Panics
/// As [`positive_sum`] does.
pub fn profile<const PARTS: usize>(
    candidates: &[f64],
    parts: impl Fn(f64, usize) -> [f64; PARTS],
    values: &[f64],
    deviations: &[f64],
    confidence: f64,
) -> Option<Profile<PARTS>> {
    let fit = |candidate: &f64| {
        let rows: Vec<[f64; PARTS]> = (0..values.len()).map(|index| parts(*candidate, index)).collect();
        Some((*candidate, positive_sum(&rows, values, deviations)?))
    };
    let mut fits: Vec<(f64, PositiveSum<PARTS>)> = candidates.iter().filter_map(fit).collect();
    let (shape, mut sum) =
        *fits.iter().min_by(|(_, one), (_, other)| one.squares.total_cmp(&other.squares))?;
    // Choosing the candidate took one degree of freedom.
    sum.freedom = sum.freedom.checked_sub(1).filter(|freedom| *freedom > 0)?;
    let t = student(sum.freedom as f64, (1.0 + confidence) / 2.0);
    let limit = sum.squares * (1.0 + t * t / sum.freedom as f64);
    fits.retain(|(_, fit)| fit.squares <= limit);
    fits.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    fits.iter_mut().for_each(|(_, fit)| fit.freedom = fit.freedom.saturating_sub(1));
    Some(Profile { shape, sum, possible: fits })
}

impl<const PARTS: usize> Profile<PARTS> {
    /// From the least possible candidate to the greatest.
    pub fn shape_interval(&self) -> Interval {
        let ends = (self.possible.first(), self.possible.last());
        let at = |end: Option<&(f64, PositiveSum<PARTS>)>| end.map_or(self.shape, |(shape, _)| *shape);
        Interval { low: at(ends.0), high: at(ends.1) }
    }

    /// The interval of a coefficient over all possible candidates.
    pub fn interval(&self, part: usize, confidence: f64) -> Option<Interval> {
        let own = self.sum.interval(part, confidence)?;
        let intervals = self.possible.iter().filter_map(|(_, fit)| fit.interval(part, confidence));
        Some(intervals.fold(own, |whole, interval| Interval {
            low: whole.low.min(interval.low),
            high: whole.high.max(interval.high),
        }))
    }
}

/// Parts of a line with one slope up to a knee and another from there on: its start, and both slopes.
pub fn broken_line(x: f64, knee: f64) -> [f64; 3] {
    [1.0, x.min(knee), (x - knee).max(0.0)]
}

/// The limit of a series of the form v∞ − a·rᵏ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approach {
    /// The limit v∞.
    pub limit: f64,
    /// The remaining distance, as a share of the limit.
    pub remaining: f64,
}

/// Ratio assumed for two values, which cannot show how fast they approach anything. Chosen: each step halves
/// what is left.
const RATIO_UNKNOWN: f64 = 0.5;
/// A ratio above this is no approach. Chosen: it could not be distinguished from a drift.
const RATIO_MAX: f64 = 0.95;

/// Extrapolates a series to its limit: from the last three values, for which v∞ − a·rᵏ has one solution (A.
/// C. Aitken, "On Bernoulli's Numerical Solution of Algebraic Equations", Proceedings of the Royal Society of
/// Edinburgh 46, 1926), or from two values with an assumed ratio. Steps that go up and down are scatter
/// around the mean of the last two. `None` for fewer values, and when steps do not become smaller.
///
/// # Panics
/// When a value is not a number.
pub fn approach(values: &[f64]) -> Option<Approach> {
    crate::summary::refuse_nan(values);
    let (limit, last) = match *values {
        [.., first, second, third] => {
            let (before, step) = (second - first, third - second);
            let limit = match step / before {
                // Nothing moves any more, or never did.
                _ if step == 0.0 => third,
                ratio if ratio < 0.0 => f64::midpoint(second, third),
                ratio if ratio <= RATIO_MAX => third + step * ratio / (1.0 - ratio),
                _ => return None,
            };
            (limit, third)
        }
        [first, second] => (second + (second - first) * RATIO_UNKNOWN / (1.0 - RATIO_UNKNOWN), second),
        _ => return None,
    };
    (limit > 0.0).then(|| Approach { limit, remaining: (limit - last).abs() / limit })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_exact_line_comes_back_whatever_the_units() {
        for unit in [1e-9, 1.0, 1e9] {
            let shapes: Vec<[f64; 2]> = (0..9).map(|index| [1.0, unit * f64::from(index)]).collect();
            let values: Vec<f64> = shapes.iter().map(|row| 2.0 + 3.0 / unit * row[1]).collect();
            let fit = least_squares(&shapes, &values, &[0.5; 9], [true; 2]).unwrap();
            assert!((fit.coefficients[0] - 2.0).abs() < 1e-9, "{fit:?}");
            assert!((fit.coefficients[1] * unit - 3.0).abs() < 1e-9 && fit.squares < 1e-18, "{fit:?}");
        }
    }

    #[test]
    fn a_worked_example_with_weights() {
        // The weighted mean of 1, 2 and 4 with weights 1, 1 and 2 is 11/4; 1/Σw = 1/4; Σ w·(y − 11/4)² = 27/4.
        let fit = least_squares(&[[1.0]; 3], &[1.0, 2.0, 4.0], &[1.0, 1.0, 2.0], [true]).unwrap();
        assert!((fit.coefficients[0] - 2.75).abs() < 1e-12 && (fit.inverse[0][0] - 0.25).abs() < 1e-12);
        assert!((fit.squares - 6.75).abs() < 1e-12);
    }

    #[test]
    fn what_is_left_out_comes_to_nothing_and_what_is_the_same_is_refused() {
        let shapes = [[1.0, 1.0], [1.0, 2.0], [1.0, 3.0]];
        let fit = least_squares(&shapes, &[5.0, 6.0, 7.0], &[1.0; 3], [true, false]).unwrap();
        assert!((fit.coefficients[0] - 6.0).abs() < 1e-12 && fit.coefficients[1] == 0.0, "{fit:?}");
        assert_eq!(least_squares(&[[1.0, 2.0]; 5], &[1.0; 5], &[1.0; 5], [true; 2]), None);
        assert_eq!(least_squares(&[[0.0, 2.0]; 5], &[1.0; 5], &[1.0; 5], [true; 2]), None);
        assert_eq!(least_squares(&shapes, &[1.0; 3], &[1.0; 3], [false; 2]), None);
        assert_eq!(least_squares::<1>(&[], &[], &[], [true]), None);
    }

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
            let fit = positive_sum(&parts, &values, &[0.1; 21]).unwrap();
            let scaled_fit = positive_sum(&parts, &scaled, &[0.1; 21]).unwrap();
            prop_assert!((scaled_fit.coefficients[1] / (fit.coefficients[1] * unit) - 1.0).abs() < 1e-6);
            prop_assert!(fit.interval(1, 0.95).unwrap().contains(fit.coefficients[1]));
        }
    }

    #[test]
    fn a_knee_is_found_where_it_is() {
        let x: Vec<f64> = (0..18).map(|power| f64::from(1u32 << power)).collect();
        let values: Vec<f64> = x.iter().map(|x| 50.0 + x.min(512.0) + 7.0 * (x - 512.0).max(0.0)).collect();
        let profile =
            profile(&x[1..17], |knee, index| broken_line(x[index], knee), &values, &[0.01; 18], 0.95)
                .unwrap();
        assert_eq!((profile.shape, profile.shape_interval()), (512.0, Interval { low: 512.0, high: 512.0 }));
        let [start, before, after] = profile.sum.coefficients;
        assert!((start - 50.0).abs() < 1e-6 && (before - 1.0).abs() < 1e-6 && (after - 7.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_not_distinguished_is_kept() {
        // A straight line has its knee anywhere.
        let x: Vec<f64> = (1..20).map(f64::from).collect();
        let values: Vec<f64> = x
            .iter()
            .enumerate()
            .map(|(index, x)| (3.0 + x) * (1.0 + 0.02 * (index * 7 % 5) as f64))
            .collect();
        let profile =
            profile(&x[2..17], |knee, index| broken_line(x[index], knee), &values, &[0.02; 19], 0.95)
                .unwrap();
        assert!(profile.possible.len() > 10, "{profile:?}");
        let (own, whole) = (profile.sum.interval(2, 0.95).unwrap(), profile.interval(2, 0.95).unwrap());
        assert!(whole.low <= own.low && own.high <= whole.high && whole.contains(1.0), "{own:?} {whole:?}");
    }

    #[test]
    fn without_freedom_or_candidates_there_is_none() {
        let parts = |knee: f64, index: usize| broken_line(index as f64 + 1.0, knee);
        assert_eq!(profile(&[2.0], parts, &[1.0, 2.0, 3.0, 5.0], &[0.1; 4], 0.95), None);
        assert_eq!(profile(&[], parts, &[1.0; 9], &[0.1; 9], 0.95), None);
    }

    #[test]
    fn a_geometric_approach_is_solved_exactly() {
        let values: Vec<f64> = (0..5).map(|step| 80.0 - 40.0 * 0.3f64.powi(step)).collect();
        for length in 3..=5 {
            let approach = approach(&values[..length]).unwrap();
            let left = 40.0 * 0.3f64.powi(length as i32 - 1) / 80.0;
            assert!(
                (approach.limit - 80.0).abs() < 1e-9 && (approach.remaining - left).abs() < 1e-9,
                "{approach:?}"
            );
        }
    }

    #[test]
    fn two_values_leave_as_much_as_their_step() {
        let rising = approach(&[40.0, 70.0]).unwrap();
        assert!((rising.limit - 100.0).abs() < 1e-9 && (rising.remaining - 0.3).abs() < 1e-9);
        assert!(approach(&[75.0, 75.0]).unwrap().remaining < 1e-12);
    }

    #[test]
    fn what_has_arrived_has_nothing_left_to_go() {
        assert_eq!(approach(&[39.5, 75.2, 75.2]).unwrap(), Approach { limit: 75.2, remaining: 0.0 });
        assert_eq!(approach(&[75.0, 75.0, 75.0]).unwrap().remaining, 0.0);
        // Scatter is half of its last step from its mean.
        let scattered = approach(&[74.0, 76.0, 75.0]).unwrap();
        assert!((scattered.limit - 75.5).abs() < 1e-9 && scattered.remaining < 0.01);
    }

    #[test]
    fn growing_steps_and_too_few_values_have_no_limit() {
        for values in [&[][..], &[1.0], &[1.0, 2.0, 4.0], &[4.0, 3.0, 1.0], &[1.0, 2.0, 3.0]] {
            assert_eq!(approach(values), None, "{values:?}");
        }
        assert_eq!(approach(&[10.0, 4.0]), None, "a speed does not fall below 0");
        assert_eq!(approach(&[0.0, 0.0, 0.0]), None);
    }

    proptest::proptest! {
        #[test]
        fn the_limit_is_found_wherever_it_lies(limit in 1.0..1e9f64, start in 0.1..3.0f64, ratio in 0.0..0.9f64) {
            let values: Vec<f64> = (0..3).map(|step| limit * (1.0 - (1.0 - start) * ratio.powi(step))).collect();
            if let Some(approach) = approach(&values) {
                proptest::prop_assert!((approach.limit / limit - 1.0).abs() < 1e-6);
            }
        }
    }
}
