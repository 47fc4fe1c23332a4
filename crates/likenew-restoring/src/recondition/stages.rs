//! Splits the evidence of a recondition into checks and the steps between them.

use likenew_core::fix::{Fix, FixEnd};
use likenew_core::io::Op;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Evidence, PastStep};
use likenew_core::segment::Segment;

use super::recondition_step::fix_reports;
use super::step_name::StepName;

/// A part of the evidence, as if it were all.
pub(super) enum Stage {
    /// A check. All checks of a run are the same.
    Check(Evidence),
    /// The evidence of a step.
    ReconditionStep(StepName, Evidence),
}

impl Stage {
    fn evidence_mut(&mut self) -> &mut Evidence {
        match self {
            Self::Check(evidence) | Self::ReconditionStep(_, evidence) => evidence,
        }
    }

    fn is_step(&self, name: StepName) -> bool {
        matches!(self, Self::ReconditionStep(of, _) if *of == name)
    }
}

/// Empty evidence of the same plan on the same drive.
pub(super) fn empty_evidence(evidence: &Evidence) -> Evidence {
    Evidence::new(evidence.plan.clone(), evidence.identity.clone(), evidence.geometry.clone())
}

/// The stages in the order they ran. A step is recognized by the names of its workloads, and ends where a
/// check begins, which asks for facts first.
pub(super) fn stages(evidence: &Evidence) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    // Feasibility comes before everything; the first check needs it, too.
    let mut feasibility: Option<Observation> = None;
    for past_step in evidence.history() {
        match past_step {
            PastStep::Observation(observation)
                if stages.is_empty() && observation.probe == Probe::Feasibility =>
            {
                feasibility = Some(observation.clone());
                continue;
            }
            _ => {}
        }
        let begins_check =
            matches!(past_step, PastStep::Observation(observation) if observation.probe == Probe::Facts);
        match (stages.last(), StepName::from_past(past_step)) {
            (Some(last), Some(name)) if last.is_step(name) => {}
            (_, Some(name)) => stages.push(Stage::ReconditionStep(name, empty_evidence(evidence))),
            (Some(Stage::Check(_)), None) => {}
            (Some(Stage::ReconditionStep(..)), None) if !begins_check => {}
            (_, None) => stages.push(Stage::Check(empty_evidence(evidence))),
        }
        let part = stages.last_mut().expect("one was just begun").evidence_mut();
        part.observations.extend(feasibility.take());
        match past_step {
            PastStep::Segment(segment) => part.segments.push(segment.clone()),
            PastStep::Observation(observation) => {
                let mut observation = observation.clone();
                observation.after = part.segments.len();
                part.observations.push(observation);
            }
        }
    }
    stages
}

/// Whether a step changed the drive: wrote to it, or sent TRIM. A step that was refused or found nothing to
/// do gets no credit, whatever is measured afterwards.
pub(super) fn has_run(step: &Evidence) -> bool {
    let has_written = |segment: &Segment| segment.bytes(Op::Write) + segment.bytes(Op::Trim) > 0;
    let has_fixed = |observation: &Observation| match (&observation.probe, &observation.result) {
        // Zeros are dealt with, and not written.
        (
            Probe::Fix(
                Fix::Refresh { .. }
                | Fix::RefreshFiles { .. }
                | Fix::Rewrite { .. }
                | Fix::RewriteFiles { .. },
            ),
            ProbeResult::FixReport(report),
        ) => report.bytes_written > 0,
        // A format reports no bytes.
        (Probe::Fix(Fix::Format { .. }), ProbeResult::FixReport(report)) => report.end == FixEnd::Complete,
        (_, ProbeResult::FixReport(report)) => report.bytes > 0 || report.bytes_written > 0,
        _ => false,
    };
    step.segments.iter().any(has_written) || step.observations.iter().any(has_fixed)
}

/// What ended a step before its work was done, if not the user.
pub(super) fn failure(step: &Evidence) -> Option<&str> {
    let failed = fix_reports(step).find(|report| report.end == FixEnd::Failed)?;
    failed.skips.last().map(|left| &*left.reason)
}

/// Why a step was refused.
pub(super) fn refusal(step: &Evidence) -> Option<&str> {
    step.observations.iter().find_map(|observation| match (&observation.probe, &observation.result) {
        (Probe::Fix(_), ProbeResult::Unknown(reason)) => Some(reason.as_str()),
        _ => None,
    })
}
