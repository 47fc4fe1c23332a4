//! Block size × queue depth × operation × pattern × data, as a matrix, and its answers.

mod blocks;
mod cell;
mod coverage;
mod depths;
mod drift;
mod peaks;
mod pictures;
mod preset;
mod ratios;
mod results;
mod rounds;
mod schedule;
mod sweep_options;
mod wording;

use likenew_core::answer::{Action, Answer, Standing};
use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::units::Nanos;

use likenew_procedure_support::options::options;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::wording::{span_too_large, target_is_read_only};
use results::Matrix;
use schedule::Schedule;

pub use preset::Preset;
pub use sweep_options::{Block, Order, SPAN_STEP, SweepOptions};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "sweep",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("sweep.md"),
};

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
        let time = Nanos(self.options.time.0.saturating_mul(LONGER)).min(Nanos::from_secs(86_400));
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
    Rerun::new(evidence, &options.arguments(), Sweep::new(options.clone()))
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
        Ok(schedule.next(evidence).map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let schedule = Schedule::new(&self.options, &evidence.geometry);
        let matrix = Matrix::from_evidence(&self.options, &schedule, evidence);
        let mut findings = Findings::default();
        if !matrix.cells.is_empty() {
            let more_passes = self.more_passes(evidence);
            findings.summary = peaks::summary(&matrix);
            findings.answers.extend(peaks::peaks(&matrix));
            findings.answers.extend(depths::gains(&matrix, &more_passes));
            findings.answers.extend(blocks::sufficient(&matrix, &more_passes));
            findings.answers.extend(blocks::growth(&matrix, &more_passes));
            findings.answers.extend(ratios::comparisons(&matrix, &more_passes));
            findings.answers.push(depths::fullness_answer(&matrix));
            findings.answers.extend(drift::drift(&matrix, &more_passes));
        }
        findings.answers.extend(refusals(&evidence.segments));
        findings.answers.extend(coverage::precision(&matrix).map(|answer| match answer.standing {
            Standing::Unknown => answer.action(self.longer_passes(evidence)),
            _ => answer,
        }));
        findings.answers.extend(coverage::complete(&matrix, &schedule));
        spare_failing_drive(&mut findings.answers, evidence);
        findings.tables.insert("matrix".into(), matrix.cells.iter().map(|cell| row(cell.row())).collect());
        findings.tables.insert("depths".into(), depths::table(&matrix).into_iter().map(row).collect());
        findings.tables.insert("ratios".into(), ratios::table(&matrix).into_iter().map(row).collect());
        findings.tables.insert("mixes".into(), matrix.mixes().into_iter().map(row).collect());
        findings.tables.retain(|name, rows| name == "matrix" || !rows.is_empty());
        findings.tables.insert("passes".into(), matrix.passes().map(row).collect());
        findings.series.extend(pictures::pictures(&matrix));
        if !matrix.cells.is_empty() {
            findings.overview.table = Some(peaks::table(&matrix));
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
    results::distinct(answers.iter().filter(is_shown).map(|answer| answer.id.clone()))
}
