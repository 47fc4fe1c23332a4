//! Estimates the random part of differences between measured and simulated metrics.
//!
//! A difference has two parts: scatter between passes of a test, and the simulation's error in this test, which all its
//! passes share. Both are estimated for each kind of metric. Dividing residuals by them makes the residuals independent
//! and of size one.

use serde::Serialize;

use crate::metric::MetricKind;
use crate::rehearsal::{Row, by_test};

/// Errors of one kind of metric, as logarithms: 0.02 is 2%.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Noise {
    /// The kind of metric.
    pub kind: MetricKind,
    /// Scatter between passes of one test.
    pub passes: f64,
    /// The simulation's error in a test.
    pub model: f64,
    /// Number of tests for the estimate.
    pub tests: usize,
}

impl Noise {
    /// Variance of one pass.
    pub(crate) fn variance(&self) -> f64 {
        self.passes.powi(2) + self.model.powi(2)
    }
}

/// Smallest error. Latencies have three digits, and other random addresses change a simulation by as much.
const ERROR_MIN: f64 = 0.003;
/// Fewest repeated passes, over all tests, for an estimate of their scatter.
const REPEATS_MIN: usize = 4;

/// The tests of one kind, each with its rows.
pub(crate) struct Tests {
    kind: MetricKind,
    groups: Vec<Vec<usize>>,
}

impl Tests {
    /// The tests of all kinds.
    pub(crate) fn new(rows: &[Row]) -> Vec<Self> {
        let tests_of = |kind: MetricKind| {
            let rows = rows.iter().enumerate().filter(|(_, row)| row.kind() == kind);
            Self { kind, groups: by_test(rows) }
        };
        MetricKind::ALL.into_iter().map(tests_of).filter(|tests| !tests.groups.is_empty()).collect()
    }

    /// The assumed errors before any estimate.
    pub(crate) fn usual(&self) -> Noise {
        let error = self.kind.usual_error();
        Noise { kind: self.kind, passes: error, model: error, tests: self.groups.len() }
    }

    /// Estimates the errors from residuals. Weights are small for outliers. `parameters`: how many parameters were
    /// fitted to these tests, possibly a fraction.
    pub(crate) fn estimate(&self, residuals: &[f64], weights: &[f64], parameters: f64) -> Noise {
        let tests = self.groups.len();
        let means: Vec<(f64, f64)> = self
            .groups
            .iter()
            .map(|group| (mean(group, residuals) * mean(group, weights).sqrt(), group.len() as f64))
            .collect();
        let repeats: usize = self.groups.iter().map(|group| group.len() - 1).sum();
        let squares: f64 = self
            .groups
            .iter()
            .flat_map(|group| {
                let mean = mean(group, residuals);
                group.iter().map(move |row| weights[*row] * (residuals[*row] - mean).powi(2))
            })
            .sum();
        // Fitting makes differences smaller than the errors are.
        let left = (tests as f64 - parameters).max(0.2 * tests as f64).max(1.0);
        let growth = tests as f64 / left;
        let passes = (repeats >= REPEATS_MIN).then(|| (squares / repeats as f64).sqrt().max(ERROR_MIN));
        let model = match passes {
            Some(passes) => between(&means, passes, growth),
            None => (growth * means.iter().map(|(mean, _)| mean * mean).sum::<f64>() / tests as f64).sqrt(),
        };
        let (passes, model) = (passes.unwrap_or(ERROR_MIN), model.max(ERROR_MIN / 2.0));
        Noise { kind: self.kind, passes, model, tests }
    }

    /// Divides a column by the errors, so that its values are independent.
    pub(crate) fn whiten(&self, noise: &Noise, column: &mut [f64]) {
        for group in &self.groups {
            let count = group.len() as f64;
            let mean = mean(group, column);
            let of_mean = (noise.passes.powi(2) + count * noise.model.powi(2)).sqrt();
            for row in group {
                column[*row] = (column[*row] - mean) / noise.passes + mean / of_mean;
            }
        }
    }

    /// The rows of all tests.
    pub(crate) fn rows(&self) -> impl Iterator<Item = usize> {
        self.groups.iter().flatten().copied()
    }
}

/// The mean of a test's rows.
fn mean(group: &[usize], column: &[f64]) -> f64 {
    group.iter().map(|row| column[*row]).sum::<f64>() / group.len() as f64
}

/// The simulation's error: the most likely of many trial values. `growth` compensates for squared means that fitting
/// has made smaller.
fn between(means: &[(f64, f64)], passes: f64, growth: f64) -> f64 {
    /// Trial values from 0 to 100%, in steps of a tenth.
    const STEPS: i32 = 75;
    let cost = |model: f64| -> f64 {
        means
            .iter()
            .map(|(mean, count)| {
                let variance = model * model + passes * passes / count;
                variance.ln() + growth * mean * mean / variance
            })
            .sum()
    };
    let tried = std::iter::once(0.0).chain((0..=STEPS).map(|step| ERROR_MIN / 4.0 * 1.1f64.powi(step)));
    tried.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).expect("some are tried")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// `tests` tests with `each` passes each, and residuals with these errors.
    fn drawn(tests: usize, each: usize, passes: f64, model: f64) -> (Vec<Tests>, Vec<f64>) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut normal = || (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0;
        let (mut rows, mut residuals) = (Vec::new(), Vec::new());
        for group in 0..tests {
            let shared = model * normal();
            for _ in 0..each {
                rows.push(Row::new(Metric::Rate, group));
                residuals.push(shared + passes * normal());
            }
        }
        (Tests::new(&rows), residuals)
    }

    #[test]
    fn both_errors_are_found() {
        for (passes, model) in [(0.02, 0.1), (0.05, 0.05), (0.02, 0.0)] {
            let (tests, residuals) = drawn(200, 4, passes, model);
            let noise = tests[0].estimate(&residuals, &vec![1.0; residuals.len()], 0.0);
            assert!((noise.passes / passes - 1.0).abs() < 0.1, "{noise:?}");
            assert!((noise.model - model).abs() < 0.15 * model + 0.005, "{noise:?}");
        }
    }

    #[test]
    fn what_is_whitened_has_independent_errors_of_size_one() {
        let (tests, mut residuals) = drawn(300, 3, 0.02, 0.1);
        let noise = Noise { kind: MetricKind::Rate, passes: 0.02, model: 0.1, tests: 300 };
        tests[0].whiten(&noise, &mut residuals);
        let square = residuals.iter().map(|residual| residual * residual).sum::<f64>() / 900.0;
        let neighbors = residuals.chunks(3).map(|group| group[0] * group[1]).sum::<f64>() / 300.0;
        assert!((square - 1.0).abs() < 0.1 && neighbors.abs() < 0.15, "{square} {neighbors}");
    }
}
