//! NAND dies and channels in virtual time: dies read, program and erase, and channels transfer their pages.
//!
//! A die does one thing at a time. Host reads and programs of host data are timed one by one, transfers over the
//! shared channel included. [`Work`] of a die (garbage collection, merges, folding) is timed as one span that runs
//! whenever the die has nothing else to do. A read waits only for the end of the page move under way, then goes
//! first. After several reads in a row, a page move or a waiting program of host data gets its turn. Background moves
//! load their channel, too: until they are done, its foreground transfers wait half a page on average. A span of work
//! lasts until its channel has transferred everything. Power or firmware may limit how many dies program at once.

use std::collections::VecDeque;

use likenew_core::units::Nanos;

use super::translation_layer::{Cell, Unit, Work};
use crate::drive_file::parameters;
use crate::timeline::{EventQueue, times};

/// After this many reads in a row, other work that waits for the die gets its turn.
const READS_IN_A_ROW_MAX: u32 = 8;

/// The end of an operation of a die.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandEvent {
    /// The array was read; its pages can be transferred.
    Sensed(u32),
    /// The pages were transferred.
    Read(u32),
    /// The unit was programmed.
    Programmed(u32),
    /// The die may have finished its work.
    Rested(u32),
}

impl NandEvent {
    pub(crate) fn die(self) -> u32 {
        match self {
            Self::Sensed(die) | Self::Read(die) | Self::Programmed(die) | Self::Rested(die) => die,
        }
    }
}

/// An event in a flash drive.
#[derive(Clone, Copy)]
pub(crate) enum Event {
    /// The firmware has decoded the command in this slot.
    Command(u32),
    /// This many pages of the write in this slot have reached the buffer.
    Arrived(u32, u32),
    /// A die has finished an operation.
    Nand(NandEvent),
    /// The I/O in this slot ends.
    Complete(u32),
    /// The drive refuses the I/O in this slot, because it takes no more data.
    Refuse(u32),
    /// The drive may have been idle long enough for background work.
    IdleCheck,
}

impl From<NandEvent> for Event {
    fn from(event: NandEvent) -> Self {
        Self::Nand(event)
    }
}

/// The pending events of a flash drive.
pub(crate) type Events = EventQueue<Event>;

/// What an event completed, for the owner of the dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandCompletion {
    /// Nothing that anyone waits for.
    Nothing,
    /// A read.
    Read(ReadJob),
    /// The program of the unit given to this die.
    Program(u32),
    /// All work of a die.
    Rest,
}

#[derive(Default)]
struct Die {
    reads: VecDeque<ReadJob>,
    reading: Option<ReadJob>,
    reads_in_a_row: u32,
    programming: bool,
    /// Work left at `work_from`. It has run since then unless the die reads or programs.
    work: Nanos,
    work_from: Nanos,
    /// A read waits for the next multiple of this within the work.
    work_step: Nanos,
}

impl Die {
    fn is_idle(&self) -> bool {
        !self.programming && self.reading.is_none() && self.work == Nanos::ZERO
    }
}

#[derive(Clone, Copy, Default)]
struct Channel {
    /// When the last foreground transfer ends.
    free: Nanos,
    /// When all transfers end, background included.
    drained: Nanos,
}

/// All dies and channels.
pub(crate) struct Nand {
    parameters: NandParameters,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Idle dies.
    idle: DieSet,
    /// Where the search for the next idle die begins.
    cursor: u32,
    /// Number of dies that program or have work.
    programs: u32,
    /// A die whose reads wait until its owner could give it a unit.
    offered: Option<u32>,
}

impl Nand {
    pub(crate) fn new(parameters: NandParameters) -> Self {
        let mut idle = DieSet::default();
        (0..parameters.dies()).for_each(|die| idle.set(die, true));
        Self {
            dies: (0..parameters.dies()).map(|_| Die::default()).collect(),
            channels: vec![Channel::default(); parameters.channels as usize],
            idle,
            cursor: 0,
            programs: 0,
            offered: None,
            parameters,
        }
    }

    /// The next die, round robin, that is idle, may program, and passes `fits`.
    #[inline]
    pub(crate) fn next_idle(&self, fits: impl Fn(u32) -> bool) -> Option<u32> {
        if self.programs >= self.parameters.programs_max {
            return None;
        }
        let dies = self.parameters.dies();
        let mut start = self.cursor;
        for _ in 0..dies {
            let die = self.idle.next_from(start)?;
            if fits(die) {
                return Some(die);
            }
            start = if die + 1 == dies { 0 } else { die + 1 };
        }
        None
    }

    pub(crate) fn is_idle(&self, die: u32) -> bool {
        self.idle.contains(die)
    }

    /// Whether all dies are idle.
    pub(crate) fn is_all_idle(&self) -> bool {
        (0..self.parameters.dies()).all(|die| self.idle.contains(die))
    }

    /// Whether a die is idle and may program.
    pub(crate) fn may_program(&self, die: u32) -> bool {
        self.is_idle(die) && self.programs < self.parameters.programs_max
    }

    /// Queues a read of a die.
    pub(crate) fn read(&mut self, die: u32, job: ReadJob, now: Nanos, events: &mut Events) {
        let place = &mut self.dies[die as usize];
        place.reads.push_back(job);
        if place.programming || place.reading.is_some() {
            return;
        }
        let mut start = now;
        if place.work > Nanos::ZERO {
            let steps = (now - place.work_from).0.div_ceil(place.work_step.0);
            let ran = Nanos((steps * place.work_step.0).min(place.work.0));
            start = place.work_from + ran;
            self.use_up(die, ran);
        }
        self.start_read(die, start, events);
    }

    /// Starts to program a unit on an idle die.
    #[inline]
    pub(crate) fn program(&mut self, die: u32, unit: Unit, now: Nanos, events: &mut Events) {
        let moved = self.transfer(die, self.parameters.transfer(unit.size), now);
        let place = &mut self.dies[die as usize];
        assert!(place.is_idle(), "a unit goes to an idle die");
        place.programming = true;
        self.cursor = if die + 1 == self.parameters.dies() { 0 } else { die + 1 };
        self.programs += 1;
        self.idle.set(die, false);
        events.push(moved + self.parameters.times(unit.cell).program, NandEvent::Programmed(die));
    }

    /// Gives a die work to do after its current operation.
    pub(crate) fn work(&mut self, die: u32, work: Work, now: Nanos, events: &mut Events) {
        let parameters = &self.parameters;
        let moves = parameters.transfer(2 * work.moved);
        let channel = &mut self.channels[(die % parameters.channels) as usize];
        channel.drained = channel.drained.max(now) + moves;
        let drained = channel.drained - now;
        let programs = work.programs + work.slc_programs;
        let steps = programs.max(work.rows + work.slc_rows).max(1);
        let copying = parameters.copying_time(&work);
        let span = (copying + times(parameters.erase, work.erases)).max(drained);
        if span == Nanos::ZERO {
            return;
        }
        let place = &mut self.dies[die as usize];
        if !place.programming && place.work == Nanos::ZERO {
            self.programs += 1;
        }
        if !place.programming && place.reading.is_none() {
            place.work = place.work - (now - place.work_from).min(place.work);
            place.work_from = now;
        }
        place.work += span;
        place.work_step = Nanos((copying.0 / u64::from(steps)).max(1));
        self.idle.set(die, false);
        if !place.programming && place.reading.is_none() {
            events.push(now + place.work, NandEvent::Rested(die));
        }
    }

    /// Handles an event. `program_waits` says whether a program of host data waits for the die.
    #[inline]
    pub(crate) fn handle_event(
        &mut self,
        event: NandEvent,
        program_waits: bool,
        now: Nanos,
        events: &mut Events,
    ) -> NandCompletion {
        match event {
            NandEvent::Sensed(die) => {
                let job = self.dies[die as usize].reading.expect("what was sensed is being read");
                let moved = self.transfer(die, self.parameters.read_transfer(&job), now);
                events.push(moved, NandEvent::Read(die));
                NandCompletion::Nothing
            }
            NandEvent::Read(die) => {
                let job = self.dies[die as usize].reading.take().expect("a read ends once");
                self.advance(die, program_waits, now, events);
                NandCompletion::Read(job)
            }
            NandEvent::Programmed(die) => {
                let place = &mut self.dies[die as usize];
                place.programming = false;
                self.programs -= u32::from(place.work == Nanos::ZERO);
                self.advance(die, program_waits, now, events);
                NandCompletion::Program(die)
            }
            NandEvent::Rested(die) => self.rest(die, now),
        }
    }

    /// Resumes the reads of a die that was offered to a program, if none came. Call this after each event.
    #[inline]
    pub(crate) fn resume_reads(&mut self, now: Nanos, events: &mut Events) {
        let Some(die) = self.offered.take() else { return };
        let place = &self.dies[die as usize];
        if !place.programming && place.reading.is_none() && !place.reads.is_empty() {
            self.start_read(die, now, events);
        }
    }

    /// Starts the next operation of a die after a read or program.
    fn advance(&mut self, die: u32, program_waits: bool, now: Nanos, events: &mut Events) {
        let place = &mut self.dies[die as usize];
        if !place.reads.is_empty() {
            let mut start = now;
            let is_due = place.reads_in_a_row >= READS_IN_A_ROW_MAX;
            let has_work = place.work > Nanos::ZERO;
            if is_due && program_waits && !has_work {
                place.reads_in_a_row = 0;
                self.offered = Some(die);
                self.idle.set(die, true);
                return;
            }
            if is_due && has_work {
                let step = place.work_step.min(place.work);
                start = now + step;
                place.reads_in_a_row = 0;
                self.use_up(die, step);
            }
            return self.start_read(die, start, events);
        }
        place.reads_in_a_row = 0;
        if place.work > Nanos::ZERO {
            place.work_from = now;
            events.push(now + place.work, NandEvent::Rested(die));
        } else {
            self.idle.set(die, true);
        }
    }

    fn start_read(&mut self, die: u32, start: Nanos, events: &mut Events) {
        let place = &mut self.dies[die as usize];
        let job = place.reads.pop_front().expect("a read waits");
        place.reading = Some(job);
        place.reads_in_a_row += 1;
        self.idle.set(die, false);
        let sensing = times(self.parameters.sense(&job), job.senses);
        events.push(start + sensing, NandEvent::Sensed(die));
    }

    /// Marks part of a die's work as done.
    fn use_up(&mut self, die: u32, span: Nanos) {
        let work = &mut self.dies[die as usize].work;
        *work = *work - span;
        self.programs -= u32::from(*work == Nanos::ZERO);
    }

    /// Ends a die's work if it is done. It is not if a read came in between.
    fn rest(&mut self, die: u32, now: Nanos) -> NandCompletion {
        let place = &mut self.dies[die as usize];
        let runs = !place.programming && place.reading.is_none() && place.work > Nanos::ZERO;
        if !runs || place.work_from + place.work > now {
            return NandCompletion::Nothing;
        }
        let left = place.work;
        self.use_up(die, left);
        self.idle.set(die, true);
        NandCompletion::Rest
    }

    /// Transfers pages over the channel of a die; returns when they have arrived.
    #[inline]
    fn transfer(&mut self, die: u32, span: Nanos, now: Nanos) -> Nanos {
        let page = self.parameters.page_transfer;
        let channel = &mut self.channels[(die % self.parameters.channels) as usize];
        let begin = channel.free.max(now);
        let wait = if channel.drained > begin { Nanos(page.0 / 2) } else { Nanos::ZERO };
        channel.free = begin + wait + span;
        channel.drained = channel.drained.max(begin) + span;
        channel.free
    }
}

parameters! {
    /// Speed of flash cells.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct CellTimes {
        /// Array read of one row (tR), or of all rows of a mapping unit that spans several.
        pub read: Nanos = span("read_ns"),
        /// Program of one unit (tPROG), or of all units of a mapping unit that spans several.
        pub program: Nanos = span("program_ns"),
    }
}

/// Number and speed of the chips. A page is a mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandParameters {
    /// Channels, each with its own bus.
    pub channels: u32,
    /// Dies per channel.
    pub dies_per_channel: u32,
    /// Native cells, with all bits that the chip is made for.
    pub native: CellTimes,
    /// The same cells with one bit each.
    pub slc: CellTimes,
    /// Erase time of a block (tBERS).
    pub erase: Nanos,
    /// Transfer time of a page over the channel.
    pub page_transfer: Nanos,
    /// Firmware time per page that a die copies, on top of the chips' time.
    pub copy: Nanos,
    /// Size of a page that is not compressed, in the FTL's units.
    pub page_size: u32,
    /// The most dies that program at once.
    pub programs_max: u32,
    /// The part of a page that the host can read alone, if a page spans several chip pages; else it reads whole pages.
    pub read_part: Option<ReadPart>,
}

/// A chip page, as part of a larger mapping unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// Bytes that the host can address.
    pub bytes: u32,
    /// Its transfer time over the channel.
    pub transfer: Nanos,
    /// Array reads per mapping unit.
    pub rows: u16,
    /// Chip pages per array read.
    pub row_parts: u16,
}

impl NandParameters {
    /// Number of dies.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    pub(super) fn times(&self, cell: Cell) -> CellTimes {
        match cell {
            Cell::Native => self.native,
            Cell::Slc => self.slc,
        }
    }

    /// How long work keeps a die busy, erasures aside.
    pub(crate) fn copying_time(&self, work: &Work) -> Nanos {
        let reads = times(self.native.read, work.rows) + times(self.slc.read, work.slc_rows);
        let programs = times(self.native.program, work.programs) + times(self.slc.program, work.slc_programs);
        reads + self.transfer(2 * work.moved) + programs + times(self.copy, work.moved)
    }

    /// Transfer time over a channel of pages with this total size.
    pub(super) fn transfer(&self, size: u32) -> Nanos {
        Nanos(self.page_transfer.0 * u64::from(size) / u64::from(self.page_size))
    }

    /// Array read time for one attempt at a read.
    pub(super) fn sense(&self, job: &ReadJob) -> Nanos {
        let whole = self.times(job.cell).read;
        match (self.read_part, job.reader) {
            (Some(part), Reader::Host(_)) => {
                let rows_max = u32::from(part.rows);
                let rows = job.bytes.div_ceil(part.bytes * u32::from(part.row_parts)).clamp(1, rows_max);
                Nanos(whole.0 * u64::from(rows) / u64::from(rows_max))
            }
            _ => whole,
        }
    }

    /// Transfer time of a read's data over a channel.
    pub(super) fn read_transfer(&self, job: &ReadJob) -> Nanos {
        let whole = self.transfer(job.size);
        match (self.read_part, job.reader) {
            (Some(part), Reader::Host(_)) => whole.min(times(part.transfer, job.bytes.div_ceil(part.bytes))),
            _ => whole,
        }
    }
}

/// Who waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A host I/O.
    Host(u32),
    /// A page in the write buffer that lacks sectors.
    Fill(u32),
    /// A host I/O that needs this segment of the mapping table first.
    Map(u32),
    /// Only the mapping table itself, which is to be changed.
    Nobody,
}

/// One array read, and what is wanted of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    pub(crate) reader: Reader,
    pub(crate) cell: Cell,
    /// Number of array reads, retries included.
    pub(crate) senses: u32,
    /// Size of the data that crosses the channel.
    pub(crate) size: u32,
    /// Bytes of it that the host wants.
    pub(crate) bytes: u32,
}

/// The most dies supported.
pub(crate) const DIES_MAX: u32 = 256;

/// A subset of the dies `0 .. DIES_MAX`.
#[derive(Clone, Copy, Default)]
pub(crate) struct DieSet {
    words: [u64; DIES_MAX as usize / 64],
}

impl DieSet {
    pub(crate) fn set(&mut self, die: u32, member: bool) {
        let bit = 1 << (die % 64);
        let word = &mut self.words[die as usize / 64];
        if member { *word |= bit } else { *word &= !bit }
    }

    pub(crate) fn contains(&self, die: u32) -> bool {
        self.words[die as usize / 64] >> (die % 64) & 1 == 1
    }

    /// The first member from `start` on, cyclically.
    pub(crate) fn next_from(&self, start: u32) -> Option<u32> {
        let count = self.words.len() as u32;
        // The first word counts twice: from `start` on, and after the wrap up to it.
        (0..=count).find_map(|step| {
            let index = (start / 64 + step) % count;
            let from_bit = u64::MAX << (start % 64);
            let mask = match step {
                0 => from_bit,
                _ if step == count => !from_bit,
                _ => u64::MAX,
            };
            let word = self.words[index as usize] & mask;
            (word != 0).then(|| index * 64 + word.trailing_zeros())
        })
    }
}

#[cfg(test)]
mod tests;
