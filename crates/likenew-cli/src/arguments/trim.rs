//! What `likenew trim` takes.

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
pub(crate) struct Trim {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Bytes that are written, given up and read back; as many again are kept beside them. If given, what is measured in a folder takes up
    /// as much, and writes no more at a time, unless --space says so [default: 32MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) size: Option<u64>,
    /// How long to wait for a file system that sends TRIM by itself, and for a drive that still shows what had been there
    #[arg(long, default_value = "10s", value_parser = parse_duration)]
    pub(crate) wait: Nanos,
    /// Single reads that are timed in what was given up, and in what was kept
    #[arg(long, default_value_t = 256)]
    pub(crate) probes: u32,
    /// Read nothing from the device below our own file
    #[arg(long)]
    pub(crate) no_raw: bool,
    /// Leave out what TRIM is worth
    #[arg(long, conflicts_with_all = ["space", "time", "depth", "passes"])]
    pub(crate) no_worth: bool,
    /// Bytes of address space for that, half to write over and half to give up [default: all of a simulated drive up to 64GiB; in a folder
    /// twice --size if that is given, otherwise 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) space: Option<u64>,
    /// Time of each pass of random writes
    #[arg(long, default_value = "4s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Random writes in flight
    #[arg(long, default_value_t = 8)]
    pub(crate) depth: u32,
    /// Passes with TRIM, and as many without
    #[arg(long, default_value_t = 4)]
    pub(crate) passes: u32,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
