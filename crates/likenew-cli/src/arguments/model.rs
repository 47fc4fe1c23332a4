//! What `likenew model` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, SequentialRates, TargetArguments, text};
use crate::doublings::Doublings;

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Model {
    /// read, write or both [default: both, or read where the target is read-only]
    #[arg(long)]
    pub(crate) op: Option<ModelOps>,
    /// Queue depths of small random requests, or ranges such as 1..64 [default: 1..64]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_parser = text::<Doublings<u32>>, value_name = "N,..")]
    pub(crate) depth: Vec<Doublings<u32>>,
    /// Longest request, a power of two
    #[arg(long, default_value = "512MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) longest: u64,
    /// Address space to test, from the start [default: all; in a folder 384MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Write at most this much, and read at most as much [default: 8GiB, in a folder 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Start no new measurement after this time [default: 10min, in a folder 45s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Time limit of one measurement [default: 3s, in a folder 500ms]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub(crate) visit: Option<Nanos>,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

/// Which operations a model is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ModelOps {
    /// Reads only
    Read,
    /// Writes only
    Write,
    /// Both
    Both,
}
