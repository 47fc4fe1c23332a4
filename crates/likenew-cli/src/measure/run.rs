//! One run: opens its drive and refuses what does not fit before anything is measured, carries the plan out, judges and
//! keeps what was measured, and says how it ended.

use likenew_archive::{Machine, Run};
use likenew_core::drive::{Drive, Identity};
use likenew_core::dry_run::DryRun;
use likenew_core::instrument::Instrument;
use likenew_core::procedure::{Evidence, Plan, Procedure, Step};
use likenew_core::segment::{Segment, Stop};
use likenew_core::target::Clock;
use likenew_core::target_error::{TargetError, system_reason};
use likenew_core::units::Nanos;
use likenew_history::metrics::Attempt;
use likenew_procedures::all::{from_plan, judge};
use likenew_run::restore::{RestoreError, RestoreStep, restore};
use likenew_run::run::calibrate;
use likenew_run::runner::{End, run_procedure};

use super::pace::Pace;
use super::writes::{Offer, announce_text, ask_about, estimate, wear};
use super::{Request, Target};
use crate::arguments::ExecutionArguments;
use crate::console::note;
use crate::exit::{Exit, Failure, Result};
use crate::io_log::IoLog;
use crate::output::{self, FailedTarget, RunReport};
use crate::plan_file::export;
use crate::progress::{self, Progress};
use crate::progress_event::ProgressEvent;
use crate::recordings::Recordings;
use crate::resolved_target::ResolvedTarget;
use crate::run_observer::RunObserver;
use crate::wording;

/// Longest run of a plan, 90 days. Chosen: longer is a mistake.
const ELAPSED_MOST: Nanos = Nanos::from_secs(90 * 86_400);
/// Most bytes that a plan moves, in capacities of the drive.
const PASSES_MOST: u64 = 10_000;

/// Everything that a run needs to continue to its end.
pub(super) struct OpenRun {
    drive: Box<dyn Drive>,
    procedure: Box<dyn Procedure>,
    /// The evidence so far.
    evidence: Evidence,
    instrument: Instrument,
    /// When the run began, as a date in UTC.
    started_at: String,
    archive: Option<Run>,
    log: Option<IoLog>,
    /// The dry run of the rest.
    dry_run: DryRun,
    /// What is known of the drive's speed.
    pace: Pace,
}

/// Locks the drive, unless the run does no I/O there, and opens it. `None` if the plan is only exported or estimated.
///
/// # Errors
/// The plan does not fit the target; a refusal; the errors of opening; the user stopped that.
pub(super) fn open(request: &mut Request<'_>, target: &mut Target, plan: Plan) -> Result<Option<OpenRun>> {
    let procedure = from_plan(&plan).map_err(Failure::Usage)?;
    let does_io = !procedure.only_probes() && request.run_arguments.export.is_none();
    if does_io {
        target.lock(request.execution())?;
    }
    let drive = target.resolved.open(&*procedure, procedure.layout(), request.execution())?;
    let (interrupted, target) = (request.interrupted.take(), &target.resolved);
    match interrupted {
        None => {
            let evidence = Evidence::new(plan, drive.identity(), drive.geometry());
            Opening { request, target, drive, procedure, evidence }.begin()
        }
        Some(InterruptedRun { run, evidence, instrument, started_at, dry_run }) => {
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
    fn begin(mut self) -> Result<Option<OpenRun>> {
        self.check_first()?;
        let dry_run = DryRun::plan(&*self.procedure, &self.evidence).map_err(Failure::Usage)?;
        self.refuse_absurd(&dry_run)?;
        if let Some(program) = self.request.run_arguments.export {
            return export(program, &self.evidence, &dry_run).map(|()| None);
        }
        let pace = Pace::of_kept_run(self.request, &*self.procedure, &self.evidence, &dry_run)?;
        let dry_run = pace.with_trial(pace.rate(dry_run, &*self.procedure, &self.evidence)?);
        if !self.agree(&dry_run)? {
            return Ok(None);
        }
        let pace = pace.or_try(self.target, &mut self.drive, &*self.procedure, self.request.execution())?;
        let dry_run = pace.rate(dry_run, &*self.procedure, &self.evidence)?;
        let instrument = self.instrument()?;
        let log = self.log(None)?;
        let started_at = likenew_real::clock::wall_date();
        let archive = match self.archive(&instrument, &started_at) {
            // Facts are shown even to a user who may not write an archive.
            Err(failure) if self.request.access.is_facts() => {
                note(wording::run_not_kept(failure));
                None
            }
            archive => archive?,
        };
        let Self { drive, procedure, evidence, .. } = self;
        Ok(Some(OpenRun { drive, procedure, evidence, instrument, started_at, archive, log, dry_run, pace }))
    }

    /// Opens the rest of a run, once its drive is in the state in which it was left.
    fn resume(
        mut self,
        run: Run,
        instrument: Instrument,
        started_at: String,
        dry_run: DryRun,
    ) -> Result<Option<OpenRun>> {
        refuse_another(&self.evidence, &self.drive.identity())?;
        let pace = Pace::measured(self.evidence.segments.clone());
        let dry_run = pace.rate(dry_run, &*self.procedure, &self.evidence)?;
        if !self.agree(&dry_run)? {
            return Ok(None);
        }
        let log = self.log(Some(&self.evidence.segments))?;
        let Self { mut drive, procedure, evidence, .. } = self;
        run.cut_after(evidence.segments.len(), evidence.observations.len()).map_err(anyhow::Error::new)?;
        restore_state(&mut *drive, &evidence)?;
        let archive = Some(run);
        Ok(Some(OpenRun { drive, procedure, evidence, instrument, started_at, archive, log, dry_run, pace }))
    }

    /// Asks the user before a run that wears the drive. For an estimate, prints the cost and the question. Returns
    /// whether the run goes on.
    fn agree(&mut self, dry_run: &DryRun) -> Result<bool> {
        let (execution, always) = (self.request.execution(), self.procedure.always_confirms());
        let estimate = estimate(dry_run, &self.evidence);
        let wear = wear(&mut *self.drive, always, &estimate, self.target)?;
        if !self.request.run_arguments.estimate {
            return ask_about(wear, always, execution).map(|()| true);
        }
        let offer = Offer::new(estimate, &self.evidence.identity, wear.as_deref());
        match &execution.output.json {
            Some(path) => output::write_json(path, &offer)?,
            None => output::print(&offer.lines())?,
        }
        Ok(false)
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
        let path = self.request.execution().log.as_deref();
        path.map(|path| IoLog::begin(path, self.evidence.geometry.clock, resumed)).transpose()
    }

    fn archive(&self, instrument: &Instrument, started_at: &str) -> Result<Option<Run>> {
        let archive_arguments = &self.request.run_arguments.archive_arguments;
        if archive_arguments.no_archive {
            return Ok(None);
        }
        let Evidence { identity, geometry, plan, .. } = &self.evidence;
        let machine = Machine::new(started_at, identity.clone(), geometry.clone(), instrument.clone());
        let machine = machine.with_settings(self.request.execution().settings());
        let archive = archive_arguments.folder.archive()?;
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
        let Identity { name, model, capacity_bytes, block_bytes, .. } = identity;
        wording::drive_with_model(name, model.as_deref(), *capacity_bytes, *block_bytes)
    };
    let same = then.kind == now.kind && text(then) == text(now);
    same.then_some(()).ok_or_else(|| Failure::Refused(wording::another_drive(&text(then), &text(now))))
}

/// Brings the drive into the state in which the run left it. Nothing is measured until then, so
/// stopping loses nothing.
fn restore_state(drive: &mut dyn Drive, evidence: &Evidence) -> Result<()> {
    note(wording::going_on(evidence.segments.len(), evidence.observations.len()));
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
    restored.map_err(|error| match error {
        RestoreError::Stopped(Stop::Interrupted) => {
            note(wording::STOPPED_RESTORING);
            Failure::Interrupted
        }
        RestoreError::OtherResults { .. } => Failure::Refused(error.to_string()),
        RestoreError::Run(error) => error.into(),
        RestoreError::TargetError(target_error) => target_error.into(),
        RestoreError::Stopped(_) => Failure::Other(error.into()),
    })
}

/// A run that is over.
pub(super) struct Outcome {
    /// The target as typed.
    typed: String,
    /// `None` if nothing was measured. A plan may measure nothing; then its findings follow from its settings.
    pub(super) report: Option<RunReport>,
    pub(super) exit: Exit,
    end: Result<End>,
    /// Why the run could not be kept. Its results are shown all the same.
    unkept: Option<Failure>,
    /// A drive that does not answer, and its lock. Closing it may never end, so that comes last.
    pub(super) hung: Option<(Box<dyn Drive>, Target)>,
}

/// Carries out a run, judges it and keeps it.
pub(super) fn carry_out(mut open: OpenRun, target: Target, request: &Request<'_>) -> Outcome {
    let output = &request.execution().output;
    let is_silent = output.quiet || request.access.is_facts() || request.is_silent;
    if let Some(announcement) = announce_text(&open.dry_run, &open.evidence).filter(|_| !is_silent) {
        note(announcement);
    }
    progress::report(&ProgressEvent::Run {
        procedure: &open.evidence.plan.procedure,
        target: &open.evidence.identity.name,
        folder: open.archive.as_ref().and_then(|run| run.path().to_str()),
        estimate: estimate(&open.dry_run, &open.evidence),
    });
    let end = follow(&mut open, request.execution());
    let OpenRun { drive, procedure, evidence, instrument, started_at, archive, .. } = open;
    let typed = target.typed.clone();
    // Temporary files are deleted before the report, so that their space is free at once.
    let hung = if matches!(end, Ok(End::TargetError(TargetError::Hung(_)))) {
        Some((drive, target))
    } else {
        drop(drive);
        None
    };
    let is_complete = matches!(end, Ok(End::Complete));
    let mut findings = judge(&*procedure, &evidence);
    findings.is_interrupted = !is_complete;
    let kept = archive.as_ref().map_or(Ok(()), |run| run.conclude(&findings));
    progress::end_live();
    if let (Some(run), Ok(())) = (&archive, &kept) {
        if output.details {
            note(wording::run_kept(run.path()));
        }
        if !is_complete {
            note(wording::resume_hint(run.path()));
        }
    }
    let unkept = kept.err().map(|error| Failure::Other(error.into()));
    let ended = match &end {
        Ok(End::Complete) if findings.found_problem() => Exit::Problem,
        Ok(End::Complete) => Exit::Fine,
        Ok(End::Interrupted) => Exit::Interrupted,
        Ok(End::Failed(_) | End::OverAnnounced | End::TargetError(_)) => Exit::Unfinished,
        Err(failure) => failure.exit(),
    };
    let exit = unkept.as_ref().map_or(ended, |failure| ended.worse(failure.exit()));
    let is_shown = !evidence.is_empty() || is_complete;
    let folder = archive.as_ref().map(|run| run.path().to_owned());
    let report = is_shown.then(|| RunReport::new(evidence, findings, instrument, Some(started_at), folder));
    Outcome { typed, report, exit, end, unkept, hung }
}

fn follow(open: &mut OpenRun, execution: &ExecutionArguments) -> Result<End> {
    let samples = match &open.archive {
        Some(run) if execution.samples => Some(run.samples().map_err(anyhow::Error::new)?),
        _ => None,
    };
    let progress = Progress::for_steps(&open.dry_run.planned_steps, &*open.drive, &open.pace.segments);
    let mut observer = RunObserver {
        archive: open.archive.as_mut(),
        samples: samples.as_ref(),
        log: open.log.take(),
        segments: open.evidence.segments.len(),
        writes_left: open.dry_run.bytes_written_max,
        ..RunObserver::new(progress)
    };
    let end = run_procedure(&mut *open.drive, &*open.procedure, &mut open.evidence, &mut observer);
    observer.progress.finish();
    if let Some(samples) = samples {
        samples.close().map_err(anyhow::Error::new)?;
    }
    Ok(end?)
}

impl Outcome {
    /// The target, and why its run did not finish, if it did not.
    pub(super) fn attempt(&self) -> Attempt {
        let reason = match &self.end {
            Ok(end) => reason(end),
            Err(failure) => Some(failure.reason()),
        };
        Attempt { target: self.typed.clone(), reason }
    }

    /// The target and the reason, if nothing was measured.
    pub(super) fn failed_target(&self) -> Option<FailedTarget> {
        let Attempt { target, reason } = self.attempt();
        Some(FailedTarget::new(target, reason.filter(|_| self.report.is_none())?, self.exit))
    }

    /// Prints why the run did not finish or is not kept, with the target if there are several.
    pub(super) fn print_end(&self, is_alone: bool) {
        let is_fine = matches!(self.end, Ok(End::Complete)) && self.unkept.is_none();
        if !is_alone && !is_fine {
            note(format_args!("{}:", self.typed));
        }
        match &self.end {
            Ok(end) => {
                print_end(end);
                self.unkept.iter().for_each(|unkept| note(unkept.message()));
            }
            // If the measurements could not be kept, the result could not either; one message is enough.
            Err(failure) => note(failure.message()),
        }
    }
}

/// Why a run did not finish; `None` if it did.
fn reason(end: &End) -> Option<String> {
    match end {
        End::Complete => None,
        End::Interrupted => Some(wording::STOPPED_EARLY.to_owned()),
        End::Failed(Stop::Failed { op, offset, errno }) => {
            let error = std::io::Error::from_raw_os_error(*errno);
            Some(wording::io_failed(op, *offset, system_reason(&error)))
        }
        End::Failed(Stop::Reached | Stop::Interrupted | Stop::JobFailed { .. }) => {
            unreachable!("a run fails with an error")
        }
        End::OverAnnounced => Some(wording::OVER_ANNOUNCED.to_owned()),
        End::TargetError(target_error) => Some(wording::ended_early(target_error)),
    }
}

fn print_end(end: &End) {
    let Some(reason) = reason(end) else { return };
    let message = if matches!(end, End::Interrupted) { reason } else { wording::error(reason) };
    note(message);
    let is_full = |errno| std::io::Error::from_raw_os_error(errno).kind() == std::io::ErrorKind::StorageFull;
    if matches!(end, End::Failed(Stop::Failed { errno, .. }) if is_full(*errno)) {
        note(wording::DISK_FULL);
    }
}
