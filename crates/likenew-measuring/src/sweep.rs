//! Measures a matrix of block size × queue depth × operation × pattern × data.

mod answers;
mod results;
mod wording;

use std::fmt;
use std::str::FromStr;

use clap::Args;
use likenew_core::findings::{Action, Answer, Findings, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Size;
use likenew_core::segment::{Segment, Stop};
use likenew_core::serde_as_text;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_size, parse_duration, parse_size, size_text};
use likenew_core::workload::{DEPTH_LIMIT, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{
    Doubling, Fitting, List, Options, Unfit, arguments, by_name, doublings, mix_of_reads,
};
use likenew_procedure_support::options::{
    DAY, check_idle, check_multiple, check_ops, check_range, check_span, check_time, check_writable,
};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::precision_goal::PrecisionGoal;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::out_of_range;
use likenew_procedure_support::workloads::prepare;
use likenew_stats::interval::{Goal, Precision, precision};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use results::{Matrix, MeasuredCell};
pub use wording::DESCRIPTOR;

/// Most bytes of a queue, which must fit into memory.
const QUEUE_BYTES_MAX: u64 = 1 << 30;
/// Difference of speed, as a share, below which there is no reason to choose another block or depth. Chosen.
const DIFFERENCE: f64 = 0.05;
/// Most cells named in an answer; the table has all of them.
const LISTED_MAX: usize = 6;
/// Factor on the time of passes that vary too much. Chosen.
const LONGER: u64 = 4;
/// Passes to advise if those made decide nothing: twice the default.
const PASSES_TO_DECIDE: u32 = 10;

/// The procedure.
pub struct Sweep {
    options: SweepOptions,
}

impl Sweep {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: SweepOptions) -> Result<Self, String> {
        Ok(Self { options: options.validate()? })
    }

    fn check(&self, evidence: &Evidence) -> Result<(), String> {
        let geometry = &evidence.geometry;
        check_span(self.options.span, geometry, SPAN_STEP)?;
        check_writable(&self.options.ops, geometry)?;
        if !geometry.writable && self.options.data.len() > 1 {
            return Err(wording::classes_of_read_only_data());
        }
        Ok(())
    }

    /// The action to repeat with longer passes.
    fn longer_passes(&self, evidence: &Evidence) -> Action {
        let time = Nanos(self.options.time.0.saturating_mul(LONGER)).min(DAY);
        let bytes = self.options.bytes.saturating_mul(LONGER);
        let again = SweepOptions { time, bytes, ..self.options.clone() };
        rerun(evidence, again).action("longer_passes", wording::LONGER_PASSES)
    }

    /// The action to repeat with more passes of each cell.
    fn more_passes(&self, evidence: &Evidence) -> Action {
        let passes = PASSES_TO_DECIDE.max(2 * self.options.passes).min(1000);
        let again = SweepOptions { passes, precise: None, ..self.options.clone() };
        rerun(evidence, again).action("more_passes", wording::MORE_PASSES)
    }
}

fn rerun(evidence: &Evidence, options: SweepOptions) -> Rerun {
    Rerun::new(evidence, &arguments(&options, &SweepOptions::default()), Sweep::new(options.clone()))
}

impl Procedure for Sweep {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let evidence = steps.evidence();
        self.check(evidence)?;
        let (forms, skips) = forms(&self.options, &evidence.geometry);
        if forms.is_empty() {
            return Err(wording::nothing_fits(&skips));
        }
        let mut cells = Vec::new();
        let _ended = self.measure(steps, &forms, &mut cells);
        Ok(steps.conclude(|evidence| {
            let matrix = Matrix::new(&self.options, cells, evidence.geometry.writable);
            let unfinished =
                answers::complete(&matrix, forms.len() * self.ops().len() * self.options.data.len(), &skips);
            self.findings(evidence, &matrix, unfinished)
        }))
    }
}

/// A cell and its passes.
type CellPasses<'a> = (Cell, Vec<&'a Segment>);

impl Sweep {
    /// For each class of data, writes the span once, then measures each operation in rounds: all cells once, then all
    /// again. A change of the drive then shows between the passes of every cell, and so in its interval, rather than
    /// between cells.
    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        forms: &[Form],
        cells: &mut Vec<CellPasses<'a>>,
    ) -> Result<(), Ended> {
        let Evidence { geometry, plan, .. } = steps.evidence();
        // Workloads that ran, and parts of the sweep that are over.
        let (mut index, mut stage) = (0, 0);
        for data in self.options.data.iter().copied() {
            if geometry.writable {
                steps.run_seeded(|| prepare(self.options.span, self.options.span, data))?;
                (index, stage) = (index + 1, stage + 1);
            }
            for op in self.ops() {
                let first = cells.len();
                cells.extend(forms.iter().map(|form| (Cell { form: *form, op, data }, Vec::new())));
                let cells = &mut cells[first..];
                for round in 0.. {
                    let mut order: Vec<usize> = (0..cells.len()).collect();
                    if self.options.order == Order::Shuffled {
                        // Far from the numbers of the workloads, so that seeds differ.
                        let seed = plan.seed_of(1 << 40 | stage << 16 | round);
                        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
                    }
                    order.retain(|at| self.wants_more(&cells[*at].1));
                    if order.is_empty() {
                        break;
                    }
                    for at in order {
                        let (cell, passes) = &mut cells[at];
                        // A pass that a user stopped is measured again.
                        while passes.len() == round {
                            steps.rest(self.options.idle)?;
                            let segment = steps.run_seeded(|| cell.pass(round + 1, index, &self.options))?;
                            passes.extend((segment.stop != Stop::Interrupted).then_some(segment));
                            index += 1;
                        }
                    }
                }
                stage += 1;
            }
        }
        Ok(())
    }

    /// Reads, then mixes, then writes, so that no write disturbs a read.
    fn ops(&self) -> Vec<Mix> {
        let mut ops = self.options.ops.clone();
        ops.sort_by_key(|op| match op {
            Mix::Only(Op::Read) => 0,
            Mix::Reads(_) => 1,
            Mix::Only(_) => 2,
        });
        ops
    }

    /// Whether a cell needs more than these passes.
    fn wants_more(&self, passes: &[&Segment]) -> bool {
        let Some(goal) = self.options.goal() else { return passes.len() < self.options.passes as usize };
        if passes.len() < goal.passes_min || passes.len() >= goal.passes_max {
            return passes.len() < goal.passes_min;
        }
        let speeds: Option<Vec<f64>> = passes.iter().map(|segment| speed(segment)).collect();
        speeds.is_none_or(|speeds| precision(&speeds, &goal) == Precision::More)
    }

    fn findings(&self, evidence: &Evidence, matrix: &Matrix<'_>, unfinished: Option<Answer>) -> Findings {
        let mut findings = Findings::default();
        if !matrix.cells.is_empty() {
            let more_passes = self.more_passes(evidence);
            findings.summary = answers::summary(matrix);
            findings.answers.extend(answers::peaks(matrix));
            findings.answers.extend(answers::gains(matrix, &more_passes));
            findings.answers.extend(answers::sufficient(matrix, &more_passes));
            findings.answers.extend(answers::growth(matrix, &more_passes));
            findings.answers.extend(answers::comparisons(matrix, &more_passes));
            findings.answers.push(answers::fullness_answer(matrix));
            findings.answers.extend(answers::drift(matrix, &more_passes));
        }
        let precision = answers::precision(matrix).map(|answer| match answer.standing {
            Standing::Unknown => answer.action(self.longer_passes(evidence)),
            _ => answer,
        });
        add_failures(&mut findings.answers, evidence, precision.into_iter().chain(unfinished));
        findings.tables.insert("matrix".into(), matrix.cells.iter().map(MeasuredCell::row).collect());
        findings.tables.insert("depths".into(), answers::depth_rows(matrix));
        findings.tables.insert("ratios".into(), answers::ratio_rows(matrix));
        findings.tables.insert("mixes".into(), matrix.mixes());
        findings.tables.retain(|name, rows| name == "matrix" || !rows.is_empty());
        findings.tables.insert("passes".into(), matrix.passes());
        findings.series.extend(results::pictures(matrix));
        if !matrix.cells.is_empty() {
            findings.overview.table = Some(answers::overview_table(matrix));
            findings.overview.answers = shown(&findings.answers);
            findings.overview.series = findings.series.keys().next().cloned();
        }
        findings
    }
}

/// The answers of the first screen: what queue depth brings, larger blocks that are slower, and what limits the rest.
/// Open comparisons of blocks stay in the details: nobody would run it again for them.
fn shown(answers: &[Answer]) -> Vec<String> {
    const LIMITS: [&str; 5] = ["io_errors", "queue_fullness", "drift", "precision", "coverage"];
    let is_shown = |answer: &&Answer| {
        let is_good = answer.standing == Standing::Good;
        answer.id.starts_with("queue_depth_")
            || answer.id == "block_growth" && answer.standing == Standing::Info
            || LIMITS.contains(&answer.id.as_str()) && !is_good
            || answer.standing == Standing::Problem
    };
    distinct(answers.iter().filter(is_shown).map(|answer| answer.id.clone()))
}

/// Bytes a second; `None` for a failed segment, and in a dry run, where nothing is measured and no precision
/// is ever reached.
fn speed(segment: &Segment) -> Option<f64> {
    let measured = segment.tallies.iter().any(|tally| tally.latency.count() > 0);
    measured.then(|| segment.bytes_per_s())?
}

/// The combinations of pattern, block and depth that can be measured on this drive, and what was left out.
fn forms(options: &SweepOptions, geometry: &Geometry) -> (Vec<Form>, Vec<String>) {
    let mut skips = Vec::new();
    let mut pairs = Vec::new();
    let most = QUEUE_BYTES_MAX.min(options.span);
    for block in options.blocks.iter().map(|block| block.0) {
        if let Some(reason) = misfit(block, options.span, geometry) {
            skips.push(reason);
            continue;
        }
        let fits = |depth: &u32| u64::from(block) * u64::from(*depth) <= most;
        let (deep, too_deep): (Vec<u32>, Vec<u32>) = options.depths.iter().partition(|depth| fits(depth));
        pairs.extend(deep.into_iter().map(|depth| (block, depth)));
        if !too_deep.is_empty() {
            skips.push(if most == options.span {
                wording::queue_exceeds_span(Size(u64::from(block)), &too_deep, Size(most))
            } else {
                wording::queue_exceeds_memory(Size(u64::from(block)), &too_deep, Size(most))
            });
        }
    }
    let each =
        |pattern| pairs.iter().map(move |(block, depth)| Form { pattern, block: *block, depth: *depth });
    (options.patterns.iter().flat_map(|pattern| each(*pattern)).collect(), skips)
}

/// Why a block cannot be measured on this drive.
fn misfit(block: u32, span: u64, geometry: &Geometry) -> Option<String> {
    let size = Size(u64::from(block));
    if !block.is_multiple_of(geometry.block) {
        return Some(wording::misaligned_block(size, geometry.block));
    }
    if size.0 > span {
        return Some(wording::block_exceeds_span(size, Size(span)));
    }
    let boundary = geometry.boundary?;
    (!boundary.is_multiple_of(size.0)).then(|| wording::block_crosses_files(size, Size(boundary)))
}

/// The parameters of a cell except its operation and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Form {
    pattern: Pattern,
    block: u32,
    depth: u32,
}

/// One cell of the matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    form: Form,
    op: Mix,
    data: DataClass,
}

impl Form {
    /// Most bytes in flight.
    fn queue_bytes(self) -> u64 {
        u64::from(self.block) * u64::from(self.depth)
    }
}

impl Cell {
    /// Its `number`-th pass as the `index`-th workload of a run. Sequential passes move on through the span, so that
    /// no cache serves what an earlier pass left there.
    fn pass(self, number: usize, index: usize, options: &SweepOptions) -> Workload {
        let Form { pattern, block, depth } = self.form;
        let each = u64::from(block);
        let end = options.span - options.span % each;
        let bytes = options.bytes.max(2 * self.form.queue_bytes());
        let place = pattern.over(match pattern {
            Pattern::Random => 0..end,
            Pattern::Sequential => {
                let parts = (end / bytes).max(1);
                let start = index as u64 % parts * bytes;
                start - start % each..end
            }
        });
        let until = Until { elapsed: Some(options.time), bytes: Some(bytes), ops: None };
        let stream = Stream::closed(self.op, block, place, depth, self.data);
        Workload::new(format!("{self} #{number}"), until, vec![stream])
    }
}

impl fmt::Display for Cell {
    /// `RND4K Q32 read`, and the data if it is not random.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Form { pattern, block, depth } = self.form;
        let short = if pattern == Pattern::Sequential { "SEQ" } else { "RND" };
        let size = exact_size(u64::from(block));
        write!(f, "{short}{} Q{depth} {}", size.trim_end_matches("iB"), self.op)?;
        if self.data == DataClass::Random { Ok(()) } else { write!(f, " {}", self.data) }
    }
}

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = wording::no_such_order)]
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
    fn validate(mut self) -> Result<Self, String> {
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
    fn goal(&self) -> Option<Goal> {
        self.precise.map(|precise| precise.goal(self.passes as usize, self.passes_max as usize))
    }
}

/// The deepest queue that the loop drives on one lane.
const DEPTH_MAX: u32 = DEPTH_LIMIT as u32;

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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
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
        by_name(text)
    }
}

impl Preset {
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
    use strum::VariantArray as _;

    use super::*;

    fn options() -> SweepOptions {
        SweepOptions { span: 64 << 20, time: Nanos::from_secs(1), bytes: 16 << 20, ..SweepOptions::default() }
    }

    fn cell(pattern: Pattern, block: u32, depth: u32) -> Cell {
        Cell { form: Form { pattern, block, depth }, op: Mix::Only(Op::Read), data: DataClass::Random }
    }

    #[test]
    fn a_workload_is_named_after_its_cell() {
        assert_eq!(cell(Pattern::Random, 4096, 32).pass(2, 5, &options()).name, "RND4K Q32 read #2");
    }

    #[test]
    fn sequential_passes_walk_through_the_span_in_whole_blocks() {
        let starts = |block: u32, depth| -> Vec<u64> {
            let start = |index| {
                let workload = cell(Pattern::Sequential, block, depth).pass(1, index, &options());
                let range = workload.streams[0].pattern.region().resolve(64 << 20, 512).unwrap();
                assert!(
                    range.start.is_multiple_of(u64::from(block))
                        && (range.end - range.start).is_multiple_of(u64::from(block))
                );
                assert!(range.end - range.start >= workload.until.bytes.unwrap().min(range.end));
                range.start
            };
            (0..5).map(start).collect()
        };
        assert_eq!(starts(1 << 20, 1), [0, 16 << 20, 32 << 20, 48 << 20, 0]);
        assert_eq!(starts(12 << 10, 1)[1], (16 << 20) / (12 << 10) * (12 << 10));
        // Twice what the queue holds is more than the span: each pass goes round it.
        assert_eq!(starts(16 << 20, 4), [0; 5]);
    }

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
        for preset in Preset::VARIANTS {
            let options = preset.options();
            assert_eq!(options.clone().validate(), Ok(options), "{preset:?}");
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
