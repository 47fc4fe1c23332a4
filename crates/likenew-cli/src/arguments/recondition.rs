//! What `likenew recondition` takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use likenew_core::units::{BadUnit, Nanos, parse_duration, parse_size};
use likenew_procedures::recondition::{Erase, StepName};

use super::{ReferenceArguments, RunArguments, TargetArguments};
use crate::wording;

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Recondition {
    /// Change nothing: show which steps are possible, what each costs and what it would lose
    #[arg(long, conflicts_with = "step")]
    pub(crate) dry_run: bool,
    /// Take this step whatever the diagnosis is: refresh and rewrite lose nothing; after trim and overwrite, deleted
    /// files cannot be recovered; discard-unused loses what no partition covers; discard, overwrite-all and format
    /// ERASE EVERYTHING [default: the gentlest that can help and loses no file]
    #[arg(long, value_parser = step, value_name = "STEP")]
    pub(crate) step: Option<StepName>,
    /// At most this many overwrite passes; stops earlier when a pass gains nothing
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub(crate) passes: u32,
    /// Idle time after a step, for the drive to finish it
    #[arg(long, value_parser = parse_duration, default_value = "30s", value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Each check, before and after, writes at most this much [default: 2GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Overwrite at most this much free space [default: all above the reserve]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) overwrite_max: Option<u64>,
    /// Limit of the rewriting rate, such as 50MB/s [default: as fast as the drive goes]
    #[arg(long, value_parser = rate, value_name = "SIZE/s")]
    pub(crate) rate: Option<u64>,
    /// With --step refresh or rewrite of a whole device: journal of the data being rewritten, a new file on another drive
    /// [default: beside the audit log]
    #[arg(long, value_name = "FILE", requires = "step")]
    pub(crate) journal: Option<PathBuf>,
    /// With --step format: erase user data, or the key that encrypts all of it
    #[arg(long, value_enum, default_value_t = EraseName::UserData, value_name = "WHAT")]
    pub(crate) erase: EraseName,
    #[command(flatten)]
    pub(crate) references: ReferenceArguments,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
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

/// Bytes a second; "/s" may be left out.
fn rate(text: &str) -> Result<u64, BadUnit> {
    parse_size(text.strip_suffix("/s").unwrap_or(text))
}

fn step(text: &str) -> Result<StepName, String> {
    StepName::ALL.into_iter().find(|name| name.text() == text).ok_or_else(|| {
        let names: Vec<&str> = StepName::ALL.into_iter().map(StepName::text).collect();
        wording::unknown_name("step", text, &names)
    })
}
