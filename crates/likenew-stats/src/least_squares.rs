//! Weighted linear least squares: the amount of each of a few known shapes in some values.

use nalgebra::{SMatrix, SVector};

/// The result of a fit of `SHAPES` shapes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquares<const SHAPES: usize> {
    /// The amount of each shape; 0 for those that were left out.
    pub coefficients: [f64; SHAPES],
    /// The inverse of the weighted normal matrix: times the variance of a value of weight 1, the covariance
    /// of the coefficients.
    pub inverse: [[f64; SHAPES]; SHAPES],
    /// Sum of the weighted squares that are left.
    pub squares: f64,
}

/// Shapes whose directions differ by less than this count as one. Chosen: rounding errors are smaller.
const SMALL: f64 = 1e-10;

/// The coefficients that leave the least of Σ *wᵢ*·(*yᵢ* − Σ *cₖ·xᵢₖ*)², over those shapes that are `used`:
/// the normal equations, with shapes scaled to one length so that their units do not matter, by Cholesky's
/// factors.
///
/// `None` where the shapes used cannot be distinguished at these values, or none is used.
///
/// # Panics
/// When there are not as many rows of shapes, values and weights.
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
    let scaled = SMatrix::<f64, SHAPES, SHAPES>::from_fn(|row, column| match both(row, column) {
        true => products[(row, column)] / (scale[row] * scale[column]),
        // A shape that is left out gets its own equation, with the result 0.
        false => f64::from(u8::from(row == column)),
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

/// What multiplying a vector by the inverse from both sides gives: the variance of a sum of coefficients.
pub(crate) fn quadratic<const SHAPES: usize>(inverse: &[[f64; SHAPES]; SHAPES], of: &[f64; SHAPES]) -> f64 {
    dot(&inverse.map(|row| dot(&row, of)), of)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
