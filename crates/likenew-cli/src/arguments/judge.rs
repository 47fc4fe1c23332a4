//! What `likenew judge` takes.

use std::path::PathBuf;

use clap::Args;

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Judge {
    /// Folder of an earlier run
    pub(crate) run: PathBuf,
    #[command(flatten)]
    pub(crate) output: Output,
}
