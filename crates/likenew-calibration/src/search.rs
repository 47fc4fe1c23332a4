//! Finds the most likely drive, starting from the base: a global search, then least squares.
//!
//! The global search is CMA-ES (Hansen, "The CMA evolution strategy: a tutorial", arXiv 1604.00772). Its cost grows
//! slowly, so that a single test that no candidate reproduces decides nothing. Least squares starts from its result.
//! Simulations are rough: a tiny change of a parameter lets an I/O miss a revolution or a die. So derivatives are not
//! taken from two neighbors. Instead, each metric is fitted by a plane over candidates around the best one; what the
//! plane leaves counts as an error of the metric, besides those of measurement and model. Each round moves to the
//! minimum that the planes predict, and narrows the candidates.
//!
//! Errors follow Student's t distribution, in which outliers weigh little (Lange, Little and Taylor, "Robust
//! statistical modeling using the t distribution", JASA 84, 1989). A weak prior around the base keeps parameters in
//! place that no run determines, with the prior's uncertainty.

use cmaes::{CMAESOptions, DVector};
use nalgebra::{DMatrix, DVector as Column};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::noise::{Noise, Tests};
use crate::problem::Problem;

/// Standard deviation of each parameter's prior, as a logarithm: drives of a kind differ by a factor of two.
pub(crate) const PRIOR_SD: f64 = std::f64::consts::LN_2;

/// Step of the global search at first, as a logarithm. Chosen: half of the prior.
const GLOBAL_STEP: f64 = 0.5 * PRIOR_SD;
/// Distance of candidates from the center, as logarithms: at first, and at least. Chosen: half of the prior, and what
/// still shows in values rounded to whole numbers. Each round shrinks it by `WIDTH_SHRINKS`, down to twice the
/// parameter's standard deviation or the least width, whichever is larger.
const WIDTH_FIRST: f64 = 0.3;
const WIDTH_LEAST: f64 = 0.04;
const WIDTH_SHRINKS: f64 = 0.7;
/// Pairs of candidates in a round: for each parameter, and at least. The two of a pair lie on opposite sides.
const PAIRS_PER_PARAMETER: f64 = 1.3;
const PAIRS_LEAST: usize = 8;
/// Longest step, in widths; planes do not hold farther out.
const STEP_MOST: f64 = 1.5;
/// Steepest slope that is believed: a rate is at most proportional to a time; a write cliff may be slightly steeper.
const SLOPE_MOST: f64 = 1.5;
/// The center moves to the best candidate if it costs this much more. Chosen: several times a cost's roughness.
const COST_SLACK: f64 = 10.0;
/// The search ends after a step below this many standard deviations in all parameters, at the least width.
const STEP_LEAST: f64 = 0.3;
/// Share of the last step's square that adds to the variance. Chosen: half of the way is still to go if the next step
/// is as long.
const LAST_STEP_COUNTS: f64 = 0.25;
/// Degrees of freedom of Student's t distribution. Chosen: near the normal one, with room for a test that fits badly.
const STUDENT: f64 = 5.0;
/// Information of such an error, as a share of a normal error's of the same scale.
const STUDENT_INFORMATION: f64 = (STUDENT + 1.0) / (STUDENT + 3.0);
/// Rounds until errors, weights and the number of fitted parameters agree.
const ERROR_ROUNDS: usize = 5;
/// Least influence of a parameter: squared change of all metrics, in errors, per unit of its logarithm. Below, a
/// hundred times larger or smaller value would change nothing visible.
const INFLUENCE_LEAST: f64 = 0.25;

/// The result of a search.
pub(crate) struct Fit {
    /// Move of each parameter: the logarithm of its factor relative to the base.
    pub(crate) moves: Vec<f64>,
    /// Covariance of the moves.
    pub(crate) covariance: DMatrix<f64>,
    /// Whether any measurement depends on the parameter.
    pub(crate) has_influence: Vec<bool>,
    pub(crate) noise: Vec<Noise>,
    /// Degrees of freedom: number of tests less the parameters fitted to them.
    pub(crate) freedom: f64,
}

impl Fit {
    /// Standard deviation of a weighted sum of moves.
    pub(crate) fn deviation(&self, weights: &Column<f64>) -> f64 {
        (weights.transpose() * &self.covariance * weights)[(0, 0)].sqrt()
    }
}

/// Length of a search.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// Candidates of the global search.
    pub(crate) global: usize,
    /// Steps of least squares.
    pub(crate) steps: usize,
    pub(crate) seed: u64,
}

impl Budget {
    /// Most candidates that the search simulates.
    pub(crate) fn candidates(&self, parameters: usize) -> usize {
        self.global + self.steps * (2 * pairs(parameters) + 1) + 1
    }
}

/// Pairs of candidates in a round.
fn pairs(parameters: usize) -> usize {
    ((parameters as f64 * PAIRS_PER_PARAMETER).ceil() as usize).max(PAIRS_LEAST)
}

/// Searches the best moves; `None` if the base cannot be built or the user stopped.
pub(crate) fn search(problem: &Problem<'_>, budget: Budget) -> Option<Fit> {
    let tests = Tests::new(&problem.rows);
    let start = global(problem, &tests, budget);
    polish(problem, &tests, start, budget)
}

/// Cost of residuals: a sum of squares that grows slowly for large residuals, plus the prior.
fn robust_cost(tests: &[Tests], residuals: &[f64], moves: &[f64]) -> f64 {
    let noise: Vec<Noise> = tests.iter().map(Tests::usual).collect();
    let whitened = whiten(tests, &noise, residuals);
    whitened.iter().map(|residual| (residual * residual).ln_1p()).sum::<f64>() + prior(moves)
}

/// Cost of the base itself; less is better.
pub(crate) fn base_cost(problem: &Problem<'_>) -> Option<f64> {
    let moves = vec![0.0; problem.parameters.len()];
    Some(robust_cost(&Tests::new(&problem.rows), &problem.residuals(&moves)?, &moves))
}

/// The prior's cost. It is half of its part in a sum of squares, as [`robust_cost`] is half of one near its minimum.
fn prior(moves: &[f64]) -> f64 {
    moves.iter().map(|by| (by / PRIOR_SD).powi(2)).sum()
}

fn whiten(tests: &[Tests], noise: &[Noise], column: &[f64]) -> Vec<f64> {
    let mut whitened = column.to_vec();
    tests.iter().zip(noise).for_each(|(tests, noise)| tests.whiten(noise, &mut whitened));
    whitened
}

/// The best candidate of the global search, or the base if there is none.
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
        residuals
            .map_or(f64::MAX / 1e9, |residuals| robust_cost(tests, &residuals, &inside) + 100.0 * outside)
    };
    let options =
        CMAESOptions::new(base.clone(), GLOBAL_STEP).seed(budget.seed).max_function_evals(budget.global);
    let mut state = options.build(cost).expect("the options fit the number of parameters");
    // A last generation that would be incomplete is left out.
    let best = problem.pool.install(|| {
        loop {
            if let Some(end) = state.next_parallel() {
                return end.overall_best;
            }
            if problem.observer.stop_requested() {
                return state.overall_best_individual().cloned();
            }
        }
    });
    best.map_or(base, |best| problem.clamp(best.point.as_slice()))
}

/// A simulated candidate.
struct Attempt {
    moves: Vec<f64>,
    residuals: Vec<f64>,
    cost: f64,
}

/// Least squares, from the global search's result.
fn polish(problem: &Problem<'_>, tests: &[Tests], start: Vec<f64>, budget: Budget) -> Option<Fit> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(budget.seed);
    let mut widths = vec![WIDTH_FIRST; start.len()];
    let mut center = start;
    let mut tried: Vec<Attempt> = Vec::new();
    for round in 1.. {
        let mut candidates = neighbors(&center, &widths, &mut random);
        candidates.iter_mut().for_each(|moves| *moves = problem.clamp(moves));
        candidates.push(center.clone());
        let all_residuals = problem.residuals_of_all(&candidates);
        if problem.observer.stop_requested() {
            return None;
        }
        for (moves, residuals) in candidates.into_iter().zip(all_residuals) {
            let Some(residuals) = residuals else { continue };
            let cost = robust_cost(tests, &residuals, &moves);
            tried.push(Attempt { moves, residuals, cost });
        }
        let best = tried.iter().min_by(|a, b| a.cost.total_cmp(&b.cost))?;
        let here =
            tried.iter().rev().find(|tried| tried.moves == center).map_or(f64::INFINITY, |tried| tried.cost);
        if here > best.cost + COST_SLACK && round < budget.steps {
            center.clone_from(&best.moves);
        }
        let planes = Planes::new(&tried, &center, &widths);
        let (linear, errors) = Linear::with_errors(tests, &planes, &center);
        let ahead = linear.step(&center);
        let deviation = |index: usize| linear.covariance[(index, index)].sqrt();
        let is_near = (0..center.len()).all(|index| {
            ahead[index].abs() < STEP_LEAST * deviation(index)
                && widths[index] <= WIDTH_LEAST.max(2.0 * deviation(index))
        });
        let moved = center.iter().zip(ahead.iter()).zip(&widths);
        let moved: Vec<f64> =
            moved.map(|((by, more), width)| by + more.clamp(-STEP_MOST * width, STEP_MOST * width)).collect();
        center = problem.clamp(&moved);
        if is_near || round >= budget.steps {
            return Some(linear.fit(center, &ahead, errors, tests));
        }
        for (index, width) in widths.iter_mut().enumerate() {
            let least = WIDTH_LEAST.max(2.0 * deviation(index)).min(WIDTH_FIRST);
            *width = (*width * WIDTH_SHRINKS).max(least);
        }
    }
    unreachable!("the loop returns after its last round")
}

/// Candidates around the center, in pairs on opposite sides.
fn neighbors(center: &[f64], widths: &[f64], random: &mut Xoshiro256PlusPlus) -> Vec<Vec<f64>> {
    // Only two levels with equal variance: this determines a slope best.
    let mut pair = || -> [Vec<f64>; 2] {
        let signs: Vec<f64> = widths
            .iter()
            .map(|width| width * random.random_range(0.5..1.2) * if random.random() { 1.0 } else { -1.0 })
            .collect();
        [1.0, -1.0].map(|side| center.iter().zip(&signs).map(|(by, sign)| by + side * sign).collect())
    };
    (0..pairs(center.len())).flat_map(|_| pair()).collect()
}

/// Each metric as a plane over the parameters, around a center.
struct Planes {
    /// Residuals at the center.
    residuals: Vec<f64>,
    /// For each parameter, the change of all simulated metrics per unit of its logarithm.
    slopes: Vec<Vec<f64>>,
    /// Variance of each metric around its plane.
    roughness: Vec<f64>,
}

impl Planes {
    /// Fits planes to simulated candidates, near ones with more weight.
    fn new(tried: &[Attempt], center: &[f64], widths: &[f64]) -> Self {
        let parameters = center.len();
        let away = |tried: &Attempt| -> Vec<f64> {
            tried
                .moves
                .iter()
                .zip(center)
                .zip(widths)
                .map(|((by, center), width)| (by - center) / width)
                .collect()
        };
        let weight = |distances: &[f64]| {
            let square =
                distances.iter().map(|distance| distance * distance).sum::<f64>() / parameters.max(1) as f64;
            (-(square - 1.0).max(0.0)).exp()
        };
        let places: Vec<(Vec<f64>, f64, &Attempt)> = tried
            .iter()
            .map(|tried| {
                let away = away(tried);
                let weight = weight(&away);
                (away, weight, tried)
            })
            .filter(|(_, weight, _)| *weight > 1e-3)
            .collect();
        // Distances are in widths.
        let design = DMatrix::from_fn(places.len(), parameters + 1, |row, column| match column {
            0 => 1.0,
            _ => places[row].0[column - 1],
        });
        let weighted = DMatrix::from_fn(places.len(), parameters + 1, |row, column| {
            design[(row, column)] * places[row].1
        });
        /// Keeps the matrix invertible if candidates lie on the limits.
        const RIDGE: f64 = 1e-3;
        let spread =
            inverse(weighted.tr_mul(&design) + DMatrix::identity(parameters + 1, parameters + 1) * RIDGE);
        let operator = &spread * weighted.transpose();
        let rows = places.first().map_or(0, |(.., tried)| tried.residuals.len());
        let values = DMatrix::from_fn(places.len(), rows, |place, row| places[place].2.residuals[row]);
        let planes = operator * &values;
        let left = values - design * &planes;
        let total: f64 = places.iter().map(|(_, weight, _)| weight).sum();
        let free = (total - parameters as f64 - 1.0).max(1.0);
        let roughness: Vec<f64> = (0..rows)
            .map(|row| {
                places
                    .iter()
                    .enumerate()
                    .map(|(place, (_, weight, _))| weight * left[(place, row)].powi(2))
                    .sum::<f64>()
                    / free
            })
            .collect();
        let slope = |index: usize, row: usize| {
            // A rising simulated value lowers the residual.
            let slope = -planes[(index + 1, row)];
            // Subtracts the slope that chance explains. Otherwise many rough metrics would seem to show what none does.
            let chance = 2.0 * roughness[row] * spread[(index + 1, index + 1)];
            let kept = if slope == 0.0 { 0.0 } else { (1.0 - chance / (slope * slope)).max(0.0) };
            (kept * slope / widths[index]).clamp(-SLOPE_MOST, SLOPE_MOST)
        };
        Self {
            residuals: (0..rows).map(|row| planes[(0, row)]).collect(),
            slopes: (0..parameters).map(|index| (0..rows).map(|row| slope(index, row)).collect()).collect(),
            roughness,
        }
    }
}

/// The weight of each residual; small for outliers.
fn student_weights(whitened: &[f64]) -> Vec<f64> {
    whitened.iter().map(|residual| (STUDENT + 1.0) / (STUDENT + residual * residual)).collect()
}

/// The least-squares problem around a center.
struct Linear {
    /// Slopes divided by the errors of their rows.
    slopes: DMatrix<f64>,
    residuals: Column<f64>,
    /// The weight of each row.
    weights: Column<f64>,
    covariance: DMatrix<f64>,
}

impl Linear {
    /// Estimates the errors from the residuals themselves.
    fn with_errors(tests: &[Tests], planes: &Planes, center: &[f64]) -> (Self, Vec<Noise>) {
        let mut errors: Vec<Noise> = tests.iter().map(Tests::usual).collect();
        let mut linear = Self::new(tests, &errors, planes, center.len());
        // Errors depend on fitted parameters and outliers, and these depend on the errors.
        for _ in 0..ERROR_ROUNDS {
            let rough = rough_factors(tests, &errors, planes);
            let weights: Vec<f64> =
                linear.weights.iter().zip(&rough).map(|(weight, factor)| weight * factor * factor).collect();
            errors = tests
                .iter()
                .map(|test| test.estimate(&planes.residuals, &weights, linear.fitted_to(test)))
                .collect();
            linear = Self::new(tests, &errors, planes, center.len());
        }
        (linear, errors)
    }

    fn new(tests: &[Tests], noise: &[Noise], planes: &Planes, parameters: usize) -> Self {
        let rough = rough_factors(tests, noise, planes);
        let scaled = |column: &[f64]| {
            let column: Vec<f64> = column.iter().zip(&rough).map(|(value, factor)| value * factor).collect();
            whiten(tests, noise, &column)
        };
        let columns: Vec<Column<f64>> =
            planes.slopes.iter().map(|column| Column::from_vec(scaled(column))).collect();
        let slopes = if columns.is_empty() {
            DMatrix::zeros(planes.residuals.len(), 0)
        } else {
            DMatrix::from_columns(&columns)
        };
        let residuals = scaled(&planes.residuals);
        let weights = Column::from_vec(student_weights(&residuals));
        let information = slopes.tr_mul(&slopes) * STUDENT_INFORMATION;
        let covariance = inverse(information + prior_precision(parameters));
        Self { slopes, residuals: Column::from_vec(residuals), weights, covariance }
    }

    /// The step from the center to the minimum of the planes.
    fn step(&self, center: &[f64]) -> Column<f64> {
        let weighted = DMatrix::from_fn(self.slopes.nrows(), self.slopes.ncols(), |row, column| {
            self.slopes[(row, column)] * self.weights[row]
        });
        let precision = prior_precision(center.len());
        let gradient = weighted.tr_mul(&self.residuals) - &precision * Column::from_column_slice(center);
        inverse(weighted.tr_mul(&self.slopes) + precision) * gradient
    }

    /// Effective number of parameters fitted to these tests: the trace of the hat matrix over their rows.
    fn fitted_to(&self, tests: &Tests) -> f64 {
        let leverage = |row: usize| {
            let row = self.slopes.row(row);
            STUDENT_INFORMATION * (row * &self.covariance * row.transpose())[(0, 0)]
        };
        tests.rows().map(leverage).sum()
    }

    /// The result. `last` is the last step, which shows how far the search was from its end.
    fn fit(self, moves: Vec<f64>, last: &Column<f64>, noise: Vec<Noise>, tests: &[Tests]) -> Fit {
        let fitted: f64 = tests.iter().map(|tests| self.fitted_to(tests)).sum();
        let count: usize = noise.iter().map(|noise| noise.tests).sum();
        let influence = |index: usize| self.slopes.column(index).norm_squared();
        let has_influence: Vec<bool> =
            (0..moves.len()).map(|index| influence(index) >= INFLUENCE_LEAST).collect();
        let moves = moves.iter().zip(&has_influence).map(|(by, has)| if *has { *by } else { 0.0 }).collect();
        Fit {
            moves,
            covariance: self.covariance + last * last.transpose() * LAST_STEP_COUNTS,
            has_influence,
            noise,
            freedom: count as f64 - fitted,
        }
    }
}

/// Factor on each row that accounts for its roughness besides its error.
fn rough_factors(tests: &[Tests], noise: &[Noise], planes: &Planes) -> Vec<f64> {
    let mut factors = vec![1.0; planes.roughness.len()];
    for (tests, noise) in tests.iter().zip(noise) {
        for row in tests.rows() {
            factors[row] = 1.0 / (1.0 + planes.roughness[row] / noise.variance()).sqrt();
        }
    }
    factors
}

fn prior_precision(parameters: usize) -> DMatrix<f64> {
    DMatrix::identity(parameters, parameters) / (PRIOR_SD * PRIOR_SD)
}

fn inverse(matrix: DMatrix<f64>) -> DMatrix<f64> {
    matrix.try_inverse().expect("a sum of squares and a prior has an inverse")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_find_slopes_and_tell_roughness_from_them() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let (center, widths) = (vec![0.2, -0.1, 0.0], vec![0.1; 3]);
        let tried: Vec<Attempt> = neighbors(&center, &widths, &mut random)
            .into_iter()
            .map(|moves| {
                let smooth = 0.5 - 0.8 * moves[0] + 0.3 * moves[1];
                let rough = 0.2 * (random.random::<f64>() - 0.5);
                Attempt { residuals: vec![smooth, rough], moves, cost: 0.0 }
            })
            .collect();
        let planes = Planes::new(&tried, &center, &widths);
        for (slope, truth) in planes.slopes.iter().zip([0.8, -0.3, 0.0]) {
            assert!((slope[0] - truth).abs() < 0.02, "{:?}", planes.slopes);
        }
        assert!((planes.residuals[0] - (0.5 - 0.16 - 0.03)).abs() < 0.01, "{:?}", planes.residuals);
        assert!(planes.roughness[0] < 1e-4 && planes.roughness[1] > 1e-3, "{:?}", planes.roughness);
    }
}
