//! Opens a drive for a new or a resumed run, and refuses what does not fit before anything is measured.

use std::ops::ControlFlow;

use likenew_archive::{Machine, Run};
use likenew_core::drive::{Drive, Identity};
use likenew_core::dry_run::DryRun;
use likenew_core::instrument::Instrument;
use likenew_core::procedure::{Evidence, Plan, Procedure, Step};
use likenew_core::segment::{Segment, Stop};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedures::all::from_plan;
use likenew_run::restore::{RestoreError, RestoreStep, restore};
use likenew_run::run::calibrate;

use super::pace::Pace;
use super::writes::{Offer, ask_about, wear};
use super::{Request, Target};
use crate::exit::{Exit, Failure, Result};
use crate::io_log::IoLog;
use crate::plan_file::export;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::ResolvedTarget;
use crate::{output, wording};

/// Longest run of a plan, 90 days. Chosen: longer is a mistake.
const ELAPSED_MOST: Nanos = Nanos::from_secs(90 * 86_400);
/// Most bytes that a plan moves, in capacities of the drive.
const PASSES_MOST: u64 = 10_000;

/// Everything that a run needs to continue to its end.
pub(super) struct OpenRun {
    pub(super) drive: Box<dyn Drive>,
    pub(super) procedure: Box<dyn Procedure>,
    /// The evidence so far.
    pub(super) evidence: Evidence,
    pub(super) instrument: Instrument,
    /// When the run began, as a date in UTC.
    pub(super) started_at: String,
    pub(super) archive: Option<Run>,
    pub(super) log: Option<IoLog>,
    /// The dry run of the rest.
    pub(super) dry_run: DryRun,
    /// What is known of the drive's speed.
    pub(super) pace: Pace,
}

/// Locks the drive, unless the run does no I/O there, and opens it. Ends with an exit code if the
/// user stopped that, or if the plan is only exported or estimated.
///
/// # Errors
/// The plan does not fit the target; a refusal; the errors of opening.
pub(super) fn open(
    request: &mut Request<'_>,
    target: &mut Target,
    plan: Plan,
) -> Result<ControlFlow<Exit, OpenRun>> {
    let procedure = from_plan(&plan).map_err(Failure::Usage)?;
    let does_io = !procedure.only_probes() && request.run_arguments.export.is_none();
    if does_io && !target.lock(&request.run_arguments.execution)? {
        return Ok(ControlFlow::Break(Exit::Interrupted));
    }
    let drive = target.resolved.open_for(&*procedure, &request.run_arguments.execution)?;
    let (interrupted, target) = (request.interrupted.take(), &target.resolved);
    match interrupted {
        None => {
            let evidence = Evidence::new(plan, drive.identity(), drive.geometry());
            Opening { request, target, drive, procedure, evidence }.begin()
        }
        Some(interrupted) => {
            let InterruptedRun { run, evidence, instrument, started_at, dry_run } = interrupted;
            let opening = Opening { request, target, drive, procedure, evidence };
            opening.resume(run, instrument, started_at, dry_run)
        }
    }
}

/// A drive that is open for a procedure, before anything is measured.
struct Opening<'a> {
    request: &'a Request<'a>,
    target: &'a ResolvedTarget,
    drive: Box<dyn Drive>,
    procedure: Box<dyn Procedure>,
    evidence: Evidence,
}

impl Opening<'_> {
    fn begin(mut self) -> Result<ControlFlow<Exit, OpenRun>> {
        self.check_first()?;
        let dry_run = DryRun::plan(&*self.procedure, &self.evidence).map_err(Failure::Usage)?;
        self.refuse_absurd(&dry_run)?;
        if let Some(program) = self.request.run_arguments.export {
            return Ok(ControlFlow::Break(export(program, &self.evidence, &dry_run)?));
        }
        let pace = Pace::of_kept_run(self.request, &*self.procedure, &self.evidence, &dry_run)?;
        let dry_run = pace.with_trial(pace.rate(dry_run, &*self.procedure, &self.evidence)?);
        if let Some(exit) = self.agree(&dry_run)? {
            return Ok(ControlFlow::Break(exit));
        }
        let run_arguments = self.request.run_arguments;
        let pace = pace.or_try(self.target, &mut self.drive, &*self.procedure, &run_arguments.execution)?;
        let dry_run = pace.rate(dry_run, &*self.procedure, &self.evidence)?;
        let instrument = self.instrument()?;
        let log = self.log(None)?;
        let started_at = likenew_real::clock::wall_date();
        let archive = match self.archive(&instrument, &started_at) {
            // Facts are shown even to a user who may not write an archive.
            Err(failure) if self.request.access.is_facts() => {
                crate::console::note(wording::run_not_kept(failure));
                None
            }
            archive => archive?,
        };
        let Self { drive, procedure, evidence, .. } = self;
        Ok(ControlFlow::Continue(OpenRun {
            drive,
            procedure,
            evidence,
            instrument,
            started_at,
            archive,
            log,
            dry_run,
            pace,
        }))
    }

    /// Opens the rest of a run, once its drive is in the state in which it was left.
    fn resume(
        mut self,
        run: Run,
        instrument: Instrument,
        started_at: String,
        dry_run: DryRun,
    ) -> Result<ControlFlow<Exit, OpenRun>> {
        refuse_another(&self.evidence, &self.drive.identity())?;
        let pace = Pace::measured(self.evidence.segments.clone());
        let dry_run = pace.rate(dry_run, &*self.procedure, &self.evidence)?;
        if let Some(exit) = self.agree(&dry_run)? {
            return Ok(ControlFlow::Break(exit));
        }
        let log = self.log(Some(&self.evidence.segments))?;
        let Self { mut drive, procedure, evidence, .. } = self;
        run.cut_after(evidence.segments.len(), evidence.observations.len()).map_err(anyhow::Error::new)?;
        if let Some(exit) = restore_state(&mut *drive, &evidence)? {
            return Ok(ControlFlow::Break(exit));
        }
        let archive = Some(run);
        Ok(ControlFlow::Continue(OpenRun {
            drive,
            procedure,
            evidence,
            instrument,
            started_at,
            archive,
            log,
            dry_run,
            pace,
        }))
    }

    /// Asks the user before a run that wears the drive. For an estimate, prints the cost and the question, and ends.
    fn agree(&mut self, dry_run: &DryRun) -> Result<Option<Exit>> {
        let (run_arguments, always) = (self.request.run_arguments, self.procedure.always_confirms());
        let wear = wear(&mut *self.drive, always, dry_run, self.target)?;
        if !run_arguments.estimate {
            return ask_about(wear, always, &run_arguments.execution).map(|()| None);
        }
        let offer = Offer::new(dry_run, &self.evidence, wear.as_deref());
        match &run_arguments.execution.output.json {
            Some(path) => output::write_json(path, &offer)?,
            None => output::print(&offer.lines())?,
        }
        Ok(Some(Exit::Fine))
    }

    /// Refuses a plan that does not fit before anything is kept or measured.
    fn check_first(&self) -> Result<()> {
        match self.procedure.next(&self.evidence).map_err(Failure::Usage)? {
            Step::Run(workload) => {
                if workload.writes() {
                    self.target.refuse_writing()?;
                }
                workload.check(&self.evidence.geometry).map_err(Failure::Usage)
            }
            Step::Probe(probe) if probe.writes() => self.target.refuse_writing(),
            Step::Probe(_) | Step::Done => Ok(()),
        }
    }

    /// Refuses a plan that would never end, or take months, before anything is measured.
    fn refuse_absurd(&self, dry_run: &DryRun) -> Result<()> {
        let DryRun { bytes_moved, bytes_written, elapsed, is_finite, .. } = *dry_run;
        let much = bytes_moved / self.evidence.geometry.capacity.max(1) >= PASSES_MOST;
        if is_finite && elapsed <= ELAPSED_MOST && !much {
            return Ok(());
        }
        Err(Failure::Usage(wording::plan_too_long(bytes_moved, bytes_written, elapsed, is_finite)))
    }

    /// Facts are not timed, so nothing is calibrated for them.
    fn instrument(&self) -> Result<Instrument> {
        let clock = if self.target.is_real() { Clock::Wall } else { Clock::Virtual };
        let engine = self.drive.identity().engine;
        let calibration = match clock {
            Clock::Wall if !self.request.access.is_facts() => {
                let mut limits = calibrate(&mut likenew_real::nop::Nop::new())?;
                let is_ring = engine.contains("io_uring");
                limits.added_latency = is_ring.then(likenew_real::uring::added_latency).flatten();
                Some(limits)
            }
            Clock::Wall | Clock::Virtual => None,
        };
        let system = self.target.is_here().then(likenew_real::host::system).flatten();
        Ok(Instrument { version: env!("CARGO_PKG_VERSION").to_owned(), clock, engine, system, calibration })
    }

    /// The log that was asked for, of a new run, or of one that is resumed after these segments.
    fn log(&self, resumed: Option<&[Segment]>) -> Result<Option<IoLog>> {
        let path = self.request.run_arguments.execution.log.as_deref();
        path.map(|path| IoLog::begin(path, self.evidence.geometry.clock, resumed)).transpose()
    }

    fn archive(&self, instrument: &Instrument, started_at: &str) -> Result<Option<Run>> {
        let run_arguments = self.request.run_arguments;
        if run_arguments.archive_arguments.no_archive {
            return Ok(None);
        }
        let Evidence { identity, geometry, plan, .. } = &self.evidence;
        let machine = Machine::new(started_at, identity.clone(), geometry.clone(), instrument.clone());
        let machine = machine.with_settings(run_arguments.execution.settings());
        let archive = run_arguments.archive_arguments.folder.archive()?;
        Ok(Some(archive.create(plan, &machine).map_err(anyhow::Error::new)?))
    }
}

/// A kept run that did not finish.
pub(crate) struct InterruptedRun {
    pub(crate) run: Run,
    /// The evidence so far.
    pub(crate) evidence: Evidence,
    /// As it was at the beginning of the run.
    pub(crate) instrument: Instrument,
    /// When the run began, as a date in UTC.
    pub(crate) started_at: String,
    /// The dry run of the rest.
    pub(crate) dry_run: DryRun,
}

/// Refuses to continue a run on another drive.
fn refuse_another(evidence: &Evidence, now: &Identity) -> Result<()> {
    let then = &evidence.identity;
    let text = |identity: &Identity| {
        wording::drive_with_model(
            &identity.name,
            identity.model.as_deref(),
            identity.capacity_bytes,
            identity.block_bytes,
        )
    };
    let same = then.kind == now.kind && text(then) == text(now);
    same.then_some(()).ok_or_else(|| Failure::Refused(wording::another_drive(&text(then), &text(now))))
}

/// Brings the drive into the state in which the run left it. Nothing is measured until then, so
/// stopping loses nothing. Returns an exit if the user stopped it.
fn restore_state(drive: &mut dyn Drive, evidence: &Evidence) -> Result<Option<Exit>> {
    crate::console::note(wording::going_on(evidence.segments.len(), evidence.observations.len()));
    let progress = std::cell::RefCell::new(Progress::new());
    let begins = |step: &RestoreStep, done, total| {
        let name = match step {
            RestoreStep::Run(workload) => &*workload.name,
            RestoreStep::Probe(probe) => probe.name(),
        };
        progress.borrow_mut().on_begin(name, name);
        progress.borrow().set_share(done, total);
    };
    let Evidence { segments, observations, .. } = evidence;
    let mut recordings = Recordings::default();
    let restored = restore(
        drive,
        segments,
        observations,
        begins,
        &mut |replay_spec| recordings.open(replay_spec),
        &mut || Box::new(progress.borrow().recorder()),
    );
    progress.borrow().finish();
    match restored {
        Ok(()) => Ok(None),
        Err(RestoreError::Stopped(Stop::Interrupted)) => {
            crate::console::note(wording::STOPPED_RESTORING);
            Ok(Some(Exit::Interrupted))
        }
        Err(error @ RestoreError::OtherResults { .. }) => Err(Failure::Refused(error.to_string())),
        Err(RestoreError::Run(error)) => Err(error.into()),
        Err(RestoreError::TargetError(target_error)) => Err(target_error.into()),
        Err(error @ RestoreError::Stopped(_)) => Err(Failure::Other(error.into())),
    }
}
