//! A flash drive: link, firmware, write buffer, translation layer and chips, put together.
//!
//! A command waits for a slot of the link, then for the firmware, which handles one command at a time. Reading, writing
//! and resting have a file each.

mod reading;
mod resting;
mod writing;

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::flash_counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::target::Health;
use likenew_core::units::Nanos;
use serde::{Deserialize, Serialize};

use super::contents::{Contents, Copies};
use super::flash_parameters::FlashParameters;
use super::map_cache::MapCache;
use super::nand::{Nand, NandCompletion, NandEvent};
use super::read_job::{ReadJob, Reader};
use super::thermal::Thermal;
use super::translation_layer::{Counts, PendingWork, TranslationLayer};
use super::write_buffer::WriteBuffer;
use crate::device::{Device, MEDIUM_ERROR, NO_IO, SelfCounts, flash_counters};
use crate::event_queue::EventQueue;
use crate::host_link::HostLink;
use crate::snapshot_error::SnapshotError;
use crate::timeline::Timeline;

const SECOND_NS: u64 = 1_000_000_000;

#[derive(Clone, Copy)]
enum Event {
    /// The firmware has read the command in this slot.
    Command(u32),
    /// So many pages of the write in this slot are in the buffer.
    Arrived(u32, u32),
    /// Something happens in a die.
    Nand(NandEvent),
    /// The I/O in this slot ends.
    Complete(u32),
    /// The drive takes no data any more, and refuses the I/O in this slot.
    Refuse(u32),
    /// The drive may have had nothing to do for long enough to look after itself.
    IdleCheck,
}

impl From<NandEvent> for Event {
    fn from(event: NandEvent) -> Self {
        Self::Nand(event)
    }
}

/// An accepted I/O.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Bytes of a read that have not been given to the link yet.
    bytes_left: u64,
    /// Segments of the map that a read still waits for.
    segments_left: u32,
    /// The next page of a write to send over the link, and to arrive in the buffer; and the end of both.
    page_to_send: u32,
    page_to_arrive: u32,
    page_end: u32,
}

/// The drive.
pub(crate) struct FlashDrive<L> {
    parameters: FlashParameters,
    events: EventQueue<Event>,
    link: HostLink,
    firmware: Timeline,
    buffer: WriteBuffer,
    layer: L,
    pending: PendingWork,
    nand: Nand,
    map_cache: Option<MapCache>,
    /// Changed segments of the map that have left the cache and do not fill a program unit yet.
    segments_to_program: u32,
    thermal: Option<Thermal>,
    contents: Option<Contents>,
    /// By slot.
    requests: Vec<Request>,
    /// In the host, waiting for one of the link's command slots.
    waiting: VecDeque<u32>,
    slots_used: u32,
    /// Writes whose data is to cross the link, and whether a burst of them is under way.
    writers: VecDeque<u32>,
    sending: bool,
    /// The slots of the buffer that each die is programming.
    units: Vec<Vec<u32>>,
    /// Pages that are still to be forgotten.
    trims: VecDeque<Range<u32>>,
    /// When the last I/O ended, whether a look at that is due, and whether the drive looks after itself now.
    quiet_since: Nanos,
    idle_check_due: bool,
    idle: bool,
    host_bytes_written: u64,
    /// Sizes of segments of the map that were programmed.
    segments_programmed: u64,
    counts_when_opened: Counts,
    /// The next second of the drive's clock, and what the translation layer's clock showed when the drive was opened.
    next_second: Nanos,
    opened_s: i64,
}

/// Stands for the slot of a flush that no host asked for.
const RESTING: u32 = u32::MAX;

/// The same as [`SavedState`], to be written.
#[derive(Serialize)]
struct SavedStateRef<'a, L> {
    layer: &'a L,
    now_s: i64,
    contents: Option<&'a Copies>,
}

/// What a drive that is saved holds.
#[derive(Serialize, Deserialize)]
struct SavedState<L> {
    layer: L,
    now_s: i64,
    contents: Option<Copies>,
}

impl<L: TranslationLayer> FlashDrive<L> {
    /// A drive around a translation layer that may already have a past.
    pub(crate) fn new(parameters: FlashParameters, layer: L) -> Self {
        Self::open(parameters, layer, 0)
    }

    /// A drive as it was when it was [saved](Device::save).
    ///
    /// # Errors
    /// These bytes are not such a drive.
    pub(crate) fn restore(parameters: FlashParameters, state: &[u8]) -> Result<Self, SnapshotError> {
        let saved: SavedState<L> = postcard::from_bytes(state)?;
        let mut drive = Self::open(parameters, saved.layer, saved.now_s);
        if let Some(copies) = saved.contents {
            drive.keep_data();
            drive.contents.as_mut().expect("it keeps bytes").restore(copies);
        }
        Ok(drive)
    }

    fn open(parameters: FlashParameters, mut layer: L, opened_s: i64) -> Self {
        layer.set_clock(opened_s);
        let unit = || Vec::with_capacity(parameters.unit_pages as usize);
        Self {
            events: EventQueue::new(),
            link: HostLink::new(parameters.link),
            firmware: Timeline::default(),
            buffer: WriteBuffer::new(
                parameters.buffer_pages,
                parameters.page_bytes / parameters.sector_bytes,
                parameters.writes_per_unit,
            ),
            nand: Nand::new(parameters.nand),
            map_cache: parameters.map_cache.map(MapCache::new),
            segments_to_program: 0,
            thermal: parameters.thermal.map(Thermal::new),
            contents: None,
            requests: Vec::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            writers: VecDeque::new(),
            sending: false,
            units: (0..parameters.nand.dies()).map(|_| unit()).collect(),
            trims: VecDeque::new(),
            quiet_since: Nanos::ZERO,
            idle_check_due: false,
            idle: false,
            host_bytes_written: 0,
            segments_programmed: 0,
            counts_when_opened: layer.counts(),
            next_second: Nanos::from_secs(1),
            opened_s,
            layer,
            pending: PendingWork::default(),
            parameters,
        }
    }

    fn begin(&mut self, slot: u32, now: Nanos) {
        self.slots_used += 1;
        let span = match self.requests[slot as usize].io.op {
            Op::Read => self.parameters.read_command,
            Op::Write => self.parameters.write_command,
            Op::Trim | Op::Flush => self.parameters.other_command,
        };
        let at = self.firmware.reserve(now, span);
        self.events.push(at, Event::Command(slot));
    }

    fn command(&mut self, slot: u32, now: Nanos) {
        if let Some(thermal) = &mut self.thermal
            && let Some(limit) = thermal.pass(now)
        {
            self.link.limit(limit);
        }
        match self.requests[slot as usize].io.op {
            Op::Read => self.lookup(slot, now),
            Op::Write | Op::Flush if self.layer.is_read_only() => self.events.push(now, Event::Refuse(slot)),
            Op::Write => {
                self.writers.push_back(slot);
                self.send(now);
            }
            Op::Trim => {
                self.take_trim(slot, now);
                self.events.push(now, Event::Complete(slot));
                self.drain(now);
                self.send(now);
            }
            Op::Flush if self.parameters.power_loss_protection => {
                self.events.push(now, Event::Complete(slot));
            }
            Op::Flush => {
                self.buffer.flush(slot);
                self.drain(now);
            }
        }
    }

    fn handle_nand_event(&mut self, event: NandEvent, now: Nanos) {
        let program_waits =
            self.buffer.first_ready().is_some() && self.buffer.has_unit(self.layer.unit(event.die()).size);
        match self.nand.handle_event(event, program_waits, now, &mut self.events) {
            NandCompletion::Nothing => return,
            NandCompletion::Read(ReadJob { reader: Reader::Host(slot), bytes, .. }) => {
                self.reply(slot, u64::from(bytes), now);
            }
            NandCompletion::Read(ReadJob { reader: Reader::Map(slot), .. }) => {
                let request = &mut self.requests[slot as usize];
                request.segments_left -= 1;
                if request.segments_left == 0 {
                    self.read(slot, now);
                }
            }
            NandCompletion::Read(ReadJob { reader: Reader::Fill(slot), .. }) => self.fill(slot),
            NandCompletion::Program(die) => {
                for slot in self.units[die as usize].drain(..) {
                    self.buffer.release(slot);
                }
            }
            NandCompletion::Read(ReadJob { reader: Reader::Nobody, .. }) | NandCompletion::Rest => {}
        }
        self.drain(now);
        self.send(now);
        self.nand.resume_reads(now, &mut self.events);
        if self.idle {
            self.tend(now);
        }
    }

    /// Follows what the translation layer has just done: work for the dies, and changes of the contents, of which the one
    /// that was written comes from a slot of the buffer.
    fn follow(&mut self, buffered: Option<u32>, now: Nanos) {
        if let Some(contents) = &mut self.contents {
            contents.follow(&mut self.pending, buffered);
        }
        // Most writes give none, and emptying a list that is empty waits for all stores before it: a tenth of the time of a write.
        if self.pending.has_works() {
            for (die, work) in self.pending.take_works() {
                self.nand.work(die, work, now, &mut self.events);
            }
        }
    }

    fn end(&mut self, slot: u32, outcome: Outcome, now: Nanos, done: &mut Vec<Completion>) {
        done.push(Completion { slot: Slot(slot), at: now, outcome });
        self.slots_used -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.begin(next, now);
        } else if self.slots_used == 0 {
            self.quiet_since = now;
            self.expect_idle();
        }
    }

    /// Bytes programmed since the drive was opened.
    fn programmed_bytes(&self) -> u64 {
        let sizes = self.layer.counts().programmed - self.counts_when_opened.programmed;
        let page = u64::from(self.parameters.page_bytes);
        sizes * page / u64::from(self.layer.size_max()) + self.segments_programmed * page
    }

    fn part(&self, io: &Io, page: u32) -> (u32, u32) {
        part_of_page(io, page, self.parameters.page_bytes)
    }
}

impl<L: TranslationLayer> Device for FlashDrive<L> {
    fn announce_slots(&mut self, count: u32) {
        let empty = Request {
            io: NO_IO,
            bytes_left: 0,
            segments_left: 0,
            page_to_send: 0,
            page_to_arrive: 0,
            page_end: 0,
        };
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, empty);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        let page_bytes = u64::from(self.parameters.page_bytes);
        let first = (io.offset / page_bytes) as u32;
        let page_end = (io.offset + u64::from(io.length)).div_ceil(page_bytes) as u32;
        let bytes_left = u64::from(io.length);
        self.requests[io.slot.index()] = Request {
            io: *io,
            bytes_left,
            segments_left: 0,
            page_to_send: first,
            page_to_arrive: first,
            page_end,
        };
        self.idle = false;
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
        if now >= self.next_second {
            let second = now.0 / SECOND_NS;
            self.layer.set_clock(self.opened_s + second as i64);
            self.next_second = Nanos((second + 1) * SECOND_NS);
        }
        match event {
            Event::Command(slot) => self.command(slot, now),
            Event::Arrived(slot, pages) => self.arrive(slot, pages, now, done),
            Event::Nand(event) => self.handle_nand_event(event, now),
            Event::Complete(slot) => self.end(slot, Outcome::Done, now, done),
            Event::Refuse(slot) => self.end(slot, MEDIUM_ERROR, now, done),
            Event::IdleCheck => self.check_idle(now),
        }
    }

    fn keeps_data(&self) -> bool {
        self.contents.is_some()
    }

    fn keep_data(&mut self) {
        let FlashParameters { buffer_pages, page_bytes, sector_bytes, .. } = self.parameters;
        self.contents = Some(Contents::new(buffer_pages, page_bytes, sector_bytes));
        self.pending = PendingWork::with_changes();
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        self.contents.as_mut().expect("the drive was asked to keep data").request(slot.0)
    }

    fn settle(&mut self, now: Nanos) -> Nanos {
        while let Some(trim) = self.trims.pop_front() {
            self.forget(trim, now);
        }
        self.buffer.flush(RESTING);
        self.drain(now);
        let (mut done, mut at_rest) = (Vec::new(), now);
        // What a drive that has become read-only still holds in its buffer stays there.
        while (!self.buffer.is_empty() && !self.layer.is_read_only()) || !self.nand.is_all_idle() {
            at_rest = self.next_at().expect("dies that work come to an end");
            self.step(&mut done);
        }
        assert!(done.is_empty(), "nothing is in flight");
        at_rest
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        let saved = SavedStateRef {
            layer: &self.layer,
            now_s: self.opened_s + (now.0 / SECOND_NS) as i64,
            contents: self.contents.as_ref().map(Contents::copies),
        };
        postcard::to_stdvec(&saved).expect("plain values can be written to memory")
    }

    fn health(&self) -> Health {
        let thermal = self.thermal.as_ref();
        Health {
            temperature_c: thermal.map(Thermal::temperature_c),
            wear_percent: None,
            throttling: thermal.map(Thermal::throttling),
        }
    }

    fn self_counts(&self, _now: Nanos) -> SelfCounts {
        SelfCounts { throttled: self.thermal.as_ref().map(Thermal::throttle_time), ..SelfCounts::default() }
    }

    fn flash_counters(&self) -> FlashCounters {
        let erases = self.layer.counts().erases - self.counts_when_opened.erases;
        let (free_blocks, wear) = (self.layer.free_blocks(), self.layer.wear());
        flash_counters(self.host_bytes_written, self.programmed_bytes(), erases, free_blocks, Some(wear))
    }
}

/// The part of a page that an I/O covers: where it starts in the page, and how long it is, in bytes.
fn part_of_page(io: &Io, page: u32, page_bytes: u32) -> (u32, u32) {
    let page_start = u64::from(page) * u64::from(page_bytes);
    let start = io.offset.max(page_start);
    let end = (io.offset + u64::from(io.length)).min(page_start + u64::from(page_bytes));
    ((start - page_start) as u32, (end - start) as u32)
}

/// Where that part lies in the bytes of the I/O.
fn part_of_io(io: &Io, page: u32, page_bytes: u32) -> Range<usize> {
    let (start, bytes) = part_of_page(io, page, page_bytes);
    let at = u64::from(page) * u64::from(page_bytes) + u64::from(start) - io.offset;
    at as usize..at as usize + bytes as usize
}
