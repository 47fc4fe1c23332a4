//! Repeats the workloads of a measured run on a simulated drive.

use std::collections::HashMap;

use likenew_core::drive::Drive as _;
use likenew_core::procedure::{Evidence, PastStep};
use likenew_core::segment::Segment;
use likenew_core::workload::{Access, Workload};
use likenew_run::run::run;

use crate::base::Base;
use crate::metric::{Metric, MetricKind};

/// A run of the real drive.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// The name of the run folder.
    pub name: String,
    /// The run's measurements.
    pub evidence: Evidence,
}

/// How much of a run is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Most I/Os of a segment that only reads flash, since reads leave its state unchanged.
    pub reads_max: u64,
    /// Most I/Os of a segment that writes at a steady rate. Other writes are simulated completely.
    pub level_writes_max: u64,
}

impl Default for Effort {
    /// 20,000 I/Os give the mean within a percent and the 99th percentile within a few.
    fn default() -> Self {
        Self { reads_max: 20_000, level_writes_max: 100_000 }
    }
}

/// One metric of one segment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Index of the segment in its run.
    segment: usize,
    pub(crate) metric: Metric,
    /// Number of the test. Rows with equal workloads and metrics are passes of one test.
    pub(crate) group: usize,
    /// Logarithm of the measured value.
    pub(crate) measured: f64,
}

impl Row {
    /// A row of the first segment.
    #[cfg(test)]
    pub(crate) fn new(metric: Metric, group: usize) -> Self {
        Self { segment: 0, metric, group, measured: 0.0 }
    }

    pub(crate) fn kind(&self) -> MetricKind {
        self.metric.kind()
    }
}

/// Indexes of rows by test, in the order of the tests' first rows.
pub(crate) fn by_test<'r>(rows: impl Iterator<Item = (usize, &'r Row)>) -> Vec<Vec<usize>> {
    let mut tests: Vec<(usize, Vec<usize>)> = Vec::new();
    for (index, row) in rows {
        match tests.iter_mut().find(|(group, _)| *group == row.group) {
            Some((_, members)) => members.push(index),
            None => tests.push((row.group, vec![index])),
        }
    }
    tests.into_iter().map(|(_, members)| members).collect()
}

/// A run prepared for simulation.
pub(crate) struct Rehearsal<'a> {
    pub(crate) run: &'a MeasuredRun,
    /// The simulated workload of each segment; `None` if it cannot be simulated.
    workloads: Vec<Option<Workload>>,
    pub(crate) rows: Vec<Row>,
}

/// Numbers the tests of all runs.
#[derive(Default)]
pub(crate) struct Groups {
    known: HashMap<String, usize>,
    /// Name of each test: that of its first segment.
    pub(crate) names: Vec<String>,
}

impl Groups {
    /// The number of a test. Workloads that differ only in name, seed and kept samples are passes of one test.
    fn of(&mut self, workload: &Workload, metric: Metric) -> usize {
        let bare = Workload { name: String::new(), seed: 0, samples: 0, window: None, ..workload.clone() };
        let key = serde_json::to_string(&bare).expect("a workload is plain data") + &format!("{metric:?}");
        let next = self.known.len();
        let group = *self.known.entry(key).or_insert(next);
        if group == next {
            self.names.push(workload.name.clone());
        }
        group
    }
}

/// Largest ratio between the rates of steady passes. Chosen: twice the usual scatter.
const LEVEL_RATIO: f64 = 1.1;

impl<'a> Rehearsal<'a> {
    pub(crate) fn new(run: &'a MeasuredRun, groups: &mut Groups, base: &Base, effort: Effort) -> Self {
        let segments = &run.evidence.segments;
        let mut rows = Vec::new();
        let workloads = segments
            .iter()
            .enumerate()
            .map(|(index, segment)| {
                if !can_be_simulated(segment) {
                    return None;
                }
                let limit = limit(segments, index, base.rotates(), effort);
                let mut workload = segment.workload.clone();
                if let Some(limit) = limit {
                    workload.until.ops = Some(workload.until.ops.unwrap_or(u64::MAX).min(limit));
                }
                if workload.access == Access::Direct {
                    for metric in Metric::of(segment, limit.is_none()) {
                        let measured = metric.value(segment).expect("a metric of the segment has a value");
                        rows.push(Row {
                            segment: index,
                            metric,
                            group: groups.of(&segment.workload, metric),
                            measured,
                        });
                    }
                }
                Some(workload)
            })
            .collect();
        Self { run, workloads, rows }
    }

    /// Simulates the run and returns the metric's logarithm for each row; `None` in a row that was not reached. Returns
    /// `None` if the drive cannot have the real one's addresses, or if `stop` says so.
    pub(crate) fn simulate(
        &self,
        base: &Base,
        values: &[(&'static str, f64)],
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<Option<f64>>> {
        let mut drive = base.open(values).ok()?.narrowed_to(&self.run.evidence.geometry)?;
        let mut simulated: Vec<Option<Segment>> = Vec::with_capacity(self.workloads.len());
        for step in self.run.evidence.history() {
            if stop() {
                return None;
            }
            match step {
                PastStep::Observation(observation) if observation.probe.writes() => {
                    // Only its effect on the drive matters, not its result.
                    let _ = drive.probe(&observation.probe);
                }
                PastStep::Observation(_) => {}
                PastStep::Segment(_) => {
                    let workload = self.workloads[simulated.len()].as_ref();
                    let ran =
                        workload.and_then(|workload| run(&mut drive, workload, &mut || Box::new(())).ok());
                    simulated.push(ran.map(|ran| ran.segment));
                }
            }
        }
        let value = |row: &Row| row.metric.value(simulated.get(row.segment)?.as_ref()?);
        Some(self.rows.iter().map(value).collect())
    }
}

/// Whether the segment's addresses are known: not for replayed recordings and for files of the owner.
fn can_be_simulated(segment: &Segment) -> bool {
    let workload = &segment.workload;
    workload.replay_spec.is_none() && !workload.old_files && workload.access != Access::Null
}

/// How many I/Os of a segment are simulated, if not all.
fn limit(segments: &[Segment], index: usize, rotates: bool, effort: Effort) -> Option<u64> {
    let segment = &segments[index];
    let ios = segment.total().ios;
    let limit = if rotates || segment.workload.is_rest() {
        return None;
    } else if !segment.workload.writes() {
        effort.reads_max
    } else if is_level(segments, segment) {
        effort.level_writes_max
    } else {
        return None;
    };
    (ios > limit).then_some(limit)
}

/// Whether all passes of a test write at nearly the same rate, so that a part of a pass represents all of it.
fn is_level(segments: &[Segment], segment: &Segment) -> bool {
    let same = |other: &&Segment| other.workload.streams == segment.workload.streams;
    let rates: Vec<f64> = segments.iter().filter(same).filter_map(Segment::bytes_per_s).collect();
    let (low, high) =
        rates.iter().fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    high <= low * LEVEL_RATIO
}
