//! Recorded time with its long pauses cut.

use likenew_core::trace::TraceIo;
use likenew_core::units::Nanos;

/// Follows a recording and cuts its pauses to their limit.
pub(crate) struct Timeline {
    idle_max: Nanos,
    /// Until when something was in flight, as far as is known.
    quiet_since: Nanos,
    cut: Nanos,
}

/// When an I/O left in the recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// With all cuts so far taken out.
    pub(crate) at: Nanos,
    /// What was cut from the pause just before it.
    pub(crate) cut: Nanos,
}

impl Timeline {
    pub(crate) fn new(idle_max: Option<Nanos>) -> Self {
        Self { idle_max: idle_max.unwrap_or(Nanos::NEVER), quiet_since: Nanos::ZERO, cut: Nanos::ZERO }
    }

    /// Moves to the next I/O. If its latency is not known, it counts as ended when it left.
    pub(crate) fn moment(&mut self, io: &TraceIo) -> Moment {
        let cut = io.at.since(self.quiet_since).since(self.idle_max);
        self.cut += cut;
        self.quiet_since = self.quiet_since.max(io.at + io.latency.unwrap_or_default());
        Moment { at: io.at.since(self.cut), cut }
    }
}
