//! Does TRIM reach the drive, and what is it worth?

mod answers;
mod trim_evidence;
mod wording;

use std::ops::Range;

use clap::ArgAction::SetFalse;
use clap::Args;
use likenew_core::findings::{Findings, Overview};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Probe, ReadBack};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::region::Region;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use likenew_procedure_support::fit::{Fitting, Options, Unfit, defaults};
use likenew_procedure_support::options::{check_range, check_time, options};
use likenew_procedure_support::rows::row;
use likenew_procedure_support::wording::out_of_range;
use serde::{Deserialize, Serialize};

use crate::site::{add_failed_ios, add_table};
use answers::{Case, Pass, Worth};
use trim_evidence::TrimEvidence;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "trim",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("trim.md"),
};

/// Bytes to free and read back are a multiple of this.
const BYTES_STEP: u64 = 1 << 20;
/// Each half of the span for measuring the effect is a multiple of this, in bytes.
const HALF_STEP: u64 = 1 << 20;
const BYTES_MAX: u64 = 64 << 30;
const PROBES_MAX: u32 = 65_536;

/// Does TRIM reach the drive, and what does it gain?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct TrimOptions {
    /// Bytes to write, trim and read back, beside as many that are kept [default: 32MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "32MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// How long to wait for a file system that sends TRIM on its own, and for the drive to act on it
    #[arg(long, default_value = "10s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub wait: Nanos,
    /// Timed reads of trimmed and of kept data, each
    #[arg(long, default_value_t = 256, value_name = "N")]
    pub probes: u32,
    /// Do not read the device below the folder
    #[arg(long = "no-raw", action = SetFalse)]
    pub raw: bool,
    /// Skip measuring how much TRIM gains
    #[arg(long = "no-worth", action = SetFalse, conflicts_with_all = ["span", "time", "depth", "passes"])]
    pub worth: bool,
    /// Address space for measuring the gain, half of it trimmed [default: up to 64GiB of a simulated drive; in a folder
    /// 1GiB, or twice --bytes if that is given]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Time of each pass of random writes
    #[arg(long, visible_alias = "runtime", default_value = "4s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 8, value_name = "N")]
    pub depth: u32,
    /// Passes with TRIM, and as many without
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub passes: u32,
}

impl Default for TrimOptions {
    fn default() -> Self {
        defaults()
    }
}

/// A file or a device is only queried, which needs no permission to write.
impl Options for TrimOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        self.worth &= fitting.is_writable;
        self.span = if self.worth { self.fitting_span(fitting)? } else { None };
        Ok(())
    }
}

impl TrimOptions {
    /// The span that fits the target; `None` for a simulated drive that is used as a whole.
    fn fitting_span(&self, fitting: &Fitting<'_>) -> Result<Option<u64>, Unfit> {
        /// Span of a folder, which is written again and again.
        const SPAN_OF_FOLDER: u64 = 1 << 30;
        /// Largest span of a simulated drive, which already takes long to fill.
        const SPAN_OF_DRIVE: u64 = 64 << 30;
        const STEP: u64 = 2 * HALF_STEP;
        let (usable, is_folder) = (fitting.usable()?, fitting.is_folder);
        // The file that is read back needs space as well.
        let (default_span, left) = if is_folder {
            (SPAN_OF_FOLDER, usable.saturating_sub(self.bytes.saturating_mul(2)))
        } else {
            (SPAN_OF_DRIVE, usable)
        };
        let half = self.bytes - self.bytes % HALF_STEP;
        let twice_bytes =
            (is_folder && (fitting.is_chosen)("bytes")).then(|| half.max(HALF_STEP).saturating_mul(2));
        match self.span.or(twice_bytes) {
            Some(span) => Ok(Some(span)),
            None if !is_folder && usable <= default_span => Ok(None),
            None if left < STEP => Err(wording::trim_does_not_fit(usable, STEP).into()),
            None => Ok(Some(default_span.min(left - left % STEP))),
        }
    }

    /// Refuses what makes no sense.
    fn check(&self) -> Result<(), String> {
        if !self.bytes.is_multiple_of(BYTES_STEP) || !(BYTES_STEP..=BYTES_MAX).contains(&self.bytes) {
            return Err(wording::bad_bytes(self.bytes));
        }
        if self.wait > Nanos::from_secs(3600) {
            return Err(out_of_range("wait", self.wait, "0s", "1h"));
        }
        check_range("probes", self.probes, 0..=PROBES_MAX)?;
        check_time("time", self.time)?;
        check_range("depth", self.depth, 1..=1024)?;
        check_range("passes", self.passes, 1..=1000)?;
        if self.worth && self.span.is_some_and(|span| span < 2 * HALF_STEP) {
            return Err(wording::small_span());
        }
        Ok(())
    }

    /// Bytes of each half.
    fn half(&self, capacity: u64) -> u64 {
        // Without a span, the layout of a folder has the smallest one, and a drive is used as a whole.
        let span = self.span.unwrap_or(if capacity == u64::MAX { 2 * HALF_STEP } else { capacity });
        let half = span / 2;
        half - half % HALF_STEP
    }

    /// The settings for reading back.
    fn read_back(&self, seed: u64) -> ReadBack {
        let Self { bytes, wait, probes, raw, .. } = *self;
        ReadBack { seed, bytes, wait, probes, raw }
    }
}

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
        let case = Case { options: &self.options, evidence, trim_evidence, steps: &steps, worth };
        (findings.summary, findings.answers) = case.conclude();
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
