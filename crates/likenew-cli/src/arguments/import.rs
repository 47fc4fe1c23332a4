//! What `likenew import` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use likenew_trace::Format;

use super::{ARCHIVE, Output, text};

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportSource,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportSource {
    /// Keep a run that likenew export wrote on another machine
    Run(ImportRun),
    /// Import what fio measured, written with --output-format=json or json+
    Fio(ImportFio),
    /// Show what a trace holds, and convert it to another format
    Trace(ImportTrace),
}

#[derive(Debug, Args)]
pub(crate) struct ImportRun {
    /// The file that likenew export wrote
    pub(crate) file: PathBuf,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct ImportFio {
    /// fio's JSON, or - for standard input
    pub(crate) file: PathBuf,
    /// What was measured, if it is not the file that fio names
    pub(crate) target: Option<String>,
    /// Evaluate it by this plan, if fio ran what --export fio made of the plan
    #[arg(long, value_name = "PLAN.toml")]
    pub(crate) plan: Option<PathBuf>,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, Args)]
pub(crate) struct ImportTrace {
    /// The trace as text, gzip or Zstandard, or - for standard input
    pub(crate) file: PathBuf,
    /// Its format, if it is not recognized: likenew, iolog, blkparse, tracefs, msr, systor, alibaba, tencent, fiu
    #[arg(long, value_name = "NAME", value_parser = text::<Format>)]
    pub(crate) format: Option<Format>,
    /// Which volume, if the trace holds several
    #[arg(long, value_name = "ID")]
    pub(crate) volume: Option<String>,
    /// Convert it to a new file: .csv or .csv.zst for likenew, .iolog for fio, .v2.iolog for fio before 3.31
    #[arg(long, value_name = "OUT")]
    pub(crate) to: Option<PathBuf>,
    /// Write what it holds as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
}
