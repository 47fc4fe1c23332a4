//! What `likenew record` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{Output, RUN};

#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Block devices or partitions; a folder stands for the drives below it
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// The trace to write; .zst compresses it; several drives: one file each, with the drive's name added
    #[arg(long, value_name = "FILE", help_heading = RUN)]
    pub(crate) out: PathBuf,
    /// Stop after this time, such as 8h [default: Ctrl-C]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME", help_heading = RUN)]
    pub(crate) time: Option<Nanos>,
    /// Stop after this many bytes were read and written
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = RUN)]
    pub(crate) bytes: Option<u64>,
    /// The kernel's trace buffer [default: 16MiB per processor, less where memory is scarce]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = RUN)]
    pub(crate) buffer: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}
