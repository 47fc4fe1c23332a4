//! The step behind each name, and those that are one command.

use likenew_core::fix::Fix;
use likenew_core::probe::Probe;
use likenew_core::procedure::{Evidence, Step};

use super::overwrite::{Overwrite, OverwriteAll};
use super::recondition_options::{Erase, ReconditionOptions};
use super::recondition_step::{ReconditionStep, StepContext, idle, probe_count, was_fixed};
use super::refresh::Refresh;
use super::rewrite::Rewrite;
use super::step_name::StepName;
use super::wording;

/// What runs under this name.
pub(super) fn implementation(name: StepName) -> &'static dyn ReconditionStep {
    match name {
        StepName::Trim => &OneFix { name: StepName::Trim, fix: |_| Fix::TrimFree },
        StepName::DiscardUnused => &OneFix { name: StepName::DiscardUnused, fix: |_| Fix::DiscardUnused },
        StepName::Refresh => &Refresh,
        StepName::Overwrite => &Overwrite,
        StepName::Rewrite => &Rewrite,
        StepName::Discard => &OneFix { name: StepName::Discard, fix: |_| Fix::Discard },
        StepName::OverwriteAll => &OverwriteAll,
        StepName::Format => &OneFix {
            name: StepName::Format,
            fix: |options| Fix::Format { crypto: options.erase == Erase::Key },
        },
    }
}

/// A step that is one command to the drive or the file system, and idle time after it.
struct OneFix {
    name: StepName,
    fix: fn(&ReconditionOptions) -> Fix,
}

impl ReconditionStep for OneFix {
    /// What is unpartitioned may hold something; only the owner knows.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let unused = context.feasibility.and_then(|feasibility| feasibility.unused_bytes.get());
        (self.name == StepName::DiscardUnused).then(|| wording::owner_must_agree(unused))
    }

    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step> {
        if probe_count(done) == 0 {
            return Some(Step::Probe(Probe::Fix((self.fix)(context.options))));
        }
        idle(context, done, self.name).filter(|_| was_fixed(done))
    }
}
