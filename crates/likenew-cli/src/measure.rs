//! The path of every measurement: open, calibrate, run, judge, keep, show.

use std::path::{Path, PathBuf};

use likenew_archive::{Archive, Machine, Run};
use likenew_core::drive::{Drive, Kind, LaneRequirements};
use likenew_core::dry_run::DryRun;
use likenew_core::findings::Findings;
use likenew_core::fix::Fix;
use likenew_core::instrument::Instrument;
use likenew_core::io::Op;
use likenew_core::lab_error::LabError;
use likenew_core::plan::Plan;
use likenew_core::probe::{Observation, Probe};
use likenew_core::procedure::{Evidence, PastStep, Procedure, Step};
use likenew_core::recorder::Stop;
use likenew_core::target::Clock;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_procedures::all::{from_plan, judge};
use likenew_report::document::Document;
use likenew_run::calibrate::calibrate;
use likenew_run::runner::{End, run_procedure};
use serde::Serialize;

use crate::arguments::{ExecutionArguments, RunArguments, TargetArguments};
use crate::exit::{Exit, Failure};
use crate::export::export;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::ResolvedTarget;
use crate::run_observer::RunObserver;
use crate::{interrupt, output, prompt, wording};

/// More bytes than this are written to a real drive only after a question.
const WRITE_CONFIRM_BYTES: u64 = 32 << 30;
/// Longest run of a plan, 90 days. Chosen: longer is a mistake.
const ELAPSED_MOST: Nanos = Nanos::from_secs(90 * 86_400);
/// Most bytes that a plan moves, in capacities of the drive.
const PASSES_MOST: u64 = 10_000;

/// Settings as the table of a plan.
pub(crate) fn options(settings: &impl Serialize) -> toml::Table {
    toml::Table::try_from(settings).expect("settings are plain values")
}

/// Prints a plan instead of running it.
pub(crate) fn print_plan(plan: &Plan) -> Result<Exit, Failure> {
    let text = toml::to_string(plan).expect("a plan is plain values");
    output::print(&text)?;
    Ok(Exit::Fine)
}

/// Resolves the target, makes the plan for it, and prints or runs it. `writes` tells whether any such plan
/// writes.
pub(crate) fn ask(
    target_arguments: &TargetArguments,
    run_arguments: &RunArguments,
    writes: bool,
    plan: impl FnOnce(&ResolvedTarget) -> Result<Plan, Failure>,
) -> Result<Exit, Failure> {
    let mut resolved_target = ResolvedTarget::resolve(&target_arguments.target, run_arguments)?;
    if writes {
        resolved_target.ask_for_consent(run_arguments)?;
        resolved_target.refuse_writing()?;
    }
    if target_arguments.plan {
        return print_plan(&plan(&resolved_target)?);
    }
    resolved_target.clear_leftover(run_arguments)?;
    measure(plan(&resolved_target)?, &resolved_target, run_arguments)
}

/// Runs a plan.
pub(crate) fn measure(
    plan: Plan,
    resolved_target: &ResolvedTarget,
    run_arguments: &RunArguments,
) -> Result<Exit, Failure> {
    measure_for(plan, resolved_target, run_arguments, &mut |document| {
        let details = output::details_command(&run_arguments.archive_arguments, 1);
        output::put_with(vec![document], &run_arguments.output, &details)
    })
}

/// Receives the report.
pub(crate) type ReportSink<'a> = dyn FnMut(Document) -> Result<(), Failure> + 'a;

/// Runs a plan and gives the report to the caller. A run with I/O locks the drive.
pub(crate) fn measure_for(
    plan: Plan,
    resolved_target: &ResolvedTarget,
    run_arguments: &RunArguments,
    show: &mut ReportSink<'_>,
) -> Result<Exit, Failure> {
    let does_io = !from_plan(&plan).map_err(Failure::Usage)?.only_probes() && run_arguments.export.is_none();
    interrupt::listen()?;
    let _lock = match does_io.then(|| resolved_target.lock(run_arguments)).transpose()? {
        Some(None) => return Ok(Exit::Interrupted),
        lock => lock,
    };
    measure_locked(plan, resolved_target, run_arguments, show)
}

/// The same with the drive already locked.
pub(crate) fn measure_locked(
    plan: Plan,
    resolved_target: &ResolvedTarget,
    run_arguments: &RunArguments,
    show: &mut ReportSink<'_>,
) -> Result<Exit, Failure> {
    let procedure = from_plan(&plan).map_err(Failure::Usage)?;
    interrupt::listen()?;
    let mut drive = resolved_target.open_for(&*procedure, run_arguments)?;
    let evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    check_first(&*procedure, &evidence, resolved_target)?;
    let dry_run = DryRun::plan(&*procedure, &evidence).map_err(Failure::Usage)?;
    refuse_absurd(&dry_run, &evidence)?;
    if let Some(program) = run_arguments.export {
        return export(program, &evidence, &dry_run);
    }
    ask_about_wear(&mut *drive, procedure.always_confirms(), &dry_run, resolved_target, run_arguments)?;
    let instrument = instrument(&*drive, resolved_target)?;
    let archive = archive(&evidence, &instrument, run_arguments)?;
    carry_out(Measurement { drive, procedure, evidence, instrument, archive, dry_run }, run_arguments, show)
}

/// Runs several plans, each on its own target, and shows all reports together. A target that cannot be
/// measured is named and left out; the worst exit is the exit of all.
pub(crate) fn measure_each(
    plans: Vec<(Plan, ResolvedTarget)>,
    run_arguments: &RunArguments,
) -> Result<Exit, Failure> {
    let is_several = plans.len() > 1;
    let mut documents: Vec<Document> = Vec::new();
    let mut exit = Exit::Fine;
    for (plan, resolved_target) in plans {
        if let Some(target) = plan.target.as_deref().filter(|_| is_several) {
            anstream::eprintln!("{target}:");
        }
        let ended = measure_for(plan, &resolved_target, run_arguments, &mut |document| {
            documents.push(document);
            Ok(())
        });
        let ended = match ended {
            Ok(ended) => ended,
            Err(failure) if is_several => {
                anstream::eprintln!("{}", failure.message());
                failure.exit()
            }
            Err(failure) => return Err(failure),
        };
        exit = exit.worse(ended);
        if exit == Exit::Interrupted {
            break;
        }
    }
    if !documents.is_empty() {
        let details = output::details_command(&run_arguments.archive_arguments, documents.len());
        output::put_with(documents, &run_arguments.output, &details)?;
    }
    Ok(exit)
}

/// Everything that a run needs to continue to its end.
pub(crate) struct Measurement {
    pub(crate) drive: Box<dyn Drive>,
    pub(crate) procedure: Box<dyn Procedure>,
    /// The evidence up to now.
    pub(crate) evidence: Evidence,
    pub(crate) instrument: Instrument,
    pub(crate) archive: Option<Run>,
    /// The rest of the run.
    pub(crate) dry_run: DryRun,
}

/// Runs, judges, keeps and shows.
pub(crate) fn carry_out(
    measurement: Measurement,
    run_arguments: &ExecutionArguments,
    show: &mut ReportSink<'_>,
) -> Result<Exit, Failure> {
    let Measurement { mut drive, procedure, mut evidence, instrument, mut archive, dry_run } = measurement;
    if let Some(announcement) = announce_text(&dry_run, &evidence).filter(|_| !run_arguments.output.quiet) {
        anstream::eprintln!("{announcement}");
    }
    let end = follow(&mut *drive, &*procedure, &mut evidence, archive.as_mut(), &dry_run, run_arguments);
    // Temporary files are deleted before the report, so that their space is free at once. On a hanging drive
    // that may never end, so there it comes last.
    let mut drive = Some(drive);
    let is_hung = matches!(end, Ok(End::LabError(LabError::Hung(_))));
    drive.take_if(|_| !is_hung);
    let findings = judge(&*procedure, &evidence);
    // Results are shown even if they could not be kept.
    let kept = archive.as_ref().map_or(Ok(()), |run| run.conclude(&findings));
    if let (Some(run), Ok(())) = (&archive, &kept) {
        if run_arguments.output.details {
            anstream::eprintln!("{}", wording::run_kept(run.path()));
        }
        if !matches!(end, Ok(End::Complete)) {
            anstream::eprintln!("{}", wording::resume_hint(run.path()));
        }
    }
    let found = findings.found_problem();
    // A plan may measure nothing; then its findings follow from its settings.
    if !evidence.is_empty() || matches!(end, Ok(End::Complete)) {
        show(document(&evidence, findings, instrument))?;
    }
    let exit = report_end(end?, found);
    kept.map_err(anyhow::Error::new)?;
    if is_hung {
        anstream::eprintln!("{}", wording::HUNG);
    }
    drop(drive);
    Ok(exit)
}

/// The bytes and time of a run on a real drive, from its dry run. Writes to a simulated drive cost nothing.
fn announce_text(dry_run: &DryRun, evidence: &Evidence) -> Option<String> {
    let is_folder = match evidence.identity.kind {
        Kind::Folder => true,
        Kind::File | Kind::Device => false,
        Kind::Simulated | Kind::Nop => return None,
    };
    let WriteEstimate { bytes, is_bounded, rewritten } =
        WriteEstimate::from_dry_run(dry_run, &evidence.identity.name);
    let written = wording::will_write(bytes, is_bounded, is_folder, dry_run.elapsed);
    if rewritten == 0 {
        return Some(written);
    }
    // Each byte is read, saved to the journal, and written.
    let more = Nanos::from_secs_f64(3.0 * rewritten as f64 / ASSUMED_BYTES_PER_S);
    Some(format!("{written}\n{}", wording::will_rewrite(rewritten, more)))
}

/// Rate of the drive that a dry run assumes, in bytes a second.
const ASSUMED_BYTES_PER_S: f64 = 500e6;

/// The writes of a run.
struct WriteEstimate {
    bytes: u64,
    /// Whether a faster drive than the assumed one cannot write more: a run that only time ends has no bound.
    is_bounded: bool,
    /// Bytes of the owner's files that may be rewritten in place: all that are in use, because it is unknown
    /// beforehand what is slow.
    rewritten: u64,
}

impl WriteEstimate {
    /// From a dry run on this path.
    fn from_dry_run(dry_run: &DryRun, path: &str) -> Self {
        let writes =
            dry_run.workloads.iter().filter(|workload| workload.writes() && workload.reaches_drive());
        let bound = |workload: &Workload| {
            let longest =
                workload.streams.iter().map(|stream| u64::from(stream.size.max())).max().unwrap_or(0);
            let by_ops = workload.until.ops.map(|ops| ops.saturating_mul(longest));
            workload.until.bytes.into_iter().chain(by_ops).min()
        };
        let bounds: Vec<Option<u64>> = writes.map(bound).collect();
        let probes: u64 = dry_run.probes.iter().map(Probe::bytes_written).sum();
        let bounded = bounds.iter().flatten().fold(probes, |sum, bytes| sum.saturating_add(*bytes));
        let rewrites_files =
            |probe: &&Probe| matches!(probe, Probe::Fix(Fix::RefreshFiles { .. } | Fix::RewriteFiles { .. }));
        let times = dry_run.probes.iter().filter(rewrites_files).count() as u64;
        let used = || likenew_real::space::used_bytes(Path::new(path)).unwrap_or(u64::MAX);
        Self {
            bytes: bounded.max(dry_run.bytes_written),
            is_bounded: bounds.iter().all(Option::is_some),
            rewritten: if times > 0 { used().saturating_mul(times) } else { 0 },
        }
    }

    fn bytes_max(&self) -> u64 {
        self.bytes.saturating_add(self.rewritten)
    }
}

/// The document of a report, from evidence and findings.
pub(crate) fn document(evidence: &Evidence, findings: Findings, instrument: Instrument) -> Document {
    let reached = evidence.segments.iter().filter(|segment| segment.workload.reaches_drive());
    let written = reached.map(|segment| segment.bytes(Op::Write)).sum::<u64>();
    let written = written + evidence.observations.iter().map(Observation::bytes_written).sum::<u64>();
    let span = |step: PastStep<'_>| match step {
        PastStep::Segment(segment) => (segment.started_at, segment.ended_at),
        PastStep::Observation(observation) => (observation.started_at, observation.ended_at),
    };
    let elapsed = match (evidence.history().next(), evidence.history().last()) {
        (Some(first), Some(last)) => span(last).1.since(span(first).0),
        _ => Nanos::ZERO,
    };
    let mut identity = evidence.identity.clone();
    let breaks = evidence.segments.iter().filter(|segment| segment.after_interruption).count();
    let breaks =
        breaks + evidence.observations.iter().filter(|observation| observation.after_interruption).count();
    if breaks > 0 {
        identity.caveats.push(wording::interrupted_parts(breaks));
    }
    Document::new(evidence.plan.clone(), identity, findings, instrument, written, elapsed)
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

fn follow(
    drive: &mut dyn Drive,
    procedure: &dyn Procedure,
    evidence: &mut Evidence,
    archive: Option<&mut Run>,
    dry_run: &DryRun,
    run_arguments: &ExecutionArguments,
) -> Result<End, Failure> {
    let samples = match &archive {
        Some(run) if run_arguments.samples => Some(run.samples().map_err(anyhow::Error::new)?),
        _ => None,
    };
    let mut follow = RunObserver {
        progress: Progress::for_steps(&dry_run.planned_steps, drive),
        archive,
        samples: samples.as_ref(),
        recordings: Recordings::default(),
        segments: evidence.segments.len(),
    };
    let end = run_procedure(drive, procedure, evidence, &mut follow);
    follow.progress.finish();
    if let Some(samples) = samples {
        samples.close().map_err(anyhow::Error::new)?;
    }
    Ok(end?)
}

/// Prints how the run ended, and returns the exit for scripts.
pub(crate) fn report_end(end: End, found_problem: bool) -> Exit {
    match end {
        End::Complete if found_problem => Exit::Problem,
        End::Complete => Exit::Fine,
        End::Interrupted => {
            anstream::eprintln!("{}", wording::STOPPED_EARLY);
            Exit::Interrupted
        }
        End::Failed(Stop::Failed { op, offset, errno }) => {
            let error = std::io::Error::from_raw_os_error(errno);
            anstream::eprintln!("{}", wording::error(wording::io_failed(op, offset, &error)));
            if error.kind() == std::io::ErrorKind::StorageFull {
                anstream::eprintln!("{}", wording::DISK_FULL);
            }
            Exit::Unfinished
        }
        End::Failed(Stop::Reached | Stop::Interrupted | Stop::JobFailed { .. }) => {
            unreachable!("a run fails with an error")
        }
        End::LabError(lab_error) => {
            anstream::eprintln!("{}", wording::error(wording::ended_early(lab_error)));
            Exit::Unfinished
        }
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

/// Flash wears out: asks the user before many bytes are written to a real drive, and before any amount that
/// is meant to wear it.
pub(crate) fn ask_about_wear(
    drive: &mut dyn Drive,
    always: bool,
    dry_run: &DryRun,
    resolved_target: &ResolvedTarget,
    run_arguments: &ExecutionArguments,
) -> Result<(), Failure> {
    let written = WriteEstimate::from_dry_run(dry_run, &drive.identity().name);
    let most = written.bytes_max();
    let asks = always || most > WRITE_CONFIRM_BYTES;
    if !asks
        || !resolved_target.is_real()
        || !resolved_target.is_writable()
        || most == 0
        || matches!(resolved_target, ResolvedTarget::Nop)
    {
        return Ok(());
    }
    let what = match written {
        _ if always => cost(drive, most)?,
        WriteEstimate { rewritten: 0, is_bounded, .. } => wording::writes_wear_flash(most, is_bounded),
        WriteEstimate { bytes, rewritten, .. } => wording::writes_and_rewrites_wear_flash(bytes, rewritten),
    };
    if run_arguments.yes {
        if always {
            anstream::eprintln!("{what}");
        }
        return Ok(());
    }
    if prompt::is_interactive() && prompt::confirm(&wording::confirm(&what)) {
        return Ok(());
    }
    Err(Failure::Refused(wording::not_confirmed(&what)))
}

/// What intended writes cost the drive.
fn cost(drive: &mut dyn Drive, bytes: u64) -> Result<String, Failure> {
    let identity = drive.identity();
    let need = LaneRequirements { lanes: 1, depth: 1, length_max: identity.block_bytes };
    let wear = drive.lanes(&need)?.first_mut().and_then(|lane| lane.health().wear_percent);
    let times = bytes as f64 / identity.capacity_bytes.max(1) as f64;
    Ok(wording::aging_wears_flash(bytes, &identity.name, times, identity.capacity_bytes, wear))
}

fn instrument(drive: &dyn Drive, resolved_target: &ResolvedTarget) -> Result<Instrument, Failure> {
    let clock = if resolved_target.is_real() { Clock::Wall } else { Clock::Virtual };
    let calibration = match clock {
        Clock::Wall => {
            let mut limits = calibrate(&mut likenew_real::nop::Nop::new())?;
            let is_ring = drive.identity().engine.contains("io_uring");
            limits.added_latency = is_ring.then(likenew_real::added_latency::measure).flatten();
            Some(limits)
        }
        Clock::Virtual => None,
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

/// The archive: from the command line, or the default.
pub(crate) fn archive_root(path: Option<&Path>) -> Result<PathBuf, Failure> {
    match path {
        Some(root) => Ok(root.to_owned()),
        None => Ok(Archive::default_root(|name| std::env::var_os(name)).map_err(anyhow::Error::new)?),
    }
}
