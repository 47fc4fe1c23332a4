//! Time in which something was in flight.

use likenew_core::units::Nanos;

/// The union of spans that come in the order of their beginnings, and their sum.
#[derive(Clone, Copy, Default)]
pub(super) struct BusySpans {
    time: Nanos,
    waiting: Nanos,
    /// Where the latest of them ends.
    until: Nanos,
}

impl BusySpans {
    pub(super) fn put(&mut self, at: Nanos, latency: Nanos) {
        let end = at + latency;
        self.time += end.since(at.max(self.until));
        self.until = self.until.max(end);
        self.waiting += latency;
    }

    /// How long at least one was in flight.
    pub(super) fn time(self) -> Nanos {
        self.time
    }

    /// The sum of all.
    pub(super) fn waiting(self) -> Nanos {
        self.waiting
    }
}
