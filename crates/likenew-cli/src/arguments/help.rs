//! What `likenew help` takes.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command, a cause such as slc_cache, or sim for the settings of simulated drives [default: a list]
    pub(crate) topic: Option<String>,
}
