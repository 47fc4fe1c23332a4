//! Measures a matrix of block size × queue depth × operation × pattern × data.

mod answers;
mod results;
mod sweep_options;
mod wording;

use std::fmt;

use likenew_core::findings::{Action, Answer, Findings, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Size;
use likenew_core::segment::{Segment, Stop};
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, exact_size};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::fit::arguments;
use likenew_procedure_support::options::{DAY, options};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{span_too_large, target_is_read_only};
use likenew_procedure_support::workloads::prepare;
use likenew_stats::interval::{Precision, precision};
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

use results::{Matrix, MeasuredCell};
pub use sweep_options::{Block, Order, Preset, SPAN_STEP, SweepOptions};
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
    /// From the options of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("sweep", table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: SweepOptions) -> Result<Self, String> {
        Ok(Self { options: options.validate()? })
    }

    fn check(&self, evidence: &Evidence) -> Result<(), String> {
        let geometry = &evidence.geometry;
        if self.options.span > geometry.capacity {
            return Err(span_too_large(self.options.span, geometry.capacity, SPAN_STEP));
        }
        if !geometry.writable && self.options.ops.iter().any(|op| op.writes()) {
            return Err(target_is_read_only());
        }
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
        wording::longer_passes(&rerun(evidence, again))
    }

    /// The action to repeat with more passes of each cell.
    fn more_passes(&self, evidence: &Evidence) -> Action {
        let passes = PASSES_TO_DECIDE.max(2 * self.options.passes).min(1000);
        let again = SweepOptions { passes, precise: None, ..self.options.clone() };
        wording::more_passes(&rerun(evidence, again))
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
        findings.answers.extend(failure_answers(&evidence.segments));
        findings.answers.extend(answers::precision(matrix).map(|answer| match answer.standing {
            Standing::Unknown => answer.action(self.longer_passes(evidence)),
            _ => answer,
        }));
        findings.answers.extend(unfinished);
        spare_failing_drive(&mut findings.answers, evidence);
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

#[cfg(test)]
mod tests {
    use likenew_core::io::Op;

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
}
