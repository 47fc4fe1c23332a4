//! What `likenew watch` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::{Nanos, parse_duration};

#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Drives or partitions (sda, /dev/sda1, /dev/mapper/home), or files and folders on them [default: every drive]
    #[arg(value_name = "DRIVE")]
    pub(crate) drives: Vec<String>,
    /// Time from one reading of the counters to the next, 10ms or more
    #[arg(long, default_value = "1s", value_parser = parse_duration)]
    pub(crate) interval: Nanos,
    /// End after this time [default: when somebody ends it]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Watch one interval, print it as a plain table and end
    #[arg(long, conflicts_with = "time")]
    pub(crate) once: bool,
    /// Write a line of JSON for each interval and drive to FILE, or to standard output with - (then nothing else is printed there)
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<PathBuf>,
    /// Keep every interval in a run folder, for likenew report
    #[arg(long)]
    pub(crate) log: bool,
    /// Where run folders are kept [default: likenew/runs in the XDG data home]
    #[arg(long, value_name = "DIR", requires = "log")]
    pub(crate) archive: Option<PathBuf>,
    /// Also idle loop devices, RAM disks and slots without a medium
    #[arg(long)]
    pub(crate) all: bool,
    /// Also partitions
    #[arg(long)]
    pub(crate) partitions: bool,
    /// Draw with plain characters alone [default: where the locale is not UTF-8]
    #[arg(long)]
    pub(crate) ascii: bool,
    /// Ask no drive for its temperature: that is a command to it every 10 s, which keeps some disks from spinning down
    #[arg(long)]
    pub(crate) no_temperature: bool,
}
