//! What `likenew facts` takes.

use std::path::PathBuf;

use clap::Args;

use super::{ARCHIVE, Output, RUN};

#[derive(Debug, Args)]
pub(crate) struct Facts {
    /// A folder, a file, a block device, or a simulated drive
    #[arg(required_unless_present = "all")]
    pub(crate) target: Option<String>,
    /// Every drive of this machine
    #[arg(long, conflicts_with = "target", help_heading = RUN)]
    pub(crate) all: bool,
    /// Show where each fact comes from
    #[arg(long, help_heading = RUN)]
    pub(crate) origins: bool,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) output: Output,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
    /// Do not keep this run
    #[arg(long, conflicts_with = "archive", help_heading = ARCHIVE)]
    pub(crate) no_archive: bool,
}
