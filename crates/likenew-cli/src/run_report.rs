//! What a run found, and how it is shown.

use std::path::PathBuf;

use likenew_archive::{DriveSignature, sample_files};
use likenew_core::findings::Findings;
use likenew_core::instrument::Instrument;
use likenew_core::probe::ProbeResult;
use likenew_core::procedure::Evidence;
use likenew_core::shell::without_sudo;
use likenew_core::target::Clock;
use likenew_report::labeled_document::RunSource;
use likenew_report::run_document::of_run;

use crate::arguments::Output;
use crate::exit::Result;
use crate::factsheet::Factsheet;
use crate::output::{self, FailedTarget, Member, SideBySide};

/// Evidence, what a procedure concluded from it, and what measured it.
pub(crate) struct RunReport {
    pub(crate) evidence: Evidence,
    pub(crate) findings: Findings,
    pub(crate) instrument: Instrument,
    /// A simulated run has no date.
    pub(crate) source: RunSource,
    /// The folder of the run, if it is kept.
    pub(crate) folder: Option<PathBuf>,
}

impl RunReport {
    /// The report of a run. Commands for root lose their sudo.
    pub(crate) fn new(
        evidence: Evidence,
        mut findings: Findings,
        instrument: Instrument,
        started_at: Option<String>,
        folder: Option<PathBuf>,
    ) -> Self {
        if rustix::process::geteuid().is_root() {
            let actions = findings.answers.iter_mut().flat_map(|answer| &mut answer.actions);
            for command in actions.flat_map(|action| [&mut action.command, &mut action.undo]).flatten() {
                *command = without_sudo(command);
            }
        }
        let started_at = started_at.filter(|_| instrument.clock == Clock::Wall);
        let source = RunSource { started_at, file: None };
        Self { evidence, findings, instrument, source, folder }
    }

    /// Shows reports in all requested forms: one alone, or several side by side. Facts with details are a
    /// sheet, with `origins` if asked for. With `list`, JSON is a list that ends with the failed targets.
    pub(crate) fn show(
        reports: Vec<Self>,
        list: Option<&[FailedTarget]>,
        output: &Output,
        details_command: &str,
        origins: bool,
    ) -> Result<()> {
        let sheet = match &reports[..] {
            [] => return list.map_or(Ok(()), |failed| output::write_failed(failed, output)),
            [report] => report.factsheet(output, origins),
            _ => None,
        };
        let shown = SideBySide::new(reports.into_iter().map(Self::into_member).collect());
        match sheet {
            Some(sheet) => {
                output::print(&sheet)?;
                output::write_beside(&shown, output)
            }
            None => output::put_with(&shown, list, output, details_command),
        }
    }

    /// The document of this report, with what is needed to show it beside others.
    pub(crate) fn into_member(self) -> Member {
        let Evidence { identity, observations, .. } = &self.evidence;
        let drive = DriveSignature::observed(identity, observations);
        let samples = self.folder.as_deref().map_or_else(Vec::new, sample_files);
        let is_virtual = drive.is_some_and(|drive| drive.is_virtual);
        let Self { evidence, findings, instrument, source, .. } = self;
        Member { document: of_run(evidence, findings, instrument), source, is_virtual, samples }
    }

    /// The sheet of facts, if details of them were asked for. Without details or facts, a run of
    /// `facts` is shown as any other.
    fn factsheet(&self, output: &Output, origins: bool) -> Option<String> {
        let is_of_facts = self.evidence.plan.procedure == "facts";
        if !is_of_facts || !output.details || output.takes_standard_output() {
            return None;
        }
        let facts = self.evidence.observations.iter().rev().find_map(|past| match &past.result {
            ProbeResult::Facts(facts) => Some(facts),
            _ => None,
        })?;
        let width = output::width().min(Factsheet::WIDTH_MAX);
        Some(Factsheet { facts, findings: &self.findings, width, origins }.to_string())
    }
}
