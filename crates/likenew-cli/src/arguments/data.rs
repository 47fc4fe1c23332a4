//! What `likenew data` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::io::Op;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
pub(crate) struct Data {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Classes of data from zeros to random data, at equal distances: 2 to 101
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(2..=101))]
    pub(crate) steps: u32,
    /// Operations in order
    #[arg(long, value_delimiter = ',', default_value = "write,read", value_parser = read_or_write, value_name = "OP,..")]
    pub(crate) op: Vec<Op>,
    /// Orders of addresses
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Bytes of one I/O, for all patterns or for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    pub(crate) block: Vec<u64>,
    /// I/Os in flight, for all patterns or for each [default: 8 sequential, 32 random]
    #[arg(long, value_delimiter = ',', value_name = "DEPTH,..")]
    pub(crate) depth: Vec<u32>,
    /// Bytes of address space to test, divided among the steps [default: 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Times to measure everything, each time in another order of the steps
    #[arg(long, default_value_t = 3)]
    pub(crate) passes: u32,
    /// A pass of one step ends after this time, or when it has moved as many bytes as its part of the span has
    #[arg(long, default_value = "1s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Rest before every pass of a step
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) interval: Nanos,
    /// Look through this folder too (it is only read): what are your files, and what speed do they get?
    #[arg(long, value_name = "DIR")]
    pub(crate) files: Vec<PathBuf>,
    /// Bytes of your files' contents that are read at most
    #[arg(long, default_value = "256MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) sample: u64,
    /// Looking through folders ends after this time with what it has
    #[arg(long, default_value = "2min", value_parser = parse_duration)]
    pub(crate) scan_time: Nanos,
    /// Look through file systems that are mounted below, too
    #[arg(long)]
    pub(crate) cross_file_systems: bool,
    /// Measure nothing: only say what the files are
    #[arg(long, requires = "files")]
    pub(crate) scan_only: bool,
    /// What the maker says of sequential reads, in bytes a second, such as 550MB [default: a simulated drive's own]
    #[arg(long, value_parser = parse_size, value_name = "RATE")]
    pub(crate) advertised_read: Option<u64>,
    /// What the maker says of sequential writes, in bytes a second, such as 500MB [default: a simulated drive's own]
    #[arg(long, value_parser = parse_size, value_name = "RATE")]
    pub(crate) advertised_write: Option<u64>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

fn read_or_write(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(format!("\"{text}\" is neither read nor write")),
    }
}
