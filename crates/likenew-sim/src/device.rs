//! The contract between a simulated drive's lane and the mechanism behind it. Open this first when you add a
//! mechanism or a layer around one.

use likenew_core::counters::{Counters, FlashCounters, Wear};
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::target::Health;
use likenew_core::units::{Nanos, amount};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The panic message when a mechanism lacks a call that only layers may leave out.
const OWN_ANSWER: &str = "own answer";

/// A mechanism that serves I/O in virtual time, or a layer around one. A slot is announced before its first
/// use and holds at most one I/O.
///
/// A layer returns the device that it wraps from [`inside`](Self::inside) and overrides only the calls that
/// it changes. The wrapped device answers all others.
pub(crate) trait Device: Send {
    /// The device that a layer wraps; `None` for a mechanism.
    fn inside(&self) -> Option<&dyn Device> {
        None
    }

    /// Mutable access to the device that a layer wraps.
    fn inside_mut(&mut self) -> Option<&mut dyn Device> {
        None
    }

    /// Announces that the host will use slots `0 .. count`.
    fn announce_slots(&mut self, count: u32);

    /// Takes an I/O that the host submits at `now`.
    fn accept(&mut self, io: &Io, now: Nanos);

    /// When the next internal event is due, if any is pending.
    fn next_at(&self) -> Option<Nanos> {
        earlier(self.inside()?.next_at(), self.own_next_at())
    }

    /// Handles the next event and appends the I/Os that end with it to `done`.
    fn step(&mut self, done: &mut Vec<Completion>) {
        let inside = self.inside().expect(OWN_ANSWER);
        match self.own_next_at() {
            Some(own) if inside.next_at().is_none_or(|at| own < at) => done.extend(self.own_step()),
            _ => self.step_inside(done),
        }
    }

    /// When the next event of a layer's own is due, if any is pending.
    fn own_next_at(&self) -> Option<Nanos> {
        None
    }

    /// Handles the next event of a layer's own; returns the I/O that ends with it.
    fn own_step(&mut self) -> Option<Completion> {
        None
    }

    /// Handles the next event of the device that a layer wraps.
    fn step_inside(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        self.inside_mut().expect(OWN_ANSWER).step(done);
        let mut passed = before;
        for index in before..done.len() {
            if let Some(completion) = self.pass_on(done[index]) {
                done[passed] = completion;
                passed += 1;
            }
        }
        done.truncate(passed);
    }

    /// Takes an I/O that the wrapped device has ended; returns the one that ends with it above the layer.
    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        Some(completion)
    }

    /// Whether the device keeps the bytes that are written.
    fn keeps_data(&self) -> bool {
        self.inside().is_some_and(|device| device.keeps_data())
    }

    /// Keeps all bytes written from now on, for [`data`](Self::data) to return.
    fn keep_data(&mut self) {
        self.inside_mut().expect(OWN_ANSWER).keep_data();
    }

    /// Whether this I/O carries bytes: any I/O if the device keeps data, a stamped one on every device.
    fn brings_bytes(&self, io: &Io) -> bool {
        match self.inside() {
            Some(device) => device.brings_bytes(io),
            None => matches!(io.op, Op::Read | Op::Write) && self.keeps_data(),
        }
    }

    /// The buffer of an I/O. A write's bytes must be in it before [`accept`](Self::accept); a read's bytes
    /// are in it after the read has ended. Only an I/O that [carries bytes](Self::brings_bytes) has a buffer.
    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.inside_mut().expect(OWN_ANSWER).data(slot)
    }

    /// What the device reports about its state without being measured.
    fn health(&self) -> Health {
        self.inside().map(|device| device.health()).unwrap_or_default()
    }

    /// The device's own counters up to `now`.
    fn self_counts(&self, now: Nanos) -> SelfCounts {
        self.inside().map(|device| device.self_counts(now)).unwrap_or_default()
    }

    /// Brings all written data to the medium and returns when that is done. No I/O may be in flight.
    fn settle(&mut self, now: Nanos) -> Nanos {
        self.inside_mut().map_or(now, |device| device.settle(now))
    }

    /// The state of a device [at rest](Self::settle), enough to restore the same drive later.
    fn save(&self, now: Nanos) -> Vec<u8> {
        self.inside().expect(OWN_ANSWER).save(now)
    }

    /// Work since the drive was opened, and the free blocks at present.
    fn flash_counters(&self) -> FlashCounters {
        self.inside().expect(OWN_ANSWER).flash_counters()
    }
}

/// Names the field with the device that a layer wraps.
macro_rules! wraps {
    ($field:ident) => {
        fn inside(&self) -> Option<&dyn Device> {
            Some(&*self.$field)
        }

        fn inside_mut(&mut self) -> Option<&mut dyn Device> {
            Some(&mut *self.$field)
        }
    };
}
pub(crate) use wraps;

/// Serializes a device's state.
pub(crate) fn to_bytes(state: &impl Serialize) -> Vec<u8> {
    postcard::to_stdvec(state).expect("plain values can be written to memory")
}

/// Grows a per-slot table to hold the slots `0 .. count`.
pub(crate) fn grow<T: Clone>(slots: &mut Vec<T>, count: u32, empty: T) {
    slots.resize(slots.len().max(count as usize), empty);
}

/// The earlier of two optional event times.
pub(crate) fn earlier(one: Option<Nanos>, other: Option<Nanos>) -> Option<Nanos> {
    one.into_iter().chain(other).min()
}

/// A drive's own counters since it was opened; `None` where it has no such counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SelfCounts {
    /// How often it began to throttle because of heat, and for how long in total.
    pub(crate) throttled: Option<(u64, Nanos)>,
    /// I/O of other programs on the drive.
    pub(crate) neighbor_io: Counters,
    /// CPU time that the host spent on its I/O, if the host does more than submit it.
    pub(crate) kernel: Option<Nanos>,
    /// How long the IOPS limit and the throughput limit held I/Os back.
    pub(crate) exceeded: Option<(Nanos, Nanos)>,
    /// Reads that ended in a medium error.
    pub(crate) media_errors: u64,
    /// Transfers that the link damaged.
    pub(crate) link_errors: u64,
}

/// EIO, reported for medium errors.
pub(crate) const MEDIUM_ERROR: Outcome = Outcome::Error(5);

/// Placeholder for a slot that was never used.
pub(crate) const NO_IO: Io =
    Io { slot: Slot(0), op: Op::Flush, offset: 0, length: 0, data: DataClass::Zero, sync: None };

/// The flash counters of a drive, with the write amplification computed from them.
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

/// The saved state of a layer, and that of the device inside.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedLayer<L> {
    pub(crate) layer: L,
    pub(crate) inner: Vec<u8>,
}

impl<L: DeserializeOwned> SavedLayer<L> {
    /// Reads the [saved](Device::save) state of a drive with such a layer.
    ///
    /// # Errors
    /// The bytes are not such a state.
    pub(crate) fn unpack(state: &[u8]) -> Result<Self, SnapshotError> {
        Ok(postcard::from_bytes(state)?)
    }
}

/// Why a snapshot cannot be read back, and what to do.
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
