//! The contract of one question to the inside of a drive.

use likenew_core::workload::Workload;

use super::context::ExperimentContext;
use super::finding::Finding;

/// One question to the inside of a drive. Stateless like a procedure: what to run next and what was found follow from the
/// scene alone, which may be incomplete, or hold segments without a single I/O (as in a rehearsal).
pub(super) trait Experiment: Sync {
    /// Its name, which begins those of its workloads. One word, or several joined by hyphens.
    fn name(&self) -> &'static str;

    /// What it would run next in the light of what is known; `None` when it has seen enough, or can not be asked here. Asked again
    /// after each workload, so it has to be cheap.
    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload>;

    /// What it has found. A property that it does not mention stays as it was.
    fn find(&self, context: &ExperimentContext<'_>) -> Finding;
}
