//! A measured run, and the same workloads on a simulated drive.

use std::collections::HashMap;

use likenew_core::drive::Drive as _;
use likenew_core::procedure::{Evidence, PastStep};
use likenew_core::segment::Segment;
use likenew_core::workload::{Access, Workload};
use likenew_run::run::run;

use crate::base::Base;
use crate::metric::{Metric, MetricKind};
use crate::view::View;

/// A run that was made of the real drive.
#[derive(Clone, Debug)]
pub struct MeasuredRun {
    /// Its name: that of its folder.
    pub name: String,
    /// What was measured.
    pub evidence: Evidence,
}

/// How much of a run is simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// I/Os of a segment that only reads flash, at most: reads leave it as it is.
    pub reads_max: u64,
    /// I/Os of a segment that writes at an even speed, at most; the others are simulated whole.
    pub level_writes_max: u64,
}

impl Default for Effort {
    /// Of 20,000 I/Os the mean is known to a percent and the 99th percentile to a few.
    fn default() -> Self {
        Self { reads_max: 20_000, level_writes_max: 100_000 }
    }
}

/// A row of what is compared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    /// Index of the segment in its run.
    segment: usize,
    pub(crate) metric: Metric,
    /// Rows of equal workloads and metrics are passes of one test.
    pub(crate) group: usize,
    /// The logarithm of what was measured.
    pub(crate) measured: f64,
}

impl Row {
    /// Of the first segment.
    #[cfg(test)]
    pub(crate) fn new(metric: Metric, group: usize) -> Self {
        Self { segment: 0, metric, group, measured: 0.0 }
    }

    pub(crate) fn kind(&self) -> MetricKind {
        self.metric.kind()
    }
}

/// A run, ready to be simulated.
pub(crate) struct Rehearsal<'a> {
    pub(crate) run: &'a MeasuredRun,
    /// What is simulated of each segment; none of those that a simulation cannot do.
    workloads: Vec<Option<Workload>>,
    pub(crate) rows: Vec<Row>,
}

/// Names the tests of all runs.
#[derive(Default)]
pub(crate) struct Groups {
    known: HashMap<String, usize>,
    /// Each with the name of its first segment.
    pub(crate) names: Vec<String>,
}

impl Groups {
    /// Equal but for names, seeds and what is kept are passes of one test.
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

/// Two halves of a segment, or two passes of a test, are of one level up to this ratio. Chosen: twice the usual scatter.
const LEVEL_RATIO: f64 = 1.1;

impl<'a> Rehearsal<'a> {
    pub(crate) fn new(run: &'a MeasuredRun, groups: &mut Groups, rotates: bool, effort: Effort) -> Self {
        let segments = &run.evidence.segments;
        let mut rows = Vec::new();
        let workloads = segments
            .iter()
            .enumerate()
            .map(|(index, segment)| {
                if !can_be_simulated(segment) {
                    return None;
                }
                let limit = limit(segments, index, rotates, effort);
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

    /// The logarithms of what a simulated drive does, by row; a row that it does not get to is none. None at all if it cannot
    /// be addressed as the real one was, or `stop` was asked for.
    pub(crate) fn simulate(
        &self,
        base: &Base,
        values: &[(&'static str, f64)],
        stop: &dyn Fn() -> bool,
    ) -> Option<Vec<Option<f64>>> {
        let drive = base.open(values).ok()?;
        let mut drive = View::new(drive, &self.run.evidence.geometry)?;
        let mut simulated: Vec<Option<Segment>> = Vec::with_capacity(self.workloads.len());
        for step in self.run.evidence.history() {
            if stop() {
                return None;
            }
            match step {
                PastStep::Observation(observation) if observation.probe.writes() => {
                    // What it finds does not matter, only what it does to the drive.
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

/// What replays a recording or reads the owner's files has its addresses elsewhere.
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

/// Whether a test writes as fast at the end as at the beginning, within a pass and over its passes, so that a part of it says
/// what all of it does.
fn is_level(segments: &[Segment], segment: &Segment) -> bool {
    let same = |other: &&Segment| other.workload.streams == segment.workload.streams;
    let rates: Vec<f64> = segments.iter().filter(same).filter_map(Segment::bytes_per_s).collect();
    let (low, high) =
        rates.iter().fold((f64::MAX, 0.0f64), |(low, high), rate| (low.min(*rate), high.max(*rate)));
    high <= low * LEVEL_RATIO
}
