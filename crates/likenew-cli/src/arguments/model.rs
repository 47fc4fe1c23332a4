//! What `likenew model` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments, text};
use crate::doublings::Doublings;

#[derive(Debug, Args)]
pub(crate) struct Model {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// read, write or both [default: both where own files or a simulated drive may be written, otherwise read]
    #[arg(long)]
    pub(crate) op: Option<ModelOps>,
    /// I/Os in flight of small random requests, or ranges such as 1..64 [default: 1..64]
    #[arg(long, value_delimiter = ',', value_parser = text::<Doublings<u32>>, value_name = "N,..")]
    pub(crate) depth: Vec<Doublings<u32>>,
    /// The longest request, a power of two, where it fits
    #[arg(long, default_value = "512MiB", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) longest: u64,
    /// Bytes of address space, from the start [default: all; in a folder 384MiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// At most so many bytes are written, and as many read [default: 8GiB, of a folder 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Nothing new is begun after this time [default: 10min, of a folder 45s]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// A visit of a point ends after this time [default: 3s, of a folder 500ms]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) visit: Option<Nanos>,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// What the maker says of sequential reads, a second [default: what a simulated drive's file says]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) advertised_read: Option<u64>,
    /// What the maker says of sequential writes, a second
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) advertised_write: Option<u64>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

/// Which operations a model is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ModelOps {
    /// Reads alone
    Read,
    /// Writes alone
    Write,
    /// Both
    Both,
}
