//! A hard disk: link, firmware, caches, arm and platters. Open this to see how a disk serves a command; each
//! part has its own module.

pub mod arm;
mod cache;
mod destager;
pub mod shingles;

use std::collections::VecDeque;
use std::ops::{Range, RangeInclusive};

use likenew_core::counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO, SnapshotError, flash_counters, grow, to_bytes};
use crate::drive_file::parameters;
use crate::front::{Front, LinkParameters, PlainContents, Sectors};
use crate::timeline::{Timeline, times, transfer_time};
use crate::value::Value;
use crate::wording;
use arm::{Access, Arm, PlatterParameters, Platters, SeekCurve};
use cache::{ReadAhead, WriteCache};
use destager::{Aging, DestageDemand, Destager, DirectWrite, Work};
use shingles::{MediaCache, ShingleParameters};

/// The parameters of a hard disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskParameters {
    /// The link to the host.
    pub link: LinkParameters,
    /// Firmware time per command.
    pub command: Nanos,
    /// How much positioning time, in milliseconds, a second of waiting outweighs.
    pub aging_per_mille: u32,
    /// The platters.
    pub platters: PlatterParameters,
    /// Logical sectors in a physical one: 8 for 512 bytes in 4 KiB (512e), 1 where they are equal.
    pub physical_sectors: u64,
    /// Seek times before a read.
    pub read_seek: SeekTimes,
    /// Seek times before a write.
    pub write_seek: SeekTimes,
    /// Time to switch to another head in the same cylinder before a read.
    pub head_switch: Nanos,
    /// The memory for read-ahead and cached writes.
    pub cache: CacheParameters,
    /// How its tracks overlap, on a shingled disk.
    pub shingles: Option<ShingleParameters>,
}

/// Range of a part of the memory in bytes.
const MEMORY: RangeInclusive<u64> = 0..=1 << 32;

parameters! {
    /// The memory of a disk, and its use.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct CacheParameters {
        /// Bytes of memory that reads and writes share.
        pub memory_bytes: u64 = whole("memory_bytes", MEMORY) => ("memory", Value::Bytes),
        /// Bytes that a read reads ahead.
        pub segment_bytes: u64 = whole("segment_bytes", MEMORY) => ("read-ahead", Value::Bytes),
        /// Number of read-ahead segments that the disk keeps, memory permitting.
        pub segments: u32 = whole("segments", 1..=1024) => ("read-ahead segments", Value::Count),
        /// Bytes of the write cache; 0 if writes are not cached.
        pub write_cache_bytes: u64 = whole("write_cache_bytes", MEMORY) => ("write cache", Value::Bytes),
        /// The most extents (separate ranges) that the write cache holds.
        pub write_cache_extents: u32 = whole("write_cache_extents", 1..=65_536)
            => (wording::CACHED_WRITES_MAX, Value::Count),
    }
}

/// Seek times as data sheets give them, settling included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeekTimes {
    /// To the adjacent cylinder.
    pub track: Nanos,
    /// Mean over random pairs of positions.
    pub average: Nanos,
    /// From one edge to the other.
    pub full: Nanos,
}

impl DiskParameters {
    /// Checks that such a disk can be built.
    ///
    /// # Errors
    /// The parameters contradict each other.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.platters.check()?;
        self.seek_curves(Platters::new(self.platters).cylinders)?;
        let CacheParameters { memory_bytes, segment_bytes, write_cache_bytes, write_cache_extents, .. } =
            self.cache;
        let needed = segment_bytes.saturating_add(write_cache_bytes);
        if needed > memory_bytes {
            return Err(LayoutError::SmallMemory { memory: memory_bytes, needed });
        }
        match &self.shingles {
            Some(shingles) => {
                shingles.check(self.platters.sector_bytes, write_cache_bytes, write_cache_extents)
            }
            None => Ok(()),
        }
    }

    /// Time to switch to another head before a write. A write settles longer: as much as its track seek
    /// exceeds a read's.
    pub fn write_head_switch(&self) -> Nanos {
        self.head_switch + self.write_seek.track.since(self.read_seek.track)
    }

    /// Extra time of a write that covers some physical sectors only in part. The disk first reads them and
    /// waits a revolution until they come round again. A write shorter than a track reads both of its ends in
    /// one pass. A shingled disk needs no extra time because it gathers writes first.
    fn completing(&self, sectors: &Range<u64>) -> Nanos {
        let parts =
            [sectors.start, sectors.end].into_iter().filter(|end| !end.is_multiple_of(self.physical_sectors));
        let turns = match (self.shingles, parts.count()) {
            (Some(_), _) | (_, 0) => 0,
            (None, parts) if self.transfer_of(sectors) > self.platters.revolution => parts as u32,
            _ => 1,
        };
        times(self.platters.revolution, turns)
    }

    fn transfer_of(&self, sectors: &Range<u64>) -> Nanos {
        let bytes = (sectors.end - sectors.start) * u64::from(self.platters.sector_bytes);
        transfer_time(bytes, self.platters.outer_bytes_per_s)
    }

    /// The same disk with its write cache off.
    pub(crate) fn without_write_cache(self) -> Self {
        Self { cache: CacheParameters { write_cache_bytes: 0, ..self.cache }, ..self }
    }

    fn seek_curves(&self, cylinders: u32) -> Result<(SeekCurve, SeekCurve), LayoutError> {
        let curve = |times: SeekTimes| SeekCurve::new(cylinders, times.track, times.average, times.full);
        Ok((curve(self.read_seek)?, curve(self.write_seek)?))
    }
}

/// Why parameters do not fit together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the sentence of each variant explains its fields")]
pub enum LayoutError {
    #[error(
        "{sectors} sectors at these rates and heads need {cylinders} cylinders: at most {most} are supported"
    )]
    TooManyCylinders { sectors: u64, cylinders: u64, most: u64 },
    #[error(
        "no seek curve rises from {track} for a track over {average} on average to {full} for the full stroke"
    )]
    SeekCurve { track: Nanos, average: Nanos, full: Nanos },
    #[error(
        "cache.memory_bytes is {memory}: it has to hold write_cache_bytes and one segment, {needed} together"
    )]
    SmallMemory { memory: u64, needed: u64 },
    #[error("shingles.append_bytes_max is above band_bytes, {band}")]
    LongAppends { band: u64 },
    #[error("shingles.media_cache_bytes has to hold two appends of {append} bytes")]
    SmallMediaCache { append: u64 },
    #[error(
        "cache.write_cache_bytes is {write_cache}: it has to hold two bands of {band} bytes, one to fill while another is written"
    )]
    SmallWriteCache { write_cache: u64, band: u64 },
    #[error("shingles.map_entries is {entries}: at least four times cache.write_cache_extents, {extents}")]
    SmallMap { entries: u32, extents: u32 },
}

// How the parts work together.
//
// A command waits for a slot of the link, then for the firmware. Reads that miss all caches, and writes that
// are not cached, wait for the arm. The arm serves the request with the shortest positioning time, rotation
// included, less a credit for its wait. Cached writes go to the platters while no request waits for the arm.
// They compete with waiting requests when the cache is full or a flush waits.

#[derive(Clone, Copy)]
enum Event {
    /// The firmware has decoded the command in this slot.
    Command(u32),
    /// This many more sectors of the write in this slot have reached the write cache.
    Arrived(u32, u64),
    /// The arm has finished its job.
    ArmDone,
    /// Enough time has passed for the arm to have new work.
    Poll,
    /// The I/O in this slot ends.
    Complete(u32),
}

/// A hard disk in virtual time.
pub(crate) struct DiskDrive {
    parameters: DiskParameters,
    front: Front<Event>,
    firmware: Timeline,
    aging: Aging,
    arm: Arm,
    read_ahead: ReadAhead,
    destager: Destager,
    /// By slot.
    requests: Vec<Request>,
    /// Slots that wait for the arm.
    pending: Vec<u32>,
    /// Slots of writes that wait for space in the cache.
    blocked: VecDeque<u32>,
    /// Flushes, each with the [mark](WriteCache::mark) up to which the cache must be written.
    flushes: VecDeque<(u32, u64)>,
    job: Option<Job>,
    contents: Option<PlainContents>,
    /// When the next [`Event::Poll`] is due.
    next_poll: Option<Nanos>,
}

/// The slot of a flush that the disk itself started to settle.
const RESTING: u32 = u32::MAX;

impl DiskDrive {
    /// A new disk with checked parameters.
    pub(crate) fn new(parameters: DiskParameters) -> Self {
        let segment = parameters.cache.segment_bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            front: Front::new(parameters.link),
            firmware: Timeline::default(),
            aging: Aging::new(parameters.aging_per_mille),
            arm: Arm::new(&parameters),
            read_ahead: ReadAhead::new(parameters.cache.segments, segment),
            destager: Destager::new(&parameters),
            requests: Vec::new(),
            pending: Vec::new(),
            blocked: VecDeque::new(),
            flushes: VecDeque::new(),
            job: None,
            contents: None,
            next_poll: None,
            parameters,
        }
    }

    /// Restores a [saved](Device::save) disk.
    ///
    /// # Errors
    /// The bytes are not the state of such a disk.
    pub(crate) fn restore(parameters: DiskParameters, state: &[u8]) -> Result<Self, SnapshotError> {
        let (contents, media_cache): (Option<Sectors>, Option<MediaCache>) = postcard::from_bytes(state)?;
        let mut disk = Self::new(parameters);
        if let Some(sectors) = contents {
            disk.keep_data();
            disk.contents.as_mut().expect("it keeps bytes").sectors = sectors;
        }
        if let (Some(shingles), Some(cache)) = (&mut disk.destager.shingles, media_cache) {
            // Cleaning of a band starts over.
            shingles.cache = cache;
        }
        Ok(disk)
    }

    /// The translation layer of a shingled disk, to write its history to.
    pub(crate) fn shingles_mut(&mut self) -> Option<&mut shingles::Shingles> {
        self.destager.shingles.as_mut()
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        self.requests[slot as usize].started_at = now;
        let at = self.firmware.reserve(now, self.parameters.command);
        self.front.events.push(at, Event::Command(slot));
    }

    fn handle_event(&mut self, event: Event, now: Nanos, done: &mut Vec<Completion>) {
        match event {
            Event::Command(slot) => self.command(slot, now),
            Event::Arrived(slot, sectors) => self.arrive(slot, sectors, now),
            Event::ArmDone => self.arm_done(now),
            Event::Poll => {
                self.next_poll.take_if(|at| *at <= now);
                self.dispatch(now);
            }
            Event::Complete(slot) => {
                if let Some(next) = self.front.end(slot, Outcome::Done, now, done) {
                    self.begin(next, now);
                } else if self.front.is_quiet() {
                    self.dispatch(now);
                }
            }
        }
    }

    fn command(&mut self, slot: u32, now: Nanos) {
        let request = &mut self.requests[slot as usize];
        (request.data_from, request.data_until) = (now, now);
        let sectors = request.remaining.clone();
        match request.io.op {
            Op::Read if self.destager.cache.as_ref().is_some_and(|cache| cache.holds(&sectors)) => {
                self.reply(slot, now);
            }
            Op::Read => self.pending.push(slot),
            // A write with FUA bypasses the cache and goes straight to the platters.
            Op::Write if self.destager.cache.is_some() && request.io.sync.is_none() => {
                self.blocked.push_back(slot);
                self.admit(now);
            }
            Op::Write => {
                if let Some(cache) = &mut self.destager.cache {
                    cache.forget(&sectors);
                }
                // The write already waits for the arm while its data arrives.
                request.data_until = self.front.link.send_to_drive(now, u64::from(request.io.length));
                self.pending.push(slot);
            }
            Op::Trim => self.front.events.push(now, Event::Complete(slot)),
            Op::Flush => {
                let mark = self.destager.cache.as_ref().map_or(0, WriteCache::mark);
                self.flushes.push_back((slot, mark));
                self.end_flushes(now);
            }
        }
        self.dispatch(now);
    }

    /// Lets writes send their data in order of arrival, as long as the cache has space.
    fn admit(&mut self, now: Nanos) {
        let sector = u64::from(self.parameters.platters.sector_bytes);
        while let Some(&slot) = self.blocked.front() {
            let request = &mut self.requests[slot as usize];
            let cache = self.destager.cache.as_mut().expect("only a cache blocks a write");
            let part = cache.first_part(&request.remaining);
            if !cache.reserve(&part) {
                return;
            }
            let (sectors, used) = (part.end - part.start, cache.sectors);
            if request.advance(sectors) {
                self.blocked.pop_front();
            }
            self.read_ahead.fit(self.parameters.cache.memory_bytes / sector - used);
            let at = self.front.link.send_to_drive(now, sectors * sector);
            self.front.events.push(at, Event::Arrived(slot, sectors));
        }
    }

    fn arrive(&mut self, slot: u32, sectors: u64, now: Nanos) {
        let request = &mut self.requests[slot as usize];
        let start = request.arrived;
        request.arrived += sectors;
        if request.arrived == request.remaining.end {
            self.front.events.push(now, Event::Complete(slot));
        }
        let cache = self.destager.cache.as_mut().expect("it was let into the cache");
        cache.put(start..start + sectors, now);
        self.dispatch(now);
    }

    /// Sends the data of a read to the host. It has been arriving since `data_from` and is complete now.
    fn reply(&mut self, slot: u32, now: Nanos) {
        let Request { io, data_from, .. } = self.requests[slot as usize];
        let span = transfer_time(u64::from(io.length), self.parameters.link.bytes_per_s);
        let from = now.since(span).max(data_from);
        let at = self.front.link.send_to_host(from, u64::from(io.length)).max(now);
        self.front.events.push(at, Event::Complete(slot));
    }

    /// Answers reads from memory, and gives the arm its next job if it is free.
    fn dispatch(&mut self, now: Nanos) {
        self.serve_from_memory(now);
        if self.job.is_some() {
            return;
        }
        let request = self.best_request(now);
        let need = self.need(request.is_some(), now);
        let destages = self.pending.is_empty() || need.is_pressing();
        let work = if destages { self.destager.best(&need, &self.arm, now) } else { None };
        match (request, work) {
            (Some((cost, _)), Some(work)) if work.cost < cost => self.destage(work, now),
            (Some((_, index)), _) => self.serve(index, now),
            (None, Some(work)) => self.destage(work, now),
            (None, None) => self.schedule_poll(now),
        }
    }

    /// Answers reads whose sectors are in the read-ahead memory.
    fn serve_from_memory(&mut self, now: Nanos) {
        let mut index = 0;
        while index < self.pending.len() {
            let slot = self.pending[index];
            let request = &self.requests[slot as usize];
            let (count, physical) = self.destager.locate(&request.remaining);
            let held = request.io.op == Op::Read && self.read_ahead.holds(&physical, now, &self.arm.platters);
            if !held {
                index += 1;
                continue;
            }
            self.read_ahead.on_taken(&physical, now, &self.arm.platters);
            if self.requests[slot as usize].advance(count) {
                self.pending.remove(index);
                self.reply(slot, now);
            }
        }
    }

    /// The request to serve next, as its effective positioning time and its index in `pending`.
    fn best_request(&self, now: Nanos) -> Option<(i64, usize)> {
        let costs = self.pending.iter().enumerate().filter_map(|(index, slot)| {
            let request = &self.requests[*slot as usize];
            let positioning = if request.io.op == Op::Read {
                let (_, physical) = self.destager.locate(&request.remaining);
                let follow = self.read_ahead.follow(&physical, now, &self.arm.platters);
                let seek = || self.arm.positioning(physical.start, Access::Read, now);
                follow.map_or_else(seek, |follow| follow.wait)
            } else {
                let direct = self.destager.direct(&request.remaining)?;
                self.arm.positioning(direct.physical.start, Access::Write, now)
            };
            Some((self.aging.cost(positioning, now.since(request.started_at)), index))
        });
        costs.min()
    }

    fn need(&self, served: bool, now: Nanos) -> DestageDemand {
        let waiting = self.blocked.front().into_iter().chain(self.flushes.front().map(|(slot, _)| slot));
        DestageDemand {
            // A flush of the disk's own counts as waiting since time 0.
            waiting_since: waiting
                .map(|slot| {
                    self.requests.get(*slot as usize).map_or(Nanos::ZERO, |request| request.started_at)
                })
                .min(),
            no_room: !served && !self.pending.is_empty(),
            idle: self.cleans_at().is_some_and(|at| at <= now),
        }
    }

    /// When a disk that stays idle starts to clean.
    fn cleans_at(&self) -> Option<Nanos> {
        let after = self.destager.cleans_after().filter(|_| self.front.is_quiet())?;
        Some(self.front.quiet_since + after)
    }

    /// Schedules a poll for the moment at which the arm may get work without any other event.
    fn schedule_poll(&mut self, now: Nanos) {
        let times = [self.destager.next_poll(), self.cleans_at()].into_iter().flatten();
        let next = times.filter(|at| *at > now).min();
        if let Some(at) = next.filter(|at| self.next_poll.is_none_or(|next_poll| *at < next_poll)) {
            self.next_poll = Some(at);
            self.front.events.push(at, Event::Poll);
        }
    }

    /// Starts the arm on a request.
    fn serve(&mut self, index: usize, now: Nanos) {
        let slot = self.pending.remove(index);
        let Request { io, data_until, remaining, .. } = self.requests[slot as usize].clone();
        if io.op == Op::Write {
            let direct = self.destager.direct(&remaining).expect("it was found to have room");
            let until = self.go(&direct.physical, Access::Write, now).1.max(data_until);
            return self.set_to(Job::Write(slot, direct), until);
        }
        let (_, physical) = self.destager.locate(&remaining);
        let (from, until) = match self.read_ahead.follow(&physical, now, &self.arm.platters) {
            Some(follow) => {
                self.arm.move_to(physical.end);
                (now, follow.until)
            }
            None => self.go(&physical, Access::Read, now),
        };
        self.requests[slot as usize].data_from = from;
        self.set_to(Job::Read(slot, physical), until);
    }

    fn destage(&mut self, work: Work, now: Nanos) {
        self.destager.begin(&work);
        let until = self.go(&work.physical, work.access, now).1;
        self.set_to(Job::Destage(work), until);
    }

    fn set_to(&mut self, job: Job, until: Nanos) {
        self.front.events.push(until, Event::ArmDone);
        self.job = Some(job);
    }

    /// Moves the arm and returns when the transfer starts and ends.
    fn go(&mut self, physical: &Range<u64>, access: Access, now: Nanos) -> (Nanos, Nanos) {
        self.read_ahead.stop(now, &self.arm.platters);
        if access == Access::Write {
            self.read_ahead.forget(physical);
        }
        let (from, until) = self.arm.transfer(physical, access, now);
        match access {
            Access::Read => (from, until),
            Access::Write => (from, until + self.parameters.completing(physical)),
        }
    }

    fn arm_done(&mut self, now: Nanos) {
        match self.job.take().expect("an arm that is done had a job") {
            Job::Read(slot, physical) => {
                self.read_ahead.start(&physical, now, &self.arm.platters);
                let memory =
                    self.parameters.cache.memory_bytes / u64::from(self.parameters.platters.sector_bytes);
                self.read_ahead.fit(memory - self.destager.cache.as_ref().map_or(0, |cache| cache.sectors));
                if self.is_over(slot, physical.end - physical.start) {
                    self.reply(slot, now);
                }
            }
            Job::Write(slot, direct) => {
                self.destager.direct_done(&direct);
                if self.is_over(slot, direct.logical.end - direct.logical.start) {
                    self.front.events.push(now, Event::Complete(slot));
                }
            }
            Job::Destage(work) => {
                self.destager.end(&work);
                self.end_flushes(now);
                self.admit(now);
            }
        }
        self.dispatch(now);
    }

    /// Whether the part that the arm has just done completes its request. If not, the request waits for the arm again.
    fn is_over(&mut self, slot: u32, sectors: u64) -> bool {
        let over = self.requests[slot as usize].advance(sectors);
        if !over {
            self.pending.push(slot);
        }
        over
    }

    fn end_flushes(&mut self, now: Nanos) {
        let cache = self.destager.cache.as_ref();
        let over = |mark: u64| cache.is_none_or(|cache| cache.is_flushed(mark));
        while let Some((slot, _)) = self.flushes.pop_front_if(|(_, mark)| over(*mark)) {
            if slot != RESTING {
                self.front.events.push(now, Event::Complete(slot));
            }
        }
    }
}

impl Device for DiskDrive {
    fn announce_slots(&mut self, count: u32) {
        let empty = Request::new(NO_IO, self.parameters.platters.sector_bytes, Nanos::ZERO);
        grow(&mut self.requests, count, empty);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request::new(*io, self.parameters.platters.sector_bytes, now);
        if let Some(contents) = &mut self.contents {
            contents.serve(io);
        }
        if self.front.accept(io) {
            self.begin(io.slot.0, now);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        self.front.events.next_at()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let (now, event) = self.front.events.pop().expect("a drive steps only when something is to happen");
        self.handle_event(event, now, done);
    }

    fn keeps_data(&self) -> bool {
        self.contents.is_some()
    }

    fn keep_data(&mut self) {
        self.contents = Some(PlainContents::new(self.parameters.platters.sector_bytes));
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.contents.as_mut().expect("the drive was asked to keep data").request(slot)
    }

    fn settle(&mut self, now: Nanos) -> Nanos {
        let mark = self.destager.cache.as_ref().map_or(0, WriteCache::mark);
        self.flushes.push_back((RESTING, mark));
        let (mut done, mut at_rest) = (Vec::new(), now);
        self.end_flushes(now);
        self.dispatch(now);
        while !self.flushes.is_empty() {
            at_rest = self.next_at().expect("an arm that writes comes to an end");
            self.step(&mut done);
        }
        assert!(done.is_empty(), "nothing is in flight");
        at_rest
    }

    fn save(&self, _now: Nanos) -> Vec<u8> {
        let contents = self.contents.as_ref().map(|contents| &contents.sectors);
        to_bytes(&(contents, self.destager.shingles.as_ref().map(|shingles| &shingles.cache)))
    }

    fn flash_counters(&self) -> FlashCounters {
        let sector = u64::from(self.parameters.platters.sector_bytes);
        flash_counters(
            self.front.host_bytes_written,
            self.destager.media_sectors_written * sector,
            0,
            0,
            None,
        )
    }
}

/// The arm's current job.
enum Job {
    /// Reads these physical sectors, the first that remain of the read in this slot.
    Read(u32, Range<u64>),
    /// Writes the first part that remains of the write in this slot.
    Write(u32, DirectWrite),
    /// Writes cached data to the platters, or cleans.
    Destage(Work),
}

/// An accepted I/O.
#[derive(Clone)]
struct Request {
    io: Io,
    /// When it left the host's queue for the drive.
    started_at: Nanos,
    /// When its data starts to be available.
    data_from: Nanos,
    /// When all data of a write is in the drive.
    data_until: Nanos,
    /// Sectors that the arm has not yet read or written, and that the write cache has not admitted.
    remaining: Range<u64>,
    /// End of the part of a cached write whose data has arrived.
    arrived: u64,
}

impl Request {
    fn new(io: Io, sector_bytes: u32, now: Nanos) -> Self {
        let sector = u64::from(sector_bytes);
        let remaining = io.offset / sector..(io.offset + u64::from(io.length)) / sector;
        Self { io, started_at: now, data_from: now, data_until: now, arrived: remaining.start, remaining }
    }

    /// Marks the first `count` remaining sectors as done; returns whether none remain.
    fn advance(&mut self, count: u64) -> bool {
        self.remaining.start += count;
        self.remaining.is_empty()
    }
}
