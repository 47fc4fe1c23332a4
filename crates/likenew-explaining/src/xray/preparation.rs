//! Ground to stand on: own files have to hold data before they can be read.

use likenew_core::drive::Kind;
use likenew_core::io::DataClass;
use likenew_core::workload::Workload;

use super::context::ExperimentContext;
use super::experiment::Experiment;
use super::finding::Finding;
use likenew_procedure_support::workloads::prepare;

pub(super) const NAME: &str = "preparation";

/// Writes a folder's own files once, and nothing anywhere else: what is on a device or a simulated drive is read as it was found.
pub(super) struct Preparation;

impl Experiment for Preparation {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let needed = context.evidence.identity.kind == Kind::Folder && context.segments.is_empty();
        needed.then(|| prepare(context.span, context.span, DataClass::Random))
    }

    fn find(&self, _context: &ExperimentContext<'_>) -> Finding {
        Finding::default()
    }
}
