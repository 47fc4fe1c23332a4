//! The mix of applications of a check, without the rest of it.

use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_procedures::check::{self, MixOption};

/// The run on a candidate: the last part of a check, and nothing else of it.
pub(crate) struct MixOnly(pub(crate) MixOption);

impl Procedure for MixOnly {
    fn descriptor(&self) -> &'static Descriptor {
        &check::DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.0.span }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        Ok(self.0.next(0, evidence).map_or(Step::Done, |mut workload| {
            workload.seed = evidence.plan.seed_of(evidence.segments.len());
            Step::Run(workload)
        }))
    }

    /// Its result comes from [`MixOption::waits`].
    fn judge(&self, _: &Evidence) -> Findings {
        Findings::default()
    }
}
