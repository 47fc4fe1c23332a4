//! I/O of another program on the same drive.
//!
//! It arrives at random times (a Poisson process with a fixed seed) at random places, and takes its own slots
//! of the mechanism. So it delays the host's I/O wherever the mechanism makes one I/O wait for another. At
//! most eight I/Os are in flight; while all eight are busy, further ones are left out. If the mechanism keeps
//! data, reads replace the writes, so that the host's data stays intact.

use likenew_core::counters::Counters;
use likenew_core::io::{Completion, DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::NeighborParameters;
use crate::device::{Device, NO_IO, SelfCounts, wraps};

/// The other program's I/O comes at the same times on all drives.
const SEED: u64 = 2;
/// The most I/Os of the other program in flight. They take the first slots of the mechanism.
const SLOTS: u32 = 8;

/// A mechanism shared with another program.
pub(crate) struct Neighbor {
    parameters: NeighborParameters,
    inner: Box<dyn Device>,
    /// Number of aligned positions for an I/O.
    places: u64,
    random: Xoshiro256PlusPlus,
    next: Nanos,
    free: Vec<u32>,
    /// The other program's I/Os by slot, with their start times.
    ios: [(Io, Nanos); SLOTS as usize],
    /// The other program's I/Os that have ended.
    counters: Counters,
}

impl Neighbor {
    /// Shares a mechanism of `capacity_bytes` with another program.
    pub(crate) fn new(
        parameters: NeighborParameters,
        mut inner: Box<dyn Device>,
        capacity_bytes: u64,
    ) -> Self {
        inner.announce_slots(SLOTS);
        let mut neighbor = Self {
            parameters,
            inner,
            places: (capacity_bytes / u64::from(parameters.io_bytes)).max(1),
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            next: Nanos::ZERO,
            free: (0..SLOTS).rev().collect(),
            ios: [(NO_IO, Nanos::ZERO); SLOTS as usize],
            counters: Counters { io_time: Some(Nanos::ZERO), ..Counters::default() },
        };
        neighbor.next = neighbor.gap();
        neighbor
    }

    /// The time to the next I/O, exponentially distributed.
    fn gap(&mut self) -> Nanos {
        // 1 − [0, 1) is never 0.
        let share: f64 = 1.0 - self.random.random::<f64>();
        Nanos::from_secs_f64(-share.ln() / f64::from(self.parameters.ios_per_s))
    }
}

impl Device for Neighbor {
    wraps!(inner);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count + SLOTS);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.inner.accept(&Io { slot: Slot(io.slot.0 + SLOTS), ..*io }, now);
    }

    fn own_next_at(&self) -> Option<Nanos> {
        Some(self.next)
    }

    /// Sends the other program's next I/O, unless too many are in flight.
    fn own_step(&mut self) -> Option<Completion> {
        let now = self.next;
        self.next = now + self.gap().max(Nanos(1));
        let place = self.random.random_range(0..self.places);
        let writes = self.random.random_range(0..100) < self.parameters.write_percent;
        let slot = self.free.pop()?;
        let io = Io {
            slot: Slot(slot),
            op: if writes && !self.inner.keeps_data() { Op::Write } else { Op::Read },
            offset: place * u64::from(self.parameters.io_bytes),
            length: self.parameters.io_bytes,
            data: DataClass::Random,
            sync: None,
        };
        if self.inner.brings_bytes(&io) {
            let bytes = self.inner.data(io.slot);
            bytes.clear();
            bytes.resize(io.length as usize, 0);
        }
        self.ios[io.slot.index()] = (io, now);
        self.inner.accept(&io, now);
        None
    }

    /// Keeps the other program's completions from the host.
    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        if let Some(slot) = completion.slot.0.checked_sub(SLOTS) {
            return Some(Completion { slot: Slot(slot), ..completion });
        }
        let (io, sent) = &self.ios[completion.slot.index()];
        let bytes = completion.outcome.bytes(io.length).into();
        self.counters.count(io.op, bytes, completion.at.since(*sent));
        self.free.push(completion.slot.0);
        None
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.inner.data(Slot(slot.0 + SLOTS))
    }

    fn settle(&mut self, now: Nanos) -> Nanos {
        let (mut at, mut done) = (now, Vec::new());
        while self.free.len() < SLOTS as usize {
            at = at.max(self.inner.next_at().expect("what is in flight ends"));
            self.step_inside(&mut done);
        }
        assert!(done.is_empty(), "nothing of the host's is in flight");
        self.inner.settle(at)
    }

    fn self_counts(&self, now: Nanos) -> SelfCounts {
        let inner = self.inner.self_counts(now);
        let so_far =
            Counters { io_time: inner.neighbor_io.io_time.or(Some(Nanos::ZERO)), ..inner.neighbor_io };
        SelfCounts { neighbor_io: so_far.plus(&self.counters), ..inner }
    }
}
