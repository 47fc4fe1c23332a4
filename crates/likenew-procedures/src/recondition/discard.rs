//! Everything is given up at once: the gentlest rung of those that leave nothing.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_step::{
    ReconditionStep, StepContext, StepDescriptor, StepName, probe_count, rest, was_fixed,
};

pub(super) struct Discard;

const DESCRIPTOR: StepDescriptor = StepDescriptor {
    action_text: "give up everything",
    doing: "giving up everything on it",
    destroys: "everything",
};

impl ReconditionStep for Discard {
    fn descriptor(&self) -> &'static StepDescriptor {
        &DESCRIPTOR
    }

    fn bytes(&self, _scene: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::Discard)));
        }
        rest(context, done, StepName::Discard).filter(|_| was_fixed(done))
    }
}
