//! What `likenew export` takes.

use std::path::PathBuf;

use clap::Args;

use super::ARCHIVE;

#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The folder of a run
    pub(crate) run: PathBuf,
    /// The file to make, such as check.likenew
    pub(crate) file: PathBuf,
    /// Folder of all runs, beside which the secret for serial numbers is [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}
