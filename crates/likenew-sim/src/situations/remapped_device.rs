//! A layer that sends each I/O to where its addresses lie, in as many parts as it takes, all at once.

use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use super::address_remap::AddressRemap;
use crate::device::{Device, NO_IO, pass_on};

/// An I/O of the host.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    parts_left: u32,
    outcome: Outcome,
}

/// A part of it, by its own slot below.
#[derive(Clone, Copy)]
struct Part {
    /// The slot of the host's I/O.
    parent: u32,
    /// Bytes of the I/O before it.
    from: u32,
    io: Io,
}

/// A mechanism whose addresses are moved.
pub(crate) struct RemappedDevice {
    places: AddressRemap,
    inner: Box<dyn Device>,
    inner_done: Vec<Completion>,
    /// By slot.
    requests: Vec<Request>,
    parts: Vec<Part>,
    free: Vec<u32>,
    /// The bytes of the host's I/Os, by slot, where the mechanism keeps data.
    data: Vec<Vec<u8>>,
}

impl RemappedDevice {
    pub(crate) fn new(places: AddressRemap, inner: Box<dyn Device>) -> Self {
        Self {
            places,
            inner,
            inner_done: Vec::new(),
            requests: Vec::new(),
            parts: Vec::new(),
            free: Vec::new(),
            data: Vec::new(),
        }
    }

    fn free_slot(&mut self) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        let slot = u32::try_from(self.parts.len()).expect("parts in flight fit 32 bits");
        self.parts.push(Part { parent: 0, from: 0, io: NO_IO });
        self.inner.announce_slots(slot + 1);
        slot
    }

    fn send(&mut self, part: Part, now: Nanos) {
        let Part { parent, from, io } = part;
        self.parts[io.slot.index()] = part;
        // The buffer of a read is at the same place.
        if self.inner.brings_bytes(&io) {
            let bytes = &self.data[parent as usize][from as usize..(from + io.length) as usize];
            let below = self.inner.data(io.slot);
            below.clear();
            below.extend_from_slice(bytes);
        }
        self.inner.accept(&io, now);
    }

    fn part_done(&mut self, Completion { slot, at, outcome }: Completion, done: &mut Vec<Completion>) {
        let Part { parent, from, io } = self.parts[slot.index()];
        self.free.push(slot.0);
        if io.op == Op::Read && self.inner.brings_bytes(&io) {
            let bytes = self.inner.data(slot);
            self.data[parent as usize][from as usize..from as usize + bytes.len()].copy_from_slice(bytes);
        }
        let request = &mut self.requests[parent as usize];
        if request.outcome == Outcome::Done {
            request.outcome = outcome;
        }
        request.parts_left -= 1;
        if request.parts_left == 0 {
            done.push(Completion { slot: request.io.slot, at, outcome: request.outcome });
        }
    }
}

impl Device for RemappedDevice {
    pass_on!(next_at, keeps_data, keep_data, brings_bytes, health, self_counts, settle, save, flash_counters);

    fn announce_slots(&mut self, count: u32) {
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, Request { io: NO_IO, parts_left: 0, outcome: Outcome::Done });
        self.data.resize(count, Vec::new());
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        let parent = io.slot.0;
        let mut parts = Vec::new();
        let mut from = 0;
        loop {
            let left = io.length - from;
            let (offset, length) = match left {
                0 => (io.offset, 0),
                _ => self.places.locate(io.offset + u64::from(from), left.into()),
            };
            let slot = Slot(self.free_slot());
            let length = u32::try_from(length).expect("a part is no longer than its whole");
            parts.push(Part { parent, from, io: Io { slot, offset, length, ..*io } });
            from += length;
            if from == io.length {
                break;
            }
        }
        let parts_left = u32::try_from(parts.len()).expect("no more parts than bytes");
        self.requests[io.slot.index()] = Request { io: *io, parts_left, outcome: Outcome::Done };
        parts.into_iter().for_each(|part| self.send(part, now));
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let mut parts = std::mem::take(&mut self.inner_done);
        self.inner.step(&mut parts);
        parts.drain(..).for_each(|part| self.part_done(part, done));
        self.inner_done = parts;
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }
}
