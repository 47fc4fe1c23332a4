//! What `likenew resume` takes.

use std::path::PathBuf;

use clap::Args;

use super::ExecutionArguments;

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Folder of an unfinished run
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) run_arguments: ExecutionArguments,
}
