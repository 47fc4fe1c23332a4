//! A hard disk: link, firmware, caches, arm and platters, put together.
//!
//! A command waits for a slot of the link, then for the firmware. Reads that no memory holds, and writes that
//! are not cached, wait for the arm. It goes where it can start soonest, rotation included, less a credit for
//! having waited. Cached writes go to the platters while no command waits for the arm, and compete with
//! waiting ones when the cache is full or a flush waits.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::flash_counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

use super::access::Access;
use super::aging::Aging;
use super::arm::Arm;
use super::destager::{DestageDemand, Destager, Work};
use super::disk_parameters::DiskParameters;
use super::media_cache::MediaCache;
use super::read_ahead::ReadAhead;
use super::request::{Job, Request};
use super::shingles::Shingles;
use super::write_cache::WriteCache;
use crate::device::{Device, NO_IO, flash_counters};
use crate::event_queue::EventQueue;
use crate::host_link::HostLink;
use crate::plain_contents::{PlainContents, Sectors};
use crate::snapshot_error::SnapshotError;
use crate::timeline::{Timeline, transfer_time};

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
    events: EventQueue<Event>,
    link: HostLink,
    firmware: Timeline,
    aging: Aging,
    arm: Arm,
    read_ahead: ReadAhead,
    destager: Destager,
    /// By slot.
    requests: Vec<Request>,
    /// In the host, waiting for one of the link's command slots.
    waiting: VecDeque<u32>,
    slots_used: u32,
    /// No I/O has been in the drive since.
    quiet_since: Nanos,
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
    host_bytes_written: u64,
}

/// Stands for the slot of a flush that no host asked for.
const RESTING: u32 = u32::MAX;

/// What a disk that is saved holds.
#[derive(Deserialize)]
struct SavedState {
    contents: Option<Sectors>,
    media_cache: Option<MediaCache>,
}

/// The same, to be written.
#[derive(Serialize)]
struct SavedStateRef<'a> {
    contents: Option<&'a Sectors>,
    media_cache: Option<&'a MediaCache>,
}

impl DiskDrive {
    /// A disk; its parameters have been checked.
    pub(crate) fn new(parameters: DiskParameters) -> Self {
        let segment = parameters.segment_bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            events: EventQueue::new(),
            link: HostLink::new(parameters.link),
            firmware: Timeline::default(),
            aging: Aging::new(parameters.aging_per_mille),
            arm: Arm::new(&parameters),
            read_ahead: ReadAhead::new(parameters.segments, segment),
            destager: Destager::new(&parameters),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            quiet_since: Nanos::ZERO,
            pending: Vec::new(),
            blocked: VecDeque::new(),
            flushes: VecDeque::new(),
            job: None,
            contents: None,
            next_poll: None,
            host_bytes_written: 0,
            parameters,
        }
    }

    /// A disk as it was when it was [saved](Device::save).
    ///
    /// # Errors
    /// These bytes are not such a disk.
    pub(crate) fn restore(parameters: DiskParameters, state: &[u8]) -> Result<Self, SnapshotError> {
        let saved: SavedState = postcard::from_bytes(state)?;
        let mut disk = Self::new(parameters);
        if let Some(sectors) = saved.contents {
            disk.keep_data();
            disk.contents.as_mut().expect("it keeps bytes").restore(sectors);
        }
        if let (Some(shingles), Some(cache)) = (disk.destager.shingles_mut(), saved.media_cache) {
            shingles.restore(cache);
        }
        Ok(disk)
    }

    /// The translation layer of a shingled disk, to give it a past.
    pub(crate) fn shingles_mut(&mut self) -> Option<&mut super::shingles::Shingles> {
        self.destager.shingles_mut()
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        self.slots_used += 1;
        self.requests[slot as usize].started_at = now;
        let at = self.firmware.reserve(now, self.parameters.command);
        self.events.push(at, Event::Command(slot));
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
                done.push(Completion { slot: Slot(slot), at: now, outcome: Outcome::Done });
                self.slots_used -= 1;
                if let Some(next) = self.waiting.pop_front() {
                    self.begin(next, now);
                } else if self.slots_used == 0 {
                    self.quiet_since = now;
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
            Op::Read if self.destager.cache().is_some_and(|cache| cache.holds(&sectors)) => {
                self.reply(slot, now);
            }
            Op::Read => self.pending.push(slot),
            Op::Write if self.destager.cache().is_some() => {
                self.blocked.push_back(slot);
                self.admit(now);
            }
            Op::Write => {
                // It waits for the arm while its data flows in.
                request.data_until = self.link.send_to_drive(now, u64::from(request.io.length));
                self.pending.push(slot);
            }
            Op::Trim => self.events.push(now, Event::Complete(slot)),
            Op::Flush => {
                let mark = self.destager.cache().map_or(0, WriteCache::mark);
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
            let cache = self.destager.cache_mut().expect("only a cache blocks a write");
            let part = cache.first_part(&request.remaining);
            if !cache.reserve(&part) {
                return;
            }
            let (sectors, used) = (part.end - part.start, cache.sectors());
            if request.advance(sectors) {
                self.blocked.pop_front();
            }
            self.read_ahead.fit(self.parameters.memory_bytes / sector - used);
            let at = self.link.send_to_drive(now, sectors * sector);
            self.events.push(at, Event::Arrived(slot, sectors));
        }
    }

    fn arrive(&mut self, slot: u32, sectors: u64, now: Nanos) {
        let request = &mut self.requests[slot as usize];
        let start = request.arrived;
        request.arrived += sectors;
        if request.arrived == request.remaining.end {
            self.events.push(now, Event::Complete(slot));
        }
        let cache = self.destager.cache_mut().expect("it was let into the cache");
        cache.put(start..start + sectors, now);
        self.dispatch(now);
    }

    /// Sends the data of a read, which has flowed since `data_from` and is complete now.
    fn reply(&mut self, slot: u32, now: Nanos) {
        let Request { io, data_from, .. } = self.requests[slot as usize];
        let span = transfer_time(u64::from(io.length), self.parameters.link.bytes_per_s);
        let from = now.since(span).max(data_from);
        let at = self.link.send_to_host(from, u64::from(io.length)).max(now);
        self.events.push(at, Event::Complete(slot));
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
            let held =
                request.io.op == Op::Read && self.read_ahead.holds(&physical, now, self.arm.platters());
            if !held {
                index += 1;
                continue;
            }
            self.read_ahead.on_taken(&physical, now, self.arm.platters());
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
                let follow = self.read_ahead.follow(&physical, now, self.arm.platters());
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
        let after = self.destager.cleans_after().filter(|_| self.slots_used == 0)?;
        Some(self.quiet_since + after)
    }

    /// Comes back when time alone makes a difference.
    fn schedule_poll(&mut self, now: Nanos) {
        let times = [self.destager.next_poll(), self.cleans_at()].into_iter().flatten();
        let next = times.filter(|at| *at > now).min();
        if let Some(at) = next.filter(|at| self.next_poll.is_none_or(|next_poll| *at < next_poll)) {
            self.next_poll = Some(at);
            self.events.push(at, Event::Poll);
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
        let (from, until) = match self.read_ahead.follow(&physical, now, self.arm.platters()) {
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
        self.events.push(until, Event::ArmDone);
        self.job = Some(job);
    }

    /// Moves the arm; when the transfer starts and ends.
    fn go(&mut self, physical: &Range<u64>, access: Access, now: Nanos) -> (Nanos, Nanos) {
        self.read_ahead.stop(now, self.arm.platters());
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
                self.read_ahead.start(&physical, now, self.arm.platters());
                let memory = self.parameters.memory_bytes / u64::from(self.parameters.platters.sector_bytes);
                self.read_ahead.fit(memory - self.destager.cache().map_or(0, WriteCache::sectors));
                if self.is_over(slot, physical.end - physical.start) {
                    self.reply(slot, now);
                }
            }
            Job::Write(slot, direct) => {
                self.destager.direct_done(&direct);
                if self.is_over(slot, direct.logical.end - direct.logical.start) {
                    self.events.push(now, Event::Complete(slot));
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
        let cache = self.destager.cache();
        let over = |mark: u64| cache.is_none_or(|cache| cache.is_flushed(mark));
        while let Some((slot, _)) = self.flushes.pop_front_if(|(_, mark)| over(*mark)) {
            if slot != RESTING {
                self.events.push(now, Event::Complete(slot));
            }
        }
    }
}

impl Device for DiskDrive {
    fn announce_slots(&mut self, count: u32) {
        let empty = Request::new(NO_IO, self.parameters.platters.sector_bytes, Nanos::ZERO);
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, empty);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request::new(*io, self.parameters.platters.sector_bytes, now);
        if let Some(contents) = &mut self.contents {
            contents.serve(io);
        }
        if io.op == Op::Write {
            self.host_bytes_written += u64::from(io.length);
        }
        if self.slots_used < self.link.command_slots() {
            self.begin(io.slot.0, now);
        } else {
            self.waiting.push_back(io.slot.0);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        self.events.next_at()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let (now, event) = self.events.pop().expect("a drive steps only when something is to happen");
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
        let mark = self.destager.cache().map_or(0, WriteCache::mark);
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
        let saved = SavedStateRef { contents, media_cache: self.destager.shingles().map(Shingles::cache) };
        postcard::to_stdvec(&saved).expect("plain values can be written to memory")
    }

    fn flash_counters(&self) -> FlashCounters {
        let sector = u64::from(self.parameters.platters.sector_bytes);
        flash_counters(self.host_bytes_written, self.destager.media_sectors_written() * sector, 0, 0, None)
    }
}
