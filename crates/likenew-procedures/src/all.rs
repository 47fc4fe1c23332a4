//! The list of all questions.

use likenew_core::plan::Plan;
use likenew_core::procedure::{Descriptor, Evidence, Procedure};
use likenew_core::segment::Segment;
use likenew_core::verdict::Findings;

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

/// What each asks and costs, in the order in which a newcomer should meet them.
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

/// The procedure a plan names, with its settings.
///
/// # Errors
/// A sentence: the plan is of a newer form, names no procedure that exists, or its settings are wrong.
pub fn from_plan(plan: &Plan) -> Result<Box<dyn Procedure>, String> {
    if plan.schema != 1 {
        return Err(format!("this plan has schema {}; this version of likenew reads schema 1", plan.schema));
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
            Err(format!("there is no procedure \"{other}\"; there are {}", names.join(", ")))
        }
    }
}

/// What the evidence says to the question, what of it was not measured, and whether what was measured is what reached the device:
/// the judgement of a run, and of one that is judged again.
pub fn judge(procedure: &dyn Procedure, evidence: &Evidence) -> Findings {
    let mut findings = procedure.judge(evidence);
    // Where nothing else was measured that is the answer; otherwise it limits the answer.
    let asks = |segment: &&Segment| !segment.workload.is_rest();
    let is_all = evidence.segments.iter().filter(asks).all(|segment| segment.measurement_error().is_some());
    if let Some(verdict) = crate::refusals::unmeasured_workloads(&evidence.segments) {
        findings.verdicts.insert(if is_all { 0 } else { findings.verdicts.len().min(1) }, verdict);
    }
    findings.verdicts.extend(crate::device_counters::verdicts(&evidence.segments));
    findings
}
