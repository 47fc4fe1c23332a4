//! The flash chips in time: dies that read, program and erase, behind channels that move their pages.
//!
//! A die does one thing at a time; dies that share a channel take turns on it in the order in which they need it.
//! A die prefers reads of the host to everything else, but lets other work through after
//! a few of them. The number of dies that program at once may be limited, as power or firmware
//! limits it; dies that want to program then wait in line.

use std::collections::VecDeque;

use likenew_core::units::Nanos;

use super::die_set::DieSet;
use super::ftl::Work;
use crate::event_queue::EventQueue;
use crate::timeline::{Timeline, times};

/// So many reads of a die overtake a program, a move or an erasure that waits for the same die.
const READS_IN_A_ROW_MAX: u32 = 8;

/// How many chips there are and how fast they are. Pages are units of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandParameters {
    /// Channels, each with a bus of its own.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// Array read of one row (tR).
    pub read: Nanos,
    /// Program of one unit (tPROG).
    pub program: Nanos,
    /// Erasure of one block (tBERS).
    pub erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Dies that program at the same time at most.
    pub programs_max: u32,
}

impl NandParameters {
    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }
}

/// Who waits for a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    /// A request of the host.
    Host(u32),
    /// The missing part of a page in the write buffer.
    Fill(u32),
}

/// One array read and the pages of it that are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadJob {
    pub(crate) reader: Reader,
    /// Pages that cross the channel.
    pub(crate) pages: u32,
    /// Bytes of them that the host wants.
    pub(crate) bytes: u32,
}

/// A moment at which a die goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NandEvent {
    /// The array has been read; the pages can move.
    Sensed(u32),
    /// The die is free again.
    Finished(u32),
}

/// What came to an end for somebody else.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// Nothing that anybody waits for.
    Nothing,
    /// A read.
    Read(ReadJob),
    /// The program of the unit that was given to this die.
    Program(u32),
}

#[derive(Clone, Copy)]
enum Job {
    Read(ReadJob),
    Program,
    Move { pages: u32, programs: bool },
    Erase,
}

impl Job {
    fn programs(self) -> bool {
        matches!(self, Self::Program | Self::Move { programs: true, .. })
    }
}

#[derive(Default)]
struct Die {
    job: Option<Job>,
    reads: VecDeque<ReadJob>,
    reads_in_a_row: u32,
    /// Pages of the unit to program next.
    unit: Option<u32>,
    /// Collection that is still to be done after that.
    debt: Work,
    /// It stands in line to program, or has come to the head of it.
    in_line: bool,
    admitted: bool,
}

/// All dies and channels.
pub(crate) struct Nand {
    parameters: NandParameters,
    dies: Vec<Die>,
    channels: Vec<Timeline>,
    /// Dies with nothing to do.
    idle: DieSet,
    /// Where the search for the next idle die begins.
    cursor: u32,
    programs: u32,
    line: VecDeque<u32>,
}

impl Nand {
    pub(crate) fn new(parameters: NandParameters) -> Self {
        let mut idle = DieSet::default();
        (0..parameters.dies()).for_each(|die| idle.set(die, true));
        Self {
            dies: (0..parameters.dies()).map(|_| Die::default()).collect(),
            channels: vec![Timeline::default(); parameters.channels as usize],
            idle,
            cursor: 0,
            programs: 0,
            line: VecDeque::new(),
            parameters,
        }
    }

    /// The next die, round robin, that has nothing to do and passes `fits`.
    pub(crate) fn next_idle(&mut self, fits: impl Fn(u32) -> bool) -> Option<u32> {
        let mut start = self.cursor;
        let mut left = self.dies.len();
        while left > 0 {
            let die = self.idle.next_from(start)?;
            if fits(die) {
                self.cursor = (die + 1) % self.dies.len() as u32;
                return Some(die);
            }
            start = (die + 1) % self.dies.len() as u32;
            left -= 1;
        }
        None
    }

    /// Whether a die has nothing to do.
    pub(crate) fn is_idle(&self, die: u32) -> bool {
        self.idle.contains(die)
    }

    /// Queues a read of a die.
    pub(crate) fn read<E: From<NandEvent>>(
        &mut self,
        die: u32,
        job: ReadJob,
        now: Nanos,
        events: &mut EventQueue<E>,
    ) {
        self.dies[die as usize].reads.push_back(job);
        self.go_on(die, now, events);
    }

    /// Gives an idle die a unit of `pages` to program, and collection to do after it.
    pub(crate) fn program<E: From<NandEvent>>(
        &mut self,
        die: u32,
        pages: u32,
        then: Work,
        now: Nanos,
        events: &mut EventQueue<E>,
    ) {
        let place = &mut self.dies[die as usize];
        assert!(place.unit.is_none() && place.debt == Work::NONE, "a unit goes to an idle die");
        (place.unit, place.debt) = (Some(pages), then);
        self.go_on(die, now, events);
    }

    /// Gives an idle die collection to do.
    pub(crate) fn collect<E: From<NandEvent>>(
        &mut self,
        die: u32,
        work: Work,
        now: Nanos,
        events: &mut EventQueue<E>,
    ) {
        self.dies[die as usize].debt.add(work);
        self.go_on(die, now, events);
    }

    /// Lets an event happen.
    pub(crate) fn happen<E: From<NandEvent>>(
        &mut self,
        event: NandEvent,
        now: Nanos,
        events: &mut EventQueue<E>,
    ) -> Ended {
        match event {
            NandEvent::Sensed(die) => {
                self.transfer(die, now, events);
                Ended::Nothing
            }
            NandEvent::Finished(die) => self.finish(die, now, events),
        }
    }

    /// Starts the next job of a die that does nothing.
    fn go_on<E: From<NandEvent>>(&mut self, die: u32, now: Nanos, events: &mut EventQueue<E>) {
        if self.dies[die as usize].job.is_none()
            && let Some((job, sensing)) = self.choose(die)
        {
            self.dies[die as usize].job = Some(job);
            match job {
                Job::Program => self.transfer(die, now, events),
                Job::Erase => events.push(now + self.parameters.erase, NandEvent::Finished(die)),
                Job::Read(_) | Job::Move { .. } => events.push(now + sensing, NandEvent::Sensed(die)),
            }
        }
        let Die { job, unit, debt, .. } = &self.dies[die as usize];
        self.idle.set(die, job.is_none() && unit.is_none() && *debt == Work::NONE);
    }

    /// The next job of a die and how long its array is read for it.
    fn choose(&mut self, die: u32) -> Option<(Job, Nanos)> {
        let place = &mut self.dies[die as usize];
        let work_waits = place.unit.is_some() || place.debt != Work::NONE;
        if (place.reads_in_a_row < READS_IN_A_ROW_MAX || !work_waits)
            && let Some(read) = place.reads.pop_front()
        {
            place.reads_in_a_row += 1;
            return Some((Job::Read(read), self.parameters.read));
        }
        if !work_waits {
            return None;
        }
        let Some(chosen) = self.choose_work(die) else {
            // It stands in line to program; reads may go on meanwhile.
            let read = self.dies[die as usize].reads.pop_front()?;
            return Some((Job::Read(read), self.parameters.read));
        };
        self.dies[die as usize].reads_in_a_row = 0;
        Some(chosen)
    }

    fn choose_work(&mut self, die: u32) -> Option<(Job, Nanos)> {
        let Die { unit, debt, .. } = self.dies[die as usize];
        if (unit.is_some() || debt.programs > 0) && !self.may_program(die) {
            return None;
        }
        let debt = &mut self.dies[die as usize].debt;
        if unit.is_some() {
            return Some((Job::Program, Nanos::ZERO));
        }
        if debt.pages > 0 {
            // What is moved is spread evenly over the programs it completes.
            let parts = debt.programs.max(1);
            let (rows, pages) = (debt.rows.div_ceil(parts), debt.pages.div_ceil(parts));
            let programs = debt.programs > 0;
            *debt = Work {
                rows: debt.rows - rows,
                pages: debt.pages - pages,
                programs: debt.programs.saturating_sub(1),
                ..*debt
            };
            return Some((Job::Move { pages, programs }, times(self.parameters.read, rows)));
        }
        assert!(debt.erases > 0 && debt.programs == 0, "collection ends with its erasures");
        debt.erases -= 1;
        Some((Job::Erase, Nanos::ZERO))
    }

    /// Whether a die may program now; if not, it stands in line.
    fn may_program(&mut self, die: u32) -> bool {
        let place = &mut self.dies[die as usize];
        if place.admitted {
            place.admitted = false;
            return true;
        }
        if self.programs < self.parameters.programs_max && self.line.is_empty() {
            self.programs += 1;
            return true;
        }
        if !place.in_line {
            place.in_line = true;
            self.line.push_back(die);
        }
        false
    }

    /// Moves the pages of the die's job over its channel, and programs them where it is a program.
    fn transfer<E: From<NandEvent>>(&mut self, die: u32, now: Nanos, events: &mut EventQueue<E>) {
        let place = &self.dies[die as usize];
        let job = place.job.expect("a die that moves pages has a job");
        let pages = match job {
            Job::Read(read) => read.pages,
            Job::Program => place.unit.expect("a program has a unit"),
            // Out of the die for error correction, and in again.
            Job::Move { pages, .. } => 2 * pages,
            Job::Erase => unreachable!("an erasure moves no pages"),
        };
        let channel = &mut self.channels[(die % self.parameters.channels) as usize];
        let moved = channel.reserve(now, times(self.parameters.page_transfer, pages));
        let program = if job.programs() { self.parameters.program } else { Nanos::ZERO };
        events.push(moved + program, NandEvent::Finished(die));
    }

    fn finish<E: From<NandEvent>>(&mut self, die: u32, now: Nanos, events: &mut EventQueue<E>) -> Ended {
        let place = &mut self.dies[die as usize];
        let job = place.job.take().expect("a die that finishes has a job");
        let ended = match job {
            Job::Read(read) => Ended::Read(read),
            Job::Program => {
                place.unit = None;
                Ended::Program(die)
            }
            Job::Move { .. } | Job::Erase => Ended::Nothing,
        };
        if job.programs() {
            self.admit_next(now, events);
        }
        self.go_on(die, now, events);
        ended
    }

    /// Hands the right to program to the head of the line.
    fn admit_next<E: From<NandEvent>>(&mut self, now: Nanos, events: &mut EventQueue<E>) {
        let Some(next) = self.line.pop_front() else {
            self.programs -= 1;
            return;
        };
        let place = &mut self.dies[next as usize];
        (place.in_line, place.admitted) = (false, true);
        self.go_on(next, now, events);
    }
}

#[cfg(test)]
#[path = "nand_tests.rs"]
mod tests;
