//! Predicts runs with a calibrated drive, and compares them with the measured ones.

use serde::Serialize;

use crate::base::Base;
use crate::metric::MetricKind;
use crate::problem::Observer;
use crate::rehearsal::{Effort, Groups, MeasuredRun, Rehearsal, by_test};

/// The prediction of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The run's name.
    pub run: String,
    /// The run's tests.
    pub tests: Vec<TestPrediction>,
}

/// One metric of a test, averaged over all passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestPrediction {
    /// The name of its first pass.
    pub name: String,
    /// The kind of metric.
    pub kind: MetricKind,
    /// Geometric mean of the measured passes, in the metric's own unit.
    pub measured: f64,
    /// Geometric mean of the simulated passes; `None` if the simulation did not reach them.
    pub simulated: Option<f64>,
}

/// Largest median error, and largest single error, of rates for a drive that can be trusted. Chosen: runs of one drive
/// differ by a tenth from day to day; a single test with a larger error is named.
const TYPICAL_MAX: f64 = 0.1;
const WORST_MAX: f64 = 0.3;

impl TestPrediction {
    /// Relative error of the simulated value.
    pub fn error(&self) -> f64 {
        let ratio = self.simulated.map_or(std::f64::consts::E, |simulated| simulated / self.measured);
        ratio.max(1.0 / ratio) - 1.0
    }
}

impl Prediction {
    /// The predictions of rates, best first.
    pub fn rates(&self) -> Vec<&TestPrediction> {
        let mut rates: Vec<_> = self.tests.iter().filter(|test| test.kind == MetricKind::Rate).collect();
        rates.sort_by(|a, b| a.error().total_cmp(&b.error()));
        rates
    }

    /// The median error of the rates.
    pub fn typical_error(&self) -> Option<f64> {
        let rates = self.rates();
        rates.get(rates.len() / 2).map(|test| test.error())
    }

    /// The test with the largest error.
    pub fn worst(&self) -> Option<&TestPrediction> {
        self.rates().pop()
    }

    /// Whether the drive can be trusted for runs like this one.
    pub fn is_good(&self) -> bool {
        self.typical_error().is_some_and(|error| error <= TYPICAL_MAX)
            && self.worst().is_some_and(|test| test.error() <= WORST_MAX)
    }
}

/// Predictions of runs with these values. A run that the drive cannot do gets no tests.
pub(crate) fn predictions(
    base: &Base,
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
    groups: &mut Groups,
    effort: Effort,
    observer: &dyn Observer,
) -> Vec<Prediction> {
    let predict = |run: &MeasuredRun| {
        let rehearsal = Rehearsal::new(run, groups, base, effort);
        let simulated = rehearsal.simulate(base, values, &|| observer.stop_requested()).unwrap_or_default();
        let test = |rows: Vec<usize>| {
            let (count, first) = (rows.len() as f64, &rehearsal.rows[rows[0]]);
            let measured = rows.iter().map(|row| rehearsal.rows[*row].measured).sum::<f64>() / count;
            let simulated: Option<f64> = rows.iter().map(|row| simulated[*row]).sum();
            TestPrediction {
                name: groups.names[first.group].clone(),
                kind: first.kind(),
                measured: measured.exp(),
                simulated: simulated.map(|sum| (sum / count).exp()),
            }
        };
        let simulated_rows = rehearsal.rows.iter().enumerate().take(simulated.len());
        let tests = by_test(simulated_rows).into_iter().map(test).collect();
        Prediction { run: run.name.clone(), tests }
    };
    runs.iter().map(predict).collect()
}
