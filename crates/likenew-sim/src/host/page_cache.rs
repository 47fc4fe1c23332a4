//! The page cache of the host, in front of any mechanism.
//!
//! Buffered reads come from memory where it has their pages; the rest is read from the drive and kept.
//! Buffered writes end in memory; what is dirty is written back in order of addresses when there is much of
//! it, when it has become old, or when a flush wants it. Direct I/O, and what brings bytes that are kept,
//! goes past it: a write drops the pages it goes over, and a read waits until nothing is dirty. One core does
//! all copying. Only which pages are there is known, not what they hold.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use super::counting_device::CountingDevice;
use super::page_cache_parameters::PageCacheParameters;
use super::pages::Pages;
use crate::device::NO_IO;
use crate::event_queue::EventQueue;
use crate::timeline::{Timeline, transfer_time};

/// Slots of the drive for I/Os of the cache itself; those of the host come after them.
const CARRIERS: u32 = 64;

#[derive(Clone, Copy)]
enum Event {
    /// The I/O in this slot of the host ends.
    Complete(u32),
    /// The writeback timer checks for pages that have been dirty for long.
    Poll,
}

/// An I/O of the host.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Parts that still have to come from the drive.
    parts: u32,
    outcome: Outcome,
}

/// What one of the cache's own I/Os is for.
#[derive(Clone)]
enum CacheIo {
    /// A part of the read in this slot of the host.
    Read { slot: u32, pages: Range<u64> },
    /// So many pages are written back.
    WriteBack { pages: u64 },
    /// Everything is made durable.
    Settle,
}

/// The cache.
pub(crate) struct PageCache {
    parameters: PageCacheParameters,
    /// Bytes of the drive.
    capacity: u64,
    buffered: bool,
    pages: Pages,
    /// Since when anything has been dirty.
    dirty_since: Nanos,
    /// Pages on their way to the drive.
    in_write_back: u64,
    /// Whether everything dirty is to be written back, however little it is.
    draining: bool,
    /// The error of writeback since the last flush, if any.
    failed: Option<Outcome>,
    is_polling: bool,
    /// By slot of the host.
    requests: Vec<Request>,
    cache_ios: Vec<Option<CacheIo>>,
    /// Unused slots of the cache's own I/Os.
    free: Vec<u32>,
    writes: u32,
    /// Parts of reads that wait for such a slot.
    reads: VecDeque<(u32, Range<u64>)>,
    /// Writes that wait until less is dirty, by slot.
    throttled: VecDeque<u32>,
    /// I/Os that wait until nothing is dirty, by slot.
    waiting: VecDeque<u32>,
    copying: Timeline,
    events: EventQueue<Event>,
    completions: Vec<Completion>,
}

impl PageCache {
    /// An empty cache in front of a drive of so many bytes that nothing is in flight in.
    pub(crate) fn new(parameters: PageCacheParameters, capacity: u64) -> Self {
        Self {
            parameters,
            capacity,
            buffered: false,
            pages: Pages::new(parameters.bytes / u64::from(parameters.page_bytes)),
            dirty_since: Nanos::ZERO,
            in_write_back: 0,
            draining: false,
            failed: None,
            is_polling: false,
            requests: Vec::new(),
            cache_ios: vec![None; CARRIERS as usize],
            free: (0..CARRIERS).rev().collect(),
            writes: 0,
            reads: VecDeque::new(),
            throttled: VecDeque::new(),
            waiting: VecDeque::new(),
            copying: Timeline::default(),
            events: EventQueue::new(),
            completions: Vec::new(),
        }
    }

    /// The slot that an I/O of the host has at the drive when it goes past the cache.
    pub(crate) fn slot_at_drive(slot: Slot) -> Slot {
        Slot(CARRIERS + slot.0)
    }

    /// I/Os go through it from here on, or past it.
    pub(crate) fn set_buffered(&mut self, buffered: bool) {
        self.buffered = buffered;
    }

    pub(crate) fn announce_slots(&mut self, device: &mut CountingDevice, count: u32) {
        device.announce_slots(CARRIERS + count);
        let empty = Request { io: NO_IO, parts: 0, outcome: Outcome::Done };
        self.requests.resize(self.requests.len().max(count as usize), empty);
    }

    pub(crate) fn next_at(&self, device: &CountingDevice) -> Option<Nanos> {
        [device.next_at(), self.events.next_at()].into_iter().flatten().min()
    }

    pub(crate) fn accept(&mut self, device: &mut CountingDevice, io: &Io, now: Nanos) {
        let slot = io.slot.0;
        self.requests[slot as usize] = Request { io: *io, parts: 0, outcome: Outcome::Done };
        // What brings bytes has to get to where they are kept.
        let buffered = self.buffered && !device.device().brings_bytes(io);
        match (io.op, buffered) {
            (Op::Read, true) => self.read(slot, now),
            (Op::Write, true) => self.throttled.push_back(slot),
            (Op::Flush, _) => self.waiting.push_back(slot),
            (Op::Read, false) if self.pages.dirty() + self.in_write_back > 0 => self.waiting.push_back(slot),
            (Op::Read, false) => self.pass(device, slot, now),
            (Op::Write | Op::Trim, _) => {
                self.pages.forget(self.pages_of(io));
                self.pass(device, slot, now);
            }
        }
        self.advance(device, now);
    }

    pub(crate) fn step(&mut self, device: &mut CountingDevice, done: &mut Vec<Completion>) {
        let next = self.next_at(device).expect("a host steps only when something is to happen");
        if device.next_at() == Some(next) {
            let mut ended = std::mem::take(&mut self.completions);
            device.step(&mut ended);
            for Completion { slot, at, outcome } in ended.drain(..) {
                match slot.0.checked_sub(CARRIERS) {
                    Some(slot) => done.push(Completion { slot: Slot(slot), at, outcome }),
                    None => self.cache_io_done(slot.0, outcome, at),
                }
            }
            self.completions = ended;
        } else {
            match self.events.pop().expect("it is one of the two").1 {
                Event::Complete(slot) => {
                    let outcome = self.requests[slot as usize].outcome;
                    done.push(Completion { slot: Slot(slot), at: next, outcome });
                }
                Event::Poll => self.poll(next),
            }
        }
        self.advance(device, next);
    }

    /// Makes everything durable and drops it; says when that is done. Nothing of the host's is in flight.
    pub(crate) fn make_cold(&mut self, device: &mut CountingDevice, now: Nanos) -> Nanos {
        let (mut now, mut none) = (now, Vec::new());
        device.announce_slots(CARRIERS);
        self.draining = true;
        self.advance(device, now);
        while self.pages.dirty() + self.in_write_back > 0 {
            now = now.max(self.next_at(device).expect("what is written back ends"));
            self.step(device, &mut none);
        }
        let flush = self.send(device, CacheIo::Settle, Io { op: Op::Flush, ..NO_IO }, now);
        while self.cache_ios[flush as usize].is_some() {
            now = now.max(self.next_at(device).expect("a flush ends"));
            self.step(device, &mut none);
        }
        assert!(none.is_empty(), "nothing of the host's was in flight");
        self.pages.forget_clean();
        now
    }

    /// Reads what is not there, and copies when all of it is.
    fn read(&mut self, slot: u32, now: Nanos) {
        let pages = self.pages_of(&self.requests[slot as usize].io);
        let most = u64::from(self.parameters.read_bytes_max / self.parameters.page_bytes);
        let (mut missing, mut parts) = (pages.start..pages.start, 0);
        for page in pages.start..=pages.end {
            let absent = page < pages.end && !self.pages.touch(page);
            if !missing.is_empty() && (!absent || missing.end - missing.start == most) {
                self.reads.push_back((slot, missing.clone()));
                parts += 1;
                missing = page..page;
            }
            missing = if absent { missing.start..page + 1 } else { page + 1..page + 1 };
        }
        self.requests[slot as usize].parts = parts;
        if parts == 0 {
            self.copy(slot, now);
        }
    }

    fn write(&mut self, slot: u32, now: Nanos) {
        let io = self.requests[slot as usize].io;
        if self.pages.dirty() == 0 {
            self.dirty_since = now;
        }
        self.pages.add_dirty(self.pages_of(&io), io.data);
        if !self.is_polling {
            self.is_polling = true;
            self.events.push(now + self.parameters.poll_interval, Event::Poll);
        }
        self.copy(slot, now);
    }

    /// The I/O ends when its bytes are copied.
    fn copy(&mut self, slot: u32, now: Nanos) {
        let bytes = u64::from(self.requests[slot as usize].io.length);
        let span = self.parameters.call + transfer_time(bytes, self.parameters.copy_bytes_per_s);
        self.events.push(self.copying.reserve(now, span), Event::Complete(slot));
    }

    fn poll(&mut self, now: Nanos) {
        self.is_polling = self.pages.dirty() > 0;
        if self.is_polling {
            self.draining |= now.since(self.dirty_since) >= self.parameters.expire;
            self.events.push(now + self.parameters.poll_interval, Event::Poll);
        }
    }

    /// Does whatever has become possible.
    fn advance(&mut self, device: &mut CountingDevice, now: Nanos) {
        while let Some(slot) = self.throttled.front().copied().filter(|slot| self.fits(*slot)) {
            self.throttled.pop_front();
            self.write(slot, now);
        }
        // As many slots stay free as writeback may still need.
        while self.free.len() > (self.parameters.writes_max - self.writes) as usize {
            let Some((slot, pages)) = self.reads.pop_front() else { break };
            let io = self.io(Op::Read, &pages, DataClass::Zero);
            self.send(device, CacheIo::Read { slot, pages }, io, now);
        }
        self.write_back(device, now);
        if self.pages.dirty() + self.in_write_back == 0 {
            self.draining = false;
            while let Some(slot) = self.waiting.pop_front() {
                self.pass_after(device, slot, now);
            }
        }
    }

    /// Whether a write may become dirty: as long as that is no more than the limit, or nothing else is.
    fn fits(&self, slot: u32) -> bool {
        let pages = self.pages_of(&self.requests[slot as usize].io);
        let dirty = self.pages.dirty() + self.in_write_back;
        dirty == 0 || dirty + (pages.end - pages.start) <= self.share(self.parameters.dirty_percent)
    }

    fn write_back(&mut self, device: &mut CountingDevice, now: Nanos) {
        let wanted = self.draining || !self.waiting.is_empty() || !self.throttled.is_empty();
        let most = u64::from(self.parameters.write_bytes_max / self.parameters.page_bytes);
        let background = self.share(self.parameters.background_percent);
        while self.writes < self.parameters.writes_max && (wanted || self.pages.dirty() > background) {
            let Some((pages, data)) = self.pages.take_dirty(most) else { return };
            let io = self.io(Op::Write, &pages, data);
            let pages = pages.end - pages.start;
            self.writes += 1;
            self.in_write_back += pages;
            self.send(device, CacheIo::WriteBack { pages }, io, now);
        }
    }

    fn cache_io_done(&mut self, carrier: u32, outcome: Outcome, at: Nanos) {
        self.free.push(carrier);
        match self.cache_ios[carrier as usize].take().expect("a carrier comes back from an errand") {
            CacheIo::Read { slot, pages } => {
                let request = &mut self.requests[slot as usize];
                request.parts -= 1;
                if outcome == Outcome::Done {
                    self.pages.add_clean(pages);
                } else {
                    request.outcome = outcome;
                }
                if self.requests[slot as usize].parts == 0 {
                    self.copy(slot, at);
                }
            }
            CacheIo::WriteBack { pages } => {
                self.writes -= 1;
                self.in_write_back -= pages;
                if outcome != Outcome::Done {
                    self.failed = Some(outcome);
                }
            }
            CacheIo::Settle => {}
        }
    }

    /// An I/O that has waited until nothing was dirty; a flush says what went wrong on the way.
    fn pass_after(&mut self, device: &mut CountingDevice, slot: u32, now: Nanos) {
        let request = &mut self.requests[slot as usize];
        match self.failed.take_if(|_| request.io.op == Op::Flush) {
            Some(failed) => {
                request.outcome = failed;
                self.events.push(now, Event::Complete(slot));
            }
            None => self.pass(device, slot, now),
        }
    }

    fn pass(&self, device: &mut CountingDevice, slot: u32, now: Nanos) {
        let io = self.requests[slot as usize].io;
        device.accept(&Io { slot: Self::slot_at_drive(io.slot), ..io }, now);
    }

    fn send(&mut self, device: &mut CountingDevice, errand: CacheIo, io: Io, now: Nanos) -> u32 {
        let carrier = self.free.pop().expect("reads leave enough carriers for everything else");
        self.cache_ios[carrier as usize] = Some(errand);
        device.accept(&Io { slot: Slot(carrier), ..io }, now);
        carrier
    }

    fn pages_of(&self, io: &Io) -> Range<u64> {
        let page = u64::from(self.parameters.page_bytes);
        io.offset / page..(io.offset + u64::from(io.length)).div_ceil(page)
    }

    /// An I/O of whole pages; the last page of a drive may be cut short.
    fn io(&self, op: Op, pages: &Range<u64>, data: DataClass) -> Io {
        let page = u64::from(self.parameters.page_bytes);
        let offset = pages.start * page;
        let length = (pages.end * page).min(self.capacity) - offset;
        Io { op, offset, length: length as u32, data, ..NO_IO }
    }

    /// So many percent of its memory, in pages.
    fn share(&self, percent: u32) -> u64 {
        self.parameters.bytes / 100 * u64::from(percent) / u64::from(self.parameters.page_bytes)
    }
}
