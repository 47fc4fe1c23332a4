//! A layer that passes an I/O on later than it came, and answers it later than it ended.

use likenew_core::io::{Completion, Io, Outcome, Slot};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO, SelfCounts, pass_on};
use crate::event_queue::EventQueue;

/// The behavior of such a layer. Calls come in the order of time.
pub(crate) trait IoHook: Send {
    /// When an I/O that arrives now is passed on.
    fn delay_before(&mut self, io: &Io, now: Nanos) -> Nanos;

    /// When an I/O that has ended below now ends for the host.
    fn delay_after(&mut self, _io: &Io, now: Nanos) -> Nanos {
        now
    }

    /// What the mechanism below is given in place of an I/O: as many bytes at the same place.
    fn lower(&self, io: Io) -> Io {
        io
    }

    /// What the mechanism below counts of itself, with what this adds.
    fn counts(&self, below: SelfCounts) -> SelfCounts {
        below
    }

    /// What of it is saved, around what is saved of the mechanism.
    fn save(&self, inner: Vec<u8>) -> Vec<u8> {
        inner
    }
}

enum Event {
    /// The I/O in this slot is passed on.
    Begin(u32),
    /// It ends.
    End(u32, Outcome),
}

/// A mechanism behind such a layer.
pub(crate) struct HookedDevice<H> {
    hook: H,
    inner: Box<dyn Device>,
    inner_done: Vec<Completion>,
    events: EventQueue<Event>,
    /// By slot.
    ios: Vec<Io>,
}

impl<H: IoHook> HookedDevice<H> {
    pub(crate) fn new(hook: H, inner: Box<dyn Device>) -> Self {
        Self { hook, inner, inner_done: Vec::new(), events: EventQueue::new(), ios: Vec::new() }
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        let io = self.hook.lower(self.ios[slot as usize]);
        self.inner.accept(&io, now);
    }

    fn step_inner(&mut self, done: &mut Vec<Completion>) {
        let mut ended = std::mem::take(&mut self.inner_done);
        self.inner.step(&mut ended);
        for Completion { slot, at, outcome } in ended.drain(..) {
            let until = self.hook.delay_after(&self.ios[slot.index()], at);
            if until > at {
                self.events.push(until, Event::End(slot.0, outcome));
            } else {
                done.push(Completion { slot, at, outcome });
            }
        }
        self.inner_done = ended;
    }
}

impl<H: IoHook> Device for HookedDevice<H> {
    pass_on!(keeps_data, keep_data, brings_bytes, data, health, settle, flash_counters);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        let count = self.ios.len().max(count as usize);
        self.ios.resize(count, NO_IO);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        let at = self.hook.delay_before(io, now);
        if at > now {
            self.events.push(at, Event::Begin(io.slot.0));
        } else {
            self.begin(io.slot.0, now);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        [self.inner.next_at(), self.events.next_at()].into_iter().flatten().min()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let next = self.next_at().expect("a drive steps only when something is to happen");
        if self.inner.next_at() == Some(next) {
            return self.step_inner(done);
        }
        match self.events.pop().expect("it is one of the two") {
            (now, Event::Begin(slot)) => self.begin(slot, now),
            (at, Event::End(slot, outcome)) => done.push(Completion { slot: Slot(slot), at, outcome }),
        }
    }

    fn self_counts(&self, now: Nanos) -> SelfCounts {
        self.hook.counts(self.inner.self_counts(now))
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        self.hook.save(self.inner.save(now))
    }
}
