//! TRIM for the parts of the disk that no partition covers: they become spare for all writes.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::recondition_step::{ReconditionStep, StepContext, idle, probe_count, was_fixed};
use super::step_name::StepName;
use super::wording;

pub(super) struct DiscardUnused;

impl ReconditionStep for DiscardUnused {
    /// Only the owner knows that it holds nothing.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let unused = context.feasibility.and_then(|feasibility| feasibility.unused_bytes.get());
        Some(wording::owner_must_agree(unused))
    }

    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix(Fix::DiscardUnused)));
        }
        idle(context, done, StepName::DiscardUnused).filter(|_| was_fixed(done))
    }
}
