//! What `likenew trim` takes.

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Trim {
    /// Bytes to write, trim and read back, beside as many that are kept [default: 32MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// How long to wait for a file system that sends TRIM on its own, and for the drive to act on it
    #[arg(long, default_value = "10s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) wait: Nanos,
    /// Timed reads of trimmed and of kept data, each
    #[arg(long, default_value_t = 256, value_name = "N")]
    pub(crate) probes: u32,
    /// Do not read the device below the folder
    #[arg(long)]
    pub(crate) no_raw: bool,
    /// Skip measuring how much TRIM gains
    #[arg(long, conflicts_with_all = ["span", "time", "depth", "passes"])]
    pub(crate) no_worth: bool,
    /// Address space for measuring the gain, half of it trimmed [default: up to 64GiB of a simulated drive; in a folder
    /// 1GiB, or twice --bytes if that is given]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Time of each pass of random writes
    #[arg(long, visible_alias = "runtime", default_value = "4s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 8, value_name = "N")]
    pub(crate) depth: u32,
    /// Passes with TRIM, and as many without
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub(crate) passes: u32,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
