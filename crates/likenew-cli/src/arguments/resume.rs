//! What `likenew resume` takes.

use std::path::PathBuf;

use clap::Args;

use super::ExecutionArguments;

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// The folder of a run that stopped before its end
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) run_arguments: ExecutionArguments,
}
