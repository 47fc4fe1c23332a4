//! Faults of a drive, as a layer around any mechanism: counterfeit capacity, bad sectors, stalls, lost TRIM and others.

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
use strum::{EnumString, VariantNames};

use crate::device::{
    Device, MEDIUM_ERROR, NO_IO, SavedLayer, SelfCounts, flash_counters, grow, to_bytes, wraps,
};
use crate::drive_file::{ANY_COUNT, ANY_TIME, RATE, parameters};
use crate::timeline::{EventQueue, Timeline, times, transfer_time};

/// The faults of a drive. Addresses are those of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DriveFaults {
    /// The capacity that really exists, if the drive is counterfeit.
    pub real_capacity_bytes: Option<u64>,
    /// Addresses wrap around at this many bytes. Those beyond the real capacity do not exist: writes to them
    /// are dropped, and reads return zeros. The tool f3 calls a counterfeit drive *wraparound* if this is
    /// absent or the real capacity. If it is the reported capacity, f3 calls the drive *limbo*, and in
    /// between *chain*.
    pub wrap_bytes: Option<u64>,
    /// Sectors in these ranges read with flipped bits, always the same ones, and without an error.
    pub flipped: Vec<Range<u64>>,
    /// Number of bits flipped in each sector of `flipped`.
    pub flipped_bits: u32,
    /// Every n-th write is acknowledged but not executed.
    pub lost_write_every: Option<u64>,
    /// Reads that touch these ranges fail with a medium error after all retries.
    pub unreadable: Vec<Range<u64>>,
    /// Reads that touch these ranges take 1 to `retries_max` retries, each number equally likely.
    pub slow: Vec<Range<u64>>,
    /// Time of one retry.
    pub retry: Nanos,
    /// Retries before the drive gives up.
    pub retries_max: u32,
    /// After this many bytes written, writes and TRIM fail with a medium error.
    pub read_only_after_bytes: Option<u64>,
    /// When the whole drive stalls.
    pub stall: Option<StallParameters>,
    /// How TRIM fails between the host and the drive.
    pub trim: Option<TrimDefect>,
    /// I/O of another program.
    pub neighbor: Option<NeighborParameters>,
    /// Single I/Os with a long latency.
    pub outliers: Option<OutlierParameters>,
    /// When the drive is throttled.
    pub throttle: Option<ThrottleParameters>,
}

/// Another program's I/Os on the same drive, at random times and places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighborParameters {
    /// Mean rate in IOPS.
    pub ios_per_s: u32,
    /// Bytes per I/O.
    pub io_bytes: u32,
    /// Percentage of writes.
    pub write_percent: u32,
}

parameters! {
    /// Single I/Os that end late; the drive serves others in the meantime.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct OutlierParameters {
        /// One I/O out of this many is late, at random.
        pub every_ios: u64 = whole("outlier_every_ios", ANY_COUNT),
        /// How much later it ends.
        pub span: Nanos = time("outlier_ns", ANY_TIME),
    }
}

parameters! {
    /// Periodic throttling, as of a drive that is too hot.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct ThrottleParameters {
        /// The drive is throttled before each multiple of this time …
        pub interval: Nanos = time("throttle_every_ns", ANY_TIME),
        /// … for this long …
        pub span: Nanos = time("throttle_ns", ANY_TIME),
        /// … to this many bytes per second.
        pub bytes_per_s: u64 = whole("throttled_bytes_per_s", RATE),
    }
}

impl ThrottleParameters {
    /// Whether the drive is throttled at `now`.
    pub(crate) fn is_on(&self, now: Nanos) -> bool {
        self.interval.0 - now.0 % self.interval.0 <= self.span.0
    }

    /// How often the drive was throttled until `now`, and for how long in total.
    pub(crate) fn until(&self, now: Nanos) -> (u64, Nanos) {
        let (times, within) = (now.0 / self.interval.0, now.0 % self.interval.0);
        let quiet = self.interval.0 - self.span.0;
        (times + u64::from(within > quiet), Nanos(times * self.span.0 + within.saturating_sub(quiet)))
    }
}

/// What a bridge between host and drive does to TRIM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum TrimDefect {
    /// Hides it, so that the host sends none.
    Hidden,
    /// Announces it and acknowledges it, but passes nothing on.
    Dropped,
}

/// When a drive stalls: it accepts and answers nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StallParameters {
    /// After every this many I/Os.
    pub every_ios: Option<u64>,
    /// At every multiple of this time.
    pub interval: Option<Nanos>,
    /// How long a stall lasts.
    pub span: Nanos,
}

impl DriveFaults {
    /// Whether reads may return other bytes than were written, so that bytes must pass through this layer.
    pub fn change_bytes(&self) -> bool {
        self.real_capacity_bytes.is_some() || !self.flipped.is_empty() || self.lost_write_every.is_some()
    }

    /// The faults as names and values for people.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let (retry, retries) = (self.retry, self.retries_max);
        let [flipped, unreadable, slow] =
            [&self.flipped, &self.unreadable, &self.slow].map(|ranges| wording::place(ranges));
        let real = self.real_capacity_bytes;
        let described = [
            ("real capacity", real.map(|real| wording::real_capacity(real, self.wrap_bytes))),
            ("flipped bits", flipped.map(|place| wording::flipped(place, self.flipped_bits))),
            ("lost writes", self.lost_write_every.map(wording::lost_writes)),
            ("unreadable", unreadable.map(|place| wording::unreadable(place, retries, retry))),
            ("slow region", slow.map(|place| wording::slow(place, retries, retry))),
            ("read-only", self.read_only_after_bytes.map(wording::read_only)),
            ("stalls", self.stall.map(wording::stalls)),
            ("bridge", self.trim.map(wording::trim_defect)),
            ("other I/O", self.neighbor.map(wording::neighbor)),
            ("outliers", self.outliers.map(wording::outliers)),
            ("throttling", self.throttle.map(wording::throttled)),
        ];
        described.into_iter().filter_map(|(name, what)| Some((name, what?))).collect()
    }
}

impl DriveFaults {
    /// Where a host address really is, or `None` if it does not exist, and how many of the `length` bytes
    /// from it are contiguous there.
    pub(crate) fn locate(&self, address: u64, length: u64) -> (Option<u64>, u64) {
        let Some(real) = self.real_capacity_bytes else { return (Some(address), length) };
        let wrap = self.wrap_bytes.unwrap_or(real);
        let place = address % wrap;
        if place < real {
            (Some(place), length.min(real - place))
        } else {
            // A nonexistent range is cut as well, so that its stand-in fits into the real capacity.
            (None, length.min(wrap - place).min(real))
        }
    }
}

// A drive with faults: any mechanism, and what goes wrong between it and the host.
//
// The mechanism is unchanged and keeps its own time. Faults change the address of an I/O, its outcome, its
// data and its latency. Retries of several I/Os take place one after the other. An I/O that wraps around the
// end of the real capacity is split into parts, also one after the other. An I/O that is acknowledged but not
// executed takes the time of a read (assumed: the same bytes cross the link and nothing changes); a TRIM
// takes that of a flush.

/// Drives with the same faults have them at the same I/Os.
const SEED: u64 = 1;

/// How long a read-only drive takes to refuse a write, and a bridge to acknowledge a dropped TRIM (assumed: a
/// command without data).
const REFUSAL: Nanos = Nanos::from_micros(100);

#[derive(Clone, Copy)]
enum Event {
    /// The stall during which the I/O in this slot came is over.
    Begin(u32),
    /// The I/O in this slot ends, unless the drive is stalled by then.
    End(u32, Outcome),
}

/// An accepted I/O.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Bytes that have not been passed to the mechanism.
    remaining: u32,
    retries: u32,
    /// Extra latency of an outlier.
    delay: Nanos,
    outcome: Outcome,
    /// Whether the write is acknowledged without being executed.
    is_lost: bool,
    /// Whether the part now in the mechanism stands in for a nonexistent range.
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

/// I/Os of the host so far, those before the drive was last saved included.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct IoCounts {
    ios: u64,
    bytes_written: u64,
    writes: u64,
}

/// A drive with faults.
pub(crate) struct FaultyDevice {
    parameters: DriveFaults,
    inner: Box<dyn Device>,
    events: EventQueue<Event>,
    /// By slot.
    requests: Vec<Request>,
    /// Buffers of the host's I/Os, by slot, if the mechanism keeps data.
    data: Vec<Vec<u8>>,
    random: Xoshiro256PlusPlus,
    retrying: Timeline,
    /// The data path of a throttled drive.
    throttled: Timeline,
    counts: IoCounts,
    /// Bytes of writes that were not executed, since the drive was opened.
    bytes_lost: u64,
    media_errors: u64,
    /// End of the last stall that came after a number of I/Os.
    stalled_until: Nanos,
}

impl FaultyDevice {
    /// Wraps a mechanism, which has the real capacity if the faults include one.
    pub(crate) fn new(parameters: DriveFaults, inner: Box<dyn Device>, saved: Option<IoCounts>) -> Self {
        Self {
            parameters,
            inner,
            events: EventQueue::new(),
            requests: Vec::new(),
            data: Vec::new(),
            random: Xoshiro256PlusPlus::seed_from_u64(SEED),
            retrying: Timeline::default(),
            throttled: Timeline::default(),
            counts: saved.unwrap_or_default(),
            bytes_lost: 0,
            media_errors: 0,
            stalled_until: Nanos::ZERO,
        }
    }

    /// When the present stall ends, if the drive is stalled.
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

    /// Passes the next contiguous part of an I/O to the mechanism.
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

    /// Decides at random whether an I/O is an outlier.
    fn draw_outlier(&mut self, slot: u32) {
        if let Some(outliers) = self.parameters.outliers
            && self.random.random_range(0..outliers.every_ios) == 0
        {
            self.requests[slot as usize].delay = outliers.span;
        }
    }

    /// Flips bits in the data of a read, always the same bits of a sector.
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

    /// Ends an I/O, now or when a stall is over.
    fn end(&mut self, slot: u32, outcome: Outcome, now: Nanos) -> Option<Completion> {
        let Some(end) = self.stall_end(now) else {
            return Some(Completion { slot: Slot(slot), at: now, outcome });
        };
        self.events.push(end, Event::End(slot, outcome));
        None
    }
}

impl Device for FaultyDevice {
    wraps!(inner);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        grow(&mut self.requests, count, Request::new(NO_IO));
        grow(&mut self.data, count, Vec::new());
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

    fn own_next_at(&self) -> Option<Nanos> {
        self.events.next_at()
    }

    fn own_step(&mut self) -> Option<Completion> {
        match self.events.pop()? {
            (now, Event::End(slot, outcome)) => self.end(slot, outcome, now),
            (now, Event::Begin(slot)) => {
                self.begin(slot, now);
                None
            }
        }
    }

    /// Takes a part of an I/O, and passes the next one on.
    fn pass_on(&mut self, part: Completion) -> Option<Completion> {
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
            self.enqueue(slot, at);
            return None;
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
            return None;
        }
        self.end(slot, outcome, at)
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        to_bytes(&SavedLayer { layer: self.counts, inner: self.inner.save(now) })
    }

    /// A throttled drive reports that whatever the cause.
    fn self_counts(&self, now: Nanos) -> SelfCounts {
        let inner = self.inner.self_counts(now);
        let throttled = self.parameters.throttle.map(|throttle| throttle.until(now)).or(inner.throttled);
        SelfCounts { throttled, media_errors: inner.media_errors + self.media_errors, ..inner }
    }

    /// The mechanism's counters, plus the host's writes that never reached it.
    fn flash_counters(&self) -> FlashCounters {
        let FlashCounters { host_bytes_written, flash_bytes_programmed, erases, free_blocks, wear, .. } =
            self.inner.flash_counters();
        let host_bytes_written = host_bytes_written + self.bytes_lost;
        flash_counters(host_bytes_written, flash_bytes_programmed, erases, free_blocks, wear)
    }
}

/// The I/O that the mechanism does instead of one that is not executed.
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
