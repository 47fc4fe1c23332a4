//! What `likenew cache` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
pub(crate) struct Cache {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Orders of addresses
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Bytes of one I/O, for all patterns or for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    pub(crate) block: Vec<u64>,
    /// I/Os in flight, for all patterns or for each [default: 1]
    #[arg(long, value_delimiter = ',', value_name = "DEPTH,..")]
    pub(crate) depth: Vec<u32>,
    /// Bytes of address space to test [default: 256MiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Times to measure everything
    #[arg(long, default_value_t = 3)]
    pub(crate) passes: u32,
    /// Each measurement ends after this time, or when it has moved as many bytes as the span has; random I/Os a sixteenth of them
    #[arg(long, default_value = "2s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
