//! Fits a curve below a band of uniform noise: a time with a fixed part, and a wait for something that comes
//! round at regular intervals, such as a turn of a disk.

use statrs::distribution::{ContinuousCDF as _, Normal};

use crate::interval::{CONFIDENCE_95, Interval};
use crate::least_squares::{dot, least_squares, quadratic};
use crate::summary::{median, median_absolute_deviation};

/// A curve that is a sum of known shapes, and the band of values above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Band<const SHAPES: usize> {
    /// The amount of each shape in the middle of the band.
    pub coefficients: [f64; SHAPES],
    /// Covariance of the coefficients.
    covariance: [[f64; SHAPES]; SHAPES],
    /// From the band's lower edge to its upper one, in the unit of the values.
    pub width: f64,
    /// Values inside the band, or near enough to belong to it; all others are left out of the fit.
    pub values_kept: usize,
    /// The fourth moment of the kept values around the middle over the square of the second: 1.8 of a uniform
    /// band, 3 of normal noise.
    pub kurtosis: f64,
}

/// Fewest values of a band.
pub const VALUES_MIN: usize = 30;

/// Distance from the middle, as a share of the band's width, beyond which a value is left out. Chosen: half
/// the width is the band itself; the rest allows for errors.
const REACH: f64 = 0.75;
const ROUNDS_MAX: usize = 20;

/// Fits the middle of the band by least squares. The variance of uniform noise is width²/12, so its spread
/// gives the width; the lower edge is half of that below the middle. Values far from the band are left out,
/// and the fit is repeated until none leaves or returns.
///
/// `None` below [`VALUES_MIN`] values, or when the shapes cannot be distinguished at these values.
///
/// # Panics
/// When there are not as many rows of shapes as values.
pub fn uniform_band<const SHAPES: usize>(shapes: &[[f64; SHAPES]], values: &[f64]) -> Option<Band<SHAPES>> {
    assert_eq!(shapes.len(), values.len(), "each value has its shapes");
    let mut values_kept = vec![true; values.len()];
    let mut last_band = None;
    for _ in 0..ROUNDS_MAX {
        let indices: Vec<usize> = (0..values.len()).filter(|index| values_kept[*index]).collect();
        if indices.len() < VALUES_MIN {
            return None;
        }
        let band = fit(shapes, values, &indices)?;
        let residual = |index: usize| values[index] - band.middle(&shapes[index]);
        let residuals: Vec<f64> = indices.iter().map(|index| residual(*index)).collect();
        let center = median(&residuals)?;
        // Half of a uniform band is within a quarter of its width from the middle.
        let width = 4.0 * median_absolute_deviation(&residuals)?;
        let near: Vec<bool> =
            (0..values.len()).map(|index| (residual(index) - center).abs() <= REACH * width).collect();
        let settled = near == values_kept;
        (values_kept, last_band) = (near, Some(band));
        if settled {
            break;
        }
    }
    last_band
}

impl<const SHAPES: usize> Band<SHAPES> {
    /// The middle of the band where the shapes have these values.
    pub fn middle(&self, shapes: &[f64; SHAPES]) -> f64 {
        dot(&self.coefficients, shapes)
    }

    /// The lower edge of the band where the shapes have these values, with its interval at 95 %.
    pub fn lower(&self, shapes: &[f64; SHAPES]) -> (f64, Interval) {
        let variance = quadratic(&self.covariance, shapes) + self.width_deviation().powi(2) / 4.0;
        let value = self.middle(shapes) - self.width / 2.0;
        (value, interval_around(value, variance.max(0.0).sqrt()))
    }

    /// The interval of the width at 95 %. The variance of a variance is (kurtosis − 1)/n of its square, and that of a
    /// uniform one 0.8/n.
    pub fn width_interval(&self) -> Interval {
        interval_around(self.width, self.width_deviation())
    }

    /// Whether the noise counts as uniform: not as round as a sum of several noises, nor in two heaps. The
    /// variance of the kurtosis of n uniform values is 1.316/n, by the delta method; three standard
    /// deviations and a tenth for a little other noise are tolerated.
    pub fn is_uniform(&self) -> bool {
        let tolerance = 0.1 + 3.0 * (1.316 / self.values_kept as f64).sqrt();
        (self.kurtosis - 1.8).abs() <= tolerance
    }

    fn width_deviation(&self) -> f64 {
        self.width * ((self.kurtosis - 1.0).max(0.0) / (4.0 * self.values_kept as f64)).sqrt()
    }
}

fn interval_around(value: f64, deviation: f64) -> Interval {
    let half = Normal::standard().inverse_cdf((1.0 + CONFIDENCE_95) / 2.0) * deviation;
    Interval::around(value, half)
}

fn fit<const SHAPES: usize>(
    shapes: &[[f64; SHAPES]],
    values: &[f64],
    indices: &[usize],
) -> Option<Band<SHAPES>> {
    let row = |index: &usize| (shapes[*index], values[*index]);
    let (shapes, values): (Vec<[f64; SHAPES]>, Vec<f64>) = indices.iter().map(row).unzip();
    let fit = least_squares(&shapes, &values, &vec![1.0; indices.len()], [true; SHAPES])?;
    let moment = |power: i32| {
        let residuals =
            values.iter().zip(&shapes).map(|(value, shapes)| value - dot(&fit.coefficients, shapes));
        residuals.map(|residual| residual.powi(power)).sum::<f64>()
    };
    let (count, squares) = (indices.len() as f64, fit.squares);
    let variance = squares / (count - SHAPES as f64);
    Some(Band {
        coefficients: fit.coefficients,
        covariance: fit.inverse.map(|row| row.map(|row| row * variance)),
        width: (12.0 * variance).sqrt(),
        values_kept: indices.len(),
        kurtosis: if squares > 0.0 { moment(4) * count / (squares * squares) } else { 0.0 },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    const SLOPE: f64 = 3.0;
    const WIDTH: f64 = 8.0;

    /// 2 + 3x and a uniform wait of up to 8.
    fn waits(count: usize, seed: u64) -> (Vec<[f64; 2]>, Vec<f64>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        (0..count)
            .map(|_| {
                let x: f64 = random.random();
                ([1.0, x], 2.0 + SLOPE * x + WIDTH * random.random::<f64>())
            })
            .unzip()
    }

    #[test]
    fn the_intervals_hold_the_truth_as_often_as_they_say() {
        let (mut width, mut edge) = (0, 0);
        for seed in 0..400 {
            let (shapes, values) = waits(300, seed);
            let band = uniform_band(&shapes, &values).unwrap();
            assert!(band.is_uniform() && band.values_kept == 300, "{band:?}");
            width += u32::from(band.width_interval().contains(WIDTH));
            edge += u32::from(band.lower(&[1.0, 0.0]).1.contains(2.0));
        }
        assert!((364..=396).contains(&width) && (364..=396).contains(&edge), "{width} {edge} of 400");
    }

    #[test]
    fn what_lies_far_off_is_left_out() {
        let (shapes, mut values) = waits(400, 1);
        let clean = uniform_band(&shapes, &values).unwrap();
        (0..40).for_each(|index| values[index * 10] = if index % 2 == 0 { 70.0 } else { -30.0 });
        let band = uniform_band(&shapes, &values).unwrap();
        assert_eq!(band.values_kept, 360);
        assert!((band.width - clean.width).abs() < 0.3 && band.is_uniform(), "{band:?} {clean:?}");
    }

    #[test]
    fn other_noise_is_not_called_uniform() {
        let (shapes, mut values) = waits(400, 2);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(9);
        values.iter_mut().for_each(|value| *value += WIDTH * random.random::<f64>());
        assert!(!uniform_band(&shapes, &values).unwrap().is_uniform(), "two waits make a triangle");
        values.iter_mut().enumerate().for_each(|(index, value)| *value = f64::from(index as u32 % 2));
        assert!(!uniform_band(&shapes, &values).unwrap().is_uniform(), "two heaps are no band");
    }

    #[test]
    fn too_few_values_or_shapes_that_are_one() {
        let (shapes, values) = waits(29, 1);
        assert_eq!(uniform_band(&shapes, &values), None);
        let same: Vec<[f64; 2]> = (0..40).map(|_| [1.0, 0.5]).collect();
        let values: Vec<f64> = (0..40).map(f64::from).collect();
        assert_eq!(uniform_band(&same, &values), None);
        let flat = uniform_band(&waits(40, 1).0, &[7.0; 40]).unwrap();
        assert!(flat.width < 1e-6, "{flat:?}");
    }
}
