//! What `likenew sweep` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::pattern::Pattern;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::sweep::{Block, Order, Preset};

use super::{RunArguments, TargetArguments, by_name, mix_of_reads, text};
use crate::doublings::Doublings;

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Sweep {
    /// Preset; the options below change parts of it
    #[arg(long, default_value = "default", value_parser = preset, value_name = "NAME")]
    pub(crate) profile: Preset,
    /// Operations: read, write, mix:70 (70% reads) [preset default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    pub(crate) rwmixread: Option<Mix>,
    /// Access patterns [preset default: sequential,random]
    #[arg(long, value_delimiter = ',', value_parser = text::<Pattern>, value_name = "PATTERN,..")]
    pub(crate) pattern: Vec<Pattern>,
    /// Block sizes; 512..64M means every doubling [preset default: 4k,16k,64k,256k,1M]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = text::<Doublings<Block>>, value_name = "SIZE,..")]
    pub(crate) block: Vec<Doublings<Block>>,
    /// Queue depths; 1..256 means every doubling [preset default: 1,4,32]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_parser = text::<Doublings<u32>>, value_name = "N,..")]
    pub(crate) depth: Vec<Doublings<u32>>,
    /// Data: random, zero, or what it compresses to, such as 0.5 for half [preset default: random]
    #[arg(long, value_delimiter = ',', value_parser = text::<DataClass>, value_name = "DATA,..")]
    pub(crate) data: Vec<DataClass>,
    /// Address space to test [preset default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Time limit of a combination in one pass [preset default: 300ms]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Byte limit of a combination in one pass, at least twice its queue [preset default: 128MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Passes of each combination [preset default: 5]
    #[arg(long, value_name = "N")]
    pub(crate) passes: Option<u32>,
    /// Repeat each combination until its mean is known this well, such as 2%
    #[arg(long, value_parser = text::<PrecisionGoal>, value_name = "PERCENT")]
    pub(crate) precise: Option<PrecisionGoal>,
    /// At most this many passes of a combination with --precise [default: 20]
    #[arg(long, requires = "precise", value_name = "N")]
    pub(crate) passes_max: Option<u32>,
    /// Order of the combinations in each pass: shuffled or listed [preset default: shuffled]
    #[arg(long, value_parser = text::<Order>, value_name = "NAME")]
    pub(crate) order: Option<Order>,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

impl Sweep {
    /// The operations on the command line, in either spelling.
    pub(crate) fn ops(&self) -> Vec<Mix> {
        self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix])
    }
}

fn preset(text: &str) -> Result<Preset, String> {
    by_name(text, &Preset::ALL)
}
