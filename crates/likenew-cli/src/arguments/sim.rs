//! What `likenew sim` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

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
