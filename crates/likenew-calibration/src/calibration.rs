//! The whole calibration: fits parameters to runs, and predicts runs with the result.

use nalgebra::RowDVector;
use rayon::ThreadPoolBuilder;
use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use crate::base::Base;
use crate::combination::{Combination, combinations};
use crate::error::CalibrationError;
use crate::file;
use crate::metric::MetricKind;
use crate::noise::Noise;
use crate::parameter::{Estimate, Parameter, Standing, Unit};
use crate::prediction::{Prediction, predictions};
use crate::problem::{Observer, Problem};
use crate::rehearsal::{Effort, Groups, MeasuredRun, Rehearsal, Row};
use crate::search::{Budget, Fit, PRIOR_SD, base_cost, search};

/// Settings of a calibration.
#[derive(Clone, Copy, Debug)]
pub struct CalibrationOptions {
    /// Candidates of the global search.
    pub candidates: usize,
    /// Steps of least squares after it.
    pub steps: usize,
    /// Candidates that are simulated in parallel.
    pub threads: usize,
    /// Seed of the global search.
    pub seed: u64,
    /// How much of each run is simulated.
    pub effort: Effort,
}

impl Default for CalibrationOptions {
    fn default() -> Self {
        Self { candidates: 300, steps: 8, threads: 1, seed: 1, effort: Effort::default() }
    }
}

/// A run, and how much of it was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunUse {
    /// The run's name.
    pub name: String,
    /// The run's procedure.
    pub procedure: String,
    /// Segments that were compared.
    pub segments: usize,
    /// Metrics that were compared.
    pub metrics: usize,
}

/// A calibrated drive.
#[derive(Clone, Debug, Serialize)]
pub struct Calibration {
    /// The drive from which the calibration started.
    pub base: String,
    /// The state in which every run begins, as in a target.
    pub state: String,
    /// Runs to which the drive was fitted.
    pub runs: Vec<RunUse>,
    /// All parameters of the drive, whether determined or not.
    pub estimates: Vec<Estimate>,
    /// Sums and ratios that are known better than their single parameters.
    pub combinations: Vec<Combination>,
    /// Predictions of runs to which the drive was not fitted.
    pub held_out: Vec<Prediction>,
    /// Predictions of the runs to which the drive was fitted.
    pub fitted: Vec<Prediction>,
    /// Estimated errors of the metrics.
    pub noise: Vec<Noise>,
    /// Number of candidates that were simulated.
    pub candidates: usize,
    /// The calibrated drive file.
    #[serde(skip)]
    pub file: String,
}

/// Confidence of the intervals: the share that contains the true value.
pub const CONFIDENCE: f64 = 0.9;
/// Largest half-width of a determined value's interval, as a logarithm: a tenth.
const DETERMINED: f64 = 0.095;
/// Largest standard deviation of a rough value, as a share of the prior's.
const ROUGH: f64 = 0.6;
/// Fewest degrees of freedom for an interval.
const FREEDOM_MIN: f64 = 3.0;

/// Fits the parameters of a drive to runs of a real one, and predicts other runs with it.
///
/// # Errors
/// No part of the runs can be simulated on such a drive, or the user stopped the calibration.
pub fn calibrate(
    base: &Base,
    runs: &[MeasuredRun],
    held_out: &[MeasuredRun],
    options: &CalibrationOptions,
    observer: &dyn Observer,
) -> Result<Calibration, CalibrationError> {
    let mut groups = Groups::default();
    let rehearsals = rehearsals(base, runs, &mut groups, options.effort)?;
    let parameters = Parameter::of(base.model());
    let budget = Budget { global: options.candidates, steps: options.steps, seed: options.seed };
    let pool = pool(options.threads);
    let planned = budget.candidates(parameters.len());
    let problem = Problem::new(base, parameters, &rehearsals, observer, &pool, 0..planned);
    let Some(fit) = search(&problem, budget) else {
        return Err(if observer.stop_requested() {
            CalibrationError::Stopped
        } else {
            CalibrationError::BaseDoesNotFit { base: base.name.clone(), run: runs[0].name.clone() }
        });
    };
    let estimates = estimates(&problem, &fit);
    let combinations = combinations(base, &problem.parameters, &fit, quantile(fit.freedom));
    let values = base.values(&problem.parameters, &fit.moves);
    let file = file::calibrated_file(base, &estimates, &values, runs)?;
    let candidates = problem.evaluations.into_inner();
    let mut predict =
        |runs: &[MeasuredRun]| predictions(base, &values, runs, &mut groups, options.effort, observer);
    let (fitted, held_out) = (predict(runs), predict(held_out));
    if observer.stop_requested() {
        return Err(CalibrationError::Stopped);
    }
    Ok(Calibration {
        base: base.name.clone(),
        state: base.state().to_owned(),
        runs: rehearsals.iter().map(run_use).collect(),
        estimates,
        combinations,
        held_out,
        fitted,
        noise: fit.noise,
        candidates,
        file,
    })
}

/// The base that, without fitting, reproduces the measured runs best; `None` if no base can run them.
///
/// # Errors
/// No part of the runs can be simulated.
pub fn closest<'a>(
    bases: &'a [Base],
    runs: &[MeasuredRun],
    options: &CalibrationOptions,
    observer: &dyn Observer,
) -> Result<Option<&'a Base>, CalibrationError> {
    let pool = pool(options.threads);
    let mut best: Option<(f64, &Base)> = None;
    for (index, base) in bases.iter().enumerate() {
        let rehearsals = rehearsals(base, runs, &mut Groups::default(), options.effort)?;
        let cost =
            base_cost(&Problem::new(base, Vec::new(), &rehearsals, observer, &pool, index..bases.len()));
        if observer.stop_requested() {
            return Err(CalibrationError::Stopped);
        }
        if let Some(cost) = cost.filter(|cost| best.is_none_or(|(least, _)| *cost < least)) {
            best = Some((cost, base));
        }
    }
    Ok(best.map(|(_, base)| base))
}

fn pool(threads: usize) -> rayon::ThreadPool {
    ThreadPoolBuilder::new().num_threads(threads.max(1)).build().expect("threads can be started")
}

fn rehearsals<'a>(
    base: &Base,
    runs: &'a [MeasuredRun],
    groups: &mut Groups,
    effort: Effort,
) -> Result<Vec<Rehearsal<'a>>, CalibrationError> {
    let rehearsals: Vec<Rehearsal<'_>> =
        runs.iter().map(|run| Rehearsal::new(run, groups, base, effort)).collect();
    if rehearsals.iter().all(|rehearsal| rehearsal.rows.is_empty()) {
        return Err(CalibrationError::NothingMeasured(runs.iter().map(|run| run.name.clone()).collect()));
    }
    Ok(rehearsals)
}

fn run_use(rehearsal: &Rehearsal<'_>) -> RunUse {
    let rate = |row: &&Row| row.kind() == MetricKind::Rate;
    RunUse {
        name: rehearsal.run.name.clone(),
        procedure: rehearsal.run.evidence.plan.procedure.clone(),
        segments: rehearsal.rows.iter().filter(rate).count(),
        metrics: rehearsal.rows.len(),
    }
}

/// Standard deviations from a value to each end of its 90% interval.
fn quantile(freedom: f64) -> f64 {
    let student =
        StudentsT::new(0.0, 1.0, freedom.max(FREEDOM_MIN)).expect("its degrees of freedom are positive");
    WIDENING * student.inverse_cdf(0.5 + CONFIDENCE / 2.0)
}

/// Factor on the intervals from the planes around the best candidate, which are too narrow: planes are fitted to rough
/// simulations, and they bend where a value stops mattering. Measured with `bench calibration`, seeds 1001 to 1068:
/// without the factor, 85.1% of 538 intervals held the true value; with it, 90% would have.
const WIDENING: f64 = 1.3;

fn estimates(problem: &Problem<'_>, fit: &Fit) -> Vec<Estimate> {
    let quantile = quantile(fit.freedom);
    let zero = vec![0.0; fit.moves.len()];
    let base = problem.base.values(&problem.parameters, &zero);
    let fitted = problem.base.values(&problem.parameters, &fit.moves);
    let at =
        |values: &[(&str, f64)], key| values.iter().find(|(known, _)| *known == key).map(|(_, value)| *value);
    let estimate = |(index, parameter): (usize, &Parameter)| {
        // Another parameter may change the same value, too.
        let moved = |by: &Parameter| f64::from(u8::from(by.keys().any(|key| key == parameter.key)));
        let weights = RowDVector::from_iterator(fit.moves.len(), problem.parameters.iter().map(moved));
        let deviation = fit.deviation(&weights.transpose());
        let value = at(&fitted, parameter.key).expect("every parameter has a value");
        let half = quantile * deviation;
        Estimate {
            key: parameter.key,
            name: parameter.name,
            unit: Unit::of_key(parameter.key),
            base: at(&base, parameter.key).expect("every parameter has a value"),
            value,
            low: value * (-half).exp(),
            high: value * half.exp(),
            standing: standing(fit.has_influence[index], half, deviation),
            needs: parameter.needs,
        }
    };
    problem.parameters.iter().enumerate().map(estimate).collect()
}

fn standing(has_influence: bool, half: f64, deviation: f64) -> Standing {
    if !has_influence {
        Standing::Undetermined
    } else if half <= DETERMINED {
        Standing::Determined
    } else if deviation <= ROUGH * PRIOR_SD {
        Standing::Rough
    } else {
        Standing::Combined
    }
}
