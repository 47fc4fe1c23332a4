//! Does TRIM reach the drive, and what is it worth?

mod answers;
mod trim_evidence;
mod trim_options;
mod wording;
mod workload_plan;
mod worth;

use likenew_core::findings::Findings;
use likenew_core::overview::Overview;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};

use crate::site::add_failed_ios;
use answers::conclude;
use likenew_procedure_support::options::options;
use likenew_procedure_support::rows::row;
use trim_evidence::TrimEvidence;
use workload_plan::WorkloadPlan;
use worth::Worth;

pub use trim_options::{BYTES_STEP, HALF_STEP, TrimOptions};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "trim",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("trim.md"),
};

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

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let workload_plan = WorkloadPlan::new(&self.options, evidence)?;
        let trim_evidence = TrimEvidence::from_evidence(evidence);
        Ok(workload_plan.next(&trim_evidence, evidence))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let trim_evidence = TrimEvidence::from_evidence(evidence);
        let workload_plan = WorkloadPlan::new(&self.options, evidence).ok();
        let worth =
            workload_plan.map(|workload_plan| Worth::from_evidence(&workload_plan, &trim_evidence, evidence));
        let mut findings = Findings::default();
        let steps = trim_evidence.steps(worth.as_ref());
        (findings.summary, findings.answers) =
            conclude(&self.options, evidence, &trim_evidence, &steps, worth.as_ref());
        add_failed_ios(evidence, &mut findings);
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
        let mut table = |name: &str, rows: Vec<_>| {
            if !rows.is_empty() {
                findings.tables.insert(name.to_owned(), rows);
            }
        };
        table("steps", steps.iter().map(row).collect());
        table("worth", worth.iter().flat_map(Worth::rows).collect());
        table("layers", trim_evidence.layers().iter().map(answers::layer_row).collect());
        table("worth_passes", worth.iter().flat_map(Worth::pass_rows).collect());
        answers::draw(&mut findings, &trim_evidence, worth.as_ref());
        findings
    }
}
