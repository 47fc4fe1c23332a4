//! What `likenew surface` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments, mix_of_reads, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Surface {
    /// Operation: read, write, or mix:70 (70% reads)
    #[arg(long, default_value = "read", value_parser = text::<Mix>)]
    pub(crate) op: Mix,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    pub(crate) rwmixread: Option<Mix>,
    /// Points, evenly spaced over the address space [default: 100, fewer on small targets]
    #[arg(long, value_name = "N")]
    pub(crate) points: Option<u32>,
    /// Bytes moved sequentially at each point [default: 8MiB, less on small targets]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Block size of the sequential I/O
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 2, value_name = "N")]
    pub(crate) depth: u32,
    /// Cover every byte, in as many pieces as there are points
    #[arg(long, conflicts_with_all = ["bytes", "time"])]
    pub(crate) whole: bool,
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Number of single random accesses
    #[arg(long, default_value_t = 1000, value_name = "N")]
    pub(crate) probes: u32,
    /// Block size of the random accesses
    #[arg(long, default_value = "4KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) probe_block: u64,
    /// Bytes to read repeatedly from the drive's own memory; 0 skips this
    #[arg(long, default_value = "256KiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) burst: u64,
    /// Repeated measurements of a slow region before it is reported, from 0 to 2
    #[arg(long, default_value_t = 2, value_name = "N")]
    pub(crate) retests: u32,
    /// Time limit of a point; all random accesses together take at most ten times as long
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

impl Surface {
    /// The operation on the command line, in either spelling.
    pub(crate) fn op(&self) -> Mix {
        self.rwmixread.unwrap_or(self.op)
    }
}
