//! What `likenew verify` takes.

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Verify {
    /// Address space to verify, from the start [default: all; in a folder its free space]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// How often everything is written and read back
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) passes: u32,
    /// Write only a few hundred blocks: finds most counterfeits in a minute, proves nothing else
    #[arg(long, conflicts_with_all = ["full", "read_only", "passes"])]
    pub(crate) quick: bool,
    /// Write and read everything even after damage was found
    #[arg(long)]
    pub(crate) full: bool,
    /// Write nothing: read what an earlier run with this --seed wrote to a device
    #[arg(long, requires = "seed")]
    pub(crate) read_only: bool,
    /// Random addresses to try first [default: 400; none in a folder, fewer on small drives]
    #[arg(long, value_name = "N")]
    pub(crate) probes: Option<u32>,
    /// Parts per pass
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub(crate) parts: u32,
    /// Size of the files in a folder [default: about 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) file_size: Option<u64>,
    /// Block size
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    pub(crate) depth: u32,
    /// Idle time between writing and reading
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Largest cache the drive may have; less data than that proves nothing
    #[arg(long, default_value = "1GiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) cache: u64,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
