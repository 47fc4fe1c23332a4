//! A resource that serves one after the other: given when something arrives and how long it takes, when it is done.

use likenew_core::units::Nanos;

/// When the resource is free again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timeline {
    free: Nanos,
}

impl Timeline {
    /// Serves for `span` from `now` on, or from when everyone before is done; returns the end.
    pub(crate) fn reserve(&mut self, now: Nanos, span: Nanos) -> Nanos {
        self.free = self.free.max(now) + span;
        self.free
    }
}

/// The time to move `bytes` at a rate.
pub(crate) fn transfer_time(bytes: u64, bytes_per_s: u64) -> Nanos {
    const NS_PER_S: u64 = 1_000_000_000;
    match bytes.checked_mul(NS_PER_S) {
        Some(product) => Nanos(product.div_ceil(bytes_per_s)),
        // A processor divides twice as many bits several times as slowly.
        None => Nanos((u128::from(bytes) * u128::from(NS_PER_S)).div_ceil(u128::from(bytes_per_s)) as u64),
    }
}

/// `count` times a span.
pub(crate) fn times(span: Nanos, count: u32) -> Nanos {
    Nanos(span.0 * u64::from(count))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_waits_for_the_other_and_idle_time_is_lost() {
        let mut line = Timeline::default();
        assert_eq!(line.reserve(Nanos(10), Nanos(5)), Nanos(15));
        assert_eq!(line.reserve(Nanos(12), Nanos(5)), Nanos(20));
        assert_eq!(line.reserve(Nanos(100), Nanos(5)), Nanos(105));
    }

    #[test]
    fn a_transfer_is_never_shorter_than_its_rate_allows() {
        assert_eq!(transfer_time(4096, 1_000_000_000), Nanos(4096));
        assert_eq!(transfer_time(1, 3), Nanos(333_333_334));
        assert_eq!(transfer_time(0, 3), Nanos(0));
        // 2⁶⁴ ns·bytes/s are 18.4 GB.
        assert_eq!(transfer_time(18_446_744_074, 1_000_000_000), Nanos(18_446_744_074));
        assert_eq!(transfer_time(4 << 40, 1 << 40), Nanos(4_000_000_000));
    }
}
