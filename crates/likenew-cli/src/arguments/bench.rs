//! What `likenew bench` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::profile::Profile;

use super::{RunArguments, TargetArguments, profile, text};

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Which tests to run
    #[arg(long, default_value = "default", value_parser = profile)]
    pub(crate) profile: Profile,
    /// Operations in order: read, write, mix:70 (70 % reads) [default: read,write; read where nothing may be written]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Bytes of address space to test [default: 1GiB, less where there is less]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Times to repeat every test
    #[arg(long, default_value_t = 5)]
    pub(crate) passes: u32,
    /// Instead, repeat every test in short passes until its mean is known to this share, such as 2%
    #[arg(long, value_parser = text::<PrecisionGoal>, value_name = "PERCENT")]
    pub(crate) precise: Option<PrecisionGoal>,
    /// With --precise, repeat no test more often than this
    #[arg(long, requires = "precise", default_value_t = 50)]
    pub(crate) passes_max: u32,
    /// A pass ends after this time, or when it has moved as many bytes as the span has
    #[arg(long, default_value = "5s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Rest before every pass
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) interval: Nanos,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
