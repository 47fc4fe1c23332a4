//! From the base to the most likely drive: a global search, then least squares.
//!
//! The global search is CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", arXiv 1604.00772) under a cost that grows
//! slowly, so that one test that no candidate does right decides nothing. Least squares begins where it ends: Gauss–Newton steps
//! with derivatives from differences, each residual divided by its error, and the errors estimated anew after every step. A
//! weak prior around the base keeps what no run tells where it is, and makes its uncertainty that of the prior.

use cmaes::{CMAESOptions, DVector};
use nalgebra::{DMatrix, DVector as Column};

use crate::noise::{Noise, Tests};
use crate::problem::Problem;

/// Standard deviation of the prior of each parameter, as a logarithm: drives of a kind differ by a factor of two.
pub(crate) const PRIOR_SD: f64 = std::f64::consts::LN_2;

/// The first steps of the global search, as logarithms. Chosen: half of the prior.
const GLOBAL_STEP: f64 = 0.5 * PRIOR_SD;
/// The step of a derivative, as a logarithm: at first, and at least and at most. Chosen: larger than the grain of a simulation,
/// smaller than what bends.
const STEP_FIRST: f64 = 0.05;
const STEP_LEAST: f64 = 0.02;
const STEP_MOST: f64 = 0.12;
/// Parts of a Gauss–Newton step that are tried, all at once.
const STEP_PARTS: [f64; 4] = [1.0, 0.5, 0.2, 0.05];
/// A step that lowers the sum of squares by less than this ends the search: a tenth of a standard deviation.
const GAIN_LEAST: f64 = 0.01;
/// Square of the change of all metrics, in errors, per unit of a parameter's logarithm below which nothing is said to depend on
/// it: it could be a hundred times larger or smaller and would change nothing that could be seen.
const INFLUENCE_LEAST: f64 = 0.25;

/// What a search found.
pub(crate) struct Fit {
    /// By parameter, as logarithms.
    pub(crate) moves: Vec<f64>,
    /// Of the moves.
    pub(crate) covariance: DMatrix<f64>,
    /// Whether anything that was measured depends on the parameter.
    pub(crate) has_influence: Vec<bool>,
    pub(crate) noise: Vec<Noise>,
    /// Tests of all kinds less the parameters fitted to them.
    pub(crate) freedom: f64,
}

/// How long to search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Candidates of the global search.
    pub(crate) global: usize,
    /// Steps of least squares.
    pub(crate) steps: usize,
    pub(crate) seed: u64,
}

impl Budget {
    /// Candidates that such a search simulates, at most.
    pub(crate) fn candidates(&self, parameters: usize) -> usize {
        self.global + (self.steps + 1) * 2 * parameters + self.steps * STEP_PARTS.len() + 1
    }
}

/// The best moves, if the base can be built and nobody stopped the search.
pub(crate) fn search(problem: &Problem<'_>, budget: Budget) -> Option<Fit> {
    let tests = Tests::new(&problem.rows);
    let start = global(problem, &tests, budget);
    polish(problem, &tests, start, budget.steps)
}

/// A sum of squares that grows slowly where a residual is large, and the prior.
fn robust_cost(tests: &[Tests], residuals: &[f64], moves: &[f64]) -> f64 {
    let noise: Vec<Noise> = tests.iter().map(Tests::usual).collect();
    let whitened = whiten(tests, &noise, residuals);
    whitened.iter().map(|residual| (residual * residual).ln_1p()).sum::<f64>() + prior(moves)
}

/// How well a drive does what was measured: less is better.
pub(crate) fn base_cost(problem: &Problem<'_>) -> Option<f64> {
    let moves = vec![0.0; problem.parameters.len()];
    Some(robust_cost(&Tests::new(&problem.rows), &problem.residuals(&moves)?, &moves))
}

/// Half of the prior's part of a sum of squares, as the cost of [`robust_cost`] is half of a sum of squares near its bottom.
fn prior(moves: &[f64]) -> f64 {
    moves.iter().map(|by| (by / PRIOR_SD).powi(2)).sum()
}

fn whiten(tests: &[Tests], noise: &[Noise], column: &[f64]) -> Vec<f64> {
    let mut whitened = column.to_vec();
    tests.iter().zip(noise).for_each(|(tests, noise)| tests.whiten(noise, &mut whitened));
    whitened
}

/// The best candidate of the global search; the base if it makes none.
fn global(problem: &Problem<'_>, tests: &[Tests], budget: Budget) -> Vec<f64> {
    let base = vec![0.0; problem.parameters.len()];
    if base.is_empty() || budget.global == 0 {
        return base;
    }
    let cost = |moves: &DVector<f64>| {
        let inside = problem.clamp(moves.as_slice());
        // Outside of the limits the cost rises, so that the search stays near.
        let outside: f64 = moves.iter().zip(&inside).map(|(by, inside)| (by - inside).powi(2)).sum();
        let residuals = problem.residuals(&inside);
        residuals.map_or(f64::MAX / 1e9, |found| robust_cost(tests, &found, &inside) + 100.0 * outside)
    };
    let options = CMAESOptions::new(base.clone(), GLOBAL_STEP).seed(budget.seed).max_function_evals(budget.global);
    let mut state = options.build(cost).expect("the options fit the number of parameters");
    // Fewer than a generation's candidates are left out.
    let found = problem.pool.install(|| {
        loop {
            if let Some(end) = state.next_parallel() {
                return end.overall_best;
            }
            if problem.observer.stop_requested() {
                return state.overall_best_individual().cloned();
            }
        }
    });
    found.map_or(base, |best| problem.clamp(best.point.as_slice()))
}

/// Least squares from a start.
fn polish(problem: &Problem<'_>, tests: &[Tests], start: Vec<f64>, steps: usize) -> Option<Fit> {
    let mut moves = start;
    let mut residuals = problem.residuals(&moves)?;
    let mut widths = vec![STEP_FIRST; moves.len()];
    let mut noise: Option<Vec<Noise>> = None;
    for step in 0.. {
        let slopes = slopes(problem, &moves, &residuals, &widths)?;
        // Errors depend on how many parameters were fitted, and that on the errors.
        let mut errors = noise.take().unwrap_or_else(|| tests.iter().map(Tests::usual).collect());
        let mut linear = Linear::new(tests, &errors, &slopes, &residuals, &moves);
        for _ in 0..2 {
            errors = tests.iter().map(|tests| tests.estimate(&residuals, linear.fitted_to(tests))).collect();
            linear = Linear::new(tests, &errors, &slopes, &residuals, &moves);
        }
        let cost = |residuals: &[f64], moves: &[f64]| -> f64 {
            whiten(tests, &errors, residuals).iter().map(|of| of * of).sum::<f64>() + prior(moves)
        };
        let present = cost(&residuals, &moves);
        let better = if step < steps {
            let candidates: Vec<Vec<f64>> = STEP_PARTS
                .iter()
                .map(|part| {
                    let moved: Vec<f64> = moves.iter().zip(linear.step.iter()).map(|(by, more)| by + part * more).collect();
                    problem.clamp(&moved)
                })
                .collect();
            let found = problem.residuals_of_all(&candidates);
            if problem.observer.stop_requested() {
                return None;
            }
            if std::env::var_os("LN_DEBUG").is_some() {
                let costs: Vec<f64> = candidates.iter().zip(&found).map(|(m, r)| r.as_ref().map_or(-1.0, |r| cost(r, m))).collect();
                eprintln!("step {step} present {present:.2} costs {costs:.2?}\n  moves {moves:.2?}\n  step {:.2?}\n {errors:.3?}", linear.step.as_slice());
            }
            candidates
                .into_iter()
                .zip(found)
                .filter_map(|(moves, residuals)| residuals.map(|residuals| (cost(&residuals, &moves), moves, residuals)))
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|(cost, ..)| *cost < present - GAIN_LEAST)
        } else {
            None
        };
        let Some((_, better_moves, better_residuals)) = better else {
            return Some(linear.fit(moves, errors, tests));
        };
        let deviation = |index: usize| linear.covariance[(index, index)].sqrt();
        widths = (0..better_moves.len()).map(|index| deviation(index).clamp(STEP_LEAST, STEP_MOST)).collect();
        (moves, residuals, noise) = (better_moves, better_residuals, Some(errors));
    }
    unreachable!("the loop returns after its last step")
}

/// What the metrics change by per unit of each parameter's logarithm: a column for each. Where a neighbor cannot be built, the
/// other one alone tells it.
fn slopes(problem: &Problem<'_>, moves: &[f64], residuals: &[f64], widths: &[f64]) -> Option<Vec<Vec<f64>>> {
    let neighbors: Vec<Vec<f64>> = (0..moves.len())
        .flat_map(|index| {
            [-1.0, 1.0].map(|side| {
                let mut moved = moves.to_vec();
                moved[index] += side * widths[index];
                problem.clamp(&moved)
            })
        })
        .collect();
    let found = problem.residuals_of_all(&neighbors);
    if problem.observer.stop_requested() {
        return None;
    }
    let column = |index: usize| {
        let end = |side: usize| {
            let at = 2 * index + side;
            found[at].as_deref().map_or((residuals, moves[index]), |found| (found, neighbors[at][index]))
        };
        let ((low, from), (high, to)) = (end(0), end(1));
        let width = to - from;
        // Residuals fall where the simulated value rises.
        let slope = |(low, high): (&f64, &f64)| if width > 0.0 { (low - high) / width } else { 0.0 };
        low.iter().zip(high).map(slope).collect()
    };
    Some((0..moves.len()).map(column).collect())
}

/// The least-squares problem around a candidate.
struct Linear {
    /// Rows divided by their errors.
    slopes: DMatrix<f64>,
    covariance: DMatrix<f64>,
    /// From here to the bottom, were everything linear.
    step: Column<f64>,
}

impl Linear {
    fn new(tests: &[Tests], noise: &[Noise], slopes: &[Vec<f64>], residuals: &[f64], moves: &[f64]) -> Self {
        let columns: Vec<Column<f64>> =
            slopes.iter().map(|column| Column::from_vec(whiten(tests, noise, column))).collect();
        let slopes = if columns.is_empty() {
            DMatrix::zeros(residuals.len(), 0)
        } else {
            DMatrix::from_columns(&columns)
        };
        let residuals = Column::from_vec(whiten(tests, noise, residuals));
        let weight = 1.0 / (PRIOR_SD * PRIOR_SD);
        let precision = slopes.tr_mul(&slopes) + DMatrix::identity(moves.len(), moves.len()) * weight;
        let covariance = precision.try_inverse().expect("a sum of squares and a prior has an inverse");
        let gradient = slopes.tr_mul(&residuals) - Column::from_column_slice(moves) * weight;
        Self { step: &covariance * gradient, slopes, covariance }
    }

    /// How many parameters were fitted to these tests: the trace of the hat matrix over their rows.
    fn fitted_to(&self, tests: &Tests) -> f64 {
        let leverage = |row: usize| {
            let row = self.slopes.row(row);
            (row * &self.covariance * row.transpose())[(0, 0)]
        };
        tests.rows().map(leverage).sum()
    }

    fn fit(self, moves: Vec<f64>, noise: Vec<Noise>, tests: &[Tests]) -> Fit {
        let fitted: f64 = tests.iter().map(|tests| self.fitted_to(tests)).sum();
        let count: usize = noise.iter().map(|noise| noise.tests).sum();
        let influence = |index: usize| self.slopes.column(index).norm_squared();
        let has_influence: Vec<bool> = (0..moves.len()).map(|index| influence(index) >= INFLUENCE_LEAST).collect();
        let moves = moves.iter().zip(&has_influence).map(|(by, has)| if *has { *by } else { 0.0 }).collect();
        Fit { moves, covariance: self.covariance, has_influence, noise, freedom: count as f64 - fitted }
    }
}
