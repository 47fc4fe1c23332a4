//! What `likenew import` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use likenew_trace::Format;

use super::{Output, text};

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportSource,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportSource {
    /// What fio has written with --output-format=json or json+
    Fio(ImportFio),
    /// The I/Os that somebody's programs did: what a trace holds, and the same in another form
    Trace(ImportTrace),
}

#[derive(Debug, Args)]
pub(crate) struct ImportFio {
    /// The file, or - for standard input
    pub(crate) file: PathBuf,
    /// What was measured, where it is not the file that fio names
    pub(crate) target: Option<String>,
    /// Judge it as this plan's procedure does, where fio ran what --export fio made of the plan
    #[arg(long, value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR")]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ImportTrace {
    /// The trace, packed with gzip or Zstandard or as text, or - for standard input
    pub(crate) file: PathBuf,
    /// What it is, where that does not show: likenew, iolog, blkparse, tracefs, msr, systor, alibaba, tencent, fiu
    #[arg(long, value_name = "FORMAT", value_parser = text::<Format>)]
    pub(crate) format: Option<Format>,
    /// Which of its volumes, where it holds several
    #[arg(long, value_name = "ID")]
    pub(crate) volume: Option<String>,
    /// Write it to a new file: .csv or .csv.zst for likenew, .iolog for fio, .v2.iolog for fio before 3.31
    #[arg(long, value_name = "OUT")]
    pub(crate) to: Option<PathBuf>,
    /// Write what it holds as JSON to FILE, or to standard output with - (then nothing else is printed there)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}
