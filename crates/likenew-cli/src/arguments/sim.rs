//! What `likenew sim` takes.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, Subcommand};
use likenew_core::units::parse_size;

use super::number;

#[derive(Debug, Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    pub(crate) action: SimAction,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SimAction {
    /// Draws its layers from host to medium, with the figures of each and what bounds its speed
    Show(SimShow),
    /// Makes a drive in its state and saves it, so that sim:FILE.snapshot opens at once what takes long to make
    Save(SimSave),
    /// Serves it as a network block device in real time, for any program that speaks NBD
    Serve(SimServe),
}

#[derive(Debug, Args)]
pub(crate) struct SimServe {
    /// NAME, FILE.toml or FILE.snapshot, the first two with a state, such as intel-x25-m-80gb?state=used; sim: before it may be left out
    pub(crate) target: String,
    /// The Unix socket to listen on [default: likenew-NAME.sock in $XDG_RUNTIME_DIR, or in the folder for temporary files]
    #[arg(long, value_name = "PATH")]
    pub(crate) socket: Option<PathBuf>,
    /// Listen on TCP instead: a port of this machine alone, or ADDRESS:PORT; port 0 takes a free one
    #[arg(long, value_name = "[ADDRESS:]PORT", conflicts_with = "socket", value_parser = parse_address)]
    pub(crate) listen: Option<SocketAddr>,
    /// Seconds of the drive in one second, from 0.001 to 1000
    #[arg(long, default_value = "1", value_parser = number(0.001, 1000.0))]
    pub(crate) speed: f64,
    /// Refuse writes, TRIM and zeroing
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The most that is kept in memory of what is written; zeros and what was trimmed take nothing
    #[arg(long, default_value = "4GiB", value_parser = parse_size, value_name = "SIZE", conflicts_with = "store")]
    pub(crate) memory: u64,
    /// Keep what is written in a sparse file: a new one, or that of an earlier serve, whose data and mechanism are then there again
    #[arg(long, value_name = "FILE")]
    pub(crate) store: Option<PathBuf>,
    /// What the export is called; the default export, without a name, is the same
    #[arg(long, value_name = "NAME", default_value = "")]
    pub(crate) export_name: String,
    /// End once somebody was served and the last client has left
    #[arg(long)]
    pub(crate) once: bool,
    /// Write what was done and counted to FILE at the end, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}

/// A port alone is one of this machine.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse()
        .map_err(|_| "it takes a port, such as 10809, or an address with one, such as 127.0.0.1:10809".into())
}

#[derive(Debug, Args)]
pub(crate) struct SimSave {
    /// NAME or FILE.toml with a state, such as tlc-nvme-1tb?state=used; sim: before it may be left out
    pub(crate) target: String,
    /// A new file; its name ends with .snapshot
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SimShow {
    /// NAME, FILE.toml, or either with a state, such as intel-x25-m-80gb?state=used; sim: before it may be left out
    pub(crate) target: String,
    /// List every parameter with its source too
    #[arg(long)]
    pub(crate) sources: bool,
    /// Write all of it as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}
