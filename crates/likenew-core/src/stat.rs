//! The kernel's counts of a block device, and their change between two readings.
//!
//! The fields are those of `/sys/block/DEVICE/stat` (Linux, Documentation/block/stat.rst and
//! admin-guide/iostats.rst) in the kernel's own units. So a counter that wraps can be distinguished from a
//! device that restarted.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::io::Op;
use crate::units::Nanos;

/// Counts of one device since it appeared, or between two readings.
#[skip_serializing_none]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stat {
    /// Reads that have ended.
    pub read: OpStat,
    /// Writes that have ended.
    pub write: OpStat,
    /// Discards (TRIM) that have ended; none from kernels before 4.18.
    pub discard: Option<OpStat>,
    /// Flushes that have ended; none from kernels before 5.5. They move no sectors and are never merged.
    pub flush: Option<OpStat>,
    /// I/Os in flight now: the one field that is not a counter.
    pub in_flight: u64,
    /// Milliseconds in which something was in flight.
    pub busy_ms: u64,
    /// Milliseconds of all I/Os together: two at a time count twice.
    pub weighted_ms: u64,
}

/// Counts of one operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpStat {
    /// I/Os that have ended, counted as they went to the device.
    pub ios: u64,
    /// I/Os that were merged with an adjacent one in the queue and went to the device with it.
    pub merged: u64,
    /// Sectors of 512 bytes, whatever the device's own are.
    pub sectors: u64,
    /// Milliseconds that these I/Os took from entering the queue to their end, summed.
    pub ms: u64,
}

impl OpStat {
    /// Bytes moved.
    pub fn bytes(&self) -> u64 {
        self.sectors.saturating_mul(512)
    }

    /// Mean time of an I/O from entering the queue to its end; `None` without I/Os.
    ///
    /// The kernel sums whole milliseconds over all I/Os, so the mean is exact to [`OpStat::latency_step`].
    pub fn latency_mean(&self) -> Option<Nanos> {
        (self.ios > 0).then(|| Nanos((self.ms as f64 * 1e6 / self.ios as f64).round() as u64))
    }

    /// The resolution of [`OpStat::latency_mean`]: a millisecond over the number of I/Os.
    pub fn latency_step(&self) -> Option<Nanos> {
        (self.ios > 0).then(|| Nanos(1_000_000u64.div_ceil(self.ios)))
    }

    fn since(&self, earlier: &Self) -> Option<Self> {
        Some(Self {
            ios: counter_delta(self.ios, earlier.ios)?,
            merged: counter_delta(self.merged, earlier.merged)?,
            sectors: counter_delta(self.sectors, earlier.sectors)?,
            ms: counter_delta(self.ms, earlier.ms)?,
        })
    }

    /// The sum of both.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self {
            ios: self.ios.saturating_add(other.ios),
            merged: self.merged.saturating_add(other.merged),
            sectors: self.sectors.saturating_add(other.sectors),
            ms: self.ms.saturating_add(other.ms),
        }
    }
}

impl Stat {
    /// The counts of an operation; `None` if the kernel does not count it.
    pub fn op_stat(&self, op: Op) -> Option<&OpStat> {
        match op {
            Op::Read => Some(&self.read),
            Op::Write => Some(&self.write),
            Op::Trim => self.discard.as_ref(),
            Op::Flush => self.flush.as_ref(),
        }
    }

    /// What was counted since `earlier`, and what is in flight now. `None` if the device restarted in
    /// between, so that the two readings are unrelated.
    ///
    /// Times are 32 bits wide on every kernel, and all counts are on 32-bit kernels. A count that went back
    /// by more than half of that has wrapped; one that went back by less has restarted.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let optional = |now: &Option<OpStat>, then: &Option<OpStat>| match (now, then) {
            (Some(now), Some(then)) => now.since(then).map(Some),
            _ => Some(None),
        };
        Some(Self {
            read: self.read.since(&earlier.read)?,
            write: self.write.since(&earlier.write)?,
            discard: optional(&self.discard, &earlier.discard)?,
            flush: optional(&self.flush, &earlier.flush)?,
            in_flight: self.in_flight,
            busy_ms: counter_delta(self.busy_ms, earlier.busy_ms)?,
            weighted_ms: counter_delta(self.weighted_ms, earlier.weighted_ms)?,
        })
    }

    /// Whether anything was ever counted.
    pub fn is_zero(&self) -> bool {
        *self
            == Self {
                discard: self.discard.map(|_| OpStat::default()),
                flush: self.flush.map(|_| OpStat::default()),
                ..Self::default()
            }
    }
}

/// The change from one count to a later one of its kind, over at most one wrap at 2³².
fn counter_delta(now: u64, then: u64) -> Option<u64> {
    const WIDTH: u64 = 1 << 32;
    match now.checked_sub(then) {
        Some(counter_delta) => Some(counter_delta),
        None if then < WIDTH && then - now > WIDTH / 2 => Some(now + WIDTH - then),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn reads(ios: u64, sectors: u64, ms: u64) -> Stat {
        Stat { read: OpStat { ios, merged: 0, sectors, ms }, busy_ms: ms, weighted_ms: ms, ..Stat::default() }
    }

    #[test]
    fn a_wrap_is_distinguished_from_a_new_beginning() {
        let before = reads(4_000_000_000, 8_000_000_000, u64::from(u32::MAX) - 9);
        let after = reads(4_000_000_100, 8_000_000_800, 20);
        let counter_delta = after.since(&before).unwrap();
        assert_eq!(
            (
                counter_delta.read.ios,
                counter_delta.read.bytes(),
                counter_delta.read.ms,
                counter_delta.busy_ms
            ),
            (100, 800 * 512, 30, 30)
        );
        assert_eq!(reads(5, 40, 1).since(&reads(1000, 8000, 70)), None, "a drive that was plugged in again");
        assert_eq!(reads(5, 40, 1).since(&reads(5_000_000_000, 8000, 70)), None, "no counter of 32 bits");
    }

    #[test]
    fn what_was_not_counted_before_is_not_counted_since() {
        let old = reads(1, 8, 1);
        let new = Stat { discard: Some(OpStat { ios: 9, ..OpStat::default() }), ..reads(2, 16, 2) };
        assert_eq!(new.since(&old).unwrap().discard, None);
        assert_eq!(new.since(&new).unwrap().discard, Some(OpStat::default()));
        assert!(new.since(&new).unwrap().is_zero() && !new.is_zero());
        assert_eq!((new.op_stat(Op::Trim).map(|count| count.ios), new.op_stat(Op::Flush)), (Some(9), None));
    }

    #[test]
    fn a_mean_says_how_finely_it_is_known() {
        let count = OpStat { ios: 4, merged: 0, sectors: 0, ms: 3 };
        assert_eq!(
            (count.latency_mean(), count.latency_step()),
            (Some(Nanos(750_000)), Some(Nanos(250_000)))
        );
        assert_eq!((OpStat::default().latency_mean(), OpStat::default().latency_step()), (None, None));
    }

    proptest! {
        #[test]
        fn counting_on_is_found_again(start in any::<u32>(), more in 0u32..1 << 31) {
            let wrapped = u64::from(start.wrapping_add(more));
            prop_assert_eq!(counter_delta(wrapped, u64::from(start)), Some(u64::from(more)));
        }
    }
}
