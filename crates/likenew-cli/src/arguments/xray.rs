//! What `likenew xray` takes.

use clap::Args;
use likenew_core::units::parse_size;

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
pub(crate) struct Xray {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// Bytes of address space, from the start [default: all; in a folder 1GiB, less where there is less]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Bytes written at most [default: four times the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Probes to ask, of those that `likenew help xray` lists [default: all]
    #[arg(long, value_delimiter = ',', value_name = "PROBE")]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
