//! The flash chips in time: dies that read, program and erase, behind channels that move their pages.
//!
//! A die does one thing at a time. Reads of the host and programs of host data are timed one by one, transfers over the
//! shared channel included. [`Work`] of a die (collection, merges, folding) is timed as one span that runs whenever the die
//! has nothing else to do: a read waits for the end of the move that is under way and no longer, and goes before the
//! rest; after a few reads in a row one move gets its turn, or a program of host data if one waits. The moves of a span load the channel too: foreground transfers
//! wait half a page on average where a channel also moves in the background, and a span lasts until its channel
//! has moved everything. The number of dies that program at once may be limited, as power or firmware limits it.

use std::collections::VecDeque;

use likenew_core::units::Nanos;

use super::translation_layer::{Cell, Unit, Work};
use crate::timeline::{EventQueue, times};

/// So many reads of a die overtake a move, an erasure or a program that waits for the same die.
const READS_IN_A_ROW_MAX: u32 = 8;

/// A moment at which a die goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandEvent {
    /// The array has been read; the pages can move.
    Sensed(u32),
    /// They have been moved.
    Read(u32),
    /// The unit is programmed.
    Programmed(u32),
    /// The die may have nothing left to do.
    Rested(u32),
}

impl NandEvent {
    pub(crate) fn die(self) -> u32 {
        match self {
            Self::Sensed(die) | Self::Read(die) | Self::Programmed(die) | Self::Rested(die) => die,
        }
    }
}

/// What happens in a flash drive.
#[derive(Clone, Copy)]
pub(crate) enum Event {
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

/// What is to happen in a flash drive.
pub(crate) type Events = EventQueue<Event>;

/// What came to an end for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandCompletion {
    /// Nothing that anybody waits for.
    Nothing,
    /// A read.
    Read(ReadJob),
    /// The program of the unit that was given to this die.
    Program(u32),
    /// Everything that the die had to do.
    Rest,
}

#[derive(Default)]
struct Die {
    reads: VecDeque<ReadJob>,
    reading: Option<ReadJob>,
    reads_in_a_row: u32,
    programming: bool,
    /// What is left of the work at `work_from`; it runs since then unless the die reads or programs.
    work: Nanos,
    work_from: Nanos,
    /// A read waits for a multiple of this.
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
    /// When everything is moved, the background included.
    drained: Nanos,
}

/// All dies and channels.
pub(crate) struct Nand {
    parameters: NandParameters,
    dies: Vec<Die>,
    channels: Vec<Channel>,
    /// Dies with nothing to do.
    idle: DieSet,
    /// Where the search for the next idle die begins.
    cursor: u32,
    /// Dies that program or have work.
    programs: u32,
    /// A die whose reads wait until its owner had the chance to give it a unit.
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

    /// The next die, round robin, that has nothing to do, may program, and passes `fits`.
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

    /// Whether a die has nothing to do.
    pub(crate) fn is_idle(&self, die: u32) -> bool {
        self.idle.contains(die)
    }

    /// Whether no die has anything to do.
    pub(crate) fn is_all_idle(&self) -> bool {
        (0..self.parameters.dies()).all(|die| self.idle.contains(die))
    }

    /// Whether a die has nothing to do and may program.
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

    /// Gives an idle die pages of this size in sum to program.
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

    /// Gives a die work, which it does after what it is doing.
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

    /// Lets an event happen, while a program of host data waits for a die, or none does.
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

    /// Goes on with the reads of a die that an event left to a program, if it was given none. To be called after each event.
    #[inline]
    pub(crate) fn resume_reads(&mut self, now: Nanos, events: &mut Events) {
        let Some(die) = self.offered.take() else { return };
        let place = &self.dies[die as usize];
        if !place.programming && place.reading.is_none() && !place.reads.is_empty() {
            self.start_read(die, now, events);
        }
    }

    /// Starts what a die does after a read or a program.
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

    /// Does a part of the work of a die.
    fn use_up(&mut self, die: u32, span: Nanos) {
        let work = &mut self.dies[die as usize].work;
        *work = *work - span;
        self.programs -= u32::from(*work == Nanos::ZERO);
    }

    /// The work of a die may have come to its end; if a read came in between, it has not.
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

    /// Moves pages over the channel of a die for a time; returns when they are there.
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

/// How fast cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTimes {
    /// Array read of one row (tR), or of all rows of a mapping unit that spans several.
    pub read: Nanos,
    /// Program of one unit (tPROG), or of all units of a mapping unit that spans several.
    pub program: Nanos,
}

/// How many chips there are and how fast they are. Pages are units of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandParameters {
    /// Channels, each with a bus of its own.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// The cells as the chip is made for.
    pub native: CellTimes,
    /// The cells with one bit in each.
    pub slc: CellTimes,
    /// Erasure of one block (tBERS).
    pub erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Firmware time of each page that a die copies, which comes on top of what the chips take.
    pub copy: Nanos,
    /// The size of a page that is not compressed, in units of the translation layer.
    pub page_size: u32,
    /// Dies that program at the same time at most.
    pub programs_max: u32,
    /// What the host reads of a page that spans several pages of the chips; without, it reads whole pages.
    pub read_part: Option<ReadPart>,
}

/// A page of a chip as a part of a page of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// Bytes of it that the host can address.
    pub bytes: u32,
    /// It alone over the channel.
    pub transfer: Nanos,
    /// Array reads that a whole page of the map takes.
    pub rows: u16,
    /// Such parts that each of them delivers.
    pub row_parts: u16,
}

impl NandParameters {
    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    pub(super) fn times(&self, cell: Cell) -> CellTimes {
        match cell {
            Cell::Native => self.native,
            Cell::Slc => self.slc,
        }
    }

    /// The time that work takes a die, erasures aside.
    pub(crate) fn copying_time(&self, work: &Work) -> Nanos {
        let reads = times(self.native.read, work.rows) + times(self.slc.read, work.slc_rows);
        let programs = times(self.native.program, work.programs) + times(self.slc.program, work.slc_programs);
        reads + self.transfer(2 * work.moved) + programs + times(self.copy, work.moved)
    }

    /// The time to move pages of this size in sum over a channel.
    pub(super) fn transfer(&self, size: u32) -> Nanos {
        Nanos(self.page_transfer.0 * u64::from(size) / u64::from(self.page_size))
    }

    /// The time of the array reads for what a read wants, each time that it is sensed.
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

    /// The time to move what a read wants over a channel.
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
    /// A request of the host.
    Host(u32),
    /// The missing part of a page in the write buffer.
    Fill(u32),
    /// A request of the host that needs this part of the map first.
    Map(u32),
    /// The map itself, for a change of it.
    Nobody,
}

/// One array read and the pages of it that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    pub(crate) reader: Reader,
    pub(crate) cell: Cell,
    /// The array is read so many times.
    pub(crate) senses: u32,
    /// Size of what crosses the channel.
    pub(crate) size: u32,
    /// Bytes of it that the host wants.
    pub(crate) bytes: u32,
}

/// More dies than this are not supported.
pub(crate) const DIES_MAX: u32 = 256;

/// Some of the dies `0 .. DIES_MAX`.
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

    /// The first member from `start` on, going round.
    pub(crate) fn next_from(&self, start: u32) -> Option<u32> {
        let count = self.words.len() as u32;
        // The first word counts twice: from its bit on, and at the end of the round up to it.
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
