//! What `likenew bench` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::profile::Profile;

use super::{RunArguments, TargetArguments, mix_of_reads, profile, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Bench {
    /// Which tests to run
    #[arg(long, default_value = "default", value_parser = profile, value_name = "NAME")]
    pub(crate) profile: Profile,
    /// Operations: read, write, mix:70 (70% reads) [default: read,write; read where the target is read-only]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    pub(crate) rwmixread: Option<Mix>,
    /// Address space to test [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Passes of each test
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) passes: u32,
    /// Instead, repeat short passes until the mean of each test is known this well, such as 2%
    #[arg(long, value_parser = text::<PrecisionGoal>, value_name = "PERCENT")]
    pub(crate) precise: Option<PrecisionGoal>,
    /// At most this many passes of a test with --precise
    #[arg(long, requires = "precise", default_value_t = 50, value_name = "N")]
    pub(crate) passes_max: u32,
    /// Time limit of a pass; it also ends once it has moved as many bytes as the span holds
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Idle time before each pass
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

impl Bench {
    /// The operations on the command line, in either spelling.
    pub(crate) fn ops(&self) -> Vec<Mix> {
        self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix])
    }
}
