//! What `likenew run` takes.

use std::path::PathBuf;

use clap::Args;

use super::RunArguments;

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The plan; `likenew BENCH-OR-FILL .. --plan` prints one
    pub(crate) plan: PathBuf,
    /// The drive, where it is not the one that the plan names
    pub(crate) target: Option<String>,
    /// Where all randomness comes from [default: the plan's]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
