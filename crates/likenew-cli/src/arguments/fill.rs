//! What `likenew fill` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::fill::Repeat;

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Fill {
    /// Number of files [default: as many as fill the free space, at most 1000]
    #[arg(long, value_name = "N")]
    pub(crate) files: Option<u32>,
    /// Size of each file [default: the free space divided by --files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) file_size: Option<u64>,
    /// Write one file as large as the free space, or as --file-size, measured in parts
    #[arg(long, conflicts_with = "files")]
    pub(crate) one_file: bool,
    /// Parts of the one file [default: one per 16MiB, at most 1000]
    #[arg(long, requires = "one_file", value_name = "N")]
    pub(crate) parts: Option<u32>,
    /// Offset of the first file on a simulated drive
    #[arg(long, default_value = "0", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) from: u64,
    /// Passes: a number, or until-steady (until a pass is within 2% of the one before, at most 10)
    #[arg(long, default_value = "1", value_parser = text::<Repeat>, value_name = "N|until-steady")]
    pub(crate) passes: Repeat,
    /// Read everything back at the end
    #[arg(long)]
    pub(crate) read_back: bool,
    /// Block size of a write
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    pub(crate) depth: u32,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// Shortest wait that counts as a stall
    #[arg(long, default_value = "100ms", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) stall: Nanos,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
