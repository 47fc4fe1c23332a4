//! The contract of one experiment of an X-ray.

use likenew_core::workload::Workload;

use super::context::ExperimentContext;
use super::finding::Finding;

/// One experiment of an X-ray. It has no state: the next step and the findings follow from the context, which
/// may be incomplete or, in a dry run, hold segments without I/Os.
pub(super) trait Experiment: Sync {
    /// Its name, which begins the names of its workloads: one word, or several joined by hyphens.
    fn name(&self) -> &'static str;

    /// The next workload; `None` when the experiment is done or cannot run here. Called after each workload,
    /// so it has to be cheap.
    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload>;

    /// Its findings. Properties that are not among them stay as they were.
    fn find(&self, context: &ExperimentContext<'_>) -> Finding;
}
