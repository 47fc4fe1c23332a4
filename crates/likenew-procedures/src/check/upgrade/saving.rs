//! What one drive saves of the waiting for another.

use likenew_core::units::Nanos;
use likenew_core::verdict::Standing;

use super::waits::Waits;

/// Worth it is what saves this share of the time: five minutes of a working day. Less than that nobody notices who does not measure it.
pub(super) const WORTH: f64 = 0.01;

/// Time that is waited less, in nanoseconds, below 0 where it is more. What is surely waited for is the value, and all that may be is the other
/// end of the interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Saving {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

impl Saving {
    pub(super) fn of(from: &Waits, to: &Waits) -> Self {
        let (least, most) = (from.low_ns() - to.low_ns(), from.high_ns() - to.high_ns());
        Self { value: least, low: least.min(most), high: least.max(most) }
    }

    /// Whether it is worth something in this time.
    pub(super) fn standing(&self, elapsed: Nanos) -> Standing {
        let least = WORTH * elapsed.0 as f64;
        if self.low >= least {
            Standing::Holds
        } else if self.high < least {
            Standing::Fails
        } else {
            Standing::Undecided
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(awaited_s: f64, busy_s: f64) -> Waits {
        Waits {
            ios: 1000,
            awaited_ns: awaited_s * 1e9,
            busy_ns: busy_s * 1e9,
            latency_ns_p99: 1,
            latency_ns_max: 1,
        }
    }

    #[test]
    fn worth_is_one_percent_of_the_time_by_what_is_surely_waited_for_and_by_all_of_it() {
        let hour = Nanos::from_secs(3600);
        let from = waits(100.0, 200.0);
        for (to, standing) in [
            (waits(10.0, 20.0), Standing::Holds),
            (waits(90.0, 180.0), Standing::Fails),
            // Only who waits for all writes would notice.
            (waits(90.0, 20.0), Standing::Undecided),
            (waits(10.0, 195.0), Standing::Undecided),
            (waits(300.0, 400.0), Standing::Fails),
        ] {
            assert_eq!(Saving::of(&from, &to).standing(hour), standing, "{to:?}");
        }
        assert_eq!(
            Saving::of(&from, &waits(10.0, 195.0)),
            Saving { value: 90e9, low: 5e9, high: 90e9 },
            "the value is an end of the interval"
        );
    }
}
