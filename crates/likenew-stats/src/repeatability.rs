//! How much a measured number differs from one time to the next though nothing has changed.

use crate::summary::{median, refuse_nan};

/// The median of the absolute differences of two values of a normal distribution, in its standard deviations:
/// √2 times its third quartile.
const DIFFERENCE: f64 = 0.953_872_552_408_939_8;
/// Differences that the assumed value counts as.
const ASSUMED: usize = 2;

/// The repeatability standard deviation (ISO 5725-1) of numbers in the order in which they were measured,
/// from the differences of successive ones, so that what changes slowly is not taken for scatter (von Neumann
/// et al., "The mean square successive difference", Annals of Mathematical Statistics 12 (1941) 153–162).
/// Their median takes the place of the mean square, so that a repair or a failure between two of them does
/// not count. `assumed` is the result without any number, and counts as two differences: one single
/// difference moves nothing.
///
/// # Panics
/// When a value is not a finite number.
pub fn repeatability(values: &[f64], assumed: f64) -> f64 {
    refuse_nan(values);
    let differences = values.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    let all: Vec<f64> = differences.chain([assumed * DIFFERENCE; ASSUMED]).collect();
    median(&all).expect("what was assumed is there") / DIFFERENCE
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

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
