//! What `likenew report` takes.

use std::path::PathBuf;

use clap::Args;

use super::{ARCHIVE, Output};

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders or names of kept runs [default: the newest run]
    pub(crate) runs: Vec<PathBuf>,
    /// List all kept runs
    #[arg(long, conflicts_with_all = ["runs", "last"], help_heading = ARCHIVE)]
    pub(crate) list: bool,
    /// The newest N runs
    #[arg(long, value_name = "N", conflicts_with = "runs", help_heading = ARCHIVE)]
    pub(crate) last: Option<usize>,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}
