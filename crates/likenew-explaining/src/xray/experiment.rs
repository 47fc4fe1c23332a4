//! The contract of one experiment of an X-ray.

use likenew_core::procedure::Ended;
use likenew_core::segment::Segment;
use likenew_core::workload::Workload;

use super::context::ExperimentContext;
use super::finding::Finding;

/// What an experiment runs its workloads with, as [`likenew_core::procedure::Steps`] for one part of a procedure.
pub(super) struct ExperimentSteps<'a, 'b> {
    segments: std::slice::Iter<'b, &'a Segment>,
    wanted: Option<Workload>,
}

impl<'a> ExperimentSteps<'a, '_> {
    /// Runs a workload.
    ///
    /// # Errors
    /// Nothing more is measured.
    pub(super) fn run(&mut self, workload: Workload) -> Result<&'a Segment, Ended> {
        self.segments.next().copied().ok_or_else(|| {
            self.wanted.get_or_insert(workload);
            Ended
        })
    }
}

/// One experiment of an X-ray. It has no state: the next step and the findings follow from the context, which
/// may be incomplete or, in a dry run, hold segments without I/Os.
pub(super) trait Experiment: Sync {
    /// Its name, which begins the names of its workloads: one word, or several joined by hyphens.
    fn name(&self) -> &'static str;

    /// The experiment from its first workload to its findings. Properties that are not among them stay as they were.
    fn run(&self, _context: &ExperimentContext<'_>, _steps: &mut ExperimentSteps<'_, '_>) -> Finding {
        unreachable!("an experiment has this, or both `next` and `find`")
    }

    /// The next workload; `None` when the experiment is done or cannot run here. Called after each workload,
    /// so it has to be cheap.
    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let mut steps = ExperimentSteps { segments: context.segments.iter(), wanted: None };
        self.run(context, &mut steps);
        steps.wanted
    }

    /// Its findings.
    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        self.run(context, &mut ExperimentSteps { segments: context.segments.iter(), wanted: None })
    }
}
