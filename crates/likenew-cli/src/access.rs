//! Resolves the targets of a command, gets the consent that it needs, and locks their drives.

use std::path::{Path, PathBuf};

use likenew_procedures::recondition::StepName;
use likenew_real::consent::Agreement;
use likenew_real::drive_lock::{DriveLock, Locks};
use likenew_real::open::examine;

use crate::arguments::ExecutionArguments;
use crate::exit::{Failure, Result};
use crate::printed::PrintedFacts;
use crate::resolved_target::{FactsPlace, Permission, ResolvedTarget};
use crate::{interrupt, wording};

/// What a command may do to its targets. The command line alone decides this; a plan that needs more is refused.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access<'a> {
    /// Reads facts of the target, or of every drive of this machine, and opens nothing for I/O.
    Facts { of_all: bool },
    /// Uses facts that programs printed on another machine.
    Printed(&'a PrintedFacts),
    /// Reads the target; in a folder, also writes temporary files.
    Read,
    /// Writes to the target; a file or device needs its owner's consent.
    Write,
    /// Like `Write`, for a replay: a refusal also says how to replay only the reads.
    Replay,
    /// Takes a step of recondition, which decides what consent it needs. A dry run needs none.
    Step { step: Option<StepName>, journal: Option<&'a Path>, is_dry_run: bool },
}

impl Access<'_> {
    pub(crate) fn writing(writes: bool) -> Self {
        if writes { Self::Write } else { Self::Read }
    }

    /// Resolves a target as it was typed, without changing anything.
    pub(crate) fn resolve(self, typed: &str, execution: &ExecutionArguments) -> Result<ResolvedTarget> {
        match self {
            Self::Facts { of_all: true } => return Ok(ResolvedTarget::Facts(FactsPlace::All)),
            Self::Printed(facts) => {
                return Ok(ResolvedTarget::Facts(FactsPlace::Printed(Box::new(facts.clone()))));
            }
            _ => {}
        }
        if let Some(target) = ResolvedTarget::without_path(typed, execution)? {
            return Ok(target);
        }
        // A relative path in a report would mean nothing later.
        let path =
            std::path::absolute(typed).map_err(|error| Failure::Usage(wording::not_a_path(typed, error)))?;
        if self.is_facts() {
            return Ok(ResolvedTarget::Facts(FactsPlace::Path(path)));
        }
        let kind = examine(&path, execution.reserve)?;
        let Some(id) = execution.consent.clone() else {
            return Ok(ResolvedTarget::Path(path, kind, Permission::None));
        };
        let agreement = Agreement { id, destroy: execution.destroy.clone() };
        match self {
            Self::Step { step, journal, .. } if keeps_data(step, typed) => {
                ResolvedTarget::for_preserve(path, kind, agreement, journal.map(Path::to_owned))
            }
            _ => ResolvedTarget::for_overwrite(path, kind, agreement),
        }
    }

    /// Gets every consent that this access needs.
    ///
    /// # Errors
    /// A refusal with the command to type.
    pub(crate) fn ask(self, target: &mut ResolvedTarget, execution: &ExecutionArguments) -> Result<()> {
        match self {
            Self::Facts { .. } | Self::Printed(_) | Self::Read | Self::Step { is_dry_run: true, .. } => {
                Ok(())
            }
            Self::Write => {
                target.ask_for_consent(execution)?;
                target.refuse_writing()
            }
            Self::Replay => {
                target.ask_for_consent(execution)?;
                target.refuse_writing().map_err(with_reads_only_hint)
            }
            Self::Step { step, journal, .. } => ask_for_step(target, step, journal, execution),
        }
    }

    /// Whether only facts are read.
    pub(crate) fn is_facts(self) -> bool {
        matches!(self, Self::Facts { .. } | Self::Printed(_))
    }

    /// Whether an interrupted refresh must be finished before a plan is made.
    pub(crate) fn finishes_refresh(self) -> bool {
        matches!(self, Self::Step { is_dry_run: false, .. })
    }
}

fn with_reads_only_hint(failure: Failure) -> Failure {
    match failure {
        Failure::Refused(text) => Failure::Refused(wording::with_reads_only_hint(&text)),
        other => other,
    }
}

/// Whether a step works on a whole drive but loses nothing. It then needs consent to the work, not to a loss.
fn keeps_data(step: Option<StepName>, typed: &str) -> bool {
    match step {
        Some(StepName::DiscardUnused) => true,
        Some(StepName::Refresh | StepName::Rewrite) => !Path::new(typed).is_dir(),
        _ => false,
    }
}

fn ask_for_step(
    target: &mut ResolvedTarget,
    step: Option<StepName>,
    journal: Option<&Path>,
    execution: &ExecutionArguments,
) -> Result<()> {
    let Some(path) = target.path().filter(|_| !target.is_folder()) else {
        return match step {
            Some(StepName::DiscardUnused) => target.confirm_preserve(execution, journal),
            _ => Ok(()),
        };
    };
    match step {
        Some(StepName::Refresh | StepName::Rewrite) => target.confirm_preserve(execution, journal),
        Some(step) if step.destroys() => {
            target.ask_for_consent(execution)?;
            target.refuse_writing()
        }
        _ if target.is_file() => Err(Failure::Refused(wording::file_for_recondition(path))),
        Some(StepName::DiscardUnused) => {
            Err(Failure::Refused(wording::not_a_folder_for_discard_unused(path.display())))
        }
        _ => Err(Failure::Refused(wording::device_for_recondition(path))),
    }
}

/// Environment variable that names another folder for the locks than the one all users share. Tests
/// set it to run side by side: a run sees only the locks in its own folder.
const FOLDER: &str = "LIKENEW_LOCK_DIR";

/// Locks the drives below these paths. With `wait`, waits for a run that holds them, and returns
/// `None` if the user stops that. Ctrl-C just ends a process that does not listen for signals.
///
/// # Errors
/// A refusal that names the other run, and what to do.
pub(crate) fn lock(paths: &[&Path], wait: bool) -> Result<Option<DriveLock>> {
    let folder = std::env::var_os(FOLDER).map(PathBuf::from).filter(|folder| folder.is_absolute());
    let locks = folder.map_or_else(Locks::system, Locks::in_folder);
    if !wait {
        return Ok(Some(locks.take(paths)?));
    }
    let mut is_said = false;
    let lock = locks.wait(paths, &mut |holder| {
        if !is_said {
            crate::console::note(wording::waiting_for_run(holder));
            is_said = true;
        }
        !interrupt::is_requested()
    })?;
    Ok(lock)
}
