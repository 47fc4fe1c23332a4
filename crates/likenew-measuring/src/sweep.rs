//! Block size × queue depth × operation × pattern × data, as a matrix, and its answers.

mod answers;
mod results;
mod schedule;
mod sweep_options;
mod wording;

use std::fmt;

use likenew_core::findings::{Action, Answer, Findings, Standing};
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::units::{Nanos, exact_size};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::fit::arguments;
use likenew_procedure_support::options::{DAY, options};
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::wording::{span_too_large, target_is_read_only};
use likenew_procedure_support::workloads::next_step;

use results::{Matrix, MeasuredCell};
use schedule::Schedule;
pub use sweep_options::{Block, Order, Preset, SPAN_STEP, SweepOptions};
pub use wording::DESCRIPTOR;

/// The name of the workload that writes the span first.
const PREPARE: &str = "prepare";
/// Difference of speed, as a share, below which there is no reason to choose another block or depth; our
/// choice.
const DIFFERENCE: f64 = 0.05;
/// Most cells named in an answer; the table has all of them.
const LISTED_MAX: usize = 6;
/// Passes that vary too much should be this many times as long; our choice.
const LONGER: u64 = 4;
/// Number of passes to advise if those made decide nothing: twice the default.
const PASSES_TO_DECIDE: u32 = 10;

/// The procedure.
pub struct Sweep {
    options: SweepOptions,
}

impl Sweep {
    /// From the settings of a plan.
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

    /// Passes that move more in more time.
    fn longer_passes(&self, evidence: &Evidence) -> Action {
        let time = Nanos(self.options.time.0.saturating_mul(LONGER)).min(DAY);
        let bytes = self.options.bytes.saturating_mul(LONGER);
        let again = SweepOptions { time, bytes, ..self.options.clone() };
        wording::longer_passes(&rerun(evidence, again))
    }

    /// More passes than were made of each cell.
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

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        self.check(evidence)?;
        let schedule = Schedule::new(&self.options, &evidence.geometry);
        if schedule.forms.is_empty() {
            return Err(wording::nothing_fits(&schedule.skips));
        }
        Ok(next_step(evidence, schedule.next(evidence)))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let schedule = Schedule::new(&self.options, &evidence.geometry);
        let matrix = Matrix::from_evidence(&self.options, &schedule, evidence);
        let mut findings = Findings::default();
        if !matrix.cells.is_empty() {
            let more_passes = self.more_passes(evidence);
            findings.summary = answers::summary(&matrix);
            findings.answers.extend(answers::peaks(&matrix));
            findings.answers.extend(answers::gains(&matrix, &more_passes));
            findings.answers.extend(answers::sufficient(&matrix, &more_passes));
            findings.answers.extend(answers::growth(&matrix, &more_passes));
            findings.answers.extend(answers::comparisons(&matrix, &more_passes));
            findings.answers.push(answers::fullness_answer(&matrix));
            findings.answers.extend(answers::drift(&matrix, &more_passes));
        }
        findings.answers.extend(refusals(&evidence.segments));
        findings.answers.extend(answers::precision(&matrix).map(|answer| match answer.standing {
            Standing::Unknown => answer.action(self.longer_passes(evidence)),
            _ => answer,
        }));
        findings.answers.extend(answers::complete(&matrix, &schedule));
        spare_failing_drive(&mut findings.answers, evidence);
        findings.tables.insert("matrix".into(), matrix.cells.iter().map(MeasuredCell::row).collect());
        findings.tables.insert("depths".into(), answers::depth_rows(&matrix));
        findings.tables.insert("ratios".into(), answers::ratio_rows(&matrix));
        findings.tables.insert("mixes".into(), matrix.mixes());
        findings.tables.retain(|name, rows| name == "matrix" || !rows.is_empty());
        findings.tables.insert("passes".into(), matrix.passes());
        findings.series.extend(results::pictures(&matrix));
        if !matrix.cells.is_empty() {
            findings.overview.table = Some(answers::overview_table(&matrix));
            findings.overview.answers = shown(&findings.answers);
            findings.overview.series = findings.series.keys().next().cloned();
        }
        findings
    }
}

/// The answers of the first screen: what queue depth brings, larger blocks that are slower, and what limits the rest. That
/// some comparisons of blocks stay open is in the details: nobody would run it again for that.
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
    /// The cell that a workload of a sweep measures; the preparation measures none.
    fn from_workload(workload: &Workload) -> Option<Self> {
        let [stream] = &workload.streams[..] else { return None };
        if workload.name == PREPARE {
            return None;
        }
        let random = matches!(stream.pattern, AccessPattern::Random(_));
        let pattern = if random { Pattern::Random } else { Pattern::Sequential };
        let form = Form { pattern, block: stream.size.max(), depth: stream.arrival.depth() };
        Some(Self { form, op: stream.op, data: stream.data })
    }

    /// Its `number`-th pass as the `index`-th workload of a run. Sequential passes move on through the span,
    /// so that no cache serves one what another has left there.
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
    fn a_workload_says_which_cell_it_measures() {
        for pattern in [Pattern::Sequential, Pattern::Random] {
            for cell in [cell(pattern, 512, 1), cell(pattern, 12 << 10, 7)] {
                let workload = cell.pass(2, 5, &options());
                assert_eq!(Cell::from_workload(&workload), Some(cell));
                assert!(workload.name.starts_with(&cell.to_string()), "{}", workload.name);
            }
        }
        assert_eq!(cell(Pattern::Random, 4096, 32).to_string(), "RND4K Q32 read");
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
