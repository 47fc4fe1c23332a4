//! The contract between a simulated drive's lane and the mechanism behind it, and why a saved mechanism cannot be read back.

use likenew_core::counters::{Counters, FlashCounters, Wear};
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::target::Health;
use likenew_core::units::{Nanos, amount};
use serde::Serialize;

/// Why a mechanism has to answer a call that a layer may leave to the device inside it.
const OWN_ANSWER: &str = "own answer";

/// A mechanism that serves I/O in virtual time, or a layer around one. A slot holds one I/O at most, and has been announced.
///
/// A layer names the device inside it and answers only what it changes; whatever it leaves out is answered there.
pub(crate) trait Device: Send {
    /// What a layer is around; nothing in a mechanism.
    fn inside(&self) -> Option<&dyn Device> {
        None
    }

    /// The same, to change it.
    fn inside_mut(&mut self) -> Option<&mut dyn Device> {
        None
    }

    /// Slots `0 .. count` will be used.
    fn announce_slots(&mut self, count: u32);

    /// Takes an I/O that the host submits now.
    fn accept(&mut self, io: &Io, now: Nanos);

    /// When the next thing happens inside, if anything is still to happen.
    fn next_at(&self) -> Option<Nanos> {
        self.inside()?.next_at()
    }

    /// Lets that thing happen, and says which I/Os end by it.
    fn step(&mut self, done: &mut Vec<Completion>);

    /// Whether it keeps the bytes that are written.
    fn keeps_data(&self) -> bool {
        self.inside().is_some_and(|device| device.keeps_data())
    }

    /// Keeps the bytes that are written from now on; [`data`](Self::data) works then.
    fn keep_data(&mut self) {
        self.inside_mut().expect(OWN_ANSWER).keep_data();
    }

    /// Whether this I/O has bytes: every one of a drive that keeps data, and a stamped one of any drive.
    fn brings_bytes(&self, io: &Io) -> bool {
        match self.inside() {
            Some(device) => device.brings_bytes(io),
            None => matches!(io.op, Op::Read | Op::Write) && self.keeps_data(),
        }
    }

    /// The bytes of an I/O: what a write is about to bring, before it is accepted, or what a read has
    /// brought, after it has ended. Only an I/O that [brings bytes](Self::brings_bytes) has any.
    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.inside_mut().expect(OWN_ANSWER).data(slot)
    }

    /// What it reports of its state without measuring.
    fn health(&self) -> Health {
        self.inside().map(|device| device.health()).unwrap_or_default()
    }

    /// Its counters until now.
    fn self_counts(&self, now: Nanos) -> SelfCounts {
        self.inside().map(|device| device.self_counts(now)).unwrap_or_default()
    }

    /// Lets everything that was written reach the medium, and says when it has. Nothing is in flight.
    fn settle(&mut self, now: Nanos) -> Nanos {
        self.inside_mut().map_or(now, |device| device.settle(now))
    }

    /// What its mechanism holds, once it is [at rest](Self::settle): enough to make the same drive again.
    fn save(&self, now: Nanos) -> Vec<u8> {
        self.inside().expect(OWN_ANSWER).save(now)
    }

    /// Its counters: work since it was opened, and free blocks as of now.
    fn flash_counters(&self) -> FlashCounters {
        self.inside().expect(OWN_ANSWER).flash_counters()
    }
}

/// The bytes of a saved state.
pub(crate) fn to_bytes(state: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(state).expect("plain values can be written to memory")
}

/// Makes room for the slots `0 .. count` in what is kept by slot.
pub(crate) fn grow<T: Clone>(slots: &mut Vec<T>, count: u32, empty: T) {
    slots.resize(slots.len().max(count as usize), empty);
}

/// The earlier of two moments at which something happens.
pub(crate) fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).min()
}

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
pub(crate) const NO_IO: Io =
    Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };

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

/// What its file is instead, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum SnapshotError {
    #[error("it is not a saved drive: make one with likenew sim save")]
    NotSaved,
    #[error("it ends in its header: save it again")]
    ShortHeader,
    #[error("it was saved by version {version}, which {reader} cannot read: save it again")]
    OtherVersion { version: String, reader: &'static str },
    #[error("its state is damaged ({0}): save it again")]
    BadState(String),
    #[error("its state unpacks to more than {}, and no drive of its model holds more: save it again", amount(*.bytes_max))]
    LargeState { bytes_max: u64 },
    #[error("it holds no such drive ({0}): save it again")]
    OtherDrive(#[from] postcard::Error),
}
