//! The list of all procedures. It makes a procedure from a plan, and completes the findings of every run.

use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::procedure::{Descriptor, Evidence, Plan, Procedure};
use likenew_procedure_support::{device_counters, failures, wording};

use crate::{
    age, apps, bench, cache, check, data, endure, facts, fill, model, recondition, replay, run, suits,
    surface, sweep, trim, verify, xray,
};

/// Makes a procedure from the options of a plan.
type FromPlan = fn(&Plan) -> Result<Box<dyn Procedure>, String>;

fn boxed(procedure: Result<impl Procedure + 'static, String>) -> Result<Box<dyn Procedure>, String> {
    Ok(Box::new(procedure?))
}

/// Every procedure, in the order in which a newcomer should meet them.
const PROCEDURES: [(&Descriptor, FromPlan); 19] = [
    (&check::DESCRIPTOR, |plan| boxed(check::Check::from_options(&plan.options))),
    (&recondition::DESCRIPTOR, |plan| boxed(recondition::Recondition::from_options(&plan.options))),
    (&bench::DESCRIPTOR, |plan| boxed(bench::Bench::from_options(&plan.options))),
    (&sweep::DESCRIPTOR, |plan| boxed(sweep::Sweep::from_options(&plan.options))),
    (&suits::DESCRIPTOR, |plan| boxed(suits::Suits::from_options(&plan.options))),
    (&surface::DESCRIPTOR, |plan| boxed(surface::Surface::from_options(&plan.options))),
    (&fill::DESCRIPTOR, |plan| boxed(fill::Fill::from_options(&plan.options))),
    (&endure::DESCRIPTOR, |plan| boxed(endure::Endure::from_options(&plan.options))),
    (&age::DESCRIPTOR, |plan| boxed(age::Age::from_options(&plan.options))),
    (&data::DESCRIPTOR, |plan| boxed(data::Data::from_options(&plan.options))),
    (&cache::DESCRIPTOR, |plan| boxed(cache::Cache::from_options(&plan.options))),
    (&trim::DESCRIPTOR, |plan| boxed(trim::Trim::from_options(&plan.options))),
    (&model::DESCRIPTOR, |plan| boxed(model::Model::from_options(&plan.options))),
    (&replay::DESCRIPTOR, |plan| boxed(replay::Replay::from_options(&plan.options))),
    (&apps::DESCRIPTOR, |plan| boxed(apps::Apps::from_options(&plan.options))),
    (&xray::DESCRIPTOR, |plan| boxed(xray::Xray::from_options(&plan.options))),
    (&verify::DESCRIPTOR, |plan| boxed(verify::Verify::from_options(&plan.options))),
    (&facts::DESCRIPTOR, |plan| boxed(facts::Facts::from_options(&plan.options))),
    (&run::DESCRIPTOR, |plan| boxed(run::Run::from_options(&plan.options))),
];

/// What each procedure measures and what it costs, in the same order.
pub const DESCRIPTORS: &[&Descriptor] = &{
    let mut descriptors = [PROCEDURES[0].0; PROCEDURES.len()];
    let mut index = 0;
    while index < descriptors.len() {
        descriptors[index] = PROCEDURES[index].0;
        index += 1;
    }
    descriptors
};

/// The procedure that a plan names, with its options.
///
/// # Errors
/// A sentence, if the plan has a newer schema, names an unknown procedure, or has wrong options.
pub fn from_plan(plan: &Plan) -> Result<Box<dyn Procedure>, String> {
    if plan.schema != 1 {
        return Err(wording::other_plan_schema(plan.schema));
    }
    match PROCEDURES.iter().find(|(descriptor, _)| descriptor.name == plan.procedure) {
        Some((_, from_plan)) => from_plan(plan),
        None => {
            let names: Vec<&str> = DESCRIPTORS.iter().map(|descriptor| descriptor.name).collect();
            Err(wording::unknown_name("procedure", &plan.procedure, &names))
        }
    }
}

/// The findings of a run: the procedure's own, failed tests, and whether the I/O reached the device. A stored run can
/// be judged again.
pub fn judge(procedure: &dyn Procedure, evidence: &Evidence) -> Findings {
    let mut findings = procedure.judge(evidence);
    let segments = &evidence.segments;
    lead_with_errors(&mut findings);
    if let Some(answer) = failures::unmeasured_workloads(segments) {
        let mut tests = segments.iter().filter(|segment| !segment.workload.is_rest());
        // If every test failed, that leads; otherwise it follows the main answer.
        let is_all = tests.all(|segment| segment.measurement_error().is_some());
        if is_all {
            findings.summary = wording::nothing_was_measured(failures::tests_run(segments));
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
