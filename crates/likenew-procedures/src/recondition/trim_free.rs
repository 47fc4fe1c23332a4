//! The gentlest rung: the drive is told what is free, as fstrim does it.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_step::{
    ReconditionStep, StepContext, StepDescriptor, StepName, probe_count, rest, was_fixed,
};

pub(super) struct TrimFree;

const DESCRIPTOR: StepDescriptor = StepDescriptor {
    action_text: "tell the drive what is free",
    doing: "telling the drive what is free",
    destroys: "what was deleted",
};

impl ReconditionStep for TrimFree {
    fn descriptor(&self) -> &'static StepDescriptor {
        &DESCRIPTOR
    }

    fn bytes(&self, _scene: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::TrimFree)));
        }
        rest(context, done, StepName::Trim).filter(|_| was_fixed(done))
    }
}
