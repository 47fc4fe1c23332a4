//! Opens a drive for a plan, and refuses what does not fit before anything is measured.

use std::ops::ControlFlow;

use likenew_archive::{Archive, Machine, Run};
use likenew_core::drive::Drive;
use likenew_core::dry_run::DryRun;
use likenew_core::instrument::Instrument;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_procedures::all::from_plan;
use likenew_run::calibrate::calibrate;

use super::interrupted_run::{InterruptedRun, refuse_another, restore_state};
use super::pace::Pace;
use super::target::Target;
use super::writes::{Offer, ask_about, wear};
use super::{Request, archive_root};
use crate::access::Access;
use crate::arguments::RunArguments;
use crate::exit::{Exit, Failure};
use crate::export::export;
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
    /// The evidence up to now.
    pub(super) evidence: Evidence,
    pub(super) instrument: Instrument,
    pub(super) archive: Option<Run>,
    /// The rest of the run.
    pub(super) dry_run: DryRun,
    /// What is known of the drive's speed.
    pub(super) pace: Pace,
}

/// Locks the drive, unless nothing is read or written there, and opens it. Ends with an exit code if the user
/// stopped that, or if the plan is exported instead.
///
/// # Errors
/// The plan does not fit the target; a refusal; the errors of opening.
pub(super) fn open(
    request: &mut Request<'_>,
    target: &mut Target,
    plan: Plan,
) -> Result<ControlFlow<Exit, OpenRun>, Failure> {
    let procedure = from_plan(&plan).map_err(Failure::Usage)?;
    let does_io = !procedure.only_probes() && request.run_arguments.export.is_none();
    if does_io && !target.lock(request.run_arguments)? {
        return Ok(ControlFlow::Break(Exit::Interrupted));
    }
    let drive = target.resolved.open_for(&*procedure, request.run_arguments)?;
    match request.interrupted.take() {
        None => open_new(request, &target.resolved, drive, procedure, plan),
        Some(run) => open_rest(request, &target.resolved, drive, procedure, run),
    }
}

fn open_new(
    request: &Request<'_>,
    resolved_target: &ResolvedTarget,
    mut drive: Box<dyn Drive>,
    procedure: Box<dyn Procedure>,
    plan: Plan,
) -> Result<ControlFlow<Exit, OpenRun>, Failure> {
    let evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    check_first(&*procedure, &evidence, resolved_target)?;
    let dry_run = DryRun::plan(&*procedure, &evidence).map_err(Failure::Usage)?;
    refuse_absurd(&dry_run, &evidence)?;
    if let Some(program) = request.run_arguments.export {
        return Ok(ControlFlow::Break(export(program, &evidence, &dry_run)?));
    }
    let pace = Pace::of_kept_run(request, &*procedure, &evidence, &dry_run)?;
    let dry_run = pace.with_trial(pace.rate(dry_run, &*procedure, &evidence)?);
    if let Some(exit) = agree(request, resolved_target, &mut *drive, &*procedure, &evidence, &dry_run)? {
        return Ok(ControlFlow::Break(exit));
    }
    let pace = pace.or_try(resolved_target, &mut drive, &*procedure, &request.run_arguments.execution)?;
    let dry_run = pace.rate(dry_run, &*procedure, &evidence)?;
    let instrument = instrument(&*drive, resolved_target, request.access)?;
    let archive = match archive(&evidence, &instrument, request.run_arguments) {
        // Facts are shown even to a user who may not write an archive.
        Err(failure) if request.access.is_facts() => {
            crate::standard_error::note(wording::run_not_kept(failure));
            None
        }
        archive => archive?,
    };
    Ok(ControlFlow::Continue(OpenRun { drive, procedure, evidence, instrument, archive, dry_run, pace }))
}

/// Asks the user before a run that wears the drive; or prints what it costs and asks, and ends.
fn agree(
    request: &Request<'_>,
    resolved_target: &ResolvedTarget,
    drive: &mut dyn Drive,
    procedure: &dyn Procedure,
    evidence: &Evidence,
    dry_run: &DryRun,
) -> Result<Option<Exit>, Failure> {
    let always = procedure.always_confirms();
    let wear = wear(drive, always, dry_run, resolved_target)?;
    if !request.run_arguments.estimate {
        return ask_about(wear, always, request.run_arguments).map(|()| None);
    }
    let offer = Offer::new(dry_run, evidence, wear.as_deref());
    match &request.run_arguments.output.json {
        Some(path) => {
            let mut text = serde_json::to_string_pretty(&offer).expect("an offer has only text keys");
            text.push('\n');
            output::write_to(path, &text)?;
        }
        None => output::print(&offer.lines())?,
    }
    Ok(Some(Exit::Fine))
}

/// Opens the rest of a run, once its drive is in the state in which it was left.
fn open_rest(
    request: &Request<'_>,
    resolved_target: &ResolvedTarget,
    mut drive: Box<dyn Drive>,
    procedure: Box<dyn Procedure>,
    interrupted: InterruptedRun,
) -> Result<ControlFlow<Exit, OpenRun>, Failure> {
    let InterruptedRun { run, evidence, instrument, dry_run } = interrupted;
    refuse_another(&evidence, &drive.identity())?;
    let pace = Pace::measured(evidence.segments.clone());
    let dry_run = pace.rate(dry_run, &*procedure, &evidence)?;
    if let Some(exit) = agree(request, resolved_target, &mut *drive, &*procedure, &evidence, &dry_run)? {
        return Ok(ControlFlow::Break(exit));
    }
    run.cut_after(evidence.segments.len(), evidence.observations.len()).map_err(anyhow::Error::new)?;
    if let Some(exit) = restore_state(&mut *drive, &evidence)? {
        return Ok(ControlFlow::Break(exit));
    }
    let archive = Some(run);
    Ok(ControlFlow::Continue(OpenRun { drive, procedure, evidence, instrument, archive, dry_run, pace }))
}

/// Refuses a plan that does not fit before anything is kept or measured.
fn check_first(
    procedure: &dyn Procedure,
    evidence: &Evidence,
    resolved_target: &ResolvedTarget,
) -> Result<(), Failure> {
    match procedure.next(evidence).map_err(Failure::Usage)? {
        Step::Run(workload) => {
            if workload.writes() {
                resolved_target.refuse_writing()?;
            }
            workload.check(&evidence.geometry).map_err(Failure::Usage)
        }
        Step::Probe(probe) if probe.writes() => resolved_target.refuse_writing(),
        Step::Probe(_) | Step::Done => Ok(()),
    }
}

/// Refuses a plan that would never end, or take months, before anything is measured.
fn refuse_absurd(dry_run: &DryRun, evidence: &Evidence) -> Result<(), Failure> {
    let DryRun { bytes_moved, bytes_written, elapsed, is_finite, .. } = dry_run;
    let much = *bytes_moved / evidence.geometry.capacity.max(1) >= PASSES_MOST;
    if *is_finite && *elapsed <= ELAPSED_MOST && !much {
        return Ok(());
    }
    Err(Failure::Usage(wording::plan_too_long(*bytes_moved, *bytes_written, *elapsed, *is_finite)))
}

/// Facts are not timed, so nothing is calibrated for them.
fn instrument(
    drive: &dyn Drive,
    resolved_target: &ResolvedTarget,
    access: Access<'_>,
) -> Result<Instrument, Failure> {
    let clock = if resolved_target.is_real() { Clock::Wall } else { Clock::Virtual };
    let calibration = match clock {
        Clock::Wall if !access.is_facts() => {
            let mut limits = calibrate(&mut likenew_real::nop::Nop::new())?;
            let is_ring = drive.identity().engine.contains("io_uring");
            limits.added_latency = is_ring.then(likenew_real::uring::added_latency).flatten();
            Some(limits)
        }
        Clock::Wall | Clock::Virtual => None,
    };
    let version = env!("CARGO_PKG_VERSION").to_owned();
    Ok(Instrument { version, clock, engine: drive.identity().engine, calibration })
}

fn archive(
    evidence: &Evidence,
    instrument: &Instrument,
    run_arguments: &RunArguments,
) -> Result<Option<Run>, Failure> {
    if run_arguments.archive_arguments.no_archive {
        return Ok(None);
    }
    let (identity, geometry) = (evidence.identity.clone(), evidence.geometry.clone());
    let machine = Machine::new(likenew_real::clock::wall_date(), identity, geometry, instrument.clone())
        .with_settings(run_arguments.settings());
    let archive = Archive::new(archive_root(run_arguments.archive_arguments.archive.as_deref())?);
    Ok(Some(archive.create(&evidence.plan, &machine).map_err(anyhow::Error::new)?))
}
