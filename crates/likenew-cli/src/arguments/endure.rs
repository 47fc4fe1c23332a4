//! What `likenew endure` takes.

use clap::{Args, ValueEnum};
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::endure::extent::Extent;
use likenew_procedures::profile::Profile;

use super::{RunArguments, Switch, TargetArguments, number, profile, text};

#[derive(Debug, Args)]
pub(crate) struct Endure {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// A looped benchmark, or a test of SNIA's Performance Test Specification
    #[arg(long, value_enum, default_value_t = EndureTest::Loop)]
    pub(crate) test: EndureTest,
    /// Address space that is tested: a size, a share such as 75%, or whole
    #[arg(long, default_value = "whole", value_parser = text::<Extent>, value_name = "SIZE|N%|whole")]
    pub(crate) area: Extent,
    /// Loop: which tests [default: 2009]
    #[arg(long, value_parser = profile)]
    pub(crate) profile: Option<Profile>,
    /// Loop: operations in order: read, write, mix:70 (70 % reads) [default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..")]
    pub(crate) op: Vec<Mix>,
    /// Loop: bytes of a loop's file [default: 1000MiB, less or more where the area is small or large]
    #[arg(long, alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Loop: end with the loop that has written so many bytes in all
    #[arg(long, value_parser = parse_size, value_name = "SIZE", conflicts_with = "fills")]
    pub(crate) bytes: Option<u64>,
    /// Loop: the same in times the area [default: until all of it was written once and six times more, 15 with profile 2009]
    #[arg(long, value_parser = number(1e-6, 10_000.0))]
    pub(crate) fills: Option<f64>,
    /// Loop: delete each file after its tests, so that the drive is told [default: off, which shows what a drive does by itself]
    #[arg(long, value_enum)]
    pub(crate) trim: Option<Switch>,
    /// Loop: a test ends after this time, or when it has moved its amount [default: 60s]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// What to write: random, zero, or the share 0..1 that it compresses to [default: random]
    #[arg(long, value_parser = text::<DataClass>)]
    pub(crate) data: Option<DataClass>,
    /// SNIA: time of one point of a round; the specification has 60s [default: 60s]
    #[arg(long, value_parser = parse_duration)]
    pub(crate) round: Option<Nanos>,
    /// SNIA: rounds after which it ends without a steady state [default: 25; snia-wsat: 360]
    #[arg(long)]
    pub(crate) rounds: Option<u32>,
    /// SNIA: I/Os in flight on each thread; snia-latency measures with 1 [default: 32]
    #[arg(long)]
    pub(crate) depth: Option<u32>,
    /// SNIA: threads; snia-latency measures with 1 [default: 4]
    #[arg(long)]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

/// What endure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndureTest {
    /// Files are made, tested and deleted, one after the other round the area
    Loop,
    /// I/Os a second of seven mixes in eight block sizes
    SniaIops,
    /// Sequential speed in blocks of 128 KiB and 1 MiB
    SniaThroughput,
    /// Latency of one I/O at a time
    SniaLatency,
    /// Random writes from the first day on, until the area was written four times
    SniaWsat,
}
