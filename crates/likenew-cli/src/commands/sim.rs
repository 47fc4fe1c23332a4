//! `likenew sim`: simulated drives explained, saved, served, and fitted to real ones.

mod calibrate;
mod image;
mod serve;
mod show;

use std::fs::File;
use std::io::{BufWriter, ErrorKind, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use anyhow::anyhow;
use clap::{Args, Subcommand};
use likenew_core::units::parse_size;
use likenew_sim::Spec;

use super::Command;
use crate::arguments::ArchiveFolder;
use crate::exit::{Exit, Failure, Result};
use crate::output;
use crate::resolved_target::read_file;
use crate::wording::sim as wording;
use likenew_procedures::fit::number;

/// Explain, save or serve a simulated drive
#[derive(Debug, Args)]
pub(crate) struct Sim {
    #[command(subcommand)]
    action: SimAction,
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
    runs: Vec<PathBuf>,
    /// Runs that are predicted and not fitted [default: with three runs or more, the last]
    #[arg(long, value_name = "RUN", num_args = 1..)]
    held_out: Vec<PathBuf>,
    /// Simulated drive to begin with, and the state that every run began in, such as 'tlc-nvme-1tb?state=used' [default: the
    /// catalog's drive of this model, or the one that does the runs best]
    #[arg(long, value_name = "NAME")]
    like: Option<String>,
    /// File of the new drive [default: a name made of the model]
    #[arg(long, short, value_name = "FILE.toml")]
    output: Option<PathBuf>,
    /// Replace that file if it exists
    #[arg(long)]
    replace: bool,
    /// Candidates to try before the local search, which tries some 20 to 40 in each of 8 rounds whatever this is
    #[arg(long, default_value_t = 300, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    candidates: u32,
    /// Write everything as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
    #[command(flatten)]
    folder: ArchiveFolder,
}

#[derive(Debug, Args)]
pub(crate) struct SimServe {
    /// NAME, FILE.toml or FILE.snapshot; settings follow a ?, as in 'intel-x25-m-80gb?state=used'
    target: String,
    /// Unix socket to listen on [default: likenew-NAME.sock in $XDG_RUNTIME_DIR or the temporary folder]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Listen on TCP instead: a port on this machine only, or ADDRESS:PORT; port 0 takes a free one
    #[arg(long, value_name = "[ADDRESS:]PORT", conflicts_with = "socket", value_parser = parse_address)]
    listen: Option<SocketAddr>,
    /// Simulated seconds per real second, from 0.001 to 1000
    #[arg(long, default_value = "1", value_parser = number(0.001, 1000.0), value_name = "FACTOR")]
    speed: f64,
    /// Refuse writes, TRIM and zeroing
    #[arg(long)]
    read_only: bool,
    /// Use at most this much memory for written data; zeros and trimmed data take none
    #[arg(long, default_value = "4GiB", value_parser = parse_size, value_name = "SIZE", conflicts_with = "store")]
    memory: u64,
    /// Keep written data and the drive's state in a sparse file, new or from an earlier serve
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
    /// Name of the NBD export, in addition to the default export
    #[arg(long, value_name = "NAME", default_value = "")]
    export_name: String,
    /// End when the last client has disconnected
    #[arg(long)]
    once: bool,
    /// At the end, write all counters as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

/// Parses ADDRESS:PORT. A port alone is on this machine.
fn parse_address(text: &str) -> Result<SocketAddr, String> {
    let port = text.strip_prefix(':').unwrap_or(text);
    if let Ok(port) = port.parse() {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| crate::wording::BAD_ADDRESS.into())
}

#[derive(Debug, Args)]
pub(crate) struct SimSave {
    /// NAME or FILE.toml with a state, such as 'tlc-nvme-1tb?state=used'
    target: String,
    /// A new file whose name ends with .snapshot
    file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SimShow {
    /// NAME or FILE.toml, with settings after a ?, as in 'intel-x25-m-80gb?state=used'
    target: String,
    /// Also list every parameter with its source
    #[arg(long)]
    sources: bool,
    /// Write everything as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    json: Option<PathBuf>,
}

impl Command for Sim {
    fn run(self) -> Result<Exit> {
        match &self.action {
            SimAction::Show(show) => show::run(show),
            SimAction::Save(save) => run_save(save),
            SimAction::Serve(serve) => serve::run(serve),
            SimAction::Calibrate(calibrate) => calibrate::run(calibrate),
        }
    }
}

/// Creates a drive and writes it to a new file.
fn run_save(command: &SimSave) -> Result<Exit> {
    let path = &command.file;
    if path.extension().is_none_or(|extension| extension != "snapshot") {
        return Err(Failure::Usage(wording::not_a_snapshot_name(path)));
    }
    let spec = spec(&command.target)?;
    let could_not = |error: &std::io::Error| wording::could_not_save(path, error);
    let file = File::create_new(path).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => Failure::Refused(could_not(&error)),
        _ => Failure::Other(anyhow!(could_not(&error))),
    })?;
    let made = spec.open(read_file).map_err(Failure::from);
    let saved = made.and_then(|mut drive| {
        let mut out = BufWriter::new(&file);
        drive
            .save(&mut out)
            .and_then(|()| out.flush())
            .map_err(|error| Failure::Other(anyhow!(could_not(&error))))
    });
    if let Err(failure) = saved {
        // The file is useless and our own; an error in removing it would only hide the first one.
        let _ = std::fs::remove_file(path);
        return Err(failure);
    }
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    output::print(&wording::saved(&spec.text, bytes, path))?;
    Ok(Exit::Fine)
}

fn spec(target: &str) -> Result<Spec> {
    let text = if target.starts_with("sim:") { target.to_owned() } else { format!("sim:{target}") };
    let name = target.split_once('?').map_or(target, |(name, _)| name);
    // Other paths are refused: a device opened as a drive's file would be read to its end.
    if name.contains('/') && ![".toml", ".snapshot"].iter().any(|end| name.ends_with(end)) {
        return Err(Failure::Usage(wording::not_a_simulated_drive(target)));
    }
    Ok(Spec::parse(&text)?)
}
