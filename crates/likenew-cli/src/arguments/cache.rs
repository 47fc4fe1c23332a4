//! What `likenew cache` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Cache {
    /// Access patterns: sequential, random
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    pub(crate) block: Vec<u64>,
    /// Queue depth, one for all patterns or one for each [default: 1]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    pub(crate) depth: Vec<u32>,
    /// Address space to test [default: 256MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Passes of each test
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) passes: u32,
    /// Time limit of a pass; it also ends after moving the span once, random I/O a sixteenth of it
    #[arg(long, visible_alias = "runtime", default_value = "2s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
