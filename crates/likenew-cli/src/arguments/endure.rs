//! What `likenew endure` takes.

use clap::{Args, ValueEnum};
use likenew_core::io::DataClass;
use likenew_core::mix::Mix;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::endure::Extent;
use likenew_procedures::profile::Profile;

use super::{RunArguments, Switch, TargetArguments, mix_of_reads, number, profile, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Endure {
    /// A looped benchmark, or a test of SNIA's Performance Test Specification
    #[arg(long, value_enum, default_value_t = EndureTest::Loop, value_name = "NAME")]
    pub(crate) test: EndureTest,
    /// Address space to test: a size, a share such as 75%, or whole
    #[arg(long, visible_alias = "size", default_value = "whole", value_parser = text::<Extent>, value_name = "SIZE|N%|whole")]
    pub(crate) span: Extent,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half [default: random]
    #[arg(long, value_parser = text::<DataClass>)]
    pub(crate) data: Option<DataClass>,
    /// Which tests each file gets [default: 2009]
    #[arg(long, value_parser = profile, value_name = "NAME", help_heading = LOOP)]
    pub(crate) profile: Option<Profile>,
    /// Operations: read, write, mix:70 (70% reads) [default: read,write]
    #[arg(long, value_delimiter = ',', value_parser = text::<Mix>, value_name = "OP,..", help_heading = LOOP)]
    pub(crate) op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true, help_heading = LOOP)]
    pub(crate) rwmixread: Option<Mix>,
    /// File size [default: 1000MiB, scaled to the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = LOOP)]
    pub(crate) file_size: Option<u64>,
    /// Stop after the loop that has written this many bytes in all
    #[arg(long, value_parser = parse_size, value_name = "SIZE", conflicts_with = "fills", help_heading = LOOP)]
    pub(crate) bytes: Option<u64>,
    /// Stop after this many drive fills [default: 15 with profile 2009, 13 with peak and real, 18 with default and nvme; 7
    /// with reads only]
    #[arg(long, value_parser = number(1e-6, 10_000.0), value_name = "N", help_heading = LOOP)]
    pub(crate) fills: Option<f64>,
    /// Delete each file after its tests, so that the drive receives TRIM [default: off]
    #[arg(long, value_enum, value_name = "on|off", help_heading = LOOP)]
    pub(crate) trim: Option<Switch>,
    /// Time limit of a test; it also ends after moving its amount [default: 60s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME", help_heading = LOOP)]
    pub(crate) time: Option<Nanos>,
    /// Time of one point of a round, 60s in the specification [default: 60s]
    #[arg(long, value_parser = parse_duration, value_name = "TIME", help_heading = SNIA)]
    pub(crate) round: Option<Nanos>,
    /// At most this many rounds if no steady state is reached [default: 25; snia-wsat: 360]
    #[arg(long, value_name = "N", help_heading = SNIA)]
    pub(crate) rounds: Option<u32>,
    /// Queue depth of each thread; snia-latency measures with 1 [default: 32]
    #[arg(long, visible_alias = "iodepth", value_name = "N", help_heading = SNIA)]
    pub(crate) depth: Option<u32>,
    /// Threads; snia-latency measures with 1 [default: 4]
    #[arg(long, visible_alias = "numjobs", value_name = "N", help_heading = SNIA)]
    pub(crate) threads: Option<u32>,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}

const LOOP: &str = "With --test loop";
const SNIA: &str = "With --test snia-…";

impl Endure {
    /// The operations on the command line, in either spelling.
    pub(crate) fn ops(&self) -> Vec<Mix> {
        self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix])
    }
}

/// What endure runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum EndureTest {
    /// Create, test and delete files, one after the other through the span
    Loop,
    /// IOPS of seven mixes in eight block sizes
    SniaIops,
    /// Sequential throughput with 128 KiB and 1 MiB blocks
    SniaThroughput,
    /// Latency at queue depth 1
    SniaLatency,
    /// Random writes from a fresh drive on, until the span is written four times (write saturation)
    SniaWsat,
}
