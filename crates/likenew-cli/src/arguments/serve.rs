//! What `likenew serve` takes.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

use super::{ARCHIVE, HistoryPlace, SAFETY};

#[derive(Debug, Args)]
pub(crate) struct Serve {
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:7373", value_name = "ADDRESS:PORT")]
    pub(crate) listen: SocketAddr,
    /// Secret of the page, in a file that only you may read; an address that other machines reach needs one
    #[arg(long, value_name = "FILE", help_heading = SAFETY)]
    pub(crate) token_file: Option<PathBuf>,
    /// Further names of this machine that browsers may use, such as lab.example
    #[arg(long, value_name = "NAME,..", value_delimiter = ',', help_heading = SAFETY)]
    pub(crate) name: Vec<String>,
    #[command(flatten)]
    pub(crate) place: HistoryPlace,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}
