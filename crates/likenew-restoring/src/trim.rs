//! Does TRIM reach the drive, and what is it worth?

mod answers;
mod trim_evidence;
mod trim_options;
mod wording;

use std::ops::Range;

use likenew_core::findings::{Findings, Overview};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::Probe;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use crate::site::{add_failed_ios, add_table};
use answers::{Pass, Worth, conclude};
use likenew_procedure_support::options::options;
use likenew_procedure_support::rows::row;
use trim_evidence::TrimEvidence;

pub use trim_options::{BYTES_STEP, HALF_STEP, TrimOptions};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "trim",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("trim.md"),
};

/// Bytes of a random write: the unit of file systems and of most mapping tables.
const BLOCK: u32 = 4096;
/// Bytes of a sequential write that fills a half; its queue depth is `FILL_DEPTH`.
const FILL_BLOCK: u32 = 1 << 20;
const FILL_DEPTH: u32 = 8;
/// Most passes for which random writes settle after a change; they end once they have moved as much as their
/// half holds.
const SETTLE_PASSES: u64 = 4;

/// The procedure.
pub struct Trim {
    options: TrimOptions,
}

impl Trim {
    /// From a plan's options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("trim", table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: TrimOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }
}

impl Procedure for Trim {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// One file for random writes, and one to delete.
    fn layout(&self) -> Layout {
        let half = if self.options.worth { self.options.half(u64::MAX) } else { HALF_STEP };
        Layout { files: 2, file_bytes: half }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let evidence = steps.evidence();
        let capacity = evidence.geometry.capacity;
        let half = self.options.half(capacity);
        if self.options.worth && evidence.geometry.writable && (half == 0 || 2 * half > capacity) {
            return Err(wording::span_does_not_fit(self.options.span.unwrap_or(capacity), capacity));
        }
        let (mut trim_evidence, mut passes) = (TrimEvidence::default(), Vec::new());
        let _ended = self.measure(steps, half, &mut trim_evidence, &mut passes);
        let worth = Worth::new(passes, &trim_evidence, half, self.options.worth);
        Ok(steps.conclude(|evidence| self.findings(evidence, &trim_evidence, &worth)))
    }
}

impl Trim {
    /// Probes until one ends the search, then measures the effect of TRIM. Passes go without, with, with, without, and
    /// so on: a steady drift then affects both alike, and the deleted half is refilled only half as often.
    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        half: u64,
        trim_evidence: &mut TrimEvidence<'a>,
        passes: &mut Vec<Pass<'a>>,
    ) -> Result<(), Ended> {
        let plan = &steps.evidence().plan;
        trim_evidence.put_path(steps.probe(|| Probe::TrimPath)?);
        if trim_evidence.is_blocked() {
            return Ok(());
        }
        trim_evidence.put_claims(steps.probe(|| Probe::TrimClaims)?);
        if trim_evidence.has_no_trim() || !steps.evidence().geometry.writable {
            return Ok(());
        }
        trim_evidence.put_read_back(steps.probe(|| Probe::TrimReadBack(self.options.read_back(plan.seed)))?);
        // A layer may learn only from the first TRIM that the layer below it takes none.
        trim_evidence.put_path(steps.probe(|| Probe::TrimPath)?);
        if !self.options.worth || trim_evidence.refusal.is_some() {
            return Ok(());
        }
        steps.run_seeded(|| fill(wording::FILL_KEPT, 0..half))?;
        let mut before = None;
        for pass in 0..2 * self.options.passes {
            let trimmed = matches!(pass % 4, 1 | 2);
            if before.replace(trimmed) != Some(trimmed) {
                if trimmed {
                    let wait = self.options.wait;
                    trim_evidence.put_release(steps.probe(|| Probe::Release {
                        offset: half,
                        bytes: half,
                        wait,
                    })?);
                    if trim_evidence.refusal.is_some() {
                        return Ok(());
                    }
                } else {
                    steps.run_seeded(|| fill(wording::FILL_DELETED, half..2 * half))?;
                }
                let settling = Nanos(self.options.time.0.saturating_mul(SETTLE_PASSES));
                steps.run_seeded(|| self.random_writes(wording::SETTLE, half, settling))?;
            }
            let name = if trimmed { wording::WRITE_WITH } else { wording::WRITE_WITHOUT };
            let segment = steps.run_seeded(|| self.random_writes(name, half, self.options.time))?;
            passes.push(Pass { trimmed, segment });
        }
        Ok(())
    }

    /// Random writes over the half that is kept, for this time; at most what it holds.
    fn random_writes(&self, name: &str, half: u64, time: Nanos) -> Workload {
        let place = AccessPattern::Random(Region::bytes(0..half));
        let stream =
            Stream::closed(Mix::Only(Op::Write), BLOCK, place, self.options.depth, DataClass::Random);
        Workload::new(name, Until { elapsed: Some(time), bytes: Some(half), ops: None }, vec![stream])
    }

    fn findings(&self, evidence: &Evidence, trim_evidence: &TrimEvidence<'_>, worth: &Worth<'_>) -> Findings {
        let mut findings = Findings::default();
        let steps = trim_evidence.steps(worth);
        (findings.summary, findings.answers) =
            conclude(&self.options, evidence, trim_evidence, &steps, worth);
        add_failed_ios(evidence, &evidence.segments, &mut findings);
        findings.overview = Overview {
            answers: findings
                .answers
                .iter()
                .map(|answer| answer.id.clone())
                .filter(|id| id != wording::TRIM)
                .collect(),
            table: (!steps.is_empty()).then(|| wording::step_table(&steps)),
            ..Overview::default()
        };
        add_table(&mut findings, "steps", steps.iter().map(row));
        add_table(&mut findings, "worth", worth.rows());
        add_table(&mut findings, "layers", trim_evidence.layers().iter().map(answers::layer_row));
        add_table(&mut findings, "worth_passes", worth.pass_rows());
        answers::draw(&mut findings, trim_evidence, worth);
        findings
    }
}

/// Writes a range once sequentially.
fn fill(name: &str, range: Range<u64>) -> Workload {
    let bytes = range.end - range.start;
    let place = AccessPattern::Sequential(Region::bytes(range));
    let stream = Stream::closed(Mix::Only(Op::Write), FILL_BLOCK, place, FILL_DEPTH, DataClass::Random);
    Workload::new(name, Until::bytes(bytes), vec![stream])
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::dry_run::DryRun;
    use likenew_core::procedure::Step;

    #[test]
    fn passes_with_and_without_take_turns_so_that_drift_falls_on_both() {
        let trim = Trim::new(TrimOptions { passes: 4, ..TrimOptions::default() }).unwrap();
        let planned = DryRun::plan(&trim, &crate::fixtures::evidence()).unwrap().planned_steps;
        let names: Vec<&str> = planned
            .iter()
            .map(|step| match step {
                Step::Run(workload) => workload.name.as_str(),
                Step::Probe(Probe::Release { .. }) => "release",
                _ => "probe",
            })
            .skip_while(|name| *name == "probe")
            .collect();
        let (with, without) = (wording::WRITE_WITH, wording::WRITE_WITHOUT);
        // Each change is followed by writes that do not count.
        let (refill, release) = ([wording::FILL_DELETED, wording::SETTLE], ["release", wording::SETTLE]);
        let expected = [
            &[wording::FILL_KEPT][..],
            &refill,
            &[without],
            &release,
            &[with, with],
            &refill,
            &[without, without],
            &release,
            &[with, with],
            &refill,
            &[without],
        ];
        assert_eq!(names, expected.concat());
    }
}
