//! A flash drive in virtual time: link, firmware, write buffer, FTL and chips working together.
//!
//! A command waits for a slot of the link, then for the firmware, which handles one command at a time.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::FlashCounters;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::target::Health;
use likenew_core::units::Nanos;

use super::contents::{Contents, Copies};
use super::map_cache::{MapAccess, MapCache};
use super::nand::{Event, Nand, NandCompletion, NandEvent, ReadJob, Reader};
use super::thermal::Thermal;
use super::translation_layer::{Cell, Counts, PendingWork, PhysicalPage, TranslationLayer, Work};
use super::write_buffer::{Entry, WriteBuffer, sector_mask};
use super::{FlashParameters, Trim};
use crate::device::{Device, MEDIUM_ERROR, NO_IO, SelfCounts, SnapshotError, flash_counters, grow, to_bytes};
use crate::front::Front;
use crate::timeline::Timeline;

const SECOND_NS: u64 = 1_000_000_000;

/// An accepted I/O.
#[derive(Clone, Copy)]
struct Request {
    io: Io,
    /// Bytes of a read that have not been sent to the host.
    bytes_left: u64,
    /// Segments of the mapping table that a read still waits for.
    segments_left: u32,
    /// The next page of a write to cross the link.
    page_to_send: u32,
    /// The next page of a write to arrive in the buffer.
    page_to_arrive: u32,
    /// End of the pages of the I/O.
    page_end: u32,
}

impl Request {
    fn new(io: Io, page_bytes: u32) -> Self {
        let page_bytes = u64::from(page_bytes);
        let first = (io.offset / page_bytes) as u32;
        Self {
            io,
            bytes_left: io.length.into(),
            segments_left: 0,
            page_to_send: first,
            page_to_arrive: first,
            page_end: (io.offset + u64::from(io.length)).div_ceil(page_bytes) as u32,
        }
    }
}

/// A flash drive in virtual time.
pub(crate) struct FlashDrive<L> {
    parameters: FlashParameters,
    front: Front<Event>,
    firmware: Timeline,
    buffer: WriteBuffer,
    layer: L,
    pending: PendingWork,
    nand: Nand,
    map_cache: Option<MapCache>,
    /// Changed segments that have left the mapping cache and do not yet fill a program unit.
    segments_to_program: u32,
    thermal: Option<Thermal>,
    contents: Option<Contents>,
    /// By slot.
    requests: Vec<Request>,
    /// Writes with data to send over the link.
    writers: VecDeque<u32>,
    /// Whether a burst of a write is crossing the link.
    sending: bool,
    /// The buffer slots that each die is programming.
    units: Vec<Vec<u32>>,
    /// Trimmed ranges of pages that are still mapped.
    trims: VecDeque<Range<u32>>,
    /// Whether an [`Event::IdleCheck`] is pending.
    idle_check_due: bool,
    /// Whether the drive does background work.
    idle: bool,
    /// Segments of the mapping table that were programmed; each counts as a page.
    segments_programmed: u64,
    counts_when_opened: Counts,
    /// The next full second of the drive's clock.
    next_second: Nanos,
    /// The FTL's clock when the drive was opened, in seconds.
    opened_s: i64,
}

/// The slot of a flush that the drive itself started to settle.
const RESTING: u32 = u32::MAX;

impl<L: TranslationLayer> FlashDrive<L> {
    /// A drive with an FTL that may already have a history.
    pub(crate) fn new(parameters: FlashParameters, layer: L) -> Self {
        Self::open(parameters, layer, 0)
    }

    /// Restores a [saved](Device::save) drive.
    ///
    /// # Errors
    /// The bytes are not the state of such a drive.
    pub(crate) fn restore(parameters: FlashParameters, state: &[u8]) -> Result<Self, SnapshotError> {
        let (layer, now_s, contents): (L, i64, Option<Copies>) = postcard::from_bytes(state)?;
        let mut drive = Self::open(parameters, layer, now_s);
        if let Some(copies) = contents {
            drive.keep_data();
            drive.contents.as_mut().expect("it keeps bytes").copies = copies;
        }
        Ok(drive)
    }

    fn open(parameters: FlashParameters, mut layer: L, opened_s: i64) -> Self {
        layer.set_clock(opened_s);
        let unit = || Vec::with_capacity(parameters.unit_pages as usize);
        Self {
            front: Front::new(parameters.link),
            firmware: Timeline::default(),
            buffer: WriteBuffer::new(
                parameters.buffer_pages,
                parameters.page_bytes / parameters.sector_bytes,
                parameters.firmware.writes_per_unit,
            ),
            nand: Nand::new(parameters.nand),
            map_cache: parameters.map_cache.map(MapCache::new),
            segments_to_program: 0,
            thermal: parameters.thermal.map(Thermal::new),
            contents: None,
            requests: Vec::new(),
            writers: VecDeque::new(),
            sending: false,
            units: (0..parameters.nand.dies()).map(|_| unit()).collect(),
            trims: VecDeque::new(),
            idle_check_due: false,
            idle: false,
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
        let span = match self.requests[slot as usize].io.op {
            Op::Read => self.parameters.firmware.read_command,
            Op::Write => self.parameters.firmware.write_command,
            Op::Trim | Op::Flush => self.parameters.firmware.other_command,
        };
        let at = self.firmware.reserve(now, span);
        self.front.events.push(at, Event::Command(slot));
    }

    fn command(&mut self, slot: u32, now: Nanos) {
        if let Some(thermal) = &mut self.thermal
            && let Some(limit) = thermal.pass(now)
        {
            self.front.link.limit(limit);
        }
        match self.requests[slot as usize].io.op {
            Op::Read => self.lookup(slot, now),
            Op::Write | Op::Flush if self.layer.is_read_only() => {
                self.front.events.push(now, Event::Refuse(slot))
            }
            Op::Write => {
                self.writers.push_back(slot);
                self.send(now);
            }
            Op::Trim => {
                self.take_trim(slot, now);
                self.front.events.push(now, Event::Complete(slot));
                self.drain(now);
                self.send(now);
            }
            Op::Flush if self.parameters.firmware.power_loss_protection => {
                self.front.events.push(now, Event::Complete(slot));
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
        match self.nand.handle_event(event, program_waits, now, &mut self.front.events) {
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
        self.nand.resume_reads(now, &mut self.front.events);
        if self.idle {
            self.tend(now);
        }
    }

    /// Hands the FTL's latest work to the dies, and its changes to the contents. A written page comes from
    /// the buffer slot `buffered`.
    fn follow(&mut self, buffered: Option<u32>, now: Nanos) {
        if let Some(contents) = &mut self.contents {
            contents.follow(&mut self.pending, buffered);
        }
        // Most writes make no work. Draining an empty list would wait for all earlier stores, a tenth of a
        // write's time.
        if self.pending.has_works() {
            for (die, work) in self.pending.take_works() {
                self.nand.work(die, work, now, &mut self.front.events);
            }
        }
    }

    fn end(&mut self, slot: u32, outcome: Outcome, now: Nanos, done: &mut Vec<Completion>) {
        if let Some(next) = self.front.end(slot, outcome, now, done) {
            self.begin(next, now);
        } else if self.front.is_quiet() {
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
        grow(&mut self.requests, count, Request::new(NO_IO, self.parameters.page_bytes));
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.requests[io.slot.index()] = Request::new(*io, self.parameters.page_bytes);
        self.idle = false;
        if self.front.accept(io) {
            self.begin(io.slot.0, now);
        }
    }

    fn next_at(&self) -> Option<Nanos> {
        self.front.events.next_at()
    }

    fn step(&mut self, done: &mut Vec<Completion>) {
        let (now, event) = self.front.events.pop().expect("a drive steps only when something is to happen");
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
        // Data in the buffer of a drive that has become read-only stays there.
        while (!self.buffer.is_empty() && !self.layer.is_read_only()) || !self.nand.is_all_idle() {
            at_rest = self.next_at().expect("dies that work come to an end");
            self.step(&mut done);
        }
        assert!(done.is_empty(), "nothing is in flight");
        at_rest
    }

    fn save(&self, now: Nanos) -> Vec<u8> {
        let now_s = self.opened_s + (now.0 / SECOND_NS) as i64;
        to_bytes(&(&self.layer, now_s, self.contents.as_ref().map(|contents| &contents.copies)))
    }

    fn health(&self) -> Health {
        let thermal = self.thermal.as_ref();
        Health {
            temperature_c: thermal.map(|thermal| thermal.temperature_c),
            wear_percent: None,
            throttling: thermal.map(|thermal| thermal.throttling),
        }
    }

    fn self_counts(&self, _now: Nanos) -> SelfCounts {
        let throttled = self.thermal.as_ref().map(|thermal| thermal.throttled);
        SelfCounts { throttled, ..SelfCounts::default() }
    }

    fn flash_counters(&self) -> FlashCounters {
        let erases = self.layer.counts().erases - self.counts_when_opened.erases;
        let (free_blocks, wear) = (self.layer.free_blocks(), self.layer.wear());
        flash_counters(
            self.front.host_bytes_written,
            self.programmed_bytes(),
            erases,
            free_blocks,
            Some(wear),
        )
    }
}

/// The part of a page that an I/O covers: its start within the page and its length, in bytes.
fn part_of_page(io: &Io, page: u32, page_bytes: u32) -> (u32, u32) {
    let page_start = u64::from(page) * u64::from(page_bytes);
    let start = io.offset.max(page_start);
    let end = (io.offset + u64::from(io.length)).min(page_start + u64::from(page_bytes));
    ((start - page_start) as u32, (end - start) as u32)
}

/// The same part as a range of the I/O's bytes.
fn part_of_io(io: &Io, page: u32, page_bytes: u32) -> Range<usize> {
    let (start, bytes) = part_of_page(io, page, page_bytes);
    let at = u64::from(page) * u64::from(page_bytes) + u64::from(start) - io.offset;
    at as usize..at as usize + bytes as usize
}

// Reads: through the mapping table, from buffer or dies, over the link. A read ends when its last byte has
// crossed the link. Pages that are unmapped or still in the buffer need no die.

impl<L: TranslationLayer> FlashDrive<L> {
    /// Loads the mapping table segments that a read needs, then reads.
    pub(super) fn lookup(&mut self, slot: u32, now: Nanos) {
        let request = &self.requests[slot as usize];
        let pages = request.page_to_send..request.page_end;
        let mut segments = 0;
        for page in pages {
            let Some(cache) = &mut self.map_cache else { break };
            let access = cache.access(page, false);
            segments += u32::from(access.read.is_some());
            self.move_map(access, Reader::Map(slot), now);
        }
        self.requests[slot as usize].segments_left = segments;
        if segments == 0 {
            self.read(slot, now);
        }
    }

    /// Queues a read of each row on its die, and replies at once with pages that need no die.
    pub(super) fn read(&mut self, slot: u32, now: Nanos) {
        let request = &self.requests[slot as usize];
        let (io, pages) = (request.io, request.page_to_send..request.page_end);
        let mut ready_bytes = 0;
        let mut open: Option<(PhysicalPage, ReadJob)> = None;
        for page in pages {
            let bytes = self.part(&io, page).1;
            self.copy_out(slot, page);
            let place = if self.buffer.holds(page) { None } else { self.layer.find(page) };
            let Some(place) = place else {
                ready_bytes += u64::from(bytes);
                continue;
            };
            match &mut open {
                Some((first, job)) if first.row == place.row => {
                    (job.size, job.bytes) = (job.size + place.size, job.bytes + bytes);
                }
                _ => {
                    let job = self.read_job(Reader::Host(slot), &place, bytes, now);
                    if let Some((place, job)) = open.replace((place, job)) {
                        self.nand.read(place.die, job, now, &mut self.front.events);
                    }
                }
            }
        }
        if let Some((place, job)) = open {
            self.nand.read(place.die, job, now, &mut self.front.events);
        }
        if ready_bytes > 0 {
            self.reply(slot, ready_bytes, now);
        }
    }

    /// The array read of a page of which the host wants `bytes`.
    pub(super) fn read_job(&self, reader: Reader, place: &PhysicalPage, bytes: u32, now: Nanos) -> ReadJob {
        let age_s = self.opened_s + (now.0 / SECOND_NS) as i64 - place.programmed_s;
        let senses = self.parameters.aging.map_or(1, |aging| aging.senses(age_s))
            + self.parameters.wear_retries.map_or(0, |wear_retries| wear_retries.retries(place));
        ReadJob { reader, cell: place.cell, senses, size: place.size, bytes }
    }

    /// Reads a segment of the mapping table.
    pub(super) fn read_segment(&mut self, segment: u32, reader: Reader, now: Nanos) {
        let die = segment % self.parameters.nand.dies();
        let job = ReadJob { reader, cell: Cell::Native, senses: 1, size: self.layer.size_max(), bytes: 0 };
        self.nand.read(die, job, now, &mut self.front.events);
    }

    pub(super) fn reply(&mut self, slot: u32, bytes: u64, now: Nanos) {
        let at = self.front.link.send_to_host(now, bytes);
        if let Some(thermal) = &mut self.thermal {
            thermal.read(bytes);
        }
        let request = &mut self.requests[slot as usize];
        request.bytes_left -= bytes;
        if request.bytes_left == 0 {
            self.front.events.push(at, Event::Complete(slot));
        }
    }

    /// Copies a page's bytes to a read, if the drive keeps data.
    fn copy_out(&mut self, slot: u32, page: u32) {
        let Some(contents) = &mut self.contents else { return };
        let (io, page_bytes) = (self.requests[slot as usize].io, self.parameters.page_bytes);
        let (start, bytes) = part_of_page(&io, page, page_bytes);
        let from = part_of_io(&io, page, page_bytes).start;
        let at = self.layer.find(page).map(|place| place.at);
        contents.read(slot, from, start as usize..(start + bytes) as usize, self.buffer.find(page), at);
    }
}

// Writes: over the link into the buffer, and from there to the dies.
//
// A write is acknowledged when all of it is in the buffer. A write with FUA is acknowledged when all of it is
// in flash, unless the buffer survives a power loss. The buffer drains to idle dies, round robin, or to the
// die that the FTL demands. A die does the work that a write causes, such as garbage collection, right after
// the write.

/// The most pages that cross the link at a time, so that other transfers get their turn.
const BURST_PAGES: u32 = 8;

impl<L: TranslationLayer> FlashDrive<L> {
    /// Sends the next burst of the oldest write, if the buffer has room.
    pub(super) fn send(&mut self, now: Nanos) {
        if self.sending {
            return;
        }
        if self.layer.is_read_only() {
            return self.refuse_waiting(now);
        }
        let Some(&slot) = self.writers.front() else { return };
        let Request { io, page_to_send: first, page_end, .. } = self.requests[slot as usize];
        let pages = self.buffer.reserve((page_end - first).min(BURST_PAGES));
        if pages == 0 {
            return;
        }
        let bytes = (first..first + pages).map(|page| u64::from(self.part(&io, page).1)).sum();
        let at = self.front.link.send_to_drive(now, bytes);
        self.front.events.push(at, Event::Arrived(slot, pages));
        self.sending = true;
        self.requests[slot as usize].page_to_send += pages;
        if first + pages == page_end {
            self.writers.pop_front();
        }
    }

    /// Stores pages of a write that have crossed the link.
    pub(super) fn arrive(&mut self, slot: u32, pages: u32, now: Nanos, done: &mut Vec<Completion>) {
        let Request { io, page_to_arrive: first, page_end, .. } = self.requests[slot as usize];
        if !self.trims.is_empty() {
            self.trim_before_write(first..first + pages, now);
        }
        let size = self.layer.size(io.data);
        for page in first..first + pages {
            let (start, bytes) = self.part(&io, page);
            let sector = self.parameters.sector_bytes;
            let mask = sector_mask(start / sector, (start + bytes) / sector);
            let buffered = self.buffer.put(page, mask, size);
            self.layer.announce(page);
            if let Some(contents) = &mut self.contents {
                let part = part_of_io(&io, page, self.parameters.page_bytes);
                contents.arrive(slot, part, buffered, start as usize);
            }
        }
        self.requests[slot as usize].page_to_arrive += pages;
        self.sending = false;
        let is_over = first + pages == page_end;
        let waits = io.sync.is_some() && !self.parameters.firmware.power_loss_protection;
        if is_over && waits {
            self.buffer.force(slot, (io.offset / u64::from(self.parameters.page_bytes)) as u32..page_end);
        }
        self.drain(now);
        self.send(now);
        if is_over && !waits {
            self.end(slot, Outcome::Done, now, done);
        }
    }

    /// Programs what is due in the buffer on idle dies.
    pub(super) fn drain(&mut self, now: Nanos) {
        while let Some((slot, page)) = self.buffer.take_partial(self.idle) {
            match self.layer.find(page) {
                None => self.fill(slot),
                Some(place) => {
                    let job = self.read_job(Reader::Fill(slot), &place, 0, now);
                    self.nand.read(place.die, job, now, &mut self.front.events);
                }
            }
        }
        while let Some(page) = self.buffer.first_ready()
            && let Some(die) = self.choose_die(page)
            && self.buffer.has_unit(self.layer.unit(die).size)
        {
            self.program(die, now);
        }
        while let Some(slot) = self.buffer.pop_flushed() {
            if slot != RESTING {
                self.front.events.push(now, Event::Complete(slot));
            }
        }
    }

    /// Completes a page in the buffer: its missing sectors were read, or the flash holds none.
    pub(super) fn fill(&mut self, slot: u32) {
        if let Some(contents) = &mut self.contents {
            let Entry { page, sectors, .. } = *self.buffer.entry(slot);
            contents.complete(slot, sectors, self.layer.find(page).map(|place| place.at));
        }
        self.buffer.complete(slot);
    }

    /// The die that can program this page now.
    fn choose_die(&self, page: u32) -> Option<u32> {
        match self.layer.die_for(page) {
            Some(die) => self.nand.may_program(die).then_some(die),
            None => self.nand.next_idle(|die| self.layer.accepts(die)),
        }
    }

    fn program(&mut self, die: u32, now: Nanos) {
        let mut unit = std::mem::take(&mut self.units[die as usize]);
        assert!(unit.is_empty(), "an idle die programs nothing");
        let program = self.layer.unit(die);
        self.buffer.take_unit(program.size, &mut unit);
        self.nand.program(die, program, now, &mut self.front.events);
        for slot in &unit {
            let Entry { page, size, .. } = *self.buffer.entry(*slot);
            self.layer.write(page, size, die, &mut self.pending);
            self.follow(Some(*slot), now);
            if let Some(cache) = &mut self.map_cache {
                let access = cache.access(page, true);
                self.move_map(access, Reader::Nobody, now);
            }
        }
        self.layer.end_unit(die, &mut self.pending);
        self.follow(None, now);
        self.units[die as usize] = unit;
        if let Some(thermal) = &mut self.thermal {
            let page = u64::from(self.parameters.page_bytes);
            thermal.program(u64::from(program.size) * page / u64::from(self.layer.size_max()));
        }
    }

    /// Refuses writes and flushes that wait, because the flash takes no more data.
    fn refuse_waiting(&mut self, now: Nanos) {
        let flushes = self.buffer.give_up_flushes().into_iter().filter(|slot| *slot != RESTING);
        for slot in self.writers.drain(..).chain(flushes) {
            self.front.events.push(now, Event::Refuse(slot));
        }
    }

    /// Reads and programs mapping table segments as a cache access demands.
    pub(super) fn move_map(&mut self, access: MapAccess, reader: Reader, now: Nanos) {
        let Some(segment) = access.read else { return };
        self.read_segment(segment, reader, now);
        self.segments_to_program += u32::from(access.programs);
        // Segments are programmed once they fill a unit, like data.
        if self.segments_to_program >= self.parameters.unit_pages {
            let pages = std::mem::take(&mut self.segments_to_program);
            self.segments_programmed += u64::from(pages);
            let moved = pages * self.layer.size_max();
            let work = Work { moved, programs: 1, ..Work::NONE };
            self.nand.work(segment % self.parameters.nand.dies(), work, now, &mut self.front.events);
        }
    }
}

impl<L: TranslationLayer> FlashDrive<L> {
    /// Takes a TRIM; it covers the pages that lie wholly within its range.
    pub(super) fn take_trim(&mut self, slot: u32, now: Nanos) {
        let io = self.requests[slot as usize].io;
        let page_bytes = u64::from(self.parameters.page_bytes);
        let (start, end) = (io.offset, io.offset + u64::from(io.length));
        let pages = start.div_ceil(page_bytes) as u32..(end / page_bytes) as u32;
        match self.parameters.firmware.trim {
            Trim::Ignored => {}
            Trim::Immediate => self.forget(pages, now),
            Trim::Lazy if pages.is_empty() => {}
            Trim::Lazy => self.trims.push_back(pages),
        }
    }

    /// Applies pending TRIMs to pages that are about to be written, since the TRIMs came first.
    pub(super) fn trim_before_write(&mut self, pages: Range<u32>, now: Nanos) {
        let touches = |trim: &Range<u32>| trim.start < pages.end && pages.start < trim.end;
        while let Some(index) = self.trims.iter().position(touches) {
            let trim = self.trims.remove(index).expect("it was found");
            self.forget(trim, now);
        }
    }

    pub(super) fn forget(&mut self, pages: Range<u32>, now: Nanos) {
        for page in pages {
            self.buffer.discard(page);
            self.layer.trim(page, &mut self.pending);
        }
        self.follow(None, now);
    }

    /// Starts background work on every idle die that has any.
    pub(super) fn tend(&mut self, now: Nanos) {
        while let Some(trim) = self.trims.pop_front() {
            self.forget(trim, now);
        }
        for die in 0..self.parameters.nand.dies() {
            if self.nand.is_idle(die) && self.layer.tend(die, &mut self.pending) {
                self.follow(None, now);
            }
        }
    }

    /// Schedules a check for when the drive may have been idle long enough.
    pub(super) fn expect_idle(&mut self) {
        if !self.idle_check_due {
            self.idle_check_due = true;
            self.front
                .events
                .push(self.front.quiet_since + self.parameters.firmware.idle_after, Event::IdleCheck);
        }
    }

    pub(super) fn check_idle(&mut self, now: Nanos) {
        self.idle_check_due = false;
        if !self.front.is_quiet() {
            return;
        }
        if now < self.front.quiet_since + self.parameters.firmware.idle_after {
            return self.expect_idle();
        }
        self.idle = true;
        self.drain(now);
        self.tend(now);
    }
}
