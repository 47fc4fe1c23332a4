//! What a command may do to its targets: how they are examined, and what consent that takes.

use std::path::Path;

use likenew_procedures::recondition::StepName;

use crate::arguments::ExecutionArguments;
use crate::exit::Failure;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Decided by the command line alone; a plan that does more is refused when it is checked.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access<'a> {
    /// Its facts are read, or those of every drive of this machine; nothing is opened for I/O.
    Facts { of_all: bool },
    /// It is read, and in a folder temporary files are written.
    Read,
    /// It is written: a file or a device only with its owner's consent.
    Write,
    /// The same for a trace, of which the reads can be replayed alone.
    Replay,
    /// A step of recondition, which has consents of its own. A dry run needs none.
    Step { step: Option<StepName>, journal: Option<&'a Path>, is_dry_run: bool },
}

impl Access<'_> {
    /// For a command whose operations decide.
    pub(crate) fn writing(writes: bool) -> Self {
        if writes { Self::Write } else { Self::Read }
    }

    /// Resolves a target as it was typed, without changing anything.
    pub(crate) fn resolve(
        self,
        typed: &str,
        run_arguments: &ExecutionArguments,
    ) -> Result<ResolvedTarget, Failure> {
        match self {
            Self::Facts { of_all: true } => Ok(ResolvedTarget::Facts(None)),
            Self::Facts { of_all: false } => ResolvedTarget::resolve_for_facts(typed, run_arguments),
            Self::Step { step, journal, .. } if keeps_data(step, typed) => {
                ResolvedTarget::resolve_to_preserve(typed, run_arguments, journal)
            }
            Self::Read | Self::Write | Self::Replay | Self::Step { .. } => {
                ResolvedTarget::resolve(typed, run_arguments)
            }
        }
    }

    /// Gets every consent that it needs.
    ///
    /// # Errors
    /// A refusal with the command to type.
    pub(crate) fn ask(
        self,
        resolved_target: &mut ResolvedTarget,
        run_arguments: &ExecutionArguments,
    ) -> Result<(), Failure> {
        match self {
            Self::Facts { .. } | Self::Read | Self::Step { is_dry_run: true, .. } => Ok(()),
            Self::Write => {
                resolved_target.ask_for_consent(run_arguments)?;
                resolved_target.refuse_writing()
            }
            Self::Replay => {
                resolved_target.ask_for_consent(run_arguments)?;
                resolved_target.refuse_writing().map_err(with_reads_only_hint)
            }
            Self::Step { step, journal, .. } => ask_for_step(resolved_target, step, journal, run_arguments),
        }
    }

    /// Whether only facts are read.
    pub(crate) fn is_facts(self) -> bool {
        matches!(self, Self::Facts { .. })
    }

    /// Whether the drive is changed in more than one run: an interrupted refresh is finished before anything
    /// is planned.
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

/// Whether a step works on a whole drive and loses nothing, so that it needs consent to work there, but not
/// to a loss.
fn keeps_data(step: Option<StepName>, typed: &str) -> bool {
    match step {
        Some(StepName::DiscardUnused) => true,
        Some(StepName::Refresh | StepName::Rewrite) => !Path::new(typed).is_dir(),
        _ => false,
    }
}

fn ask_for_step(
    resolved_target: &mut ResolvedTarget,
    step: Option<StepName>,
    journal: Option<&Path>,
    run_arguments: &ExecutionArguments,
) -> Result<(), Failure> {
    let Some(path) = resolved_target.path().filter(|_| !resolved_target.is_folder()) else {
        return match step {
            Some(StepName::DiscardUnused) => resolved_target.confirm_preserve(run_arguments, journal),
            _ => Ok(()),
        };
    };
    match step {
        Some(StepName::Refresh | StepName::Rewrite) => {
            resolved_target.confirm_preserve(run_arguments, journal)
        }
        Some(step) if step.destroys() => {
            resolved_target.ask_for_consent(run_arguments)?;
            resolved_target.refuse_writing()
        }
        _ if resolved_target.is_file() => Err(Failure::Refused(wording::file_for_recondition(path))),
        Some(StepName::DiscardUnused) => {
            Err(Failure::Refused(wording::not_a_folder_for_discard_unused(path.display())))
        }
        _ => Err(Failure::Refused(wording::device_for_recondition(path))),
    }
}
