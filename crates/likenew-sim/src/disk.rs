//! A hard disk, layer by layer.

pub mod arm;
mod cache;
mod destager;
pub mod shingles;

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO, SnapshotError, flash_counters, grow, to_bytes};
use crate::front::{Front, LinkParameters, PlainContents, Sectors};
use crate::timeline::{Timeline, times, transfer_time};
use arm::{Access, Arm, PlatterParameters, Platters, SeekCurve};
use cache::{ReadAhead, WriteCache};
use destager::{Aging, DestageDemand, Destager, DirectWrite, Work};
use shingles::{MediaCache, ShingleParameters};

/// The parameters of a hard disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskParameters {
    /// The cable.
    pub link: LinkParameters,
    /// Firmware time of one command.
    pub command: Nanos,
    /// Milliseconds of positioning that a second of waiting outweighs.
    pub aging_per_mille: u32,
    /// The platters.
    pub platters: PlatterParameters,
    /// Sectors of the host in one of the platters: 8 of 512 bytes in 4 KiB (512e), 1 where they are the same.
    pub physical_sectors: u64,
    /// Seeks before a read.
    pub read_seek: SeekTimes,
    /// Seeks before a write.
    pub write_seek: SeekTimes,
    /// Change to another head of the cylinder before a read.
    pub head_switch: Nanos,
    /// Bytes of memory for reads and writes together.
    pub memory_bytes: u64,
    /// Bytes that are read ahead.
    pub segment_bytes: u64,
    /// Places whose read-ahead is kept, while memory lasts.
    pub segments: u32,
    /// Bytes of writes that are cached; 0 if writes are not cached.
    pub write_cache_bytes: u64,
    /// Separate writes that are cached.
    pub write_cache_extents: u32,
    /// How its tracks overlap, if they do.
    pub shingles: Option<ShingleParameters>,
}

/// Seek times as data sheets give them, settling included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekTimes {
    /// To the next cylinder.
    pub track: Nanos,
    /// Mean over random pairs of places.
    pub average: Nanos,
    /// From edge to edge.
    pub full: Nanos,
}

impl DiskParameters {
    /// Whether such a disk can be built.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.platters.check()?;
        self.seek_curves(Platters::new(self.platters).cylinders())?;
        let needed = self.segment_bytes.saturating_add(self.write_cache_bytes);
        if needed > self.memory_bytes {
            return Err(LayoutError::SmallMemory { memory: self.memory_bytes, needed });
        }
        match &self.shingles {
            Some(shingles) => {
                shingles.check(self.platters.sector_bytes, self.write_cache_bytes, self.write_cache_extents)
            }
            None => Ok(()),
        }
    }

    /// Change to another head of the cylinder before a write: as much longer as a seek to the next track is.
    pub fn write_head_switch(&self) -> Nanos {
        self.head_switch + self.write_seek.track.since(self.read_seek.track)
    }

    /// What it takes to write sectors that fill some sectors of the platters only in part: those are read
    /// first, and come by again a turn later. Both ends of what is shorter than a track are read in the same
    /// pass. A shingled disk gathers them before.
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

    /// The disk with its write cache off.
    pub(crate) fn without_write_cache(self) -> Self {
        Self { write_cache_bytes: 0, ..self }
    }

    fn seek_curves(&self, cylinders: u32) -> Result<(SeekCurve, SeekCurve), LayoutError> {
        let curve = |times: SeekTimes| SeekCurve::new(cylinders, times.track, times.average, times.full);
        Ok((curve(self.read_seek)?, curve(self.write_seek)?))
    }
}

/// What does not fit.
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

// A hard disk: link, firmware, caches, arm and platters, put together.
//
// A command waits for a slot of the link, then for the firmware. Reads that no memory holds, and writes that
// are not cached, wait for the arm. It goes where it can start soonest, rotation included, less a credit for
// having waited. Cached writes go to the platters while no command waits for the arm, and compete with
// waiting ones when the cache is full or a flush waits.

#[derive(Clone, Copy)]
enum Event {
    /// The firmware has decoded the command in this slot.
    Command(u32),
    /// So many sectors more of the write in this slot are in the write cache.
    Arrived(u32, u64),
    /// The arm has done its job.
    ArmDone,
    /// Time has passed that makes a difference to what the arm does.
    Poll,
    /// The I/O in this slot ends.
    Complete(u32),
}

/// The drive.
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
    /// Waiting for the arm.
    pending: Vec<u32>,
    /// Writes that wait for space in the cache.
    blocked: VecDeque<u32>,
    /// Flushes that wait for the cache to be destaged up to a mark.
    flushes: VecDeque<(u32, u64)>,
    job: Option<Job>,
    contents: Option<PlainContents>,
    /// When the next check is due.
    next_poll: Option<Nanos>,
}

/// Stands for the slot of a flush that no host asked for.
const RESTING: u32 = u32::MAX;

impl DiskDrive {
    /// A disk; its parameters have been checked.
    pub(crate) fn new(parameters: DiskParameters) -> Self {
        let segment = parameters.segment_bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            front: Front::new(parameters.link),
            firmware: Timeline::default(),
            aging: Aging::new(parameters.aging_per_mille),
            arm: Arm::new(&parameters),
            read_ahead: ReadAhead::new(parameters.segments, segment),
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

    /// A disk as it was when it was [saved](Device::save).
    ///
    /// # Errors
    /// These bytes are not such a disk.
    pub(crate) fn restore(parameters: DiskParameters, state: &[u8]) -> Result<Self, SnapshotError> {
        let (contents, media_cache): (Option<Sectors>, Option<MediaCache>) = postcard::from_bytes(state)?;
        let mut disk = Self::new(parameters);
        if let Some(sectors) = contents {
            disk.keep_data();
            disk.contents.as_mut().expect("it keeps bytes").restore(sectors);
        }
        if let (Some(shingles), Some(cache)) = (&mut disk.destager.shingles, media_cache) {
            // A band that was being cleaned is cleaned again.
            shingles.cache = cache;
        }
        Ok(disk)
    }

    /// The translation layer of a shingled disk, to give it a past.
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
            // A write with FUA goes to the platters itself, past what waits in the cache.
            Op::Write if self.destager.cache.is_some() && request.io.sync.is_none() => {
                self.blocked.push_back(slot);
                self.admit(now);
            }
            Op::Write => {
                if let Some(cache) = &mut self.destager.cache {
                    cache.forget(&sectors);
                }
                // It waits for the arm while its data flows in.
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

    /// Lets writes send their data, in order of arrival, as far as it fits.
    fn admit(&mut self, now: Nanos) {
        let sector = u64::from(self.parameters.platters.sector_bytes);
        while let Some(&slot) = self.blocked.front() {
            let request = &mut self.requests[slot as usize];
            let cache = self.destager.cache.as_mut().expect("only a cache blocks a write");
            let part = cache.first_part(&request.remaining);
            if !cache.reserve(&part) {
                return;
            }
            let (sectors, used) = (part.end - part.start, cache.sectors());
            if request.advance(sectors) {
                self.blocked.pop_front();
            }
            self.read_ahead.fit(self.parameters.memory_bytes / sector - used);
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

    /// Sends the data of a read, which has flowed since `data_from` and is complete now.
    fn reply(&mut self, slot: u32, now: Nanos) {
        let Request { io, data_from, .. } = self.requests[slot as usize];
        let span = transfer_time(u64::from(io.length), self.parameters.link.bytes_per_s);
        let from = now.since(span).max(data_from);
        let at = self.front.link.send_to_host(from, u64::from(io.length)).max(now);
        self.front.events.push(at, Event::Complete(slot));
    }

    /// Answers what needs no arm, and gives the arm its next job, if it is free.
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

    /// Answers reads of what was read before.
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

    /// The request that is served next, among those that can be: its effective positioning time and its place
    /// in `pending`.
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
            // A disk that settles waits for its own flush since the beginning.
            waiting_since: waiting
                .map(|slot| {
                    self.requests.get(*slot as usize).map_or(Nanos::ZERO, |request| request.started_at)
                })
                .min(),
            no_room: !served && !self.pending.is_empty(),
            idle: self.cleans_at().is_some_and(|at| at <= now),
        }
    }

    /// When the disk will have been idle for long enough to clean, if nothing comes.
    fn cleans_at(&self) -> Option<Nanos> {
        let after = self.destager.cleans_after().filter(|_| self.front.is_quiet())?;
        Some(self.front.quiet_since + after)
    }

    /// Comes back when time alone makes a difference.
    fn schedule_poll(&mut self, now: Nanos) {
        let times = [self.destager.next_poll(), self.cleans_at()].into_iter().flatten();
        let next = times.filter(|at| *at > now).min();
        if let Some(at) = next.filter(|at| self.next_poll.is_none_or(|next_poll| *at < next_poll)) {
            self.next_poll = Some(at);
            self.front.events.push(at, Event::Poll);
        }
    }

    /// The arm takes up a request.
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

    /// Moves the arm; when the transfer starts and ends.
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
                let memory = self.parameters.memory_bytes / u64::from(self.parameters.platters.sector_bytes);
                self.read_ahead.fit(memory - self.destager.cache.as_ref().map_or(0, WriteCache::sectors));
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

    /// Whether a part that the arm has just done was the last of its request, which waits for the arm again otherwise.
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
        let contents = self.contents.as_ref().map(PlainContents::sectors);
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

/// What the arm is doing.
enum Job {
    /// It reads these sectors of the platters, the first that are left of the read in this slot.
    Read(u32, Range<u64>),
    /// It writes the first part that is left of the write in this slot.
    Write(u32, DirectWrite),
    /// It brings to the platters what the host no longer waits for.
    Destage(Work),
}

/// An accepted I/O.
#[derive(Clone)]
struct Request {
    io: Io,
    /// It came to the drive.
    started_at: Nanos,
    /// Its data starts to be available.
    data_from: Nanos,
    /// All data of a write is in the drive.
    data_until: Nanos,
    /// Sectors that neither the arm has read or written nor the write cache has let in.
    remaining: Range<u64>,
    /// The sector before which all data of a cached write has come in.
    arrived: u64,
}

impl Request {
    fn new(io: Io, sector_bytes: u32, now: Nanos) -> Self {
        let sector = u64::from(sector_bytes);
        let remaining = io.offset / sector..(io.offset + u64::from(io.length)) / sector;
        Self { io, started_at: now, data_from: now, data_until: now, arrived: remaining.start, remaining }
    }

    /// The first sectors that were left are done; whether that is all of it.
    fn advance(&mut self, count: u64) -> bool {
        self.remaining.start += count;
        self.remaining.is_empty()
    }
}
