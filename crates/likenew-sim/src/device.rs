//! The contract between a simulated drive's lane and the mechanism behind it.

use likenew_core::counters::Counters;
use likenew_core::flash_counters::{FlashCounters, Wear};
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::target::Health;
use likenew_core::units::Nanos;

/// A mechanism that serves I/O in virtual time. A slot holds one I/O at most, and has been announced.
pub(crate) trait Device: Send {
    /// Slots `0 .. count` will be used.
    fn announce_slots(&mut self, count: u32);

    /// Takes an I/O that the host submits now.
    fn accept(&mut self, io: &Io, now: Nanos);

    /// When the next thing happens inside, if anything is still to happen.
    fn next_at(&self) -> Option<Nanos>;

    /// Lets that thing happen, and says which I/Os end by it.
    fn step(&mut self, done: &mut Vec<Completion>);

    /// Whether it keeps the bytes that are written.
    fn keeps_data(&self) -> bool;

    /// Keeps the bytes that are written from now on; [`data`](Self::data) works then.
    fn keep_data(&mut self);

    /// Whether this I/O has bytes: every one of a drive that keeps data, and a stamped one of any drive.
    fn brings_bytes(&self, io: &Io) -> bool {
        matches!(io.op, Op::Read | Op::Write) && self.keeps_data()
    }

    /// The bytes of an I/O: what a write is about to bring, before it is accepted, or what a read has
    /// brought, after it has ended. Only an I/O that [brings bytes](Self::brings_bytes) has any.
    fn data(&mut self, slot: Slot) -> &mut Vec<u8>;

    /// What it reports of its state without measuring.
    fn health(&self) -> Health {
        Health::default()
    }

    /// Its counters until now.
    fn self_counts(&self, _now: Nanos) -> SelfCounts {
        SelfCounts::default()
    }

    /// Lets everything that was written reach the medium, and says when it has. Nothing is in flight.
    fn settle(&mut self, now: Nanos) -> Nanos;

    /// What its mechanism holds, once it is [at rest](Self::settle): enough to make the same drive again.
    fn save(&self, now: Nanos) -> Vec<u8>;

    /// Its counters: work since it was opened, and free blocks as of now.
    fn flash_counters(&self) -> FlashCounters;
}

/// Passes the named calls of a [`Device`] on to `self.inner` unchanged: for wrappers that change only some
/// calls of a mechanism.
macro_rules! pass_on {
    ($($call:ident),+) => {
        $($crate::device::pass_on!(@ $call);)+
    };
    (@ next_at) => {
        fn next_at(&self) -> Option<Nanos> {
            self.inner.next_at()
        }
    };
    (@ keeps_data) => {
        fn keeps_data(&self) -> bool {
            self.inner.keeps_data()
        }
    };
    (@ keep_data) => {
        fn keep_data(&mut self) {
            self.inner.keep_data();
        }
    };
    (@ brings_bytes) => {
        fn brings_bytes(&self, io: &Io) -> bool {
            self.inner.brings_bytes(io)
        }
    };
    (@ data) => {
        fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
            self.inner.data(slot)
        }
    };
    (@ health) => {
        fn health(&self) -> likenew_core::target::Health {
            self.inner.health()
        }
    };
    (@ self_counts) => {
        fn self_counts(&self, now: Nanos) -> $crate::device::SelfCounts {
            self.inner.self_counts(now)
        }
    };
    (@ settle) => {
        fn settle(&mut self, now: Nanos) -> Nanos {
            self.inner.settle(now)
        }
    };
    (@ save) => {
        fn save(&self, now: Nanos) -> Vec<u8> {
            self.inner.save(now)
        }
    };
    (@ flash_counters) => {
        fn flash_counters(&self) -> likenew_core::flash_counters::FlashCounters {
            self.inner.flash_counters()
        }
    };
}

pub(crate) use pass_on;

/// A drive's counters since it was opened, as far as it has them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelfCounts {
    /// How often it began to throttle because of heat, and for how long in sum.
    pub(crate) throttled: Option<(u64, Nanos)>,
    /// I/O of other programs.
    pub(crate) neighbor_io: Counters,
    /// How long the host's processors have worked for it, where they do more than handing I/Os over.
    pub(crate) kernel: Option<Nanos>,
    /// How long a volume throttled because of its IOPS limit, and because of its throughput limit.
    pub(crate) exceeded: Option<(Nanos, Nanos)>,
    /// Reads that ended in the medium's error.
    pub(crate) media_errors: u64,
    /// Transfers that the link damaged.
    pub(crate) link_errors: u64,
}

/// EIO, the medium's error.
pub(crate) const MEDIUM_ERROR: Outcome = Outcome::Error(5);

/// The content of a slot that was never used.
pub(crate) const NO_IO: Io = Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero };

/// The flash counters of a drive that has programmed `flash_bytes_programmed` for `host_bytes_written`.
pub(crate) fn flash_counters(
    host_bytes_written: u64,
    flash_bytes_programmed: u64,
    erases: u64,
    free_blocks: u64,
    wear: Option<Wear>,
) -> FlashCounters {
    let write_amplification = match host_bytes_written {
        0 => 1.0,
        host => flash_bytes_programmed as f64 / host as f64,
    };
    FlashCounters {
        host_bytes_written,
        flash_bytes_programmed,
        erases,
        write_amplification,
        free_blocks,
        wear,
    }
}
