//! The options of a sweep: which values each dimension takes, and how long each cell is measured.

use std::fmt;
use std::str::FromStr;

use clap::Args;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Descriptor;
use likenew_core::serde_as_text;
use likenew_core::units::{Nanos, duration_text, exact_size, parse_duration, parse_size, size_text};
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::fit::{
    Doubling, Fitting, List, Options, Unfit, by_name, defaults, doublings, mix_of_reads,
};
use likenew_procedure_support::options::{check_idle, check_multiple, check_ops, check_range, check_time};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::precision_goal::PrecisionGoal;
use likenew_procedure_support::wording::out_of_range;
use likenew_stats::interval::Goal;
use serde::{Deserialize, Serialize};

use super::{DESCRIPTOR, wording};

/// Speed over block size, queue depth, operation, pattern and data
///
/// Every combination of the five lists is a cell of the matrix.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct SweepOptions {
    /// Preset; the options below change parts of it
    #[arg(long, default_value = "default", value_name = "NAME")]
    #[serde(skip)]
    pub profile: Preset,
    /// Operations: read, write, mix:70 (70% reads) [preset default: read,write]
    #[arg(long = "op", value_delimiter = ',', value_name = "OP,..")]
    #[arg(default_value = "read,write", hide_default_value = true)]
    pub ops: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "ops", hide_short_help = true)]
    #[serde(skip)]
    pub rwmixread: Option<Mix>,
    /// Access patterns [preset default: sequential,random]
    #[arg(long = "pattern", value_delimiter = ',', value_name = "PATTERN,..")]
    #[arg(default_value = "sequential,random", hide_default_value = true)]
    pub patterns: Vec<Pattern>,
    /// Block sizes; 512..64M means every doubling [preset default: 4k,16k,64k,256k,1M]
    #[arg(long = "block", visible_alias = "bs", value_parser = doublings::<Block>, value_name = "SIZE,..")]
    #[arg(default_value = "4k,16k,64k,256k,1M", hide_default_value = true)]
    pub blocks: List<Block>,
    /// Queue depths; 1..256 means every doubling [preset default: 1,4,32]
    #[arg(long = "depth", visible_alias = "iodepth", value_parser = doublings::<u32>, value_name = "N,..")]
    #[arg(default_value = "1,4,32", hide_default_value = true)]
    pub depths: List<u32>,
    /// Data: random, zero, or what it compresses to, such as 0.5 for half [preset default: random]
    #[arg(long, value_delimiter = ',', value_name = "DATA,..")]
    #[arg(default_value = "random", hide_default_value = true)]
    pub data: Vec<DataClass>,
    /// Address space to test [preset default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "1GiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Time limit of a combination in one pass [preset default: 300ms]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    #[arg(default_value = "300ms", hide_default_value = true)]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Byte limit of a combination in one pass, at least twice its queue [preset default: 128MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "128MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// Idle time before each pass
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Passes of each combination [preset default: 5]
    #[arg(long, value_name = "N", default_value_t = 5, hide_default_value = true)]
    pub passes: u32,
    /// Repeat each combination until its mean is known this well, such as 2%
    #[arg(long, value_name = "PERCENT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precise: Option<PrecisionGoal>,
    /// At most this many passes of a combination with --precise [default: 20]
    #[arg(long, requires = "precise", value_name = "N", default_value_t = 20, hide_default_value = true)]
    pub passes_max: u32,
    /// Order of the combinations in each pass: shuffled or listed [preset default: shuffled]
    #[arg(long, value_name = "NAME", default_value = "shuffled", hide_default_value = true)]
    pub order: Order,
}

/// The order of the cells within a round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the lists say: by pattern, then block, then depth.
    Listed,
    /// Drawn anew for each round, so that what one cell leaves behind does not always meet the same next cell.
    #[default]
    Shuffled,
}

/// Bytes of one I/O, from one byte to 1 GiB.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block(pub u32);

/// A table with more cells than this is unreadable.
const CELLS_MAX: usize = 4096;
/// A span is a multiple of this: the block that prepares it.
pub const SPAN_STEP: u64 = 1 << 20;

impl Default for SweepOptions {
    fn default() -> Self {
        defaults()
    }
}

impl Options for SweepOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        let rwmixread = self.rwmixread;
        *self = fitting.chosen_over(self, self.profile.options());
        fitting.ops(&mut self.ops, rwmixread)?;
        fitting.span(&mut self.span, SPAN_STEP)
    }
}

impl SweepOptions {
    /// Checks the options and removes repeated values from lists, such as those of overlapping ranges.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub(super) fn validate(mut self) -> Result<Self, String> {
        self.blocks = distinct(self.blocks);
        (self.ops, self.patterns) = (distinct(self.ops), distinct(self.patterns));
        (self.depths, self.data) = (distinct(self.depths), distinct(self.data));
        self.check_lists()?;
        check_multiple("span", self.span, SPAN_STEP)?;
        check_time("time", self.time)?;
        check_idle(self.idle)?;
        if self.bytes == 0 {
            return Err(out_of_range("bytes", 0, 1, "any size"));
        }
        check_range("passes", self.passes, 1..=1000)?;
        if self.precise.is_some() {
            check_range("passes_max", self.passes_max, self.passes.max(Goal::PASSES_MIN as u32)..=1000)?;
        }
        Ok(self)
    }

    fn check_lists(&self) -> Result<(), String> {
        check_ops(&self.ops)?;
        let lists = [
            ("pattern", self.patterns.len()),
            ("block", self.blocks.len()),
            ("depth", self.depths.len()),
            ("data", self.data.len()),
        ];
        if let Some((name, _)) = lists.iter().find(|(_, count)| *count == 0) {
            return Err(wording::empty_list(name));
        }
        self.depths.iter().try_for_each(|depth| check_range("depth", *depth, 1..=DEPTH_MAX))?;
        let cells = lists.iter().fold(self.ops.len(), |cells, (_, count)| cells.saturating_mul(*count));
        if cells > CELLS_MAX {
            return Err(wording::too_many_cells(cells, CELLS_MAX));
        }
        Ok(())
    }

    /// The precision of each cell, if one was asked for.
    pub(super) fn goal(&self) -> Option<Goal> {
        self.precise.map(|precise| precise.goal(self.passes as usize, self.passes_max as usize))
    }
}

/// The deepest queue that the loop drives on one lane.
const DEPTH_MAX: u32 = likenew_core::workload::DEPTH_LIMIT as u32;

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(if *self == Self::Listed { "listed" } else { "shuffled" })
    }
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "listed" => Ok(Self::Listed),
            "shuffled" => Ok(Self::Shuffled),
            _ => Err(wording::no_such_order(text)),
        }
    }
}

impl fmt::Display for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&exact_size(u64::from(self.0)))
    }
}

impl FromStr for Block {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bytes = parse_size(text).map_err(|error| error.to_string())?;
        u32::try_from(bytes)
            .ok()
            .filter(|bytes| (1..=1 << 30).contains(bytes))
            .map(Self)
            .ok_or_else(|| wording::not_a_block(text))
    }
}

impl Doubling for Block {
    fn double(self) -> Option<Self> {
        self.0.double().map(Self)
    }

    fn refusal(_: &str, error: Self::Err) -> String {
        error
    }
}

serde_as_text!(Order);
serde_as_text!(Block);

/// A named sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preset {
    /// Both patterns, reads and writes, five blocks, three depths.
    #[default]
    Default,
    /// Both patterns, reads and writes, in a quarter of a minute: three blocks, two depths.
    Quick,
    /// As ATTO Disk Benchmark: sequential, 512 B to 64 MiB, depth 4, over 256 MiB of data that compresses well.
    Atto,
    /// Like the access specifications that come with Iometer: 512 B to 32 KiB, reads and writes in quarters,
    /// at some queue depths.
    Iometer,
    /// Every power of two from 512 B to 16 MiB, at every depth that is a power of two up to 256.
    Full,
}

impl FromStr for Preset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        by_name(text, &Self::ALL)
    }
}

impl Preset {
    /// All presets with their names on the command line.
    pub const ALL: [(&'static str, Self); 5] = [
        ("default", Self::Default),
        ("quick", Self::Quick),
        ("atto", Self::Atto),
        ("iometer", Self::Iometer),
        ("full", Self::Full),
    ];

    /// Its options.
    pub fn options(self) -> SweepOptions {
        let defaults = SweepOptions::default();
        let (reads, writes) = (Mix::Only(Op::Read), Mix::Only(Op::Write));
        match self {
            Self::Default => defaults,
            Self::Quick => SweepOptions {
                blocks: vec![Block(4 << 10), Block(64 << 10), Block(1 << 20)],
                depths: vec![1, 32],
                time: Nanos::from_millis(200),
                bytes: 64 << 20,
                passes: 3,
                ..defaults
            },
            Self::Atto => SweepOptions {
                patterns: vec![Pattern::Sequential],
                blocks: powers_of_two(9..=26),
                depths: vec![4],
                data: vec![DataClass::Zero],
                span: 256 << 20,
                time: Nanos::from_secs(1),
                bytes: 256 << 20,
                passes: 3,
                order: Order::Listed,
                ..defaults
            },
            Self::Iometer => SweepOptions {
                ops: vec![reads, Mix::Reads(75), Mix::Reads(50), Mix::Reads(25), writes],
                blocks: vec![Block(512), Block(4 << 10), Block(16 << 10), Block(32 << 10)],
                depths: vec![1, 8, 64],
                ..defaults
            },
            Self::Full => SweepOptions {
                ops: vec![reads, Mix::Reads(70), writes],
                blocks: powers_of_two(9..=24),
                depths: (0..=8).map(|power| 1 << power).collect(),
                passes: 3,
                ..defaults
            },
        }
    }
}

fn powers_of_two(powers: std::ops::RangeInclusive<u32>) -> Vec<Block> {
    powers.map(|power| Block(1 << power)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads_back<T: FromStr<Err = String> + fmt::Display>(good: &[&str], bad: &[&str]) {
        for text in good {
            assert_eq!(text.parse::<T>().unwrap_or_else(|reason| panic!("{reason}")).to_string(), *text);
        }
        for text in bad {
            let reason = text.parse::<T>().err().unwrap_or_else(|| panic!("\"{text}\" was taken"));
            assert!(reason.contains(text), "{reason}");
        }
    }

    #[test]
    fn values_read_back_and_nonsense_does_not() {
        reads_back::<Order>(&["listed", "shuffled"], &["", "sorted"]);
        reads_back::<Block>(&["512", "4KiB", "1GiB", "1"], &["0", "2GiB", "-4k", "4q"]);
    }

    #[test]
    fn blocks_double_up_to_the_end_of_their_range() {
        let blocks: Vec<String> =
            doublings::<Block>("512..64M").unwrap().iter().map(Block::to_string).collect();
        assert_eq!((blocks.len(), &*blocks[0], &*blocks[17]), (18, "512", "64MiB"));
        for text in ["0", "4k..", "2GiB", "1k..2GiB", "64k..4k"] {
            assert!(doublings::<Block>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_read_back_from_a_plan() {
        let options = SweepOptions { precise: Some(PrecisionGoal(0.02)), ..SweepOptions::default() };
        let text = toml::to_string(&options).unwrap();
        assert_eq!(toml::from_str::<SweepOptions>(&text).unwrap(), options, "{text}");
        assert_eq!(toml::from_str::<SweepOptions>("").unwrap(), SweepOptions::default());
    }

    #[test]
    fn every_preset_can_be_measured() {
        for (name, preset) in Preset::ALL {
            let options = preset.options();
            assert_eq!(options.clone().validate(), Ok(options), "{name}");
        }
    }

    #[test]
    fn atto_sweeps_what_atto_sweeps() {
        let atto = Preset::Atto.options();
        let blocks: Vec<String> = atto.blocks.iter().map(Block::to_string).collect();
        assert_eq!((blocks.len(), &*blocks[0], &*blocks[17]), (18, "512", "64MiB"));
        assert_eq!((atto.depths, atto.span), (vec![4], 256 << 20));
    }
}
