//! What `likenew watch` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::{Nanos, parse_duration};

use super::{ARCHIVE, OUTPUT};

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Drives or partitions (sda, /dev/sda1), or files and folders on them [default: every drive]
    #[arg(value_name = "DRIVE")]
    pub(crate) drives: Vec<String>,
    /// Time between two readings of the counters, at least 10ms
    #[arg(long, default_value = "1s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) interval: Nanos,
    /// Stop after this time [default: q or Ctrl-C]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Watch one interval, print it as a table and stop
    #[arg(long, conflicts_with = "time")]
    pub(crate) once: bool,
    /// Also show idle loop devices, RAM disks and empty slots
    #[arg(long)]
    pub(crate) all: bool,
    /// Also show partitions
    #[arg(long)]
    pub(crate) partitions: bool,
    /// Do not ask drives for their temperature: that command, every 10 s, keeps some disks from spinning down
    #[arg(long)]
    pub(crate) no_temperature: bool,
    /// Draw with ASCII characters only [default: where the locale is not UTF-8]
    #[arg(long, help_heading = OUTPUT)]
    pub(crate) ascii: bool,
    /// Write a line of JSON per interval and drive to FILE, or to standard output with -
    #[arg(long, value_name = "FILE|-", help_heading = OUTPUT)]
    pub(crate) json: Option<PathBuf>,
    /// Keep every interval in a run folder, for likenew report
    #[arg(long, help_heading = ARCHIVE)]
    pub(crate) log: bool,
    /// Folder of all runs [default: ~/.local/share/likenew/runs]
    #[arg(long, value_name = "DIR", requires = "log", help_heading = ARCHIVE)]
    pub(crate) archive: Option<PathBuf>,
}
