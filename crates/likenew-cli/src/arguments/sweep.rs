//! What `likenew sweep` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::sweep::{Block, Order, Preset};

use super::{RunArguments, TargetArguments, by_name, text};
use crate::doublings::Doublings;

#[derive(Debug, Args)]
pub(crate) struct Sweep {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Which sweep; every flag below changes a part of it
    #[arg(long, default_value = "default", value_parser = preset)]
    pub(crate) profile: Preset,
    /// Operations: read, write, mix:70 (70 % reads); reads are measured first [profile default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Orders of addresses [profile default: sequential,random]
    #[arg(long, value_delimiter = ',', value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Bytes of one I/O; 512..64M is every doubling [profile default: 4k,16k,64k,256k,1M]
    #[arg(long, value_delimiter = ',', value_parser = text::<Doublings<Block>>, value_name = "SIZE,..")]
    pub(crate) block: Vec<Doublings<Block>>,
    /// I/Os in flight; 1..256 is every doubling [profile default: 1,4,32]
    #[arg(long, value_delimiter = ',', value_parser = text::<Doublings<u32>>, value_name = "DEPTH,..")]
    pub(crate) depth: Vec<Doublings<u32>>,
    /// What to write and to read back: random, zero, or the share 0..1 that it compresses to [profile default: random]
    #[arg(long, value_delimiter = ',', value_parser = text::<DataClass>, value_name = "DATA,..")]
    pub(crate) data: Vec<DataClass>,
    /// Bytes of address space to test [profile default: 1GiB, less where there is less]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// A pass of a cell ends after this time [profile default: 300ms]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Or when it has moved so many bytes, twice what its queue holds at least [profile default: 128MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Times to measure every cell [profile default: 5]
    #[arg(long)]
    pub(crate) passes: Option<u32>,
    /// Measure each cell again until its mean is known to this share, such as 2%
    #[arg(long, value_parser = text::<PrecisionGoal>, value_name = "PERCENT")]
    pub(crate) precise: Option<PrecisionGoal>,
    /// With --precise, measure no cell more often than this [default: 20]
    #[arg(long, requires = "precise")]
    pub(crate) passes_max: Option<u32>,
    /// Order of the cells within each round: shuffled, or listed [profile default: shuffled]
    #[arg(long, value_parser = text::<Order>)]
    pub(crate) order: Option<Order>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

fn preset(text: &str) -> Result<Preset, String> {
    by_name(text, &Preset::ALL)
}
