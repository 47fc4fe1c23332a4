//! What `likenew data` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::io::Op;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;

use super::{RunArguments, SequentialRates, TargetArguments, text};
use crate::wording;

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Data {
    /// Steps from zeros to incompressible data, from 2 to 101
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..=101), value_name = "N")]
    pub(crate) steps: u32,
    /// Operations: write, read
    #[arg(long, value_delimiter = ',', default_value = "write,read", value_parser = read_or_write, value_name = "OP,..")]
    pub(crate) op: Vec<Op>,
    /// Access patterns: sequential, random
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    pub(crate) block: Vec<u64>,
    /// Queue depth, one for all patterns or one for each [default: 8 sequential, 32 random]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    pub(crate) depth: Vec<u32>,
    /// Address space to test, divided among the steps [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Passes, each through the steps in another order
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub(crate) passes: u32,
    /// Time limit of a step in one pass; it also ends after moving its part of the span
    #[arg(long, visible_alias = "runtime", default_value = "1s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Idle time before each step
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Also read the files in this folder: how compressible are they, and what speed do they get?
    #[arg(long, value_name = "DIR", help_heading = FILES)]
    pub(crate) files: Vec<PathBuf>,
    /// Read at most this much of your files' contents
    #[arg(long, default_value = "256MiB", value_parser = parse_size, value_name = "SIZE", help_heading = FILES)]
    pub(crate) sample: u64,
    /// Time limit of reading folders; what was read until then counts
    #[arg(long, default_value = "2min", value_parser = parse_duration, value_name = "TIME", help_heading = FILES)]
    pub(crate) scan_time: Nanos,
    /// Also read file systems mounted below the folder
    #[arg(long, help_heading = FILES)]
    pub(crate) cross_file_systems: bool,
    /// Read the files and measure nothing
    #[arg(long, requires = "files", help_heading = FILES)]
    pub(crate) scan_only: bool,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

const FILES: &str = "Your files";

fn read_or_write(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(wording::not_read_or_write(text)),
    }
}
