//! `likenew bench`, `sweep`, `surface` and `cache`: speed in short tests, as tables.

use clap::Args;
use likenew_core::io::{DataClass, Op};
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_core::workload::Mix;
use likenew_procedures::bench::{BenchOptions, SPAN_MIN};
use likenew_procedures::cache::{CacheOptions, SPAN_STEP as CACHE_SPAN_STEP};
use likenew_procedures::data::Test;
use likenew_procedures::pattern::Pattern;
use likenew_procedures::precision_goal::PrecisionGoal;
use likenew_procedures::profile::Profile;
use likenew_procedures::surface::SurfaceOptions;
use likenew_procedures::sweep::{Block, Order, Preset, SPAN_STEP as SWEEP_SPAN_STEP, SweepOptions};

use super::{Command, default_ops, default_span, default_tests};
use crate::access::Access;
use crate::arguments::{Doublings, TargetArguments, by_name, mix_of_reads, profile, values};
use crate::exit::{Exit, Failure, Result};
use crate::measure::measure_with;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// Sequential and random speed in one table
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Bench {
    /// Which tests to run
    #[arg(long, default_value = "default", value_parser = profile, value_name = "NAME")]
    profile: Profile,
    /// Operations: read, write, mix:70 (70% reads) [default: read,write; read where the target is read-only]
    #[arg(long, value_delimiter = ',', value_name = "OP,..")]
    op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    rwmixread: Option<Mix>,
    /// Address space to test [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Passes of each test
    #[arg(long, default_value_t = 5, value_name = "N")]
    passes: u32,
    /// Instead, repeat short passes until the mean of each test is known this well, such as 2%
    #[arg(long, value_name = "PERCENT")]
    precise: Option<PrecisionGoal>,
    /// At most this many passes of a test with --precise
    #[arg(long, requires = "precise", default_value_t = 50, value_name = "N")]
    passes_max: u32,
    /// Time limit of a pass; it also ends once it has moved as many bytes as the span holds
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Idle time before each pass
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    idle: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    #[command(flatten)]
    arguments: TargetArguments,
}

impl Command for Bench {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "bench", Access::Read, |target| self.options(target))
    }
}

impl Bench {
    fn options(&self, target: &ResolvedTarget) -> Result<BenchOptions> {
        /// Address space that is tested, if there is as much.
        const SPAN_DEFAULT: u64 = 1 << 30;
        let Self { profile, passes, precise, passes_max, time, idle, data, .. } = *self;
        let ops = self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix]);
        let ops = default_ops(&ops, vec![Mix::Only(Op::Read), Mix::Only(Op::Write)], target)?;
        let span = default_span(self.span, SPAN_DEFAULT, SPAN_MIN, target)?;
        Ok(BenchOptions { profile, ops, span, passes, precise, passes_max, time, idle, data })
    }
}

/// Speed over block size, queue depth, operation, pattern and data
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Sweep {
    /// Preset; the options below change parts of it
    #[arg(long, default_value = "default", value_parser = preset, value_name = "NAME")]
    profile: Preset,
    /// Operations: read, write, mix:70 (70% reads) [preset default: read,write]
    #[arg(long, value_delimiter = ',', value_name = "OP,..")]
    op: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    rwmixread: Option<Mix>,
    /// Access patterns [preset default: sequential,random]
    #[arg(long, value_delimiter = ',', value_name = "PATTERN,..")]
    pattern: Vec<Pattern>,
    /// Block sizes; 512..64M means every doubling [preset default: 4k,16k,64k,256k,1M]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_name = "SIZE,..")]
    block: Vec<Doublings<Block>>,
    /// Queue depths; 1..256 means every doubling [preset default: 1,4,32]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    depth: Vec<Doublings<u32>>,
    /// Data: random, zero, or what it compresses to, such as 0.5 for half [preset default: random]
    #[arg(long, value_delimiter = ',', value_name = "DATA,..")]
    data: Vec<DataClass>,
    /// Address space to test [preset default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Time limit of a combination in one pass [preset default: 300ms]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    time: Option<Nanos>,
    /// Byte limit of a combination in one pass, at least twice its queue [preset default: 128MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Passes of each combination [preset default: 5]
    #[arg(long, value_name = "N")]
    passes: Option<u32>,
    /// Repeat each combination until its mean is known this well, such as 2%
    #[arg(long, value_name = "PERCENT")]
    precise: Option<PrecisionGoal>,
    /// At most this many passes of a combination with --precise [default: 20]
    #[arg(long, requires = "precise", value_name = "N")]
    passes_max: Option<u32>,
    /// Order of the combinations in each pass: shuffled or listed [preset default: shuffled]
    #[arg(long, value_name = "NAME")]
    order: Option<Order>,
    #[command(flatten)]
    arguments: TargetArguments,
}

fn preset(text: &str) -> Result<Preset, String> {
    by_name(text, &Preset::ALL)
}

impl Command for Sweep {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "sweep", Access::Read, |target| self.options(target))
    }
}

impl Sweep {
    fn options(&self, target: &ResolvedTarget) -> Result<SweepOptions> {
        let preset = self.profile.options();
        let ops = self.rwmixread.map_or_else(|| self.op.clone(), |mix| vec![mix]);
        Ok(SweepOptions {
            ops: default_ops(&ops, preset.ops, target)?,
            patterns: given_or(&self.pattern, preset.patterns),
            blocks: values(&self.block, preset.blocks),
            depths: values(&self.depth, preset.depths),
            data: given_or(&self.data, preset.data),
            span: default_span(self.span, preset.span, SWEEP_SPAN_STEP, target)?,
            time: self.time.unwrap_or(preset.time),
            bytes: self.bytes.unwrap_or(preset.bytes),
            passes: self.passes.unwrap_or(preset.passes),
            precise: self.precise,
            passes_max: self.passes_max.unwrap_or(preset.passes_max),
            order: self.order.unwrap_or(preset.order),
        })
    }
}

fn given_or<T: Clone>(given: &[T], otherwise: Vec<T>) -> Vec<T> {
    if given.is_empty() { otherwise } else { given.to_vec() }
}

/// Speed and access time over the address space
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Surface {
    /// Operation: read, write, or mix:70 (70% reads)
    #[arg(long, default_value = "read")]
    op: Mix,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "op", hide_short_help = true)]
    rwmixread: Option<Mix>,
    /// Points, evenly spaced over the address space [default: 100, fewer on small targets]
    #[arg(long, value_name = "N")]
    points: Option<u32>,
    /// Bytes moved sequentially at each point [default: 8MiB, less on small targets]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Block size of the sequential I/O
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 2, value_name = "N")]
    depth: u32,
    /// Cover every byte, in as many pieces as there are points
    #[arg(long, conflicts_with_all = ["bytes", "time"])]
    whole: bool,
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Number of single random accesses
    #[arg(long, default_value_t = 1000, value_name = "N")]
    probes: u32,
    /// Block size of the random accesses
    #[arg(long, default_value = "4KiB", value_parser = parse_size, value_name = "SIZE")]
    probe_block: u64,
    /// Bytes to read repeatedly from the drive's own memory; 0 skips this
    #[arg(long, default_value = "256KiB", value_parser = parse_size, value_name = "SIZE")]
    burst: u64,
    /// Repeated measurements of a slow region before it is reported, from 0 to 2
    #[arg(long, default_value_t = 2, value_name = "N")]
    retests: u32,
    /// Time limit of a point; all random accesses together take at most ten times as long
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// Default size of a folder's temporary files, if there is room.
const SPAN_OF_FOLDER: u64 = 1 << 30;
/// The span of a folder is a multiple of this, so that I/Os divide it.
const SPAN_STEP: u64 = 1 << 20;

impl Command for Surface {
    fn run(self) -> Result<Exit> {
        let access = Access::writing(self.rwmixread.unwrap_or(self.op).writes());
        measure_with(&self.arguments, "surface", access, |target| self.options(target))
    }
}

impl Surface {
    fn options(&self, target: &ResolvedTarget) -> Result<SurfaceOptions> {
        let usable = target.usable_bytes()?;
        let span = match self.span {
            None if target.is_folder() => Some(SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP)),
            span => span,
        };
        let (points, bytes) = self.points(span.unwrap_or(usable))?;
        let Self { block, depth, whole, probes, probe_block, burst, retests, time, data, .. } = *self;
        Ok(SurfaceOptions {
            op: self.rwmixread.unwrap_or(self.op),
            points,
            bytes,
            block,
            depth,
            whole,
            span,
            probes,
            probe_block,
            burst,
            retests,
            time,
            data,
        })
    }

    /// Number and size of points: from the command line; otherwise the defaults, or as many as fit.
    fn points(&self, span: u64) -> Result<(u32, u64)> {
        const BYTES_DEFAULT: u64 = 8 << 20;
        const POINTS_DEFAULT: u64 = 100;
        /// Fewest I/Os of a point on a small target, so that its speed means something.
        const IOS_LEAST: u64 = 4;
        let block = self.block.max(1);
        let fit = span / self.bytes.unwrap_or(block.saturating_mul(IOS_LEAST)).max(1);
        let default = u32::try_from(fit.clamp(2, POINTS_DEFAULT)).expect("it is at most the default");
        let points = self.points.unwrap_or(default);
        let most = (span / u64::from(points.max(1))).min(BYTES_DEFAULT.max(block));
        let bytes = self.bytes.unwrap_or(most - most % block);
        if bytes == 0 && self.bytes.is_none() {
            return Err(Failure::Usage(wording::points_do_not_fit(points, block, span)));
        }
        Ok((points, bytes))
    }
}

/// How much of the speed is the page cache or the drive's cache?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Cache {
    /// Access patterns: sequential, random
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_name = "PATTERN,..")]
    pattern: Vec<Pattern>,
    /// Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    block: Vec<u64>,
    /// Queue depth, one for all patterns or one for each [default: 1]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    depth: Vec<u32>,
    /// Address space to test [default: 256MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Passes of each test
    #[arg(long, default_value_t = 3, value_name = "N")]
    passes: u32,
    /// Time limit of a pass; it also ends after moving the span once, random I/O a sixteenth of it
    #[arg(long, visible_alias = "runtime", default_value = "2s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    #[command(flatten)]
    arguments: TargetArguments,
}

impl Command for Cache {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "cache", Access::Read, |target| self.options(target))
    }
}

impl Cache {
    fn options(&self, target: &ResolvedTarget) -> Result<CacheOptions> {
        let default = CacheOptions::default();
        let test = |pattern| {
            let test = default.tests.iter().find(|test| test.pattern == pattern);
            *test.expect("there is a default test of every pattern")
        };
        let tests = default_tests(&self.pattern, &self.block, &self.depth, test)?;
        let step = tests.iter().map(|test: &Test| test.block).fold(CACHE_SPAN_STEP, u64::max);
        let span = default_span(self.span, default.span.max(step), step, target)?;
        let Self { passes, time, data, .. } = *self;
        Ok(CacheOptions { span, tests, passes, time, data })
    }
}
