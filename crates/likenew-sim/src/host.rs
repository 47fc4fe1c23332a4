//! The host of a simulated drive, as far as it affects I/O: its page cache, and counters of what has reached the drive.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use likenew_core::counters::Counters;
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use lru::LruCache;
use rustc_hash::FxBuildHasher;

use crate::device::{Device, NO_IO, earlier, grow};
use crate::timeline::{EventQueue, Timeline, transfer_time};

// The page cache of the host, in front of any mechanism, after Linux.
//
// Buffered reads come from memory where it has their pages; the rest is read from the drive and kept.
// Buffered writes end in memory; what is dirty is written back in order of addresses when there is much of
// it, when it has become old, or when a flush wants it. Direct I/O, and what brings bytes that are kept,
// goes past it: a write drops the pages it goes over, and a read waits until nothing is dirty. One core does
// all copying. Only which pages are there is known, not what they hold.

/// Memory that may hold pages, unless it is said: 4 GiB is assumed, about what is left on a machine of 8 GiB.
pub(crate) const MEMORY_BYTES: u64 = 4 << 30;
/// Bytes of a page, as on x86-64 and most others.
const PAGE_BYTES: u64 = 4096;
/// Bytes a second between the page cache and a program. Assumed: one core that copies what no cache of it holds.
const COPY_BYTES_PER_S: u64 = 8_000_000_000;
/// Further time of one I/O: the system call and the search for its pages. Assumed.
const CALL: Nanos = Nanos(500);
/// A read that misses goes to the drive in I/Os of at most so many pages: Linux's window of read-ahead (`read_ahead_kb`, 128 by
/// default).
const READ_PAGES_MAX: u64 = (128 << 10) / PAGE_BYTES;
/// Writeback joins so many adjacent pages: 1 MiB is assumed, close to `max_sectors_kb`, 1280 by default.
const WRITE_PAGES_MAX: u64 = (1 << 20) / PAGE_BYTES;
/// I/Os of writing back that are in flight at once. Assumed.
const WRITES_MAX: u32 = 32;
/// From this share of dirty pages on, in percent of memory, they are written back (`vm.dirty_background_ratio`, 10 by default).
const BACKGROUND_PERCENT: u64 = 10;
/// Share of dirty pages above which a writing program has to wait (`vm.dirty_ratio`, 20 by default).
const DIRTY_PERCENT: u64 = 20;
/// Dirty pages that are older are written back (`vm.dirty_expire_centisecs`, 3000 by default).
const EXPIRE: Nanos = Nanos::from_secs(30);
/// How often writeback checks for dirty pages (`vm.dirty_writeback_centisecs`, 500 by default).
const POLL_INTERVAL: Nanos = Nanos::from_secs(5);
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
    /// Memory that may hold pages.
    bytes: u64,
    /// Bytes of the drive.
    capacity: u64,
    buffered: bool,
    /// Whether a flush ends at once, and nothing is made durable by it.
    ignores_flushes: bool,
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
    pub(crate) fn new(bytes: u64, capacity: u64) -> Self {
        Self {
            bytes,
            capacity,
            buffered: false,
            ignores_flushes: false,
            pages: Pages::new(bytes / PAGE_BYTES),
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

    /// Flushes do nothing from here on, or what they are for.
    pub(crate) fn set_ignores_flushes(&mut self, ignores: bool) {
        self.ignores_flushes = ignores;
    }

    /// I/Os go through it from here on, or past it.
    pub(crate) fn set_buffered(&mut self, buffered: bool) {
        self.buffered = buffered;
    }

    pub(crate) fn announce_slots(&mut self, device: &mut CountingDevice, count: u32) {
        device.announce_slots(CARRIERS + count);
        let empty = Request { io: NO_IO, parts: 0, outcome: Outcome::Done };
        grow(&mut self.requests, count, empty);
    }

    pub(crate) fn next_at(&self, device: &CountingDevice) -> Option<Nanos> {
        earlier(device.next_at(), self.events.next_at())
    }

    pub(crate) fn accept(&mut self, device: &mut CountingDevice, io: &Io, now: Nanos) {
        let slot = io.slot.0;
        self.requests[slot as usize] = Request { io: *io, parts: 0, outcome: Outcome::Done };
        // What brings bytes has to get to where they are kept.
        let buffered = self.buffered && !device.device().brings_bytes(io);
        match (io.op, buffered) {
            (Op::Read, true) => self.read(slot, now),
            // Its own pages are written through, and the drive makes them durable.
            (Op::Write, true) if io.sync.is_some() && !self.ignores_flushes => {
                let pages = self.pages_of(io);
                self.pages.forget(pages.clone());
                self.pages.add_clean(pages);
                self.pass(device, slot, now);
            }
            (Op::Write, true) => self.throttled.push_back(slot),
            (Op::Flush, _) if self.ignores_flushes => self.copy(slot, now),
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
        let (mut missing, mut parts) = (pages.start..pages.start, 0);
        for page in pages.start..=pages.end {
            let absent = page < pages.end && !self.pages.touch(page);
            if !missing.is_empty() && (!absent || missing.end - missing.start == READ_PAGES_MAX) {
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
            self.events.push(now + POLL_INTERVAL, Event::Poll);
        }
        self.copy(slot, now);
    }

    /// The I/O ends when its bytes are copied.
    fn copy(&mut self, slot: u32, now: Nanos) {
        let bytes = u64::from(self.requests[slot as usize].io.length);
        let span = CALL + transfer_time(bytes, COPY_BYTES_PER_S);
        self.events.push(self.copying.reserve(now, span), Event::Complete(slot));
    }

    fn poll(&mut self, now: Nanos) {
        self.is_polling = self.pages.dirty() > 0;
        if self.is_polling {
            self.draining |= now.since(self.dirty_since) >= EXPIRE;
            self.events.push(now + POLL_INTERVAL, Event::Poll);
        }
    }

    /// Does whatever has become possible.
    fn advance(&mut self, device: &mut CountingDevice, now: Nanos) {
        while let Some(slot) = self.throttled.front().copied().filter(|slot| self.fits(*slot)) {
            self.throttled.pop_front();
            self.write(slot, now);
        }
        // As many slots stay free as writeback may still need.
        while self.free.len() > (WRITES_MAX - self.writes) as usize {
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
        dirty == 0 || dirty + (pages.end - pages.start) <= self.share(DIRTY_PERCENT)
    }

    fn write_back(&mut self, device: &mut CountingDevice, now: Nanos) {
        let wanted = self.draining || !self.waiting.is_empty() || !self.throttled.is_empty();
        let background = self.share(BACKGROUND_PERCENT);
        while self.writes < WRITES_MAX && (wanted || self.pages.dirty() > background) {
            let Some((pages, data)) = self.pages.take_dirty(WRITE_PAGES_MAX) else { return };
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
        io.offset / PAGE_BYTES..(io.offset + u64::from(io.length)).div_ceil(PAGE_BYTES)
    }

    /// An I/O of whole pages; the last page of a drive may be cut short.
    fn io(&self, op: Op, pages: &Range<u64>, data: DataClass) -> Io {
        let offset = pages.start * PAGE_BYTES;
        let length = (pages.end * PAGE_BYTES).min(self.capacity) - offset;
        Io { op, offset, length: length as u32, data, ..NO_IO }
    }

    /// So many percent of its memory, in pages.
    fn share(&self, percent: u64) -> u64 {
        self.bytes / 100 * percent / PAGE_BYTES
    }
}

/// Pages of a drive by their number. What is clean goes in the order of its last use when memory runs short;
/// what is dirty stays.
pub(crate) struct Pages {
    clean: LruCache<u64, (), FxBuildHasher>,
    dirty: BTreeMap<u64, DataClass>,
    /// How many there is memory for.
    room: usize,
    /// Where writeback continues.
    cursor: u64,
}

impl Pages {
    pub(crate) fn new(room: u64) -> Self {
        let clean = LruCache::unbounded_with_hasher(FxBuildHasher);
        Self { clean, dirty: BTreeMap::new(), room: room.max(1) as usize, cursor: 0 }
    }

    /// Uses a page, and says whether it was there.
    pub(crate) fn touch(&mut self, page: u64) -> bool {
        self.clean.get(&page).is_some() || self.dirty.contains_key(&page)
    }

    /// These pages were read.
    pub(crate) fn add_clean(&mut self, pages: Range<u64>) {
        for page in pages {
            if !self.dirty.contains_key(&page) {
                self.clean.put(page, ());
            }
        }
        self.make_room();
    }

    /// These pages were written by a program.
    pub(crate) fn add_dirty(&mut self, pages: Range<u64>, data: DataClass) {
        for page in pages {
            self.clean.pop(&page);
            self.dirty.insert(page, data);
        }
        self.make_room();
    }

    /// These pages hold nothing of use any more.
    pub(crate) fn forget(&mut self, pages: Range<u64>) {
        for page in pages {
            self.clean.pop(&page);
            self.dirty.remove(&page);
        }
    }

    pub(crate) fn forget_clean(&mut self) {
        self.clean.clear();
    }

    pub(crate) fn dirty(&self) -> u64 {
        self.dirty.len() as u64
    }

    /// The next adjacent pages, at most `most`, that are dirty with data of one class. They are clean from
    /// now on.
    pub(crate) fn take_dirty(&mut self, most: u64) -> Option<(Range<u64>, DataClass)> {
        let next = self.dirty.range(self.cursor..).next().or_else(|| self.dirty.iter().next());
        let (first, data) = next.map(|(page, data)| (*page, *data))?;
        let mut end = first;
        while end - first < most && self.dirty.get(&end) == Some(&data) {
            self.dirty.remove(&end);
            self.clean.put(end, ());
            end += 1;
        }
        self.cursor = end;
        Some((first..end, data))
    }

    fn make_room(&mut self) {
        while self.clean.len() + self.dirty.len() > self.room && self.clean.pop_lru().is_some() {}
    }
}

/// A mechanism whose I/Os are counted when they end.
pub(crate) struct CountingDevice {
    device: Box<dyn Device>,
    /// What is in flight, by slot, and since when.
    ios: Vec<(Io, Nanos)>,
    in_flight: u32,
    /// Since when anything was in flight.
    busy_since: Nanos,
    counters: Counters,
}

impl CountingDevice {
    pub(crate) fn new(device: Box<dyn Device>) -> Self {
        let counters = Counters {
            discards: Some(0),
            bytes_discarded: Some(0),
            flushes: Some(0),
            io_time: Some(Nanos::ZERO),
            devices: 1,
            ..Counters::default()
        };
        Self { device, ios: Vec::new(), in_flight: 0, busy_since: Nanos::ZERO, counters }
    }

    pub(crate) fn device(&self) -> &dyn Device {
        &*self.device
    }

    /// The mechanism, for everything but I/O.
    pub(crate) fn device_mut(&mut self) -> &mut dyn Device {
        &mut *self.device
    }

    /// What has reached it until now.
    pub(crate) fn counters(&self, now: Nanos) -> Counters {
        let so_far = if self.in_flight > 0 { now.since(self.busy_since) } else { Nanos::ZERO };
        Counters { busy: self.counters.busy + so_far, ..self.counters }
    }

    pub(crate) fn announce_slots(&mut self, count: u32) {
        self.device.announce_slots(count);
        grow(&mut self.ios, count, (NO_IO, Nanos::ZERO));
    }

    pub(crate) fn accept(&mut self, io: &Io, now: Nanos) {
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        self.ios[io.slot.index()] = (*io, now);
        self.device.accept(io, now);
    }

    pub(crate) fn next_at(&self) -> Option<Nanos> {
        self.device.next_at()
    }

    pub(crate) fn step(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        self.device.step(done);
        for completion in &done[before..] {
            let (io, sent) = &self.ios[completion.slot.index()];
            let bytes = u64::from(completion.outcome.bytes(io.length));
            self.counters.count(io.op, bytes, completion.at.since(*sent));
            self.in_flight -= 1;
            if self.in_flight == 0 {
                self.counters.busy += completion.at.since(self.busy_since);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DataClass::{Random, Zero};

    #[test]
    fn what_was_used_last_stays_and_what_is_dirty_stays_anyhow() {
        let mut pages = Pages::new(4);
        pages.add_dirty(0..1, Random);
        pages.add_clean(10..13);
        assert!(pages.touch(10));
        pages.add_clean(20..22);
        let there: Vec<u64> = (0..30).filter(|page| pages.touch(*page)).collect();
        assert_eq!(there, [0, 10, 20, 21]);
        pages.forget(0..11);
        pages.forget_clean();
        assert_eq!((0..30).filter(|page| pages.touch(*page)).count(), 0);
    }

    #[test]
    fn neighbors_are_written_back_together_in_order_of_addresses() {
        let mut pages = Pages::new(100);
        pages.add_dirty(8..10, Random);
        pages.add_dirty(0..6, Random);
        pages.add_dirty(6..8, Zero);
        let mut taken = Vec::new();
        while let Some(run) = pages.take_dirty(4) {
            taken.push(run);
        }
        assert_eq!(taken, [(0..4, Random), (4..6, Random), (6..8, Zero), (8..10, Random)]);
        assert!(pages.dirty() == 0 && pages.touch(5), "what is written back can still be read");
    }
}
