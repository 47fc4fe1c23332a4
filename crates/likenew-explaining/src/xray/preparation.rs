//! Fills temporary files before they are read.

use likenew_core::drive::Kind;
use likenew_core::io::DataClass;
use likenew_core::workload::Workload;

use super::experiment::{Experiment, ExperimentContext, Finding};
use likenew_procedure_support::workloads::prepare;

pub(super) const NAME: &str = "preparation";

/// Writes a folder's temporary files once, and nothing else: existing data on a device or a simulated drive
/// is read as it is.
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
