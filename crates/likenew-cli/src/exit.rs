//! How a command can end: its exit codes, and the failures behind them.

use likenew_core::target_error::system_reason;
use std::io::ErrorKind;

use likenew_archive::ArchiveError;
use likenew_core::input::InputError;
use likenew_core::target_error::TargetError;
use likenew_run::run::RunError;
use likenew_run::runner::RunnerError;
use likenew_sim::SimError;

use crate::wording;

/// What most functions of the command line return.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// The exit codes of a command that ran.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Finished, no problem found.
    Fine = 0,
    /// Could not finish; the measurements are kept.
    Unfinished = 1,
    /// Wrong usage.
    Usage = 2,
    /// Refused for safety.
    Refused = 3,
    /// Finished and found a problem with the drive.
    Problem = 10,
    /// Stopped by the user; the measurements are kept.
    Interrupted = 130,
}

impl Exit {
    /// The exit of two commands in a row: an interruption if either was one, otherwise the later that is not `Fine`.
    pub(crate) fn worse(self, later: Self) -> Self {
        match (self, later) {
            (Self::Interrupted, _) | (_, Self::Fine) => self,
            _ => later,
        }
    }

    /// The exit of a command for several targets, in any order. An interruption comes first, then a
    /// problem that was found, then the reasons why a target was not measured.
    pub(crate) fn of_targets(self, other: Self) -> Self {
        const RANKS: [Exit; 6] =
            [Exit::Fine, Exit::Usage, Exit::Refused, Exit::Unfinished, Exit::Problem, Exit::Interrupted];
        let rank = |exit| RANKS.iter().position(|ranked| *ranked == exit);
        if rank(other) > rank(self) { other } else { self }
    }
}

/// Why a command could not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The command line or a plan makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A safety check refused.
    #[error("{0}")]
    Refused(String),
    /// The user stopped it before it began.
    #[error("{0}")]
    Stopped(&'static str),
    /// The user stopped it, and nothing needs to be said.
    #[error("{}", wording::STOPPED_EARLY)]
    Interrupted,
    /// Any other error.
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl Failure {
    /// A file on the command line that could not be read. This is wrong usage, unless the file
    /// exists and the system cannot read it.
    pub(crate) fn unreadable(what: &str, error: InputError) -> Self {
        let text = wording::could_not_read(what, &error);
        match &error {
            InputError::System(system) => match system.kind() {
                ErrorKind::NotFound | ErrorKind::NotADirectory => {
                    Self::Usage(wording::could_not_read_check_spelling(what, &error))
                }
                _ => Self::Other(anyhow::anyhow!(text)),
            },
            _ => Self::Usage(text),
        }
    }

    /// Refuses wrong usage with this sentence, if it is wrong.
    pub(crate) fn reject_if(is_wrong: bool, sentence: impl Into<String>) -> Result<()> {
        if is_wrong { Err(Self::Usage(sentence.into())) } else { Ok(()) }
    }

    /// Refuses for safety with this sentence, if it is unsafe.
    pub(crate) fn refuse_if(is_unsafe: bool, sentence: impl Into<String>) -> Result<()> {
        if is_unsafe { Err(Self::Refused(sentence.into())) } else { Ok(()) }
    }

    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage(_) => Exit::Usage,
            Self::Refused(_) => Exit::Refused,
            Self::Stopped(_) | Self::Interrupted => Exit::Interrupted,
            Self::Other(_) => Exit::Unfinished,
        }
    }

    /// The message for a user, with its causes.
    pub(crate) fn message(&self) -> String {
        match self {
            Self::Refused(text) => wording::refusal(text),
            _ => wording::error(self.reason()),
        }
    }

    /// The reason alone, for programs.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Other(error) => with_causes(error),
            other => other.to_string(),
        }
    }

    /// The same failure; a refusal also says what else can be done.
    pub(crate) fn with_hint(self, hint: fn(&str) -> String) -> Self {
        match self {
            Self::Refused(text) => Self::Refused(hint(&text)),
            other => other,
        }
    }
}

/// An error and its causes, each once: many errors already end with their cause.
fn with_causes(error: &anyhow::Error) -> String {
    let text = |cause: &(dyn std::error::Error + 'static)| match cause.downcast_ref::<std::io::Error>() {
        Some(system) => system_reason(system),
        None => cause.to_string(),
    };
    error.chain().fold(String::new(), |message, cause| match text(cause) {
        cause if message.contains(&cause) => message,
        cause if message.is_empty() => cause,
        cause => format!("{message}: {cause}"),
    })
}

/// An argument that is not a run folder is wrong usage.
impl From<ArchiveError> for Failure {
    fn from(error: ArchiveError) -> Self {
        let is_typed_wrong = match &error {
            ArchiveError::NotARun { .. } | ArchiveError::NoSuchRun(_) => true,
            ArchiveError::System { source, .. } => {
                matches!(
                    source.kind(),
                    ErrorKind::NotFound | ErrorKind::NotADirectory | ErrorKind::InvalidInput
                )
            }
            _ => false,
        };
        if is_typed_wrong { Self::Usage(error.to_string()) } else { Self::Other(error.into()) }
    }
}

/// A simulated drive with a wrong name or file is wrong usage.
impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        match error {
            SimError::Stopped => Self::Stopped(wording::STOPPED_BEFORE_RUN),
            error => Self::Usage(error.to_string()),
        }
    }
}

impl From<TargetError> for Failure {
    fn from(target_error: TargetError) -> Self {
        match target_error {
            TargetError::Refused(text) => Self::Refused(text),
            TargetError::Unsuitable(text) => Self::Usage(text),
            other => Self::Other(other.into()),
        }
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Unfit(reason) | RunError::Recording(reason) => Self::Usage(reason),
            RunError::TargetError(target_error) => target_error.into(),
        }
    }
}

impl From<RunnerError> for Failure {
    fn from(error: RunnerError) -> Self {
        match error {
            RunnerError::Run(error) => error.into(),
            error @ RunnerError::Plan(_) => Self::Usage(error.to_string()),
            error @ RunnerError::Store(_) => Self::Other(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wording::help::EXIT_CODES;

    #[test]
    fn every_exit_code_is_explained() {
        let exits =
            [Exit::Fine, Exit::Unfinished, Exit::Usage, Exit::Refused, Exit::Problem, Exit::Interrupted];
        assert_eq!(exits.map(|exit| exit as u8), EXIT_CODES.map(|(code, _)| code));
    }
}
