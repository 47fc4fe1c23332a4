//! What `likenew sim` takes.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use likenew_core::units::parse_size;

use super::{ARCHIVE, number};
use crate::wording;

#[derive(Debug, Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    pub(crate) action: SimAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimAction {
    /// Draw a drive's layers from host to medium, and what limits its speed
    Show(SimShow),
    /// Save a drive in its state, so that sim:FILE.snapshot opens it at once
    Save(SimSave),
    /// Serve a drive as a network block device (NBD) in real time
    Serve(SimServe),
    /// Fit a simulated drive to kept runs of a real one, and write its file
    Calibrate(SimCalibrate),
}

#[derive(Debug, Args)]
pub(crate) struct SimCalibrate {
    /// Runs of one drive: folders, or names of kept runs. A sweep, a bench and a fill tell most
    #[arg(value_name = "RUN", required = true)]
    pub(crate) runs: Vec<PathBuf>,
    /// Runs that are predicted and not fitted [default: with three runs or more, the last]
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(crate) held_out: Vec<PathBuf>,
    /// Simulated drive to begin with, and the state that every run began in, such as 'tlc-nvme-1tb?state=used' [default: the
    /// catalog's drive of this model, or the one that does the runs best]
    #[arg(long, value_name = "NAME")]
    pub(crate) like: Option<String>,
    /// File of the new drive [default: a name made of the model]
    #[arg(long, short, value_name = "FILE.toml")]
    pub(crate) output: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long)]
    pub(crate) replace: bool,
    /// Candidates to try before the local search, which tries some 20 to 40 in each of 8 rounds whatever this is
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) candidates: u32,
    /// Write everything as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct SimServe {
    /// NAME, FILE.toml or FILE.snapshot; settings follow a ?, as in 'intel-x25-m-80gb?state=used'
    pub(crate) target: String,
    /// Unix socket to listen on [default: likenew-NAME.sock in $XDG_RUNTIME_DIR or the temporary folder]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen on TCP instead: a port on this machine only, or ADDRESS:PORT; port 0 takes a free one
    #[arg(long, value_name = "[ADDRESS:]PORT", conflicts_with = "socket", value_parser = parse_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Simulated seconds per real second, from 0.001 to 1000
    #[arg(long, default_value = "1", value_parser = number(0.001, 1000.0), value_name = "FACTOR")]
    pub(crate) speed: f64,
    /// Refuse writes, TRIM and zeroing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// Use at most this much memory for written data; zeros and trimmed data take none
    #[arg(long, default_value = "4GiB", value_parser = parse_size, value_name = "SIZE", conflicts_with = "store")]
    pub(crate) memory: u64,
    /// Keep written data and the drive's state in a sparse file, new or from an earlier serve
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// Name of the NBD export, in addition to the default export
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) export_name: String,
    /// End when the last client has disconnected
    #[arg(long)]
    pub(crate) once: bool,
    /// At the end, write all counters as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}

/// A port without an address is on this machine.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| wording::BAD_ADDRESS.into())
}

#[derive(Debug, Args)]
pub(crate) struct SimSave {
    /// NAME or FILE.toml with a state, such as 'tlc-nvme-1tb?state=used'
    pub(crate) target: String,
    /// A new file whose name ends with .snapshot
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SimShow {
    /// NAME or FILE.toml, with settings after a ?, as in 'intel-x25-m-80gb?state=used'
    pub(crate) target: String,
    /// Also list every parameter with its source
    #[arg(long)]
    pub(crate) sources: bool,
    /// Write everything as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}
