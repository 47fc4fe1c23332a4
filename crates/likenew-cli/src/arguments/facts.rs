//! What `likenew facts` takes.

use std::path::PathBuf;

use clap::Args;

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// A folder, a file, a block device, or a simulated drive
    #[arg(required_unless_present = "all")]
    pub(crate) target: Option<String>,
    /// Every drive of this machine
    #[arg(long, conflicts_with = "target")]
    pub(crate) all: bool,
    /// Say of each fact where it comes from
    #[arg(long)]
    pub(crate) origins: bool,
    /// Print the plan as TOML and stop
    #[arg(long)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    /// Keep no run folder
    #[arg(long, conflicts_with = "archive")]
    pub(crate) no_archive: bool,
}
