//! `likenew resume RUN`: continues an interrupted run.

use likenew_archive::Archive;
use likenew_core::drive::{Drive, Identity, Kind};
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::shell::shell_quote;
use likenew_procedures::all::from_plan;
use likenew_procedures::recondition::ReconditionOptions;
use likenew_run::restore::{RestoreError, RestoreStep, restore};

use crate::arguments::{ExecutionArguments, Resume};
use crate::audit_step::run_audited;
use crate::commands::recondition;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::measure::{Measurement, ReportSink, ask_about_wear, carry_out};
use crate::output;
use crate::progress::Progress;
use crate::recordings::Recordings;
use crate::resolved_target::ResolvedTarget;
use crate::{watch_session, wording};

pub(crate) fn run(mut command: Resume) -> Result<Exit, Failure> {
    let (run, mut record) = Archive::resume(&command.run)?;
    record.notes.iter().for_each(|note| anstream::eprintln!("{}", wording::error(note)));
    if watch_session::is_log(&record) {
        return Err(Failure::Usage(wording::watch_log_has_no_end(command.run.display())));
    }
    command.run_arguments.apply_settings(&record.header.machine.settings).map_err(Failure::Usage)?;
    let (evidence, instrument) = (record.take_evidence(), record.header.machine.instrument);
    let procedure = from_plan(&evidence.plan).map_err(Failure::Usage)?;
    let dry_run = DryRun::plan(&*procedure, &evidence).map_err(Failure::Usage)?;
    if dry_run.steps() == 0 {
        return Err(Failure::Usage(wording::run_is_complete(command.run.display())));
    }
    let mut resolved_target = resolve_target(&evidence, &command.run_arguments)?;
    let Some(_lock) = resolved_target.lock(&command.run_arguments)? else { return Ok(Exit::Interrupted) };
    resolved_target.clear_leftover_locked(&command.run_arguments)?;
    interrupt::listen()?;
    if resolved_target.is_folder() {
        resolved_target.resume()?;
    }
    let is_recondition = evidence.plan.procedure == recondition::NAME;
    let details =
        wording::with_details(&format!("likenew report {}", shell_quote(&command.run.display().to_string())));
    let shown = (&command.run_arguments.output, &*details);
    let go_on = |show: &mut ReportSink<'_>| -> Result<Exit, Failure> {
        let mut drive = resolved_target.open_for(&*procedure, &command.run_arguments)?;
        refuse_another(&evidence, &drive.identity())?;
        ask_about_wear(
            &mut *drive,
            procedure.always_confirms(),
            &dry_run,
            &resolved_target,
            &command.run_arguments,
        )?;
        if let Some(exit) = bring_back(&mut *drive, &evidence)? {
            return Ok(exit);
        }
        let archive = Some(run);
        let rest = Measurement { drive, procedure, evidence, instrument, archive, dry_run };
        carry_out(rest, &command.run_arguments, show)
    };
    if is_recondition {
        run_audited(&resolved_target, recondition::NAME, wording::REST_OF_RUN, shown, go_on)
    } else {
        go_on(&mut |document| output::put_with(vec![document], shown.0, shown.1))
    }
}

/// Resolves the target of the run, with the consent on the command line.
fn resolve_target(
    evidence: &Evidence,
    run_arguments: &ExecutionArguments,
) -> Result<ResolvedTarget, Failure> {
    let target = target(evidence)?;
    if evidence.plan.procedure != recondition::NAME {
        return ResolvedTarget::resolve(target, run_arguments);
    }
    let asked = ReconditionOptions::from_table(&evidence.plan.options).map_err(Failure::Usage)?;
    let mut resolved_target =
        recondition::resolve_target(asked.step, asked.journal.as_deref(), target, run_arguments)?;
    recondition::ask(&mut resolved_target, asked.step, asked.journal.as_deref(), run_arguments)?;
    Ok(resolved_target)
}

/// The path in the run itself: the one on its command line may have been relative to another folder.
fn target(evidence: &Evidence) -> Result<&str, Failure> {
    match evidence.identity.kind {
        Kind::Folder | Kind::File | Kind::Device => Ok(&evidence.identity.name),
        Kind::Simulated | Kind::Nop => {
            evidence.plan.target.as_deref().ok_or_else(|| Failure::Usage(wording::RUN_WITHOUT_DRIVE.into()))
        }
    }
}

/// Refuses to continue a run on another drive.
fn refuse_another(evidence: &Evidence, now: &Identity) -> Result<(), Failure> {
    let then = &evidence.identity;
    let text = |of: &Identity| {
        wording::drive_with_model(&of.name, of.model.as_deref(), of.capacity_bytes, of.block_bytes)
    };
    let same = then.kind == now.kind && text(then) == text(now);
    same.then_some(()).ok_or_else(|| Failure::Refused(wording::another_drive(&text(then), &text(now))))
}

/// Restores the drive's state. Nothing is measured until then, so stopping loses nothing. Returns an exit if
/// the user stopped it.
fn bring_back(drive: &mut dyn Drive, evidence: &Evidence) -> Result<Option<Exit>, Failure> {
    anstream::eprintln!("{}", wording::going_on(evidence.segments.len(), evidence.observations.len()));
    let progress = std::cell::RefCell::new(Progress::new());
    let begins = |step: &RestoreStep, done, all| {
        let name = match step {
            RestoreStep::Run(workload) => &*workload.name,
            RestoreStep::Probe(probe) => probe.name(),
        };
        progress.borrow_mut().on_begin(name);
        progress.borrow().set_share(done, all);
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
            anstream::eprintln!("{}", wording::STOPPED_RESTORING);
            Ok(Some(Exit::Interrupted))
        }
        Err(error @ RestoreError::Otherwise { .. }) => Err(Failure::Refused(error.to_string())),
        Err(RestoreError::Run(error)) => Err(error.into()),
        Err(RestoreError::LabError(lab_error)) => Err(lab_error.into()),
        Err(error @ RestoreError::Stopped(_)) => Err(Failure::Other(error.into())),
    }
}
