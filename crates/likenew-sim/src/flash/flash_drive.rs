//! A flash drive: link, firmware, write buffer, translation layer and chips, put together.
//!
//! A command waits for a slot of the link, then for the firmware, which handles one command at a time. A write is
//! acknowledged once all of it is in the write buffer; the buffer drains to whichever die has nothing to do, round
//! robin. Collection that a write makes necessary is done by the die that took it, right after it. A read ends when
//! its last byte has crossed the link; pages that are unmapped or still in the buffer need no die.

use std::collections::VecDeque;

use likenew_core::drive::Accounting;
use likenew_core::io::{Completion, Io, Op, Outcome, Slot};
use likenew_core::units::Nanos;

use super::flash_parameters::FlashParameters;
use super::nand::{Ended, Nand, NandEvent, ReadJob, Reader};
use super::translation_layer::{Counts, Place, Todo, TranslationLayer};
use super::write_buffer::{WriteBuffer, sector_mask};
use crate::device::{Device, NO_IO, books};
use crate::event_queue::EventQueue;
use crate::host_link::HostLink;
use crate::timeline::Timeline;

/// Pages of a write that cross the link as one; other traffic gets its turn in between.
const BURST_PAGES: u32 = 8;
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
    todo: Todo,
    nand: Nand,
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
    /// When the last I/O ended, whether a look at that is due, and whether the drive looks after itself now.
    quiet_since: Nanos,
    idle_check_due: bool,
    idle: bool,
    host_bytes_written: u64,
    counts_when_opened: Counts,
    /// The next second of the translation layer's clock.
    next_second: Nanos,
}

impl<L: TranslationLayer> FlashDrive<L> {
    /// A drive around a translation layer that may already have a past.
    pub(crate) fn new(parameters: FlashParameters, layer: L) -> Self {
        let unit = || Vec::with_capacity(parameters.unit_pages as usize);
        Self {
            events: EventQueue::new(),
            link: HostLink::new(parameters.link),
            firmware: Timeline::default(),
            buffer: WriteBuffer::new(
                parameters.buffer_pages,
                parameters.page_bytes / parameters.sector_bytes,
            ),
            nand: Nand::new(parameters.nand),
            requests: Vec::new(),
            waiting: VecDeque::new(),
            slots_used: 0,
            writers: VecDeque::new(),
            sending: false,
            units: (0..parameters.nand.dies()).map(|_| unit()).collect(),
            quiet_since: Nanos::ZERO,
            idle_check_due: false,
            idle: false,
            host_bytes_written: 0,
            counts_when_opened: layer.counts(),
            next_second: Nanos::ZERO,
            layer,
            todo: Todo::default(),
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

    fn happen(&mut self, event: Event, now: Nanos, done: &mut Vec<Completion>) {
        match event {
            Event::Command(slot) => self.command(slot, now),
            Event::Arrived(slot, pages) => self.arrive(slot, pages, now, done),
            Event::Nand(event) => self.nand_happens(event, now),
            Event::Complete(slot) => self.end(slot, now, done),
            Event::IdleCheck => self.check_idle(now),
        }
    }

    fn command(&mut self, slot: u32, now: Nanos) {
        let io = self.requests[slot as usize].io;
        match io.op {
            Op::Read => self.read(slot, now),
            Op::Write => {
                self.writers.push_back(slot);
                self.send(now);
            }
            Op::Trim => {
                if self.parameters.trim.works() {
                    self.trim(io.offset, u64::from(io.length));
                    self.give_works(now);
                }
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

    /// Hands each row that holds a part of the read to its die; what needs no die goes over the link at once.
    fn read(&mut self, slot: u32, now: Nanos) {
        let request = &self.requests[slot as usize];
        let (io, pages) = (request.io, request.page_to_send..request.page_end);
        let mut ready_bytes = 0;
        let mut open: Option<(Place, ReadJob)> = None;
        for page in pages {
            let bytes = self.part(&io, page).1;
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
                    let job = read_job(Reader::Host(slot), &place, bytes);
                    if let Some((place, job)) = open.replace((place, job)) {
                        self.nand.read(place.die, job, now, &mut self.events);
                    }
                }
            }
        }
        if let Some((place, job)) = open {
            self.nand.read(place.die, job, now, &mut self.events);
        }
        if ready_bytes > 0 {
            self.reply(slot, ready_bytes, now);
        }
    }

    /// Sends bytes of a read to the host.
    fn reply(&mut self, slot: u32, bytes: u64, now: Nanos) {
        let at = self.link.send_to_host(now, bytes);
        let request = &mut self.requests[slot as usize];
        request.bytes_left -= bytes;
        if request.bytes_left == 0 {
            self.events.push(at, Event::Complete(slot));
        }
    }

    /// Starts the next burst of the oldest write, if the buffer has room for any of it.
    fn send(&mut self, now: Nanos) {
        let Some(&slot) = self.writers.front() else { return };
        if self.sending {
            return;
        }
        let Request { io, page_to_send: first, page_end, .. } = self.requests[slot as usize];
        let pages = self.buffer.reserve((page_end - first).min(BURST_PAGES));
        if pages == 0 {
            return;
        }
        let bytes = (first..first + pages).map(|page| u64::from(self.part(&io, page).1)).sum();
        let at = self.link.send_to_drive(now, bytes);
        self.events.push(at, Event::Arrived(slot, pages));
        self.sending = true;
        self.requests[slot as usize].page_to_send += pages;
        if first + pages == page_end {
            self.writers.pop_front();
        }
    }

    fn arrive(&mut self, slot: u32, pages: u32, now: Nanos, done: &mut Vec<Completion>) {
        let Request { io, page_to_arrive: first, page_end, .. } = self.requests[slot as usize];
        let size = self.layer.size(io.data);
        for page in first..first + pages {
            let (start, bytes) = self.part(&io, page);
            let sector = self.parameters.sector_bytes;
            self.buffer.put(page, sector_mask(start / sector, (start + bytes) / sector), size);
        }
        self.requests[slot as usize].page_to_arrive += pages;
        self.sending = false;
        self.drain(now);
        self.send(now);
        if first + pages == page_end {
            self.end(slot, now, done);
        }
    }

    /// Gives what is due in the buffer to dies that have nothing to do.
    fn drain(&mut self, now: Nanos) {
        while let Some((slot, page)) = self.buffer.take_partial(self.idle) {
            match self.layer.find(page) {
                None => self.buffer.complete(slot),
                Some(place) => {
                    let job = read_job(Reader::Fill(slot), &place, 0);
                    self.nand.read(place.die, job, now, &mut self.events);
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
            self.events.push(now, Event::Complete(slot));
        }
    }

    /// The die that can take the page now.
    fn choose_die(&self, page: u32) -> Option<u32> {
        match self.layer.die_for(page) {
            Some(die) => self.nand.may_program(die).then_some(die),
            None => self.nand.next_idle(|die| self.layer.accepts(die)),
        }
    }

    fn program(&mut self, die: u32, now: Nanos) {
        let unit = &mut self.units[die as usize];
        assert!(unit.is_empty(), "an idle die programs nothing");
        let program = self.layer.unit(die);
        self.buffer.take_unit(program.size, unit);
        for slot in unit.iter() {
            let (page, size) = self.buffer.page(*slot);
            self.layer.write(page, size, die, &mut self.todo);
        }
        self.layer.end_unit(die, &mut self.todo);
        self.nand.program(die, program, now, &mut self.events);
        self.give_works(now);
    }

    /// Hands the dies what the translation layer wants done.
    fn give_works(&mut self, now: Nanos) {
        for (die, work) in self.todo.take_works() {
            self.nand.work(die, work, now, &mut self.events);
        }
    }

    fn nand_happens(&mut self, event: NandEvent, now: Nanos) {
        match self.nand.happen(event, now, &mut self.events) {
            Ended::Nothing => return,
            Ended::Read(ReadJob { reader: Reader::Host(slot), bytes, .. }) => {
                self.reply(slot, u64::from(bytes), now);
            }
            Ended::Read(ReadJob { reader: Reader::Fill(slot), .. }) => self.buffer.complete(slot),
            Ended::Program(die) => {
                for slot in self.units[die as usize].drain(..) {
                    self.buffer.release(slot);
                }
            }
            Ended::Rest => {}
        }
        self.drain(now);
        self.send(now);
        if self.idle {
            self.tend(now);
        }
    }

    /// Lets every die that has nothing to do look after itself, as far as there is something to gain.
    fn tend(&mut self, now: Nanos) {
        for die in 0..self.parameters.nand.dies() {
            if self.nand.is_idle(die) && self.layer.tend(die, &mut self.todo) {
                self.give_works(now);
            }
        }
    }

    /// Forgets the pages that lie wholly within a range of bytes.
    fn trim(&mut self, offset: u64, length: u64) {
        let page_bytes = u64::from(self.parameters.page_bytes);
        let pages = offset.div_ceil(page_bytes)..(offset + length) / page_bytes;
        for page in pages {
            self.buffer.discard(page as u32);
            self.layer.trim(page as u32, &mut self.todo);
        }
    }

    fn end(&mut self, slot: u32, now: Nanos, done: &mut Vec<Completion>) {
        done.push(Completion { slot: Slot(slot), at: now, outcome: Outcome::Done });
        self.slots_used -= 1;
        if let Some(next) = self.waiting.pop_front() {
            self.begin(next, now);
        } else if self.slots_used == 0 {
            self.quiet_since = now;
            self.expect_idle();
        }
    }

    /// Has the drive looked at again when it may have been quiet for long enough.
    fn expect_idle(&mut self) {
        if !self.idle_check_due {
            self.idle_check_due = true;
            self.events.push(self.quiet_since + self.parameters.idle_after, Event::IdleCheck);
        }
    }

    fn check_idle(&mut self, now: Nanos) {
        self.idle_check_due = false;
        if self.slots_used > 0 {
            return;
        }
        if now < self.quiet_since + self.parameters.idle_after {
            return self.expect_idle();
        }
        self.idle = true;
        self.drain(now);
        self.tend(now);
    }

    /// The part of a page that an I/O covers: where it starts in the page, and how long it is, in bytes.
    fn part(&self, io: &Io, page: u32) -> (u32, u32) {
        let page_start = u64::from(page) * u64::from(self.parameters.page_bytes);
        let start = io.offset.max(page_start);
        let end = (io.offset + u64::from(io.length)).min(page_start + u64::from(self.parameters.page_bytes));
        ((start - page_start) as u32, (end - start) as u32)
    }
}

impl<L: TranslationLayer> Device for FlashDrive<L> {
    fn announce_slots(&mut self, count: u32) {
        let empty = Request { io: NO_IO, bytes_left: 0, page_to_send: 0, page_to_arrive: 0, page_end: 0 };
        let count = self.requests.len().max(count as usize);
        self.requests.resize(count, empty);
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        let page_bytes = u64::from(self.parameters.page_bytes);
        let first = (io.offset / page_bytes) as u32;
        let page_end = (io.offset + u64::from(io.length)).div_ceil(page_bytes) as u32;
        let bytes_left = u64::from(io.length);
        self.requests[io.slot.index()] =
            Request { io: *io, bytes_left, page_to_send: first, page_to_arrive: first, page_end };
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
            self.layer.set_clock(second as i64);
            self.next_second = Nanos((second + 1) * SECOND_NS);
        }
        self.happen(event, now, done);
    }

    fn accounting(&self) -> Accounting {
        let (counts, before) = (self.layer.counts(), self.counts_when_opened);
        let programmed = (counts.programmed - before.programmed) * u64::from(self.parameters.page_bytes);
        let flash_bytes_programmed = programmed / u64::from(self.layer.size_max());
        let erases = counts.erases - before.erases;
        books(self.host_bytes_written, flash_bytes_programmed, erases, self.layer.free_blocks())
    }
}

/// Reads what a place holds, of which the host wants `bytes`.
fn read_job(reader: Reader, place: &Place, bytes: u32) -> ReadJob {
    ReadJob { reader, cell: place.cell, senses: 1, size: place.size, bytes }
}
