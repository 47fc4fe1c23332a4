//! What `likenew resume` takes.

use std::path::PathBuf;

use clap::Args;

use super::{ExecutionArguments, RUN};

#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Folder of an unfinished run
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) run_arguments: ExecutionArguments,
    /// Say how long the rest takes and what it writes, and stop; with --json as JSON
    #[arg(long, help_heading = RUN, hide_short_help = true)]
    pub(crate) estimate: bool,
}
