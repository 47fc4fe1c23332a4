//! The differences between measured metrics and those of a candidate, and how a caller follows the search.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::ThreadPool;
use rayon::prelude::*;

use crate::base::Base;
use crate::parameter::{Parameter, value_of};
use crate::rehearsal::{Rehearsal, Row};

/// Follows a calibration; called from any of its threads.
pub trait Observer: Sync {
    /// `done` candidates of about `planned` were simulated.
    fn on_progress(&self, _done: usize, _planned: usize) {}

    /// Whether the user asked to stop.
    fn stop_requested(&self) -> bool {
        false
    }
}

/// Ignores everything.
impl Observer for () {}

/// The fitting problem: find moves of the parameters with which a candidate reproduces the runs.
pub(crate) struct Problem<'a> {
    pub(crate) base: &'a Base,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) rehearsals: &'a [Rehearsal<'a>],
    /// Rows of all runs, one after the other.
    pub(crate) rows: Vec<Row>,
    pub(crate) observer: &'a dyn Observer,
    pub(crate) pool: &'a ThreadPool,
    /// Number of candidates that were simulated.
    pub(crate) evaluations: AtomicUsize,
    /// Approximate number of candidates in total.
    pub(crate) planned: usize,
}

/// The difference for a metric that the candidate did not reach: a factor of e.
const MISSING: f64 = 1.0;

impl<'a> Problem<'a> {
    /// The problem of these rehearsals. `evaluations`: the number of candidates so far, and about how many there will
    /// be.
    pub(crate) fn new(
        base: &'a Base,
        parameters: Vec<Parameter>,
        rehearsals: &'a [Rehearsal<'a>],
        observer: &'a dyn Observer,
        pool: &'a ThreadPool,
        evaluations: Range<usize>,
    ) -> Self {
        let rows = rehearsals.iter().flat_map(|rehearsal| rehearsal.rows.iter().copied()).collect();
        let (done, planned) = (AtomicUsize::new(evaluations.start), evaluations.end);
        Self { base, parameters, rehearsals, rows, observer, pool, evaluations: done, planned }
    }

    /// Limits of each parameter's move, as logarithms.
    pub(crate) fn limits(&self) -> Vec<(f64, f64)> {
        let limit = |parameter: &Parameter| {
            let base = value_of(self.base.model(), parameter.key).expect("the drive has its parameters");
            ((parameter.limits.0 / base).ln().min(0.0), (parameter.limits.1 / base).ln().max(0.0))
        };
        self.parameters.iter().map(limit).collect()
    }

    /// The moves, cut to the limits.
    pub(crate) fn clamp(&self, moves: &[f64]) -> Vec<f64> {
        moves.iter().zip(self.limits()).map(|(by, (low, high))| by.clamp(low, high)).collect()
    }

    /// Measured minus simulated logarithm of each row; `None` if no such drive exists or the user stopped.
    pub(crate) fn residuals(&self, moves: &[f64]) -> Option<Vec<f64>> {
        let values = self.base.values(&self.parameters, moves);
        let stop = || self.observer.stop_requested();
        let mut residuals = Vec::with_capacity(self.rows.len());
        for rehearsal in self.rehearsals {
            let simulated = rehearsal.simulate(self.base, &values, &stop)?;
            let difference =
                |(row, simulated): (&Row, Option<f64>)| simulated.map_or(MISSING, |s| row.measured - s);
            residuals.extend(rehearsal.rows.iter().zip(simulated).map(difference));
        }
        let done = self.evaluations.fetch_add(1, Ordering::Relaxed) + 1;
        self.observer.on_progress(done, self.planned.max(done));
        Some(residuals)
    }

    /// Residuals of several candidates in parallel.
    pub(crate) fn residuals_of_all(&self, candidates: &[Vec<f64>]) -> Vec<Option<Vec<f64>>> {
        self.pool.install(|| candidates.par_iter().map(|moves| self.residuals(moves)).collect())
    }
}
