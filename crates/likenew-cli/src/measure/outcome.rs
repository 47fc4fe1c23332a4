//! Carries out an open run, judges and keeps it, and says how it ended.

use likenew_archive::Run;
use likenew_core::drive::Drive;
use likenew_core::dry_run::DryRun;
use likenew_core::procedure::{Evidence, Procedure};
use likenew_core::segment::Stop;
use likenew_core::target_error::{TargetError, system_reason};
use likenew_history::metrics::Attempt;
use likenew_procedures::all::judge;
use likenew_run::runner::{End, run_procedure};

use super::open_run::OpenRun;
use super::pace::Pace;
use super::writes::{announce_text, estimate};
use super::{Request, Target};
use crate::arguments::ExecutionArguments;
use crate::exit::{Exit, Failure, Result};
use crate::io_log::IoLog;
use crate::output::FailedTarget;
use crate::progress::{self, Progress};
use crate::progress_event::ProgressEvent;
use crate::recordings::Recordings;
use crate::run_observer::RunObserver;
use crate::run_report::RunReport;
use crate::wording;

/// A run that is over.
pub(super) struct Outcome {
    /// The target as typed.
    pub(super) typed: String,
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
pub(super) fn carry_out(open: OpenRun, target: Target, request: &Request<'_>) -> Outcome {
    let OpenRun {
        mut drive,
        procedure,
        mut evidence,
        instrument,
        started_at,
        mut archive,
        log,
        dry_run,
        pace,
    } = open;
    let execution = &request.run_arguments.execution;
    let is_silent = execution.output.quiet || request.access.is_facts() || request.is_silent;
    if let Some(announcement) = announce_text(&dry_run, &evidence).filter(|_| !is_silent) {
        crate::console::note(announcement);
    }
    progress::report(&ProgressEvent::Run {
        procedure: &evidence.plan.procedure,
        target: &evidence.identity.name,
        folder: archive.as_ref().and_then(|run| run.path().to_str()),
        estimate: estimate(&dry_run, &evidence),
    });
    let outputs = (archive.as_mut(), log);
    let end = follow(&mut *drive, &*procedure, &mut evidence, outputs, (&dry_run, &pace), execution);
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
        if execution.output.details {
            crate::console::note(wording::run_kept(run.path()));
        }
        if !is_complete {
            crate::console::note(wording::resume_hint(run.path()));
        }
    }
    let unkept = kept.err().map(|error| Failure::Other(error.into()));
    let ended = end.as_ref().map_or_else(Failure::exit, |end| exit_of(end, findings.found_problem()));
    let exit = unkept.as_ref().map_or(ended, |failure| ended.worse(failure.exit()));
    let is_shown = !evidence.is_empty() || is_complete;
    let folder = archive.as_ref().map(|run| run.path().to_owned());
    let report = is_shown.then(|| RunReport::new(evidence, findings, instrument, Some(started_at), folder));
    Outcome { typed, report, exit, end, unkept, hung }
}

/// The exit code for the end of a run.
fn exit_of(end: &End, found_problem: bool) -> Exit {
    match end {
        End::Complete if found_problem => Exit::Problem,
        End::Complete => Exit::Fine,
        End::Interrupted => Exit::Interrupted,
        End::Failed(_) | End::OverAnnounced | End::TargetError(_) => Exit::Unfinished,
    }
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
            crate::console::note(format_args!("{}:", self.typed));
        }
        match (&self.end, &self.unkept) {
            (Ok(end), None) => print_end(end),
            (Ok(end), Some(unkept)) => {
                print_end(end);
                crate::console::note(unkept.message());
            }
            // If the measurements could not be kept, the result could not either; one message is enough.
            (Err(failure), _) => crate::console::note(failure.message()),
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
    crate::console::note(message);
    let is_full = |errno| std::io::Error::from_raw_os_error(errno).kind() == std::io::ErrorKind::StorageFull;
    if matches!(end, End::Failed(Stop::Failed { errno, .. }) if is_full(*errno)) {
        crate::console::note(wording::DISK_FULL);
    }
}

fn follow(
    drive: &mut dyn Drive,
    procedure: &dyn Procedure,
    evidence: &mut Evidence,
    (archive, log): (Option<&mut Run>, Option<IoLog>),
    (dry_run, pace): (&DryRun, &Pace),
    execution: &ExecutionArguments,
) -> Result<End> {
    let samples = match &archive {
        Some(run) if execution.samples => Some(run.samples().map_err(anyhow::Error::new)?),
        _ => None,
    };
    let mut follow = RunObserver {
        progress: Progress::for_steps(&dry_run.planned_steps, drive, &pace.segments),
        archive,
        samples: samples.as_ref(),
        log,
        recordings: Recordings::default(),
        segments: evidence.segments.len(),
        writes_left: dry_run.bytes_written_max,
    };
    let end = run_procedure(drive, procedure, evidence, &mut follow);
    follow.progress.finish();
    if let Some(samples) = samples {
        samples.close().map_err(anyhow::Error::new)?;
    }
    Ok(end?)
}
