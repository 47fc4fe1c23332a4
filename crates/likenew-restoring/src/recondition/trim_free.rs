//! The gentlest step: TRIM for all free space, as fstrim does it.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_step::{ReconditionStep, StepContext, idle, probe_count, was_fixed};
use super::step_name::StepName;

pub(super) struct TrimFree;

impl ReconditionStep for TrimFree {
    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::TrimFree)));
        }
        idle(context, done, StepName::Trim).filter(|_| was_fixed(done))
    }
}
