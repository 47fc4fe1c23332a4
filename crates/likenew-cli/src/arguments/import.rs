//! What `likenew import` takes.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Import {
    #[command(subcommand)]
    pub(crate) from: ImportFrom,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ImportFrom {
    /// What fio has written with --output-format=json or json+
    Fio(ImportFio),
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
