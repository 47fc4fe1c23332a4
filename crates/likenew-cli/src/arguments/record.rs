//! What `likenew record` takes.

use std::path::PathBuf;

use clap::Args;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::Output;

#[derive(Debug, Args)]
pub(crate) struct Record {
    /// Block devices, partitions, or folders, which stand for the drives that they lie on
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// The trace, packed if the name ends in .zst; of several drives each has its own, with the drive's name in the file's
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
    /// Stop after this time, such as 8h [default: at Ctrl-C]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Stop when so much was read and written
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) bytes: Option<u64>,
    /// The kernel's memory for what was not read yet [default: 16MiB for each processor, less where memory is scarce]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) buffer: Option<u64>,
    #[command(flatten)]
    pub(crate) output: Output,
}
