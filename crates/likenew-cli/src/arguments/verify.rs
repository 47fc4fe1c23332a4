//! What `likenew verify` takes.

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Bytes from the first address on [default: all there are; in a folder its free space]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// How often all of it is written and read back
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) passes: u32,
    /// Only a few blocks at telling distances: finds most counterfeits in a minute and proves nothing else
    #[arg(long, conflicts_with_all = ["full", "read_only", "passes"])]
    pub(crate) quick: bool,
    /// Write and read everything even if a few blocks have found damage
    #[arg(long)]
    pub(crate) full: bool,
    /// Write nothing: read what an earlier run with this --seed has left on a device
    #[arg(long, requires = "seed")]
    pub(crate) read_only: bool,
    /// Random places that are tried first [default: 400; none in a folder, fewer where there is little]
    #[arg(long, value_name = "N")]
    pub(crate) probes: Option<u32>,
    /// Parts that a pass is measured in
    #[arg(long, default_value_t = 100)]
    pub(crate) parts: u32,
    /// Bytes of each of a folder's files [default: about 1GiB, such that they fill the free space]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) file_size: Option<u64>,
    /// Bytes of one I/O
    #[arg(long, default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// I/Os in flight
    #[arg(long, default_value_t = 4)]
    pub(crate) depth: u32,
    /// How long the drive rests between writing and reading
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) rest: Nanos,
    /// The most that the drive's own memory may hold: less than that decides nothing
    #[arg(long, default_value = "1GiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) cache: u64,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
