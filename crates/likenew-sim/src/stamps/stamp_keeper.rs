//! A mechanism with a memory of the stamped sectors that were written to it, so that verification really
//! reads them back.
//!
//! It stands between the mechanism and the drive's faults: an address that wraps around onto another one
//! meets the data there. It costs nothing on drives without stamps, and all time is the mechanism's. A saved
//! drive holds no stamps.

use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use super::stamp_memory::{RunContent, StampMemory};
use crate::device::{Device, NO_IO, pass_on};

/// The mechanism with its memory.
pub(crate) struct StampKeeper {
    inner: Box<dyn Device>,
    memory: StampMemory,
    /// Whether a TRIM makes the drive answer with zeros.
    trims: bool,
    /// By slot.
    ios: Vec<Io>,
    /// Bytes of stamped I/Os, by slot.
    data: Vec<Vec<u8>>,
}

impl StampKeeper {
    /// Around a mechanism that keeps no data.
    pub(crate) fn new(inner: Box<dyn Device>, trims: bool) -> Self {
        Self { inner, memory: StampMemory::default(), trims, ios: Vec::new(), data: Vec::new() }
    }

    fn on_end(&mut self, slot: Slot) {
        let io = self.ios[slot.index()];
        let range = io.offset..io.offset + u64::from(io.length);
        match (io.op, io.data) {
            (Op::Write, DataClass::Stamped(_)) => self.memory.write(io.offset, &self.data[slot.index()]),
            (Op::Read, DataClass::Stamped(_)) => {
                let data = &mut self.data[slot.index()];
                data.resize(io.length as usize, 0);
                self.memory.read(io.offset, data);
            }
            _ if self.memory.is_empty() => {}
            (Op::Write, DataClass::Zero) => self.memory.put(range, None),
            (Op::Write, _) => self.memory.put(range, Some(RunContent::Unknown)),
            (Op::Trim, _) if self.trims => self.memory.put(range, None),
            _ => {}
        }
    }
}

impl Device for StampKeeper {
    pass_on!(next_at, health, self_counts, settle, save, flash_counters);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        let count = self.ios.len().max(count as usize);
        self.ios.resize(count, NO_IO);
        self.data.resize(count, Vec::new());
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        self.inner.accept(io, now);
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        self.inner.step(done);
        for completion in &done[before..] {
            if completion.outcome == Outcome::Done {
                self.on_end(completion.slot);
            }
        }
    }

    fn keeps_data(&self) -> bool {
        false
    }

    fn keep_data(&mut self) {
        unreachable!("a drive that keeps data needs no memory of stamps beside it");
    }

    fn brings_bytes(&self, io: &Io) -> bool {
        matches!(io.data, DataClass::Stamped(_))
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }
}
