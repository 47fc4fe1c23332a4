//! What `likenew history` takes, and where a history is.

use std::path::PathBuf;

use clap::Args;

use super::{ARCHIVE, OUTPUT};

#[derive(Debug, Args)]
pub(crate) struct History {
    /// A drive: the target as it was checked, or the beginning of its key [default: all drives]
    #[arg(value_name = "TARGET|DRIVE")]
    pub(crate) drive: Option<String>,
    /// Forget the index, and read all run folders again
    #[arg(long, help_heading = ARCHIVE)]
    pub(crate) rebuild: bool,
    #[command(flatten)]
    pub(crate) place: HistoryPlace,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
    /// Show everything: all drives or checks, their keys, and runs that cannot be read
    #[arg(short = 'v', long, help_heading = OUTPUT)]
    pub(crate) details: bool,
    /// Write it as JSON to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT)]
    pub(crate) json: Option<PathBuf>,
    /// Write metrics of all drives for Prometheus to FILE.prom, as node_exporter reads it, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT, conflicts_with_all = ["drive", "details", "json"])]
    pub(crate) openmetrics: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryPlace {
    /// The index of all runs: a file, or postgres://USER@HOST/DATABASE for several machines [default: LIKENEW_HISTORY,
    /// or history.sqlite beside the runs]
    #[arg(long, value_name = "FILE|URL", help_heading = ARCHIVE, hide_short_help = true)]
    pub(crate) history: Option<String>,
}
