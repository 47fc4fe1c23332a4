//! What `likenew age` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::age::Recipe;

use super::{RunArguments, Switch, TargetArguments, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Age {
    /// How to age it: fill (write every address once), overwrite (fill, then random 4K writes), churn (create and
    /// delete small files)
    #[arg(long, default_value = "fill", value_parser = text::<Recipe>, value_name = "NAME")]
    pub(crate) recipe: Recipe,
    /// How much to write while aging [default: as much as the span holds]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Address space to age [default: all of a simulated drive or of the free space; 1GiB for churn]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Address space for the random writes that are timed [default: 8GiB, at most a quarter of the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) random_span: Option<u64>,
    /// Time for the random writes of all passes together
    #[arg(long, visible_alias = "runtime", default_value = "180s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 3, value_name = "N")]
    pub(crate) depth: u32,
    /// Passes of each measurement; more passes narrow the interval of a change
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub(crate) passes: u32,
    /// Then leave the drive idle this long and measure once more: some drives recover
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle: Nanos,
    /// Send TRIM for deleted files of the churn recipe (simulated drives)
    #[arg(long, value_enum, default_value_t = Switch::Off, value_name = "on|off")]
    pub(crate) trim: Switch,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
