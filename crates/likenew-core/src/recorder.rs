//! The contract between the loop and anything that takes samples.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::io::Op;
use crate::sample::Sample;
use crate::units::Nanos;
use crate::workload::Workload;

/// Why a workload ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stop {
    /// Its own bound was reached.
    Reached,
    /// The user asked to stop; what was measured until then stays valid.
    Interrupted,
    /// The drive answered with an error after which continuing is pointless.
    Failed {
        /// The operation.
        op: Op,
        /// Its address, in bytes.
        offset: u64,
        /// The operating system's error number.
        errno: i32,
    },
    /// A job of another program had this error of the operating system; for which I/O is not known.
    JobFailed {
        /// The operating system's error number; negative if it is one of another system that Linux lacks.
        errno: i32,
    },
}

impl Stop {
    /// Whether something went wrong, so that what was measured until then is not the workload's.
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed { .. } | Self::JobFailed { .. })
    }
}

/// Takes the samples of one lane, pushed batch by batch, in order of completion.
///
/// Push rather than pull, so that a recorder never owns the pace: it can only ask to stop.
pub trait Recorder {
    /// The workload starts, at this time on the drive's clock.
    fn begin(&mut self, _workload: &Workload, _at: Nanos) {}

    /// Some I/Os have ended. `Break` stops issuing; what is in flight is still recorded.
    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop>;

    /// Nothing has ended for a while.
    fn idle(&mut self, _now: Nanos) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }

    /// How long at least one I/O was outstanding; said once, before the end.
    fn busy(&mut self, _busy: Nanos) {}

    /// The last I/O has ended, or the rest is over.
    fn end(&mut self, _at: Nanos) {}
}

/// Records nothing.
impl Recorder for () {
    fn record(&mut self, _samples: &[Sample]) -> ControlFlow<Stop> {
        ControlFlow::Continue(())
    }
}

/// Records twice; either may stop.
impl<A: Recorder, B: Recorder> Recorder for (A, B) {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        self.0.begin(workload, at);
        self.1.begin(workload, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        let first = self.0.record(samples);
        let second = self.1.record(samples);
        first?;
        second
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        let first = self.0.idle(now);
        let second = self.1.idle(now);
        first?;
        second
    }

    fn busy(&mut self, busy: Nanos) {
        self.0.busy(busy);
        self.1.busy(busy);
    }

    fn end(&mut self, at: Nanos) {
        self.0.end(at);
        self.1.end(at);
    }
}

impl<R: Recorder + ?Sized> Recorder for Box<R> {
    fn begin(&mut self, workload: &Workload, at: Nanos) {
        (**self).begin(workload, at);
    }

    fn record(&mut self, samples: &[Sample]) -> ControlFlow<Stop> {
        (**self).record(samples)
    }

    fn idle(&mut self, now: Nanos) -> ControlFlow<Stop> {
        (**self).idle(now)
    }

    fn busy(&mut self, busy: Nanos) {
        (**self).busy(busy);
    }

    fn end(&mut self, at: Nanos) {
        (**self).end(at);
    }
}
