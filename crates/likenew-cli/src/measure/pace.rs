//! How fast a real drive is, for the estimate before a run. The sources are the time of the same
//! plan, else the latest kept run on this target, else a second of trial I/O.

use likenew_archive::{Archive, Record};
use likenew_core::drive::{Drive, TargetKind};
use likenew_core::dry_run::DryRun;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Evidence, Layout, Plan, Procedure};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_real::nop::Nop;
use likenew_run::forecast::Forecast;
use likenew_run::run::run;

use super::Request;
use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Result};
use crate::resolved_target::ResolvedTarget;

/// How many times slower than the assumed drive a drive may be for the estimate to hold. Chosen: hard disks and sticks.
const SLOWER: f64 = 10.0;
/// No better estimate is needed if a run on such a drive ends within this time, or takes at most this many times as long.
const ELAPSED_LEAST: Nanos = Nanos::from_secs(20);
const TIMES_LEAST: f64 = 3.0;
/// Most kept runs that are looked at, newest first. Chosen: they are found in a moment.
const RUNS_MOST: usize = 50;
/// Time and bytes of each trial. Chosen: a second for both trials, and few enough bytes for any drive.
const TRIAL_TIME: Nanos = Nanos::from_millis(500);
const TRIAL_BYTES: u64 = 32 << 20;
/// Block size and queue depth of the sequential trial.
const BLOCK: u32 = 1 << 20;
const DEPTH: u32 = 4;
/// Block size of the random trial.
const SMALL: u32 = 4096;

/// What is known of a drive's speed before a run.
#[derive(Default)]
pub(super) struct Pace {
    pub(super) segments: Vec<Segment>,
    /// How long the same plan took. A plan may end early by what it finds, which no forecast knows.
    elapsed: Option<Nanos>,
    /// Whether a trial is needed: nothing is known, and the estimate depends on the drive.
    is_wanted: bool,
    /// Most bytes that the trial writes.
    trial_bytes: u64,
}

impl Pace {
    /// From segments that were measured before.
    pub(super) fn measured(segments: Vec<Segment>) -> Self {
        Self { segments, ..Self::default() }
    }

    /// From the kept runs on the target, if the estimate depends on the drive.
    ///
    /// # Errors
    /// Those of the procedure.
    pub(super) fn of_kept_run(
        request: &Request<'_>,
        procedure: &dyn Procedure,
        evidence: &Evidence,
        dry_run: &DryRun,
    ) -> Result<Self> {
        if !matches!(evidence.identity.kind, TargetKind::Folder | TargetKind::File | TargetKind::Device) {
            return Ok(Self::default());
        }
        if let Some(elapsed) =
            kept_records(request, evidence).find_map(|record| elapsed_of(&record, &evidence.plan))
        {
            return Ok(Self { elapsed: Some(elapsed), ..Self::default() });
        }
        let slower = DryRun::with_rates(procedure, evidence, &|_| SLOWER).map_err(Failure::Usage)?.elapsed;
        if slower < ELAPSED_LEAST || slower.0 as f64 <= TIMES_LEAST * dry_run.elapsed.0 as f64 {
            return Ok(Self::default());
        }
        let mut kept = kept_records(request, evidence).map(|mut record| record.take_evidence().segments);
        let segments = kept.find(|segments| !segments.is_empty()).unwrap_or_default();
        let is_wanted = segments.is_empty() && !request.run_arguments.estimate;
        let writes = is_wanted && evidence.identity.kind == TargetKind::Folder;
        Ok(Self { segments, is_wanted, trial_bytes: if writes { 2 * TRIAL_BYTES } else { 0 }, elapsed: None })
    }

    /// Tries the drive for a second, if nothing is known. A folder gets trial files of its own, so
    /// that the files of the run are new. Other targets are only read.
    ///
    /// # Errors
    /// The drive cannot be opened again.
    pub(super) fn or_try(
        self,
        target: &ResolvedTarget,
        drive: &mut Box<dyn Drive>,
        procedure: &dyn Procedure,
        execution: &ExecutionArguments,
    ) -> Result<Self> {
        if !self.is_wanted {
            return Ok(self);
        }
        if self.trial_bytes == 0 {
            return Ok(Self { segments: tried(&mut **drive, Op::Read), ..self });
        }
        // Only one open drive can hold the folder's lock.
        *drive = Box::new(Nop::new());
        *drive = target.open(procedure, Layout { files: 1, file_bytes: TRIAL_BYTES }, execution)?;
        let segments = tried(&mut **drive, Op::Write);
        *drive = Box::new(Nop::new());
        *drive = target.open(procedure, procedure.layout(), execution)?;
        Ok(Self { segments, ..self })
    }

    /// The dry run of the same plan on a drive of this speed.
    ///
    /// # Errors
    /// Those of the procedure.
    pub(super) fn rate(
        &self,
        dry_run: DryRun,
        procedure: &dyn Procedure,
        evidence: &Evidence,
    ) -> Result<DryRun> {
        if let Some(elapsed) = self.elapsed {
            return Ok(DryRun { elapsed, ..dry_run });
        }
        if self.segments.is_empty() {
            return Ok(dry_run);
        }
        let mut forecast = Forecast::new(&[], evidence.geometry.clock, evidence.identity.rotates());
        forecast.learn(&self.segments);
        let rated = DryRun::with_rates(procedure, evidence, &|workload| forecast.slowdown(workload));
        let rated = rated.map_err(Failure::Usage)?;
        // A plan that only time ends writes what the drive takes in that time.
        let estimate = if dry_run.bytes_written_max.is_some() { &dry_run } else { &rated };
        Ok(DryRun { elapsed: rated.elapsed, bytes_written: estimate.bytes_written, ..dry_run })
    }

    /// Adds the bytes of the trial to a dry run.
    pub(super) fn with_trial(&self, dry_run: DryRun) -> DryRun {
        let add = |bytes: u64| bytes.saturating_add(self.trial_bytes);
        DryRun {
            bytes_written: add(dry_run.bytes_written),
            bytes_written_max: dry_run.bytes_written_max.map(add),
            ..dry_run
        }
    }
}

/// The kept runs on this target, the newest first.
fn kept_records(request: &Request<'_>, evidence: &Evidence) -> impl Iterator<Item = Record> {
    let archive = request.run_arguments.archive_arguments.folder.archive().ok();
    let runs = archive.and_then(|archive| archive.folders().ok()).unwrap_or_default();
    let name = evidence.identity.name.clone();
    let records = runs.into_iter().rev().take(RUNS_MOST).filter_map(|folder| Archive::open(&folder).ok());
    records.filter(move |record| record.header.machine.identity.name == name)
}

/// How long a run took, if it ran the same plan to its end.
fn elapsed_of(record: &Record, plan: &Plan) -> Option<Nanos> {
    let kept = &record.header.plan;
    let is_whole = record.findings.as_ref().is_some_and(|findings| !findings.is_interrupted);
    let spans = || {
        let segments = record.segments.iter().map(Segment::elapsed);
        segments.chain(record.observations.iter().map(|probed| probed.ended_at.since(probed.started_at)))
    };
    ((&kept.procedure, &kept.options) == (&plan.procedure, &plan.options) && is_whole)
        .then(|| spans().fold(Nanos::ZERO, |sum, span| sum + span))
}

/// Tries sequential and random I/O, and leaves out what fails.
fn tried(drive: &mut dyn Drive, op: Op) -> Vec<Segment> {
    let geometry = drive.geometry();
    let region = Region::bytes(0..geometry.capacity.min(TRIAL_BYTES) / u64::from(BLOCK) * u64::from(BLOCK));
    let small = SMALL.max(geometry.block);
    let trials =
        [(AccessPattern::Sequential(region), BLOCK, DEPTH), (AccessPattern::Random(region), small, 1)];
    let trials = trials.map(|(pattern, block, depth)| {
        let stream = Stream::closed(Mix::Only(op), block, pattern, depth, DataClass::Random);
        let until = Until { elapsed: Some(TRIAL_TIME), ..Until::bytes(TRIAL_BYTES) };
        Workload { flush: op == Op::Write, ..Workload::new("estimate", until, vec![stream]) }
    });
    let mut segment = |workload: &Workload| Some(run(drive, workload, &mut || Box::new(())).ok()?.segment);
    let segments = trials.iter().filter_map(&mut segment);
    segments.filter(|segment| segment.measurement_error().is_none()).collect()
}
