//! What no partition of the disk below a folder covers is given up: it becomes spare for everything that is written.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::units::amount;

use super::recondition_step::{
    ReconditionStep, StepContext, StepDescriptor, StepName, probe_count, rest, was_fixed,
};

pub(super) struct DiscardUnused;

const DESCRIPTOR: StepDescriptor = StepDescriptor {
    action_text: "tell the drive what no partition covers",
    doing: "telling the drive what no partition covers",
    destroys: "what no partition covers",
};

impl ReconditionStep for DiscardUnused {
    fn descriptor(&self) -> &'static StepDescriptor {
        &DESCRIPTOR
    }

    /// Nobody but its owner knows that nothing lies there.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let bytes = context.feasibility.and_then(|feasibility| feasibility.unused_bytes.get());
        Some(format!(
            "somebody has to agree that nothing is kept in {} that no partition covers",
            bytes.map_or_else(|| "space".into(), amount)
        ))
    }

    fn bytes(&self, _scene: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::DiscardUnused)));
        }
        rest(context, done, StepName::DiscardUnused).filter(|_| was_fixed(done))
    }
}
