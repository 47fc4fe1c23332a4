//! How much waiting one drive saves over another, and whether that is worth it.

use likenew_core::units::Nanos;

use super::waits::Waits;
use crate::check::wording::Worth;

/// Share of the total time saved from which a drive is worth it. Chosen: five minutes of a working day;
/// nobody notices less without measuring.
pub(super) const WORTH: f64 = 0.01;

/// Share of the waiting that may remain for a drive to be worth it, if the total time is unknown. Chosen:
/// half.
pub(super) const REMAINING_SHARE: f64 = 0.5;

/// Waiting saved, in nanoseconds; negative if it grows. The value counts blocking time, and the other end of
/// the interval all busy time; the uncertainty of both drives widens it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Saving {
    pub(super) value: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// Range of the share of the waiting that remains.
    pub(super) remaining_share: [f64; 2],
}

impl Saving {
    pub(super) fn from_waits(from: &Waits, to: &Waits) -> Self {
        let (least, most) = (from.blocking_ns - to.blocking_ns, from.busy_ns - to.busy_ns);
        let doubt = from.doubt_ns.hypot(to.doubt_ns);
        let left = |from_ns: f64, to_ns: f64| {
            let (share, part) = (to_ns / from_ns.max(1.0), |doubt: f64, of: f64| doubt / of.max(1.0));
            let doubt = share * part(from.doubt_ns, from_ns).hypot(part(to.doubt_ns, to_ns));
            [(share - doubt).max(0.0), share + doubt]
        };
        let (least_left, most_left) =
            (left(from.blocking_ns, to.blocking_ns), left(from.busy_ns, to.busy_ns));
        Self {
            value: least,
            low: least.min(most) - doubt,
            high: least.max(most) + doubt,
            remaining_share: [least_left[0].min(most_left[0]), least_left[1].max(most_left[1])],
        }
    }

    /// Whether the saving is worth it for work of this length; if the length is unknown, by the share that
    /// remains.
    pub(super) fn worth(&self, elapsed: Option<Nanos>) -> Worth {
        let (surely, perhaps) = match elapsed {
            Some(elapsed) => {
                let least = WORTH * elapsed.0 as f64;
                (self.low >= least, self.high >= least)
            }
            None => (self.remaining_share[1] <= REMAINING_SHARE, self.remaining_share[0] <= REMAINING_SHARE),
        };
        match (surely, perhaps) {
            (true, _) => Worth::Yes,
            (false, true) => Worth::Undecided,
            (false, false) => Worth::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(awaited_s: f64, busy_s: f64) -> Waits {
        Waits { ios: 1000, blocking_ns: awaited_s * 1e9, busy_ns: busy_s * 1e9, ..Waits::default() }
    }

    #[test]
    fn worth_is_one_percent_of_the_time_by_what_is_surely_waited_for_and_by_all_of_it() {
        let hour = Nanos::from_secs(3600);
        let from = waits(100.0, 200.0);
        for (to, worth) in [
            (waits(10.0, 20.0), Worth::Yes),
            (waits(90.0, 180.0), Worth::No),
            // A user notices only if programs wait for all writes.
            (waits(90.0, 20.0), Worth::Undecided),
            (waits(10.0, 195.0), Worth::Undecided),
            (waits(300.0, 400.0), Worth::No),
        ] {
            assert_eq!(Saving::from_waits(&from, &to).worth(Some(hour)), worth, "{to:?}");
        }
        let Saving { value, low, high, .. } = Saving::from_waits(&from, &waits(10.0, 195.0));
        assert_eq!((value, low, high), (90e9, 5e9, 90e9), "the value is an end of the interval");
    }

    #[test]
    fn without_a_time_half_of_the_waiting_has_to_go_and_doubt_decides_nothing() {
        let from = waits(100.0, 200.0);
        let doubtful = Waits { doubt_ns: 30e9, ..waits(40.0, 80.0) };
        for (to, worth) in [
            (waits(40.0, 80.0), Worth::Yes),
            (waits(60.0, 110.0), Worth::No),
            (waits(40.0, 150.0), Worth::Undecided),
            (doubtful, Worth::Undecided),
        ] {
            assert_eq!(Saving::from_waits(&from, &to).worth(None), worth, "{to:?}");
        }
    }
}
