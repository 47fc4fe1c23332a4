//! What `likenew run` takes.

use std::path::PathBuf;

use clap::Args;

use super::{RUN, RunArguments};

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan, which any command prints with --plan, or a job file of fio
    pub(crate) plan: PathBuf,
    /// The target, if it is not the one that the plan names
    pub(crate) target: Option<String>,
    /// Random seed [default: the plan's]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
