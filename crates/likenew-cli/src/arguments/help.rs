//! What `likenew help` takes.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct Help {
    /// A command or a cause [default: what there is]
    pub(crate) topic: Option<String>,
}
