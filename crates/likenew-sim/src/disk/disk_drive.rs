//! A hard disk: link, firmware, caches, arm and platters, put together.
//!
//! A command waits for a slot of the link, then for the firmware. Reads that no cache holds, and writes that are not
//! cached, wait for the arm; when it is free it goes where it can start soonest, turning of the platters included, but no
//! request waits longer than [`WAIT_MAX`] for that. Cached writes are destaged in the same way while nobody waits, and
//! together with the others when the cache is full or a flush waits.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::drive::Accounting;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use super::disk_parameters::DiskParameters;
use super::platters::Platters;
use super::read_ahead::ReadAhead;
use super::seek_curve::SeekCurve;
use super::write_cache::WriteCache;
use crate::device::{Device, NO_IO, books};
use crate::event_queue::EventQueue;
use crate::host_link::HostLink;
use crate::plain_contents::{PlainContents, Sectors};
use crate::timeline::{Timeline, transfer_time};

/// A request that has waited so long is served next, wherever it is (assumed; no data sheet says).
const WAIT_MAX: Nanos = Nanos::from_secs(1);

#[derive(Clone, Copy)]
enum Event {
    /// The firmware has read the command in this slot.
    Command(u32),
    /// The data of the write in this slot is in the drive.
    Arrived(u32),
    /// The data of the read in this slot is in the read cache.
    Ready(u32),
    /// The arm has done its job.
    ArmDone,
    /// The head has read ahead what it had promised.
    PromiseKept,
    /// The I/O in this slot ends.
    Complete(u32),
}

/// What the arm is doing.
enum Job {
    Read(u32),
    Write(u32),
    Destage(Range<u64>),
}

/// An accepted I/O.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// It came to the drive.
    began: Nanos,
    /// Its data starts to be available.
    data_from: Nanos,
}

/// The drive.
pub(crate) struct DiskDrive {
    parameters: DiskParameters,
    events: EventQueue<Event>,
    link: HostLink,
    firmware: Timeline,
    platters: Platters,
    seek_curve: SeekCurve,
    read_ahead: ReadAhead,
    write_cache: Option<WriteCache>,
    /// By slot.
    requests: Vec<Request>,
    /// In the host, waiting for one of the link's command slots.
    waiting: VecDeque<u32>,
    slots_used: u32,
    /// Waiting for the arm.
    pending: Vec<u32>,
    /// Writes that wait for room in the cache.
    blocked: VecDeque<u32>,
    /// Flushes that wait for the cache to be destaged up to a mark.
    flushes: VecDeque<(u32, u64)>,
    job: Option<Job>,
    cylinder: u32,
    head: u32,
    /// The head reads ahead undisturbed until then, because somebody waits for it.
    promised: Nanos,
    contents: Option<PlainContents>,
    host_bytes_written: u64,
    media_bytes_written: u64,
}

impl DiskDrive {
    /// A disk; its parameters have been checked.
    pub(crate) fn new(parameters: DiskParameters) -> Self {
        let platters = Platters::new(parameters.platters);
        let sectors = |bytes: u64| bytes / u64::from(parameters.platters.sector_bytes);
        Self {
            events: EventQueue::new(),
            link: HostLink::new(parameters.link),
            firmware: Timeline::default(),
            seek_curve: parameters.seek_curve(&platters).expect("the parameters were checked"),
            read_ahead: ReadAhead::new(parameters.segments, sectors(parameters.segment_bytes)),
            write_cache: (parameters.write_cache_bytes > 0).then(|| {
                WriteCache::new(sectors(parameters.write_cache_bytes), parameters.write_cache_extents)
            }),
            platters,
            requests: Vec::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            pending: Vec::new(),
            blocked: VecDeque::new(),
            flushes: VecDeque::new(),
            job: None,
            cylinder: 0,
            head: 0,
            promised: Nanos::ZERO,
            contents: None,
            host_bytes_written: 0,
            media_bytes_written: 0,
            parameters,
        }
    }

    /// A disk as it was when it was [saved](Device::save).
    ///
    /// # Errors
    /// A sentence, if these bytes are no such disk.
    pub(crate) fn restore(parameters: DiskParameters, state: &[u8]) -> Result<Self, String> {
        let sectors = postcard::from_bytes::<Option<Sectors>>(state)
            .map_err(|error| format!("it holds no such drive ({error}): save it again"))?;
        let mut disk = Self::new(parameters);
        if let Some(sectors) = sectors {
            disk.keep_data();
            disk.contents.as_mut().expect("it keeps bytes").restore(sectors);
        }
        Ok(disk)
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        self.slots_used += 1;
        self.requests[slot as usize].began = now;
        let at = self.firmware.reserve(now, self.parameters.command);
        self.events.push(at, Event::Command(slot));
    }

    fn happen(&mut self, event: Event, now: Nanos, done: &mut Vec<Completion>) {
        match event {
            Event::Command(slot) => self.command(slot, now),
            Event::Arrived(slot) => self.arrive(slot, now),
            Event::Ready(slot) => self.reply(slot, now),
            Event::ArmDone => self.arm_done(now),
            Event::PromiseKept => self.dispatch(now),
            Event::Complete(slot) => {
                done.push(Completion { slot: Slot(slot), at: now, outcome: Outcome::Done });
                self.slots_used -= 1;
                if let Some(next) = self.waiting.pop_front() {
                    self.begin(next, now);
                }
            }
        }
    }

    fn command(&mut self, slot: u32, now: Nanos) {
        let sectors = self.sectors(slot);
        self.requests[slot as usize].data_from = now;
        match self.requests[slot as usize].io.op {
            Op::Read if self.write_cache.as_ref().is_some_and(|cache| cache.holds(&sectors)) => {
                self.reply(slot, now);
            }
            Op::Read => {
                self.pending.push(slot);
                self.dispatch(now);
            }
            Op::Write => {
                self.blocked.push_back(slot);
                self.admit(now);
                self.dispatch(now);
            }
            Op::Trim => self.events.push(now, Event::Complete(slot)),
            Op::Flush => {
                let mark = self.write_cache.as_ref().map_or(0, WriteCache::mark);
                self.flushes.push_back((slot, mark));
                self.end_flushes(now);
                self.dispatch(now);
            }
        }
    }

    /// Lets writes send their data, in order, as long as there is room for it.
    fn admit(&mut self, now: Nanos) {
        while let Some(&slot) = self.blocked.front() {
            let sectors = self.sectors(slot);
            if let Some(cache) = &mut self.write_cache
                && cache.is_for(&sectors)
                && !cache.reserve(&sectors)
            {
                return;
            }
            self.blocked.pop_front();
            let at = self.link.send_to_drive(now, u64::from(self.requests[slot as usize].io.length));
            self.events.push(at, Event::Arrived(slot));
        }
    }

    fn arrive(&mut self, slot: u32, now: Nanos) {
        let sectors = self.sectors(slot);
        match &mut self.write_cache {
            Some(cache) if cache.is_for(&sectors) => {
                cache.put(sectors);
                self.events.push(now, Event::Complete(slot));
            }
            _ => self.pending.push(slot),
        }
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

    /// Gives the arm its next job, if it is free.
    fn dispatch(&mut self, now: Nanos) {
        if self.job.is_some() {
            return;
        }
        let overdue = self.is_overdue(now);
        if !overdue {
            self.serve_read_ahead(now);
        }
        if now < self.promised {
            return;
        }
        let job = if overdue { Some(self.take_pending(0)) } else { self.soonest(now) };
        let Some(job) = job else { return };
        let (sectors, writes) = match &job {
            Job::Read(slot) => (self.sectors(*slot), false),
            Job::Write(slot) => (self.sectors(*slot), true),
            Job::Destage(sectors) => (sectors.clone(), true),
        };
        self.read_ahead.stop(now, &self.platters);
        let (first, last) = (self.platters.place(sectors.start), self.platters.place(sectors.end - 1));
        let data_from = now + self.positioning(sectors.start, writes, now);
        if let Job::Read(slot) = job {
            self.requests[slot as usize].data_from = data_from;
        }
        (self.cylinder, self.head) = (last.cylinder, last.head);
        self.events.push(data_from + Nanos(last.end - first.start), Event::ArmDone);
        self.job = Some(job);
    }

    /// Answers what the read-ahead holds, and promises the rest of it to those who follow the head.
    fn serve_read_ahead(&mut self, now: Nanos) {
        let mut index = 0;
        while index < self.pending.len() {
            let slot = self.pending[index];
            let sectors = self.sectors(slot);
            let reads = self.requests[slot as usize].io.op == Op::Read;
            let ready = reads.then(|| self.read_ahead.ready(&sectors, now, &self.platters)).flatten();
            let Some(ready) = ready else {
                index += 1;
                continue;
            };
            self.pending.remove(index);
            self.requests[slot as usize].data_from = now;
            self.events.push(ready, Event::Ready(slot));
            if ready > now.max(self.promised) {
                self.promised = ready;
                self.events.push(ready, Event::PromiseKept);
            }
        }
    }

    /// Whether the first request, which is the oldest that waits for the arm, has waited for too long.
    fn is_overdue(&self, now: Nanos) -> bool {
        let waited = |slot: &u32| now.since(self.requests[*slot as usize].began);
        self.pending.first().is_some_and(|slot| waited(slot) > WAIT_MAX)
    }

    /// The job that the arm can start soonest; taken out of its queue.
    fn soonest(&mut self, now: Nanos) -> Option<Job> {
        let request_cost = |slot: &u32| {
            let io = &self.requests[*slot as usize].io;
            self.positioning(self.sectors(*slot).start, io.op == Op::Write, now)
        };
        let request = (0..self.pending.len()).min_by_key(|index| request_cost(&self.pending[*index]));
        let destages = request.is_none() || !self.blocked.is_empty() || !self.flushes.is_empty();
        let cached = self.write_cache.as_ref().filter(|_| destages).and_then(|cache| {
            let costs = cache.starts().map(|sector| self.positioning(sector, true, now));
            costs.enumerate().min_by_key(|(_, cost)| *cost)
        });
        match (request, cached) {
            (Some(index), Some((_, cost))) if request_cost(&self.pending[index]) <= cost => {
                Some(self.take_pending(index))
            }
            (_, Some((index, _))) => {
                let cache = self.write_cache.as_mut().expect("an extent was found in it");
                Some(Job::Destage(cache.take(index)))
            }
            (Some(index), None) => Some(self.take_pending(index)),
            (None, None) => None,
        }
    }

    fn take_pending(&mut self, index: usize) -> Job {
        let slot = self.pending.remove(index);
        let writes = self.requests[slot as usize].io.op == Op::Write;
        if writes { Job::Write(slot) } else { Job::Read(slot) }
    }

    /// How long it takes from now until a sector is under its head.
    fn positioning(&self, sector: u64, writes: bool, now: Nanos) -> Nanos {
        let place = self.platters.place(sector);
        let moves = place.cylinder != self.cylinder || place.head != self.head;
        let mut seek = self.seek_curve.time(place.cylinder.abs_diff(self.cylinder));
        if place.head != self.head {
            seek = seek.max(self.parameters.head_switch);
        }
        if writes && moves {
            seek += self.parameters.write_settle;
        }
        seek + self.platters.turn_to(place.start, now + seek)
    }

    fn arm_done(&mut self, now: Nanos) {
        match self.job.take().expect("an arm that is done had a job") {
            Job::Read(slot) => {
                let sectors = self.sectors(slot);
                self.read_ahead.start(sectors, now, &self.platters);
                self.reply(slot, now);
            }
            Job::Write(slot) => {
                self.media_bytes_written += u64::from(self.requests[slot as usize].io.length);
                self.events.push(now, Event::Complete(slot));
            }
            Job::Destage(sectors) => {
                let bytes = (sectors.end - sectors.start) * u64::from(self.parameters.platters.sector_bytes);
                self.media_bytes_written += bytes;
                self.write_cache.as_mut().expect("it was destaged from the cache").written();
                self.end_flushes(now);
                self.admit(now);
            }
        }
        self.dispatch(now);
    }

    fn end_flushes(&mut self, now: Nanos) {
        let cache = self.write_cache.as_ref();
        let over = |mark: u64| cache.is_none_or(|cache| cache.is_flushed(mark));
        while let Some((slot, _)) = self.flushes.pop_front_if(|(_, mark)| over(*mark)) {
            self.events.push(now, Event::Complete(slot));
        }
    }

    fn sectors(&self, slot: u32) -> Range<u64> {
        let Io { offset, length, .. } = self.requests[slot as usize].io;
        let sector = u64::from(self.parameters.platters.sector_bytes);
        offset / sector..(offset + u64::from(length)) / sector
    }
}

impl Device for DiskDrive {
    fn announce_slots(&mut self, count: u32) {
        let empty = Request { io: NO_IO, began: Nanos::ZERO, data_from: Nanos::ZERO };
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, empty);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request { io: *io, began: now, data_from: now };
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
        self.happen(event, now, done);
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
        let mark = self.write_cache.as_ref().map_or(0, WriteCache::mark);
        let is_flushed = |disk: &Self| disk.write_cache.as_ref().is_none_or(|cache| cache.is_flushed(mark));
        let (mut done, mut settled) = (Vec::new(), now);
        self.dispatch(now);
        while !is_flushed(self) {
            settled = self.next_at().expect("an arm that writes comes to an end");
            self.step(&mut done);
        }
        assert!(done.is_empty(), "nothing is in flight");
        settled
    }

    fn save(&self, _now: Nanos) -> Vec<u8> {
        let sectors = self.contents.as_ref().map(PlainContents::sectors);
        postcard::to_stdvec(&sectors).expect("plain values can be written to memory")
    }

    fn accounting(&self) -> Accounting {
        books(self.host_bytes_written, self.media_bytes_written, 0, 0, None)
    }
}
