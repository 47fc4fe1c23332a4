//! What `likenew compare` takes.

use std::path::PathBuf;

use clap::Args;

use super::{ARCHIVE, HistoryPlace, Output};

#[derive(Debug, Args)]
pub(crate) struct Compare {
    /// Two or more runs of one command, the earlier first: folders, names of kept runs, results of fio, or drives, whose last check is taken
    #[arg(value_name = "RUN|DRIVE")]
    pub(crate) runs: Vec<String>,
    /// The newest N runs
    #[arg(long, value_name = "N", conflicts_with = "runs", help_heading = ARCHIVE)]
    pub(crate) last: Option<usize>,
    #[command(flatten)]
    pub(crate) place: HistoryPlace,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}
