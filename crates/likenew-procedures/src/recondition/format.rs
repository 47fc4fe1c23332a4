//! The drive formats itself, by a command of its own: only of NVMe.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_options::Erase;
use super::recondition_step::{
    ReconditionStep, StepContext, StepDescriptor, StepName, probe_count, rest, was_fixed,
};

pub(super) struct Format;

const DESCRIPTOR: StepDescriptor = StepDescriptor {
    action_text: "have the drive format itself",
    doing: "the drive's own format",
    destroys: "everything",
};

impl ReconditionStep for Format {
    fn descriptor(&self) -> &'static StepDescriptor {
        &DESCRIPTOR
    }

    fn bytes(&self, _scene: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::Format {
                crypto: context.options.erase == Erase::Key,
            })));
        }
        rest(context, done, StepName::Format).filter(|_| was_fixed(done))
    }
}
