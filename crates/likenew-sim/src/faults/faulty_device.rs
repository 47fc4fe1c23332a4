//! A drive with faults: another mechanism, and what goes wrong between it and the host.
//!
//! The mechanism inside is unchanged and keeps its own time; faults change which of its addresses is meant,
//! how an I/O ends, what it returns, and how much later. Retries of several I/Os come one after the other. An
//! I/O that wraps around the end of the real capacity is done in parts, one after the other. A read takes the
//! time of what is answered and never done (assumed: it crosses the link with as many bytes, and changes
//! nothing), a flush that of a TRIM.

use std::ops::Range;

use likenew_core::flash_counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::stamp::SECTOR;
use likenew_core::units::Nanos;
use rand::seq::index::sample;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::drive_faults::DriveFaults;
use crate::device::{Device, MEDIUM_ERROR, NO_IO, SelfCounts, flash_counters, pass_on};
use crate::event_queue::EventQueue;
use crate::snapshot_error::SnapshotError;
use crate::timeline::{Timeline, times, transfer_time};

/// All drives with the same faults have them at the same I/Os.
const SEED: u64 = 1;

/// Time in which a read-only drive refuses a write, and in which a dropped TRIM is answered (assumed: a
/// command without data).
const REFUSAL: Nanos = Nanos::from_micros(100);

#[derive(Clone, Copy)]
enum Event {
    /// The stall in which the I/O in this slot was given is over.
    Begin(u32),
    /// The I/O in this slot ends, unless the drive stalls.
    End(u32, Outcome),
}

/// An accepted I/O.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Bytes that were not given to the mechanism yet.
    remaining: u32,
    retries: u32,
    /// It is answered so much later.
    delay: Nanos,
    outcome: Outcome,
    /// It is answered and never done.
    is_lost: bool,
    /// The part that the mechanism does stands in for one that is nowhere.
    is_nowhere: bool,
}

impl Request {
    fn new(io: Io) -> Self {
        Self {
            io,
            remaining: io.length,
            retries: 0,
            delay: Nanos::ZERO,
            outcome: Outcome::Done,
            is_lost: false,
            is_nowhere: false,
        }
    }
}

/// What a drive that is saved holds.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedState {
    ios: u64,
    bytes_written: u64,
    writes: u64,
    pub(crate) inner: Vec<u8>,
}

/// The drive.
pub(crate) struct FaultyDevice {
    parameters: DriveFaults,
    inner: Box<dyn Device>,
    inner_done: Vec<Completion>,
    events: EventQueue<Event>,
    /// By slot.
    requests: Vec<Request>,
    /// The bytes of the host's I/Os, by slot, where the mechanism keeps data.
    data: Vec<Vec<u8>>,
    random: Xoshiro256PlusPlus,
    retrying: Timeline,
    /// What moves while the drive is throttled.
    throttled: Timeline,
    ios: u64,
    bytes_written: u64,
    writes: u64,
    /// Bytes of writes that were never done, since the drive was opened.
    bytes_lost: u64,
    media_errors: u64,
    /// The end of the last stall that a number of I/Os brought about.
    stalled_until: Nanos,
}

impl FaultyDevice {
    /// A drive with these faults around a mechanism that has the real capacity, if that is one of them.
    pub(crate) fn new(parameters: DriveFaults, inner: Box<dyn Device>, saved: Option<&SavedState>) -> Self {
        Self {
            parameters,
            inner,
            inner_done: Vec::new(),
            events: EventQueue::new(),
            requests: Vec::new(),
            data: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            retrying: Timeline::default(),
            throttled: Timeline::default(),
            ios: saved.map_or(0, |saved| saved.ios),
            bytes_written: saved.map_or(0, |saved| saved.bytes_written),
            writes: saved.map_or(0, |saved| saved.writes),
            bytes_lost: 0,
            media_errors: 0,
            stalled_until: Nanos::ZERO,
        }
    }

    /// What a drive with faults held when it was saved.
    ///
    /// # Errors
    /// These bytes are not such a drive.
    pub(crate) fn unpack(state: &[u8]) -> Result<SavedState, SnapshotError> {
        Ok(postcard::from_bytes(state)?)
    }

    /// When the stall ends that the drive is in, if it is in one.
    fn stall_end(&self, now: Nanos) -> Option<Nanos> {
        let stall = self.parameters.stall?;
        let periodic = stall.interval.map_or(Nanos::ZERO, |every| {
            let last = now.0 - now.0 % every.0;
            if last == 0 { Nanos::ZERO } else { Nanos(last) + stall.span }
        });
        Some(periodic.max(self.stalled_until)).filter(|end| *end > now)
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        if let Some(end) = self.stall_end(now) {
            return self.events.push(end, Event::Begin(slot));
        }
        let io = self.requests[slot as usize].io;
        match io.op {
            Op::Read => self.check_bad_sectors(slot, &io),
            Op::Write | Op::Trim if self.is_read_only(&io) => {
                return self.events.push(now + REFUSAL, Event::End(slot, MEDIUM_ERROR));
            }
            Op::Trim if self.parameters.trim.is_some() => {
                return self.events.push(now + REFUSAL, Event::End(slot, Outcome::Done));
            }
            Op::Write => self.count_write(slot, &io),
            Op::Trim | Op::Flush => {}
        }
        self.enqueue(slot, now);
    }

    fn check_bad_sectors(&mut self, slot: u32, io: &Io) {
        let (unreadable, slow) =
            (touches(&self.parameters.unreadable, io), touches(&self.parameters.slow, io));
        let request = &mut self.requests[slot as usize];
        if unreadable {
            (request.retries, request.outcome) = (self.parameters.retries_max, MEDIUM_ERROR);
            self.media_errors += 1;
        } else if slow {
            request.retries = self.random.random_range(1..=self.parameters.retries_max);
        }
    }

    fn count_write(&mut self, slot: u32, io: &Io) {
        self.bytes_written += u64::from(io.length);
        self.writes += 1;
        self.requests[slot as usize].is_lost =
            self.parameters.lost_write_every.is_some_and(|every| self.writes.is_multiple_of(every));
    }

    fn is_read_only(&self, io: &Io) -> bool {
        let writes = if io.op == Op::Write { u64::from(io.length) } else { 0 };
        self.parameters.read_only_after_bytes.is_some_and(|limit| self.bytes_written + writes > limit)
    }

    /// Gives the mechanism what is left of an I/O, up to the end of what is really there.
    fn enqueue(&mut self, slot: u32, now: Nanos) {
        let Request { io, remaining, is_lost, is_nowhere, .. } = &mut self.requests[slot as usize];
        let start = io.length - *remaining;
        let (place, length) = self.parameters.locate(io.offset + u64::from(start), u64::from(*remaining));
        let mut part = Io { offset: place.unwrap_or(0), length: length as u32, ..*io };
        *is_nowhere = place.is_none();
        *remaining -= part.length;
        if io.op == Op::Write && (*is_lost || *is_nowhere) {
            self.bytes_lost += u64::from(part.length);
        }
        let bytes = start as usize..(start + part.length) as usize;
        if *is_lost || *is_nowhere {
            part = stand_in(part, self.parameters.real_capacity_bytes);
        }
        if self.inner.brings_bytes(&part) {
            let bytes = &self.data[slot as usize][bytes];
            self.inner.data(part.slot).clear();
            self.inner.data(part.slot).extend_from_slice(bytes);
        }
        self.inner.accept(&part, now);
    }

    /// The mechanism has done a part of an I/O.
    fn part_done(&mut self, part: Completion, done: &mut Vec<Completion>) {
        let Completion { slot: Slot(slot), at, outcome } = part;
        let request = &mut self.requests[slot as usize];
        if request.outcome == Outcome::Done {
            request.outcome = outcome;
        }
        let Request { io, remaining, retries, delay, outcome, is_nowhere, .. } = *request;
        if io.op == Op::Read && self.inner.brings_bytes(&io) {
            let bytes = self.inner.data(Slot(slot));
            let end = (io.length - remaining) as usize;
            let part = &mut self.data[slot as usize][end - bytes.len()..end];
            if is_nowhere {
                part.fill(0)
            } else {
                part.copy_from_slice(bytes)
            }
            if remaining == 0 {
                self.flip_bits(slot, &io);
            }
        }
        if remaining > 0 {
            return self.enqueue(slot, at);
        }
        let mut ready = at + delay;
        if retries > 0 {
            ready = self.retrying.reserve(ready, times(self.parameters.retry, retries));
        }
        if let Some(throttle) = self.parameters.throttle.filter(|throttle| throttle.is_on(at)) {
            let passes = transfer_time(io.length.into(), throttle.bytes_per_s);
            ready = ready.max(self.throttled.reserve(at, passes));
        }
        if ready > at {
            self.events.push(ready, Event::End(slot, outcome));
        } else {
            self.end(slot, outcome, at, done);
        }
    }

    /// Draws whether an I/O is one of those that take long.
    fn draw_outlier(&mut self, slot: u32) {
        if let Some(outliers) = self.parameters.outliers
            && self.random.random_range(0..outliers.every_ios) == 0
        {
            self.requests[slot as usize].delay = outliers.span;
        }
    }

    /// Flips the bits that are wrong in what was read: the same ones of a sector each time.
    fn flip_bits(&mut self, slot: u32, io: &Io) {
        if !touches(&self.parameters.flipped, io) {
            return;
        }
        let sectors = (io.offset..).step_by(SECTOR).zip(self.data[slot as usize].chunks_mut(SECTOR));
        for (address, sector) in sectors {
            if self.parameters.flipped.iter().any(|range| range.contains(&address)) {
                let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED ^ address);
                for bit in sample(&mut random, 8 * sector.len(), self.parameters.flipped_bits as usize) {
                    sector[bit / 8] ^= 1 << (bit % 8);
                }
            }
        }
    }

    fn end(&mut self, slot: u32, outcome: Outcome, now: Nanos, done: &mut Vec<Completion>) {
        match self.stall_end(now) {
            Some(end) => self.events.push(end, Event::End(slot, outcome)),
            None => done.push(Completion { slot: Slot(slot), at: now, outcome }),
        }
    }
}

impl Device for FaultyDevice {
    pass_on!(keeps_data, keep_data, brings_bytes, health, settle);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, Request::new(NO_IO));
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request::new(*io);
        self.ios += 1;
        if let Some(stall) = self.parameters.stall
            && stall.every_ios.is_some_and(|every| self.ios.is_multiple_of(every))
        {
            self.stalled_until = now + stall.span;
        }
        self.draw_outlier(io.slot.0);
        self.begin(io.slot.0, now);
    }

    fn next_at(&self) -> Option<Nanos> {
        [self.inner.next_at(), self.events.next_at()].into_iter().flatten().min()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let next = self.next_at().expect("a drive steps only when something is to happen");
        if self.inner.next_at() == Some(next) {
            let mut parts = std::mem::take(&mut self.inner_done);
            self.inner.step(&mut parts);
            parts.drain(..).for_each(|part| self.part_done(part, done));
            self.inner_done = parts;
            return;
        }
        match self.events.pop().expect("it is one of the two") {
            (now, Event::Begin(slot)) => self.begin(slot, now),
            (now, Event::End(slot, outcome)) => self.end(slot, outcome, now, done),
        }
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        if self.data.len() <= slot.index() {
            self.data.resize(slot.index() + 1, Vec::new());
        }
        &mut self.data[slot.index()]
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        let Self { ios, bytes_written, writes, .. } = *self;
        let saved = SavedState { ios, bytes_written, writes, inner: self.inner.save(now) };
        postcard::to_stdvec(&saved).expect("plain values can be written to memory")
    }

    /// A drive that throttles reports it, whatever the cause.
    fn self_counts(&self, now: Nanos) -> SelfCounts {
        let inner = self.inner.self_counts(now);
        let throttled = self.parameters.throttle.map(|throttle| throttle.until(now)).or(inner.throttled);
        SelfCounts { throttled, media_errors: inner.media_errors + self.media_errors, ..inner }
    }

    /// Counters of the mechanism, plus what never reached it.
    fn flash_counters(&self) -> FlashCounters {
        let FlashCounters { host_bytes_written, flash_bytes_programmed, erases, free_blocks, wear, .. } =
            self.inner.flash_counters();
        flash_counters(
            host_bytes_written + self.bytes_lost,
            flash_bytes_programmed,
            erases,
            free_blocks,
            wear,
        )
    }
}

/// What the mechanism does in the time of a part that is never done.
fn stand_in(part: Io, real: Option<u64>) -> Io {
    match part.op {
        Op::Trim => Io { op: Op::Flush, offset: 0, length: 0, ..part },
        _ => {
            let last = real.map_or(part.offset, |real| real - u64::from(part.length));
            Io { op: Op::Read, offset: part.offset.min(last), ..part }
        }
    }
}

/// Whether an I/O touches one of these ranges.
fn touches(ranges: &[Range<u64>], io: &Io) -> bool {
    let end = io.offset + u64::from(io.length);
    ranges.iter().any(|range| range.start < end && io.offset < range.end)
}
