//! `likenew endure`: what sustained writes do to the speed.

use clap::{Args, ValueEnum};
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_core::workload::Mix;
use likenew_procedures::endure::loop_test::{FILE_SIZE_MIN, LoopOptions, default_file_size};
use likenew_procedures::endure::snia::{SPAN_UNIT, SniaOptions};
use likenew_procedures::endure::{EndureOptions, Extent};
use likenew_procedures::fit::mix_of_reads;
use likenew_procedures::profile::Profile;

use super::Command;
use crate::arguments::{Switch, TargetArguments};
use crate::exit::{Exit, Failure, Result};
use crate::measure::{Request, measure, options as settings};
use crate::resolved_target::{Access, ResolvedTarget};
use crate::wording;
use likenew_procedures::fit::number;

/// Sustained writes: write cliff and steady state
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Endure {
    /// A looped benchmark, or a test of SNIA's Performance Test Specification
    #[arg(long, value_enum, default_value_t = EndureTest::Loop, value_name = "NAME")]
    test: EndureTest,
    /// Address space to test: a size, a share such as 75%, or whole
    #[arg(long, visible_alias = "size", default_value = "whole", value_name = "SIZE|N%|whole")]
    span: Extent,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half [default: random]
    #[arg(long)]
    data: Option<DataClass>,
    /// Which tests each file gets [default: 2009]
    #[arg(long, value_name = "NAME", help_heading = LOOP)]
    profile: Option<Profile>,
    /// Operations: read, write, mix:70 (70% reads) [default: read,write]
    #[arg(long, value_delimiter = ',', value_name = "OP,..", help_heading = LOOP)]
    op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true, help_heading = LOOP)]
    rwmixread: Option<Mix>,
    /// File size [default: 1000MiB, scaled to the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", help_heading = LOOP)]
    file_size: Option<u64>,
    /// Stop after the loop that has written this many bytes in all
    #[arg(long, value_parser = parse_size, value_name = "SIZE", conflicts_with = "fills", help_heading = LOOP)]
    bytes: Option<u64>,
    /// Stop after this many drive fills [default: 15 with profile 2009, 13 with peak and real, 18 with default and nvme; 7
    /// with reads only]
    #[arg(long, value_parser = number(1e-6, 10_000.0), value_name = "N", help_heading = LOOP)]
    fills: Option<f64>,
    /// Delete each file after its tests, so that the drive receives TRIM [default: off]
    #[arg(long, value_enum, value_name = "on|off", help_heading = LOOP)]
    trim: Option<Switch>,
    /// Time limit of a test; it also ends after moving its amount [default: 60s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME", help_heading = LOOP)]
    time: Option<Nanos>,
    /// Time of one point of a round, 60s in the specification [default: 60s]
    #[arg(long, value_parser = parse_duration, value_name = "TIME", help_heading = SNIA)]
    round: Option<Nanos>,
    /// At most this many rounds if no steady state is reached [default: 25; snia-wsat: 360]
    #[arg(long, value_name = "N", help_heading = SNIA)]
    rounds: Option<u32>,
    /// Queue depth of each thread; snia-latency measures with 1 [default: 32]
    #[arg(long, visible_alias = "iodepth", value_name = "N", help_heading = SNIA)]
    depth: Option<u32>,
    /// Threads; snia-latency measures with 1 [default: 4]
    #[arg(long, visible_alias = "numjobs", value_name = "N", help_heading = SNIA)]
    threads: Option<u32>,
    #[command(flatten)]
    arguments: TargetArguments,
}

const LOOP: &str = "With --test loop";
const SNIA: &str = "With --test snia-…";

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

impl Command for Endure {
    fn run(self) -> Result<Exit> {
        measure(Request::for_target(&self.arguments, Access::Write), |target| {
            Ok(self.arguments.plan_of("endure", settings(&self.options(&target.resolved)?)))
        })
    }
}

impl Endure {
    fn options(&self, target: &ResolvedTarget) -> Result<EndureOptions> {
        Ok(match self.test {
            EndureTest::Loop => EndureOptions::Loop(self.loop_options(target)?),
            EndureTest::SniaIops => EndureOptions::SniaIops(self.snia(target)?),
            EndureTest::SniaThroughput => EndureOptions::SniaThroughput(self.snia(target)?),
            EndureTest::SniaLatency => EndureOptions::SniaLatency(self.snia(target)?),
            EndureTest::SniaWsat => EndureOptions::SniaWsat(self.snia(target)?),
        })
    }

    fn loop_options(&self, target: &ResolvedTarget) -> Result<LoopOptions> {
        let of_snia = [
            ("--round", self.round.is_some()),
            ("--rounds", self.rounds.is_some()),
            ("--depth", self.depth.is_some()),
            ("--threads", self.threads.is_some()),
        ];
        refuse_foreign(&of_snia, wording::only_for_snia)?;
        let span = self.span(target)?;
        let file_size = self.file_size.unwrap_or_else(|| default_file_size(span));
        if span < file_size.max(FILE_SIZE_MIN) {
            return Err(Failure::Usage(wording::file_does_not_fit(span, file_size.max(FILE_SIZE_MIN))));
        }
        let default = LoopOptions::default();
        let ops = self.ops();
        let Self { bytes, fills, .. } = *self;
        Ok(LoopOptions {
            profile: self.profile.unwrap_or(default.profile),
            ops: if ops.is_empty() { default.ops } else { ops },
            file_size,
            span: Some(span),
            bytes,
            fills,
            data: self.data.unwrap_or(default.data),
            trim: self.trim == Some(Switch::On),
            time: self.time.unwrap_or(default.time),
        })
    }

    fn snia(&self, target: &ResolvedTarget) -> Result<SniaOptions> {
        let of_loop = [
            ("--profile", self.profile.is_some()),
            ("--op", !self.ops().is_empty()),
            ("--file-size", self.file_size.is_some()),
            ("--bytes", self.bytes.is_some()),
            ("--fills", self.fills.is_some()),
            ("--trim", self.trim.is_some()),
            ("--time", self.time.is_some()),
        ];
        refuse_foreign(&of_loop, wording::only_for_loop)?;
        let (span, default) = (self.span(target)?, SniaOptions::default());
        Ok(SniaOptions {
            span: Some(span - span % SPAN_UNIT),
            round: self.round.unwrap_or(default.round),
            rounds: self.rounds,
            depth: self.depth.unwrap_or(default.depth),
            threads: self.threads.unwrap_or(default.threads),
            data: self.data.unwrap_or(default.data),
        })
    }

    /// The operations on the command line, in either spelling.
    fn ops(&self) -> Vec<Mix> {
        self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix])
    }

    /// The span from the command line, or all that may be used.
    fn span(&self, target: &ResolvedTarget) -> Result<u64> {
        let usable = target.usable_bytes()?;
        Ok(match self.span {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => (usable as f64 * percent / 100.0) as u64,
        })
    }
}

/// Refuses a flag that does not apply to the test, because ignoring it would go unnoticed.
fn refuse_foreign(flags: &[(&str, bool)], reason: fn(&str) -> String) -> Result<()> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Failure::Usage(reason(name))),
        None => Ok(()),
    }
}
