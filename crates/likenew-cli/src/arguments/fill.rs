//! What `likenew fill` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::fill::Repeat;

use super::{RunArguments, TargetArguments, text};

#[derive(Debug, Args)]
pub(crate) struct Fill {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Files to write [default: as many as fill the free space, 1000 at most]
    #[arg(long)]
    pub(crate) files: Option<u32>,
    /// Bytes of each [default: the free space over the number of files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) file_size: Option<u64>,
    /// One file as large as the free space, or as --file-size, measured in parts
    #[arg(long, conflicts_with = "files")]
    pub(crate) one_file: bool,
    /// Parts that the one file is measured in [default: as many as are 16MiB each, 1000 at most]
    #[arg(long, requires = "one_file")]
    pub(crate) parts: Option<u32>,
    /// Where the first file begins on a simulated drive: what lies before is left as it is
    #[arg(long, default_value = "0", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) from: u64,
    /// How often to write all of it: a number, or until-steady (until a pass is within 2 % of the one before; 10 at most)
    #[arg(long, default_value = "1", value_parser = text::<Repeat>, value_name = "N|until-steady")]
    pub(crate) passes: Repeat,
    /// Read all of it in the end
    #[arg(long)]
    pub(crate) read_back: bool,
    /// Bytes of one write
    #[arg(long, default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) block: u64,
    /// Writes in flight
    #[arg(long, default_value_t = 4)]
    pub(crate) depth: u32,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// No wait shorter than this is called a stall
    #[arg(long, default_value = "100ms", value_parser = parse_duration)]
    pub(crate) stall: Nanos,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
