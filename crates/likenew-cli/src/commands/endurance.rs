//! `likenew fill`, `endure` and `age`: what long writing does to the speed.

use clap::{Args, ValueEnum};
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_core::workload::Mix;
use likenew_procedures::age::{AgeOptions, FILE_BYTES, RANDOM_SPAN_STEP, Recipe};
use likenew_procedures::endure::loop_test::{FILE_SIZE_MIN, LoopOptions};
use likenew_procedures::endure::snia::{SPAN_UNIT, SniaOptions};
use likenew_procedures::endure::{EndureOptions, Extent};
use likenew_procedures::fill::{FillOptions, Repeat};
use likenew_procedures::profile::Profile;

use super::{Command, file_size_to_fill, part_of_space};
use crate::access::Access;
use crate::arguments::{Switch, TargetArguments, mix_of_reads, number, profile};
use crate::exit::{Exit, Failure, Result};
use crate::measure::measure_with;
use crate::resolved_target::{Permission, ResolvedTarget};
use crate::wording;

/// Fill the free space: is every part as fast, and are there stalls?
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Fill {
    /// Number of files [default: as many as fill the free space, at most 1000]
    #[arg(long, value_name = "N")]
    files: Option<u32>,
    /// Size of each file [default: the free space divided by --files]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    file_size: Option<u64>,
    /// Write one file as large as the free space, or as --file-size, measured in parts
    #[arg(long, conflicts_with = "files")]
    one_file: bool,
    /// Parts of the one file [default: one per 16MiB, at most 1000]
    #[arg(long, requires = "one_file", value_name = "N")]
    parts: Option<u32>,
    /// Offset of the first file on a simulated drive
    #[arg(long, default_value = "0", value_parser = parse_size, value_name = "SIZE")]
    from: u64,
    /// Passes: a number, or until-steady (until a pass is within 2% of the one before, at most 10)
    #[arg(long, default_value = "1", value_name = "N|until-steady")]
    passes: Repeat,
    /// Read everything back at the end
    #[arg(long)]
    read_back: bool,
    /// Block size of a write
    #[arg(long, visible_alias = "bs", default_value = "1MiB", value_parser = parse_size, value_name = "SIZE")]
    block: u64,
    /// Queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 4, value_name = "N")]
    depth: u32,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    /// Shortest wait that counts as a stall
    #[arg(long, default_value = "100ms", value_parser = parse_duration, value_name = "TIME")]
    stall: Nanos,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// By default the space is divided into as many files as in the first study of this kind, unless they would
/// be smaller than this.
const FILES_DEFAULT: u64 = 1000;
const FILE_BYTES_LEAST: u64 = 16 << 20;

impl Command for Fill {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "fill", Access::Write, |target| self.options(target))
    }
}

impl Fill {
    fn options(&self, target: &ResolvedTarget) -> Result<FillOptions> {
        if self.block == 0 {
            return Err(Failure::Usage(wording::zero_block()));
        }
        let (files, file_size, parts) = self.files(target)?;
        let Self { block, depth, from, passes, read_back, data, stall, .. } = *self;
        Ok(FillOptions { files, file_size, block, depth, from, parts, passes, read_back, data, stall })
    }

    /// Number and size of the files, and parts of one: from the command line, and otherwise such that they fill the space.
    fn files(&self, target: &ResolvedTarget) -> Result<(u32, u64, u32)> {
        if self.from > 0 && matches!(target, ResolvedTarget::Path(.., Permission::None)) {
            return Err(Failure::Usage(wording::FROM_ON_REAL.into()));
        }
        if let (Some(files), Some(file_size)) = (self.files, self.file_size) {
            return Ok((files, file_size, 1));
        }
        let usable = match (self.one_file, self.file_size) {
            (true, Some(file_size)) => file_size,
            _ => target.usable_bytes()?.saturating_sub(self.from),
        };
        if self.one_file {
            return self.one_file(usable);
        }
        let files = match (self.files, self.file_size) {
            (Some(files), _) => u64::from(files.max(1)),
            (None, Some(file_size)) => usable / file_size.max(1),
            (None, None) => (usable / FILE_BYTES_LEAST).clamp(1, FILES_DEFAULT),
        };
        let file_size = self.file_size.unwrap_or_else(|| {
            let each = usable / files;
            each - each % self.block
        });
        if files == 0 || file_size == 0 {
            return Err(Failure::Usage(wording::files_do_not_fit(usable)));
        }
        let files = u32::try_from(files).map_err(|_| Failure::Usage(wording::too_many_files(files)))?;
        Ok((files, file_size, 1))
    }

    /// A single file of whole parts of whole blocks.
    fn one_file(&self, bytes: u64) -> Result<(u32, u64, u32)> {
        let default = (bytes / FILE_BYTES_LEAST).clamp(1, FILES_DEFAULT) as u32;
        let parts = self.parts.unwrap_or(default).max(1);
        let step = self.block.saturating_mul(u64::from(parts));
        let file_size = bytes - bytes % step;
        if file_size == 0 {
            return Err(Failure::Usage(wording::files_do_not_fit(bytes)));
        }
        Ok((1, file_size, parts))
    }
}

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
    #[arg(long, value_parser = profile, value_name = "NAME", help_heading = LOOP)]
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

/// A loop's file is as large as in the study that this test follows, but at most a hundredth of the span, so
/// that there are enough loops to see a knee, and at least one in this many parts, so that a large drive does
/// not loop forever.
const FILE_SIZE_DEFAULT: u64 = 1000 << 20;
const FILES_MIN: u64 = 100;
const FILES_MAX: u64 = 256;

impl Command for Endure {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "endure", Access::Write, |target| self.options(target))
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

    /// The span: from the command line, or all that may be used.
    fn span(&self, target: &ResolvedTarget) -> Result<u64> {
        let usable = target.usable_bytes()?;
        Ok(match self.span {
            Extent::Bytes(bytes) => bytes,
            Extent::Percent(percent) => (usable as f64 * percent / 100.0) as u64,
        })
    }
}

/// A flag that does not apply to the test is refused, because ignoring it would go unnoticed.
fn refuse_foreign(flags: &[(&str, bool)], reason: fn(&str) -> String) -> Result<()> {
    match flags.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(Failure::Usage(reason(name))),
        None => Ok(()),
    }
}

/// The file of a loop for a span of this size.
fn default_file_size(span: u64) -> u64 {
    let file_size = (span / FILES_MIN).min(FILE_SIZE_DEFAULT).max(span / FILES_MAX);
    (file_size - file_size % FILE_SIZE_MIN).max(FILE_SIZE_MIN)
}

/// Measure, age the drive, and measure again: new against used
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Age {
    /// How to age it: fill (write every address once), overwrite (fill, then random 4K writes), churn (create and
    /// delete small files)
    #[arg(long, default_value = "fill", value_name = "NAME")]
    recipe: Recipe,
    /// How much to write while aging [default: as much as the span holds]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Address space to age [default: all of a simulated drive or of the free space; 1GiB for churn]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Address space for the random writes that are timed [default: 8GiB, at most a quarter of the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    random_span: Option<u64>,
    /// Time for the random writes of all passes together
    #[arg(long, visible_alias = "runtime", default_value = "180s", value_parser = parse_duration, value_name = "TIME")]
    time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 3, value_name = "N")]
    depth: u32,
    /// Passes of each measurement; more passes narrow the interval of a change
    #[arg(long, default_value_t = 5, value_name = "N")]
    passes: u32,
    /// Then leave the drive idle this long and measure once more: some drives recover
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    idle: Nanos,
    /// Send TRIM for deleted files of the churn recipe (simulated drives)
    #[arg(long, value_enum, default_value_t = Switch::Off, value_name = "on|off")]
    trim: Switch,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    #[command(flatten)]
    arguments: TargetArguments,
}

const RANDOM_SPAN_DEFAULT: u64 = 8 << 30;
/// One part in this many of the span, so that measuring a new drive does not age it.
const RANDOM_SPAN_PART: u64 = 4;
/// Approximate number of small files that fill a folder, all of which are open.
const SMALL_FILES_DEFAULT: u64 = 16_384;

impl Command for Age {
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "age", Access::Write, |target| self.options(target))
    }
}

impl Age {
    fn options(&self, target: &ResolvedTarget) -> Result<AgeOptions> {
        let usable = target.usable_bytes()?;
        let (span, file_size) = self.span(target, usable)?;
        let whole = span.unwrap_or(usable);
        let random_span = match self.random_span {
            Some(random_span) => random_span,
            None => part_of_space(whole, RANDOM_SPAN_PART, RANDOM_SPAN_STEP, RANDOM_SPAN_DEFAULT)
                .ok_or_else(|| too_little(whole))?,
        };
        let Self { recipe, bytes, time, depth, passes, idle, data, .. } = *self;
        Ok(AgeOptions {
            recipe,
            bytes,
            span,
            file_size,
            random_span,
            time,
            depth,
            passes,
            idle,
            trim: self.trim == Switch::On,
            data,
        })
    }

    /// The span to age and the size of the files that it consists of; only a folder needs them.
    fn span(&self, target: &ResolvedTarget, usable: u64) -> Result<(Option<u64>, u64)> {
        let default = AgeOptions::default().file_size;
        if !target.is_folder() {
            return Ok((self.span, default));
        }
        let small = u64::from(FILE_BYTES);
        let (span, file_size) = if self.recipe == Recipe::Churn {
            (self.span.unwrap_or(usable.min(SMALL_FILES_DEFAULT * small)), small)
        } else {
            let span = self.span.unwrap_or(usable);
            (span, file_size_to_fill(span))
        };
        if span < file_size {
            return Err(too_little(span));
        }
        // Small files have sizes of their own, which the plan does not need.
        let planned_size = if self.recipe == Recipe::Churn { default } else { file_size };
        Ok((Some(span - span % file_size), planned_size))
    }
}

fn too_little(span: u64) -> Failure {
    Failure::Usage(wording::too_small_for("aging", span, RANDOM_SPAN_STEP * RANDOM_SPAN_PART))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loops_file_suits_the_span() {
        assert_eq!(default_file_size(120_034_123_776), 1000 << 20);
        assert_eq!(default_file_size(1 << 30), 8 << 20);
        assert_eq!(default_file_size(4 << 20), 8 << 20);
        let large = default_file_size(2_000_398_934_016);
        assert!(2_000_398_934_016 / large <= 257 && large.is_multiple_of(FILE_SIZE_MIN), "{large}");
    }
}
