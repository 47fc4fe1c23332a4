//! TRIM for everything at once: the gentlest of the steps that erase.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_step::{ReconditionStep, StepContext, idle, probe_count, was_fixed};
use super::step_name::StepName;

pub(super) struct Discard;

impl ReconditionStep for Discard {
    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::Discard)));
        }
        idle(context, done, StepName::Discard).filter(|_| was_fixed(done))
    }
}
