//! The list of all procedures.

use likenew_core::answer::{Answer, Standing};
use likenew_core::findings::Findings;
use likenew_core::plan::Plan;
use likenew_core::procedure::{Descriptor, Evidence, Procedure};
use likenew_procedure_support::{device_counters, refusals, wording};

use crate::age::Age;
use crate::apps::Apps;
use crate::bench::Bench;
use crate::cache::Cache;
use crate::check::Check;
use crate::data::Data;
use crate::endure::Endure;
use crate::facts::Facts;
use crate::fill::Fill;
use crate::model::Model;
use crate::recondition::Recondition;
use crate::replay::Replay;
use crate::run::Run;
use crate::surface::Surface;
use crate::sweep::Sweep;
use crate::trim::Trim;
use crate::verify::Verify;
use crate::xray::Xray;

/// Every procedure, in the order in which a newcomer should meet them.
pub const DESCRIPTORS: &[&Descriptor] = &[
    &crate::check::DESCRIPTOR,
    &crate::recondition::DESCRIPTOR,
    &crate::bench::DESCRIPTOR,
    &crate::sweep::DESCRIPTOR,
    &crate::surface::DESCRIPTOR,
    &crate::fill::DESCRIPTOR,
    &crate::endure::DESCRIPTOR,
    &crate::age::DESCRIPTOR,
    &crate::data::DESCRIPTOR,
    &crate::cache::DESCRIPTOR,
    &crate::trim::DESCRIPTOR,
    &crate::model::DESCRIPTOR,
    &crate::replay::DESCRIPTOR,
    &crate::apps::DESCRIPTOR,
    &crate::xray::DESCRIPTOR,
    &crate::verify::DESCRIPTOR,
    &crate::facts::DESCRIPTOR,
    &crate::run::DESCRIPTOR,
];

/// The procedure that a plan names, with its settings.
///
/// # Errors
/// A sentence: the plan is of a newer form, names no procedure that exists, or its settings are wrong.
pub fn from_plan(plan: &Plan) -> Result<Box<dyn Procedure>, String> {
    if plan.schema != 1 {
        return Err(wording::other_plan_schema(plan.schema));
    }
    match plan.procedure.as_str() {
        "check" => Ok(Box::new(Check::from_options(&plan.options)?)),
        "recondition" => Ok(Box::new(Recondition::from_options(&plan.options)?)),
        "bench" => Ok(Box::new(Bench::from_options(&plan.options)?)),
        "sweep" => Ok(Box::new(Sweep::from_options(&plan.options)?)),
        "surface" => Ok(Box::new(Surface::from_options(&plan.options)?)),
        "fill" => Ok(Box::new(Fill::from_options(&plan.options)?)),
        "endure" => Ok(Box::new(Endure::from_options(&plan.options)?)),
        "age" => Ok(Box::new(Age::from_options(&plan.options)?)),
        "cache" => Ok(Box::new(Cache::from_options(&plan.options)?)),
        "data" => Ok(Box::new(Data::from_options(&plan.options)?)),
        "trim" => Ok(Box::new(Trim::from_options(&plan.options)?)),
        "model" => Ok(Box::new(Model::from_options(&plan.options)?)),
        "replay" => Ok(Box::new(Replay::from_options(&plan.options)?)),
        "apps" => Ok(Box::new(Apps::from_options(&plan.options)?)),
        "verify" => Ok(Box::new(Verify::from_options(&plan.options)?)),
        "xray" => Ok(Box::new(Xray::from_options(&plan.options)?)),
        "facts" => Ok(Box::new(Facts::from_options(&plan.options)?)),
        "run" => Ok(Box::new(Run::from_options(&plan.options)?)),
        other => {
            let names: Vec<&str> = DESCRIPTORS.iter().map(|descriptor| descriptor.name).collect();
            Err(wording::unknown_name("procedure", other, &names))
        }
    }
}

/// The findings of a run, also of one that is judged again: the procedure's own, tests that failed, and
/// whether the I/O reached the device.
pub fn judge(procedure: &dyn Procedure, evidence: &Evidence) -> Findings {
    let mut findings = procedure.judge(evidence);
    let segments = &evidence.segments;
    lead_with_errors(&mut findings);
    if let Some(answer) = refusals::unmeasured_workloads(segments) {
        let mut tests = segments.iter().filter(|segment| !segment.workload.is_rest());
        // If nothing else was measured, that is the answer; otherwise it limits the answer.
        let is_all = tests.all(|segment| segment.measurement_error().is_some());
        if is_all {
            findings.summary = wording::nothing_was_measured(refusals::tests_run(segments));
        }
        let place = if is_all { 0 } else { 1 };
        show(&mut findings, &answer, place);
        findings.answers.insert(place.min(findings.answers.len()), answer);
    }
    for answer in device_counters::answers(segments) {
        show(&mut findings, &answer, usize::MAX);
        findings.answers.push(answer);
    }
    if findings.summary.is_empty() {
        let first = findings.answers.first();
        findings.summary = first.map_or_else(wording::nothing_measured_yet, wording::answer_as_summary);
    }
    findings
}

/// Puts errors of the drive first, unless the procedure's own first answer is a problem.
fn lead_with_errors(findings: &mut Findings) {
    let is_error = |answer: &Answer| {
        answer.standing == Standing::Problem && ["io_errors", "job_errors"].contains(&answer.id.as_str())
    };
    if findings.answers.first().is_none_or(|first| first.standing == Standing::Problem) {
        return;
    }
    let Some(place) = findings.answers.iter().position(is_error) else { return };
    let answer = findings.answers.remove(place);
    findings.summary =
        format!("{} {}", wording::answer_as_summary(&answer), findings.summary).trim_end().into();
    findings.answers.insert(0, answer);
}

/// Adds an answer to those of the first screen, if the procedure chose any.
fn show(findings: &mut Findings, answer: &Answer, place: usize) {
    let shown = &mut findings.overview.answers;
    if !shown.is_empty() || findings.overview.table.is_some() {
        shown.insert(place.min(shown.len()), answer.id.clone());
    }
}
