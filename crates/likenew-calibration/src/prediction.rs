//! A run beside what the calibrated drive does in it.

use serde::Serialize;

use crate::base::Base;
use crate::metric::MetricKind;
use crate::observer::Observer;
use crate::rehearsal::{Effort, Groups, MeasuredRun, Rehearsal};

/// One run, predicted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    /// The run.
    pub run: String,
    /// Its tests.
    pub tests: Vec<TestPrediction>,
}

/// One test, over all of its passes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestPrediction {
    /// The name of its first pass.
    pub name: String,
    /// Which number.
    pub kind: MetricKind,
    /// The geometric mean of the passes: bytes a second, I/Os a second, or a share of the mean latency.
    pub measured: f64,
    /// The same of the simulated drive; none if it did not get there.
    pub simulated: Option<f64>,
}

/// A median error of rates up to this, and a largest up to that, lets a drive be trusted. Chosen: a tenth is what runs of a drive
/// differ by from day to day; one test in error is named.
const TYPICAL_MAX: f64 = 0.1;
const WORST_MAX: f64 = 0.3;

impl TestPrediction {
    /// By how much the simulated value is off, as a share.
    pub fn error(&self) -> f64 {
        let ratio = self.simulated.map_or(std::f64::consts::E, |simulated| simulated / self.measured);
        ratio.max(1.0 / ratio) - 1.0
    }
}

impl Prediction {
    /// The rates alone, best first.
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

    /// Whether the drive may be trusted in a run like this.
    pub fn is_good(&self) -> bool {
        self.typical_error().is_some_and(|error| error <= TYPICAL_MAX)
            && self.worst().is_some_and(|test| test.error() <= WORST_MAX)
    }
}

/// The test, its metric, and what each pass measured and simulated, as logarithms.
type Passes = (usize, MetricKind, Vec<(f64, Option<f64>)>);

/// Runs beside what a drive does in them; those that it cannot run have no tests.
pub(crate) fn predictions(
    base: &Base,
    values: &[(&'static str, f64)],
    runs: &[MeasuredRun],
    groups: &mut Groups,
    effort: Effort,
    observer: &dyn Observer,
) -> Vec<Prediction> {
    let rotates = base.model().source("mechanics.rotations_per_minute").is_some();
    let predict = |run: &MeasuredRun| {
        let rehearsal = Rehearsal::new(run, groups, rotates, effort);
        let simulated = rehearsal.simulate(base, values, &|| observer.stop_requested()).unwrap_or_default();
        let mut tests: Vec<Passes> = Vec::new();
        for (row, simulated) in rehearsal.rows.iter().zip(simulated) {
            let pair = (row.measured, simulated);
            match tests.iter_mut().find(|(group, ..)| *group == row.group) {
                Some((.., pairs)) => pairs.push(pair),
                None => tests.push((row.group, row.kind(), vec![pair])),
            }
        }
        let test = |(group, kind, pairs): Passes| {
            let count = pairs.len() as f64;
            let measured = pairs.iter().map(|(measured, _)| measured).sum::<f64>() / count;
            let simulated: Option<f64> = pairs.iter().map(|(_, simulated)| *simulated).sum();
            TestPrediction {
                name: groups.names[group].clone(),
                kind,
                measured: measured.exp(),
                simulated: simulated.map(|sum| (sum / count).exp()),
            }
        };
        let tests = tests.into_iter().map(test).collect();
        Prediction { run: run.name.clone(), tests }
    };
    runs.iter().map(predict).collect()
}
