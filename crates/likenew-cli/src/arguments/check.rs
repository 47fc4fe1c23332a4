//! What `likenew check` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::parse_size;

use super::{ReferenceArguments, RunArguments};

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// Folders, files, block devices, or simulated drives: each is checked by itself, one after the other
    #[arg(required_unless_present = "all", value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// Every drive of this machine, which is only read
    #[arg(long, conflicts_with = "targets")]
    pub(crate) all: bool,
    /// Where all randomness comes from [default: 0, of real drives another one each time]
    #[arg(long)]
    pub(crate) seed: Option<u64>,
    /// Print the plan as TOML and stop
    #[arg(long)]
    pub(crate) plan: bool,
    /// Bytes written at most; 0 for none [default: 2GiB, with --thorough 64GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Take minutes and tens of gigabytes, to see what takes that much
    #[arg(long)]
    pub(crate) thorough: bool,
    #[command(flatten)]
    pub(crate) references: ReferenceArguments,
    /// Look through this folder too (it is only read): what share of the advertised speed do your files see?
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Is it worth a new drive, and which? Drives of likenew drives, by name, comma between them
    #[arg(long, value_delimiter = ',', value_name = "DRIVE", conflicts_with = "all")]
    pub(crate) upgrade: Vec<String>,
    /// For --upgrade: a recorded day of the drive, as likenew record writes one or in any format of likenew import trace
    #[arg(long = "trace", value_name = "FILE", requires = "upgrade")]
    pub(crate) recording: Option<String>,
    /// For --upgrade without a day: an application or a group of them, as likenew apps plays them, or FILE.toml; more than once for several. They write
    /// a fifth of --bytes at most, and the check the rest [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml", requires = "upgrade", conflicts_with = "recording")]
    pub(crate) app: Vec<String>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
