//! What `likenew check` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::parse_size;

use super::{HistoryPlace, OUTPUT, RUN, ReferenceArguments, RunArguments};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Check {
    /// Folders, files, block devices or simulated drives; each is checked separately
    #[arg(required_unless_present = "all", value_name = "TARGET", help_heading = Option::<&'static str>::None)]
    pub(crate) targets: Vec<String>,
    /// Check every drive of this machine, with reads only
    #[arg(long, conflicts_with = "targets")]
    pub(crate) all: bool,
    /// Write at most this much; 0 writes nothing [default: 2GiB, with --thorough 64GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Test for minutes and write up to 64 GiB: finds what a short test cannot
    #[arg(long)]
    pub(crate) thorough: bool,
    /// Also read the files in this folder: what share of the rated speed do they get?
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Would a new drive be faster? Compares with these drives of `likenew drives`
    #[arg(long, value_delimiter = ',', value_name = "DRIVE", conflicts_with = "all")]
    pub(crate) upgrade: Vec<String>,
    /// With --upgrade: a recorded day of this drive, from `likenew record` or any trace format
    #[arg(long = "trace", value_name = "FILE", requires = "upgrade")]
    pub(crate) recording: Option<String>,
    /// With --upgrade and no trace: applications to replay instead, as `likenew apps` names them [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml", requires = "upgrade", conflicts_with = "recording")]
    pub(crate) app: Vec<String>,
    #[command(flatten)]
    pub(crate) references: ReferenceArguments,
    /// Random seed [default: 0 for simulated drives, a new one each time for real ones]
    #[arg(long, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub(crate) seed: Option<u64>,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
    /// Only say what changed since the last check: a line for each drive that got slower or faster, or has or lost a problem
    #[arg(long, help_heading = OUTPUT, conflicts_with_all = ["details", "quiet", "html", "json", "no_archive", "plan", "export"])]
    pub(crate) changes: bool,
    /// After the checks, write metrics of all drives of the history to FILE.prom, as node_exporter reads it
    #[arg(long, value_name = "FILE", help_heading = OUTPUT, conflicts_with_all = ["no_archive", "plan", "export"])]
    pub(crate) openmetrics: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) place: HistoryPlace,
}
