//! What `likenew xray` takes.

use clap::Args;
use likenew_core::units::parse_size;

use super::{RunArguments, TargetArguments};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Xray {
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Write at most this much [default: four times the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// Run only these experiments; `likenew help xray` lists them [default: all]
    #[arg(long, value_delimiter = ',', value_name = "EXPERIMENT")]
    pub(crate) only: Vec<String>,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
