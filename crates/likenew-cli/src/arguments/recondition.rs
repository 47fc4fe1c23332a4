//! What `likenew recondition` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::recondition::{Erase, StepName};

use super::{ReferenceArguments, RunArguments, TargetArguments};

#[derive(Debug, Args)]
pub(crate) struct Recondition {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Only look, and say what could be done and what each step takes and takes away
    #[arg(long, conflicts_with = "step")]
    pub(crate) dry_run: bool,
    /// The step to take whatever the diagnosis says: trim, discard-unused, refresh, overwrite; discard, overwrite-all and format lose everything
    /// [default: the gentlest that can help and loses nothing]
    #[arg(long, value_parser = step, value_name = "STEP")]
    pub(crate) step: Option<StepName>,
    /// How often space is written over at most; it ends as soon as another pass would change little
    #[arg(long, default_value_t = 8)]
    pub(crate) passes: u32,
    /// How long the drive is left alone after a step, to finish what that set off
    #[arg(long, value_parser = parse_duration, default_value = "30s", value_name = "SPAN")]
    pub(crate) rest: Nanos,
    /// Bytes written at most by each check, before and after [default: 2GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Free space that is written over at most [default: all above the reserve]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) space: Option<u64>,
    /// Where a whole device that is refreshed keeps what is being written: a new file on another drive [default: beside the log of what was
    /// done to drives]
    #[arg(long, value_name = "FILE", requires = "step")]
    pub(crate) journal: Option<PathBuf>,
    /// What a drive erases when it formats itself (--step format): user data, or the key that all of it is encrypted with
    #[arg(long, value_enum, default_value_t = EraseName::UserData, value_name = "WHAT")]
    pub(crate) erase: EraseName,
    #[command(flatten)]
    pub(crate) references: ReferenceArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

/// What a format erases, as typed.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EraseName {
    UserData,
    Key,
}

impl From<EraseName> for Erase {
    fn from(name: EraseName) -> Self {
        match name {
            EraseName::UserData => Self::UserData,
            EraseName::Key => Self::Key,
        }
    }
}

fn step(text: &str) -> Result<StepName, String> {
    StepName::ALL.into_iter().find(|name| name.text() == text).ok_or_else(|| {
        let names: Vec<&str> = StepName::ALL.into_iter().map(StepName::text).collect();
        format!("there is no step \"{text}\"; there are {}", names.join(", "))
    })
}
