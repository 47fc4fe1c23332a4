//! Faults of a drive, around whatever mechanism it has.

pub(crate) mod neighbor;
mod wording;

use std::ops::Range;

use likenew_core::counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::stamp::SECTOR;
use likenew_core::units::Nanos;
use rand::seq::index::sample;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::device::{
    Device, MEDIUM_ERROR, NO_IO, SelfCounts, SnapshotError, earlier, flash_counters, grow, to_bytes,
};
use crate::timeline::{EventQueue, Timeline, times, transfer_time};

/// The faults of a drive. Addresses are those that the host uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveFaults {
    /// Bytes that really exist.
    pub real_capacity_bytes: Option<u64>,
    /// Addresses wrap around at so many bytes; those beyond the real bytes do not exist: writes to them are
    /// dropped, and reads return zeros. If it equals the real bytes, or is absent, it is what f3 calls
    /// *wraparound* among the kinds of counterfeit flash; if it is as large as the reported capacity,
    /// *limbo*; in between, *chain*.
    pub wrap_bytes: Option<u64>,
    /// Sectors of these bytes are read with flipped bits, the same ones each time, and without an error.
    pub flipped: Vec<Range<u64>>,
    /// Bits that are flipped in each sector of `flipped`.
    pub flipped_bits: u32,
    /// After every so many writes, one is answered and never done.
    pub lost_write_every: Option<u64>,
    /// Reads that touch these bytes end in the medium's error, after all retries.
    pub unreadable: Vec<Range<u64>>,
    /// Reads that touch these bytes take retries, from 1 to `retries_max`, each number equally often.
    pub slow: Vec<Range<u64>>,
    /// The time of one retry.
    pub retry: Nanos,
    /// Retries before the drive gives up.
    pub retries_max: u32,
    /// After so many bytes written, writes and TRIM end in the medium's error.
    pub read_only_after_bytes: Option<u64>,
    /// When the drive stops for a while.
    pub stall: Option<StallParameters>,
    /// How TRIM fails between the host and the drive.
    pub trim: Option<TrimDefect>,
    /// I/O of another program.
    pub neighbor: Option<NeighborParameters>,
    /// Single I/Os that take long.
    pub outliers: Option<OutlierParameters>,
    /// When the drive is slow for a while.
    pub throttle: Option<ThrottleParameters>,
}

/// Another program's I/Os on the same drive, at random moments and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborParameters {
    /// How many a second, on average.
    pub ios_per_s: u32,
    /// Bytes of each.
    pub io_bytes: u32,
    /// How many of a hundred are writes.
    pub write_percent: u32,
}

/// Single I/Os that are answered late; the drive serves others in the meantime.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutlierParameters {
    /// One of so many, at random.
    pub every_ios: u64,
    /// How much later they end.
    pub span: Nanos,
}

/// When a drive is slower for a while, as one that is too hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThrottleParameters {
    /// Before each multiple of this.
    pub interval: Nanos,
    /// For so long.
    pub span: Nanos,
    /// Bytes a second at most.
    pub bytes_per_s: u64,
}

impl ThrottleParameters {
    /// Whether the drive is slow at a time.
    pub(crate) fn is_on(&self, now: Nanos) -> bool {
        self.interval.0 - now.0 % self.interval.0 <= self.span.0
    }

    /// How often it was slow until a time, and for how long in sum.
    pub(crate) fn until(&self, now: Nanos) -> (u64, Nanos) {
        let (times, within) = (now.0 / self.interval.0, now.0 % self.interval.0);
        let quiet = self.interval.0 - self.span.0;
        (times + u64::from(within > quiet), Nanos(times * self.span.0 + within.saturating_sub(quiet)))
    }
}

/// What a bridge between the host and a drive does to TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrimDefect {
    /// It reports none, so that the host sends none.
    Hidden,
    /// It reports TRIM, answers that it was done, and passes nothing on.
    Dropped,
}

impl TrimDefect {
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 2] = [("hidden", Self::Hidden), ("dropped", Self::Dropped)];
}

/// When a drive stops for a while: it takes nothing and answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallParameters {
    /// Each time that it was given so many I/Os.
    pub every_ios: Option<u64>,
    /// Each time that its clock reaches a multiple of this.
    pub interval: Option<Nanos>,
    /// For how long.
    pub span: Nanos,
}

impl DriveFaults {
    /// Whether they change what is read of what was written, so that its bytes have to go through them.
    pub fn change_bytes(&self) -> bool {
        self.real_capacity_bytes.is_some() || !self.flipped.is_empty() || self.lost_write_every.is_some()
    }

    /// The faults for people, as name and value.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let (retry, retries) = (self.retry, self.retries_max);
        let described = [
            self.real_capacity_bytes.map(|real| wording::real_capacity(real, self.wrap_bytes)),
            wording::flipped(&self.flipped, self.flipped_bits),
            self.lost_write_every.map(wording::lost_writes),
            wording::unreadable(&self.unreadable, retries, retry),
            wording::slow(&self.slow, retries, retry),
            self.read_only_after_bytes.map(wording::read_only),
            self.stall.map(|stall| wording::stalls(stall.every_ios, stall.interval, stall.span)),
            self.trim.map(|trim| match trim {
                TrimDefect::Hidden => wording::hidden_trim(),
                TrimDefect::Dropped => wording::dropped_trim(),
            }),
            self.neighbor.map(|neighbor| {
                wording::neighbor(neighbor.ios_per_s, neighbor.io_bytes, neighbor.write_percent)
            }),
            self.outliers.map(|outliers| wording::outliers(outliers.every_ios, outliers.span)),
            self.throttle
                .map(|throttle| wording::throttled(throttle.bytes_per_s, throttle.span, throttle.interval)),
        ];
        described.into_iter().flatten().collect()
    }
}

impl DriveFaults {
    /// Where an address is, and how many of the `length` bytes from it are contiguous there; it may not
    /// exist.
    pub(crate) fn locate(&self, address: u64, length: u64) -> (Option<u64>, u64) {
        let Some(real) = self.real_capacity_bytes else { return (Some(address), length) };
        let wrap = self.wrap_bytes.unwrap_or(real);
        let place = address % wrap;
        if place < real {
            (Some(place), length.min(real - place))
        } else {
            // What is nowhere is done in parts, too, as a stand-in for it has to fit into what is there.
            (None, length.min(wrap - place).min(real))
        }
    }
}

// A drive with faults: another mechanism, and what goes wrong between it and the host.
//
// The mechanism inside is unchanged and keeps its own time; faults change which of its addresses is meant,
// how an I/O ends, what it returns, and how much later. Retries of several I/Os come one after the other. An
// I/O that wraps around the end of the real capacity is done in parts, one after the other. A read takes the
// time of what is answered and never done (assumed: it crosses the link with as many bytes, and changes
// nothing), a flush that of a TRIM.

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
    counts: IoCounts,
    pub(crate) inner: Vec<u8>,
}

/// I/Os of the host until now, in what the drive was saved as before included.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct IoCounts {
    ios: u64,
    bytes_written: u64,
    writes: u64,
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
    counts: IoCounts,
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
            counts: saved.map_or_else(IoCounts::default, |saved| saved.counts),
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
        self.counts.bytes_written += u64::from(io.length);
        self.counts.writes += 1;
        self.requests[slot as usize].is_lost =
            self.parameters.lost_write_every.is_some_and(|every| self.counts.writes.is_multiple_of(every));
    }

    fn is_read_only(&self, io: &Io) -> bool {
        let writes = if io.op == Op::Write { u64::from(io.length) } else { 0 };
        self.parameters.read_only_after_bytes.is_some_and(|limit| self.counts.bytes_written + writes > limit)
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
    fn inside(&self) -> Option<&dyn Device> {
        Some(&*self.inner)
    }

    fn inside_mut(&mut self) -> Option<&mut dyn Device> {
        Some(&mut *self.inner)
    }

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        grow(&mut self.requests, count, Request::new(NO_IO));
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request::new(*io);
        self.counts.ios += 1;
        if let Some(stall) = self.parameters.stall
            && stall.every_ios.is_some_and(|every| self.counts.ios.is_multiple_of(every))
        {
            self.stalled_until = now + stall.span;
        }
        self.draw_outlier(io.slot.0);
        self.begin(io.slot.0, now);
    }

    fn next_at(&self) -> Option<Nanos> {
        earlier(self.inner.next_at(), self.events.next_at())
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
        to_bytes(&SavedState { counts: self.counts, inner: self.inner.save(now) })
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
        let host_bytes_written = host_bytes_written + self.bytes_lost;
        flash_counters(host_bytes_written, flash_bytes_programmed, erases, free_blocks, wear)
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
