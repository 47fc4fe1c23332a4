//! The host of a simulated drive: its page cache, and counters of the I/O that reaches the drive.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use likenew_core::counters::Counters;
use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use lru::LruCache;
use rustc_hash::FxBuildHasher;

use crate::device::{Device, NO_IO, earlier, grow, wraps};
use crate::timeline::{EventQueue, Timeline, transfer_time};

// The page cache of the host, modeled on Linux, in front of any mechanism.
//
// Buffered reads take cached pages from memory; the others are read from the drive and kept. Buffered writes
// end in memory. Dirty pages are written back in address order when there are many, when they are old, or
// when a flush demands it. Direct I/O bypasses the cache, as does I/O whose bytes the drive keeps: a write
// drops the pages that it covers, and a read waits until nothing is dirty. One core does all copying. The
// cache knows which pages it has, not their bytes.

/// Default memory for cached pages. Assumed: 4 GiB, about what is left on a machine with 8 GiB.
pub(crate) const MEMORY_BYTES: u64 = 4 << 30;
/// Page size of x86-64 and most other machines, in bytes.
const PAGE_BYTES: u64 = 4096;
/// Copy rate between page cache and program, in bytes per second. Assumed: one core, data not in its caches.
const COPY_BYTES_PER_S: u64 = 8_000_000_000;
/// Fixed time per I/O, for the system call and the page lookup. Assumed.
const CALL: Nanos = Nanos(500);
/// The most pages per I/O of a read that misses: the read-ahead window of Linux (`read_ahead_kb`, 128 by
/// default).
const READ_PAGES_MAX: u64 = (128 << 10) / PAGE_BYTES;
/// The most adjacent pages per I/O of writeback. Assumed: 1 MiB, close to `max_sectors_kb`, 1280 by default.
const WRITE_PAGES_MAX: u64 = (1 << 20) / PAGE_BYTES;
/// The most writeback I/Os in flight. Assumed.
const WRITES_MAX: u32 = 32;
/// Dirty share of memory, in percent, at which writeback starts (`vm.dirty_background_ratio`, 10 by default).
const BACKGROUND_PERCENT: u64 = 10;
/// Dirty share of memory, in percent, above which writing programs wait (`vm.dirty_ratio`, 20 by default).
const DIRTY_PERCENT: u64 = 20;
/// Age at which dirty pages are written back (`vm.dirty_expire_centisecs`, 3000 by default).
const EXPIRE: Nanos = Nanos::from_secs(30);
/// Interval at which writeback checks for old dirty pages (`vm.dirty_writeback_centisecs`, 500 by default).
const POLL_INTERVAL: Nanos = Nanos::from_secs(5);
/// The drive's slots for I/Os of the cache itself; the host's own slots follow.
const CARRIERS: u32 = 64;

#[derive(Clone, Copy)]
enum Event {
    /// The host's I/O in this slot ends.
    Complete(u32),
    /// The writeback timer checks for pages that have been dirty for long.
    Poll,
}

/// An I/O of the host.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Parts of a read that the drive has not delivered.
    parts: u32,
    outcome: Outcome,
}

/// The purpose of one of the cache's own I/Os.
#[derive(Clone)]
enum CacheIo {
    /// Reads missing pages for the host's read in this slot.
    Read { slot: u32, pages: Range<u64> },
    /// Writes back this many pages.
    WriteBack { pages: u64 },
    /// Flushes the drive.
    Settle,
}

/// The host's page cache.
pub(crate) struct PageCache {
    /// Memory for pages.
    bytes: u64,
    /// Capacity of the drive.
    capacity: u64,
    /// Whether I/Os go through the cache; else they bypass it.
    pub(crate) buffered: bool,
    /// Whether a flush ends at once without making anything durable.
    pub(crate) ignores_flushes: bool,
    pages: Pages,
    /// When the first of the dirty pages became dirty.
    dirty_since: Nanos,
    /// Pages that are being written back.
    in_write_back: u64,
    /// Whether to write back everything dirty, however little.
    draining: bool,
    /// The last writeback error since the last flush, if any.
    failed: Option<Outcome>,
    is_polling: bool,
    /// By slot of the host.
    requests: Vec<Request>,
    cache_ios: Vec<Option<CacheIo>>,
    /// Free slots for the cache's own I/Os.
    free: Vec<u32>,
    writes: u32,
    /// Parts of reads that wait for a free slot.
    reads: VecDeque<(u32, Range<u64>)>,
    /// Slots of writes that wait until fewer pages are dirty.
    throttled: VecDeque<u32>,
    /// Slots of I/Os that wait until no page is dirty.
    waiting: VecDeque<u32>,
    copying: Timeline,
    events: EventQueue<Event>,
    completions: Vec<Completion>,
}

impl PageCache {
    /// An empty cache in front of an idle drive.
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

    /// The drive's slot for a host I/O that bypasses the cache.
    pub(crate) fn slot_at_drive(slot: Slot) -> Slot {
        Slot(CARRIERS + slot.0)
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
        // I/O with bytes must reach the layer that keeps them.
        let buffered = self.buffered && !device.brings_bytes(io);
        match (io.op, buffered) {
            (Op::Read, true) => self.read(slot, now),
            // A durable write goes straight to the drive, which makes it durable.
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

    /// Makes everything durable, empties the cache, and returns when that is done. No host I/O may be in flight.
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

    /// Reads the missing pages, then copies all of them.
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

    /// Ends an I/O once its bytes are copied.
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

    /// Starts everything that has become possible.
    fn advance(&mut self, device: &mut CountingDevice, now: Nanos) {
        while let Some(slot) = self.throttled.front().copied().filter(|slot| self.fits(*slot)) {
            self.throttled.pop_front();
            self.write(slot, now);
        }
        // Leave as many slots free as writeback may still need.
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

    /// Whether a write may make pages dirty: if it stays within the limit, or nothing else is dirty.
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

    /// Sends an I/O to the drive once nothing is dirty; a flush instead reports an error of writeback.
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

    /// An I/O of whole pages, cut short at the end of the drive.
    fn io(&self, op: Op, pages: &Range<u64>, data: DataClass) -> Io {
        let offset = pages.start * PAGE_BYTES;
        let length = (pages.end * PAGE_BYTES).min(self.capacity) - offset;
        Io { op, offset, length: length as u32, data, ..NO_IO }
    }

    /// A percentage of the memory, in pages.
    fn share(&self, percent: u64) -> u64 {
        self.bytes / 100 * percent / PAGE_BYTES
    }
}

/// The cached pages of a drive, by number. If memory runs short, the least recently used clean page is
/// dropped; dirty pages stay.
pub(crate) struct Pages {
    clean: LruCache<u64, (), FxBuildHasher>,
    dirty: BTreeMap<u64, DataClass>,
    /// Number of pages that fit in memory.
    room: usize,
    /// Where writeback continues.
    cursor: u64,
}

impl Pages {
    pub(crate) fn new(room: u64) -> Self {
        let clean = LruCache::unbounded_with_hasher(FxBuildHasher);
        Self { clean, dirty: BTreeMap::new(), room: room.max(1) as usize, cursor: 0 }
    }

    /// Marks a page as used; returns whether it is cached.
    pub(crate) fn touch(&mut self, page: u64) -> bool {
        self.clean.get(&page).is_some() || self.dirty.contains_key(&page)
    }

    /// Adds pages that were read.
    pub(crate) fn add_clean(&mut self, pages: Range<u64>) {
        for page in pages {
            if !self.dirty.contains_key(&page) {
                self.clean.put(page, ());
            }
        }
        self.make_room();
    }

    /// Adds pages that a program wrote.
    pub(crate) fn add_dirty(&mut self, pages: Range<u64>, data: DataClass) {
        for page in pages {
            self.clean.pop(&page);
            self.dirty.insert(page, data);
        }
        self.make_room();
    }

    /// Drops pages, clean or dirty.
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

    /// Takes the next adjacent dirty pages with the same data class, at most `most`, and marks them clean.
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
    /// I/Os in flight, by slot, and when each one started.
    ios: Vec<(Io, Nanos)>,
    in_flight: u32,
    /// When the mechanism last became busy.
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

    /// Counters of the I/O that has reached the mechanism by now.
    pub(crate) fn counters(&self, now: Nanos) -> Counters {
        let so_far = if self.in_flight > 0 { now.since(self.busy_since) } else { Nanos::ZERO };
        Counters { busy: self.counters.busy + so_far, ..self.counters }
    }
}

impl Device for CountingDevice {
    wraps!(device);

    fn announce_slots(&mut self, count: u32) {
        self.device.announce_slots(count);
        grow(&mut self.ios, count, (NO_IO, Nanos::ZERO));
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        self.ios[io.slot.index()] = (*io, now);
        self.device.accept(io, now);
    }

    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        let (io, sent) = &self.ios[completion.slot.index()];
        let bytes = u64::from(completion.outcome.bytes(io.length));
        self.counters.count(io.op, bytes, completion.at.since(*sent));
        self.in_flight -= 1;
        if self.in_flight == 0 {
            self.counters.busy += completion.at.since(self.busy_since);
        }
        Some(completion)
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
