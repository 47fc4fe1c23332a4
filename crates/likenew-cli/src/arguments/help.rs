//! What `likenew help` takes.

use std::path::PathBuf;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command, a cause such as slc_cache, or sim for the settings of simulated drives [default: a list]
    pub(crate) topic: Option<String>,
    /// Write manual pages for man, completions for bash, zsh and fish, and the reference in Markdown into this folder
    #[arg(long, value_name = "DIR", conflicts_with = "topic")]
    pub(crate) write: Option<PathBuf>,
}
