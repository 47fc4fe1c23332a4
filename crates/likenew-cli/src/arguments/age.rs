//! What `likenew age` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::age::Recipe;

use super::{RunArguments, Switch, TargetArguments, text};

#[derive(Debug, Args)]
pub(crate) struct Age {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// How to age it: fill (every address once), overwrite (then at random, 4 KiB at a time), churn (small files come and go)
    #[arg(long, default_value = "fill", value_parser = text::<Recipe>)]
    pub(crate) recipe: Recipe,
    /// How much: bytes of the fill, of the overwrites, or of the small files [default: as much as the space has]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Bytes of address space to age [default: all of a simulated drive or of a folder's free space; 1GiB of small files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) space: Option<u64>,
    /// Bytes that random writes go over [default: 8GiB, less where there is less than four times as much]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Time of random writes in all passes together; they end earlier when they have moved as many bytes as the span has
    #[arg(long, default_value = "180s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Random I/Os in flight
    #[arg(long, default_value_t = 3)]
    pub(crate) depth: u32,
    /// Equal parts to measure everything in: their scatter tells how far a drop can be trusted
    #[arg(long, default_value_t = 5)]
    pub(crate) passes: u32,
    /// Rest after that, and measure once more: some drives come back when they are left alone
    #[arg(long, default_value = "0s", value_parser = parse_duration)]
    pub(crate) rest: Nanos,
    /// Whether deleting a small file tells a simulated drive so
    #[arg(long, value_enum, default_value_t = Switch::Off)]
    pub(crate) trim: Switch,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
