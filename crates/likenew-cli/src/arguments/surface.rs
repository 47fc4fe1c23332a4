//! What `likenew surface` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
pub(crate) struct Surface {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// read, or write where own files or a simulated drive may be written
    #[arg(long, default_value = "read", value_parser = text::<Mix>)]
    pub(crate) op: Mix,
    /// Places along the addresses, evenly apart [default: 100, fewer where there is little]
    #[arg(long)]
    pub(crate) points: Option<u32>,
    /// Bytes moved in sequence at each [default: 8MiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Bytes of one I/O of that
    #[arg(long, default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// I/Os in flight
    #[arg(long, default_value_t = 2)]
    pub(crate) depth: u32,
    /// Every byte once, in as many pieces as there are points
    #[arg(long, conflicts_with_all = ["bytes", "time"])]
    pub(crate) whole: bool,
    /// Bytes of address space, from the start [default: all; in a folder 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Single random accesses, one after the other
    #[arg(long, default_value_t = 1000)]
    pub(crate) probes: u32,
    /// Bytes of each
    #[arg(long, default_value = "4KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) probe_block: u64,
    /// Bytes that are moved again and again from the drive's memory; 0 leaves that out
    #[arg(long, default_value = "256KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) burst: u64,
    /// Times that a slow place is measured again before it is named, 0..2
    #[arg(long, default_value_t = 2)]
    pub(crate) retests: u32,
    /// A point ends after this time; all accesses together after ten times as much
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
