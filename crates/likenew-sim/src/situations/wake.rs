//! Power saving: a drive or its link sleeps after some idle time, and the first I/O waits for it to wake up.
//!
//! PCI Express links sleep after tens of microseconds (ASPM), NVMe drives after 100 ms as Linux sets them up (APST:
//! `nvme_core.apst_primary_timeout_ms`), disks after minutes.

use likenew_core::io::Io;
use likenew_core::units::Nanos;

use super::io_hook::IoHook;

/// It sleeps after so long, unless it is said (assumed: the order of an idle timer of ASPM).
pub(crate) const SLEEP_AFTER: Nanos = Nanos::from_micros(100);

/// Its power saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeParameters {
    /// How long it takes to wake up.
    pub time: Nanos,
    /// It sleeps when nothing was in flight for so long.
    pub after: Nanos,
}

/// A drive that sleeps, in time.
pub(crate) struct Wake {
    parameters: WakeParameters,
    in_flight: u32,
    quiet_since: Nanos,
    /// It is awake from then on, as long as it has something to do.
    awake_at: Nanos,
}

impl Wake {
    pub(crate) fn new(parameters: WakeParameters) -> Self {
        Self { parameters, in_flight: 0, quiet_since: Nanos::ZERO, awake_at: Nanos::ZERO }
    }
}

impl IoHook for Wake {
    fn delay_before(&mut self, _io: &Io, now: Nanos) -> Nanos {
        if self.in_flight == 0 && now.since(self.quiet_since) >= self.parameters.after {
            self.awake_at = now + self.parameters.time;
        }
        self.in_flight += 1;
        now.max(self.awake_at)
    }

    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        self.in_flight -= 1;
        self.quiet_since = now;
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::NO_IO;

    #[test]
    fn only_who_finds_it_asleep_waits() {
        let mut wake = Wake::new(WakeParameters { time: Nanos(500), after: Nanos(100) });
        assert_eq!(wake.delay_before(&NO_IO, Nanos(99)), Nanos(99), "it was awake until then");
        assert_eq!(wake.delay_after(&NO_IO, Nanos(200)), Nanos(200));
        assert_eq!(wake.delay_before(&NO_IO, Nanos(299)), Nanos(299));
        wake.delay_after(&NO_IO, Nanos(400));
        assert_eq!(wake.delay_before(&NO_IO, Nanos(500)), Nanos(1000));
        assert_eq!(
            wake.delay_before(&NO_IO, Nanos(600)),
            Nanos(1000),
            "who comes meanwhile waits for the same"
        );
        wake.delay_after(&NO_IO, Nanos(1100));
        assert_eq!(wake.delay_before(&NO_IO, Nanos(1300)), Nanos(1300), "it never rested");
    }
}
