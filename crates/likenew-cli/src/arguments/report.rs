//! What `likenew report` takes.

use std::path::PathBuf;

use clap::Args;

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folders of earlier runs; without any, lists what there is
    pub(crate) runs: Vec<PathBuf>,
    /// The last N runs, instead of naming their folders
    #[arg(long, value_name = "N", conflicts_with = "runs")]
    pub(crate) last: Option<usize>,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}
