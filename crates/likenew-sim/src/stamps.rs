//! Keeps the stamped sectors of a drive that keeps no other bytes, in memory that does not grow with sequential writes.

use std::collections::BTreeMap;
use std::ops::Range;

use likenew_core::io::{Completion, DataClass, Io, Op, Outcome, Slot};
use likenew_core::stamp::{Label, SECTOR};
use likenew_core::units::Nanos;

use crate::device::{Device, NO_IO, grow, wraps};

// A mechanism with a memory of stamped sectors, so that verification really reads them back.
//
// It sits below the drive's faults, so two host addresses that wrap around to the same place share its data.
// It costs nothing on drives without stamps, and takes no virtual time. Saved drives keep no stamps.

/// A mechanism with a memory of stamped sectors.
pub(crate) struct StampKeeper {
    inner: Box<dyn Device>,
    memory: StampMemory,
    /// Whether trimmed sectors read as zeros.
    trims: bool,
    /// By slot.
    ios: Vec<Io>,
    /// Buffers of stamped I/Os, by slot.
    data: Vec<Vec<u8>>,
}

impl StampKeeper {
    /// Wraps a mechanism that keeps no data.
    pub(crate) fn new(inner: Box<dyn Device>, trims: bool) -> Self {
        Self { inner, memory: StampMemory::default(), trims, ios: Vec::new(), data: Vec::new() }
    }

    fn on_end(&mut self, slot: Slot) {
        let io = self.ios[slot.index()];
        let range = io.offset..io.offset + u64::from(io.length);
        match (io.op, io.data) {
            (Op::Write, DataClass::Stamped(_)) => self.memory.write(io.offset, &self.data[slot.index()]),
            (Op::Read, DataClass::Stamped(_)) => {
                let data = &mut self.data[slot.index()];
                data.resize(io.length as usize, 0);
                self.memory.read(io.offset, data);
            }
            _ if self.memory.is_empty() => {}
            (Op::Write, DataClass::Zero) => self.memory.put(range, None),
            (Op::Write, _) => self.memory.put(range, Some(RunContent::Unknown)),
            (Op::Trim, _) if self.trims => self.memory.put(range, None),
            _ => {}
        }
    }
}

impl Device for StampKeeper {
    wraps!(inner);

    fn announce_slots(&mut self, count: u32) {
        self.inner.announce_slots(count);
        grow(&mut self.ios, count, NO_IO);
        grow(&mut self.data, count, Vec::new());
    }

    fn accept(&mut self, io: &Io, now: Nanos) {
        self.ios[io.slot.index()] = *io;
        self.inner.accept(io, now);
    }

    fn pass_on(&mut self, completion: Completion) -> Option<Completion> {
        if completion.outcome == Outcome::Done {
            self.on_end(completion.slot);
        }
        Some(completion)
    }

    fn keeps_data(&self) -> bool {
        false
    }

    fn keep_data(&mut self) {
        unreachable!("a drive that keeps data needs no memory of stamps beside it");
    }

    fn brings_bytes(&self, io: &Io) -> bool {
        matches!(io.data, DataClass::Stamped(_))
    }

    fn data(&mut self, slot: Slot) -> &mut Vec<u8> {
        &mut self.data[slot.index()]
    }
}

/// Written sectors without a stamp read as this byte.
const UNKNOWN: u8 = 0xA5;

/// Runs of sectors that do not overlap, by first byte. Gaps between them read as zeros.
///
/// A sequential pass over a whole drive is a single run. A sector that is written alone takes about 100
/// bytes.
#[derive(Default)]
pub(crate) struct StampMemory {
    runs: BTreeMap<u64, Run>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Run {
    end: u64,
    holds: RunContent,
}

/// What a run of sectors holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RunContent {
    /// Sectors of one stamp; the first has this label, and the others the labels for the addresses that follow.
    Stamped(Label),
    /// Anything else.
    Unknown,
}

impl RunContent {
    /// What the sectors hold from `bytes` further on.
    fn after(self, bytes: u64) -> Self {
        match self {
            Self::Stamped(label) => Self::Stamped(Label { address: label.address + bytes, ..label }),
            Self::Unknown => Self::Unknown,
        }
    }
}

impl StampMemory {
    /// Whether it holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Stores what was written at `address`.
    pub(crate) fn write(&mut self, address: u64, bytes: &[u8]) {
        let mut run: Option<(Range<u64>, RunContent)> = None;
        for (at, sector) in (address..).step_by(SECTOR).zip(bytes.as_chunks::<SECTOR>().0) {
            let holds = Label::read(sector).map_or(RunContent::Unknown, RunContent::Stamped);
            match &mut run {
                Some((range, first)) if first.after(at - range.start) == holds => range.end += SECTOR as u64,
                _ => {
                    let done = run.replace((at..at + SECTOR as u64, holds));
                    done.into_iter().for_each(|(range, holds)| self.put(range, Some(holds)));
                }
            }
        }
        run.into_iter().for_each(|(range, holds)| self.put(range, Some(holds)));
    }

    /// Replaces the contents of a range; `None` stands for zeros.
    pub(crate) fn put(&mut self, range: Range<u64>, holds: Option<RunContent>) {
        self.clear(&range);
        let Some(holds) = holds.filter(|_| !range.is_empty()) else { return };
        let (mut start, mut run) = (range.start, Run { end: range.end, holds });
        if let Some((before, last)) = self.runs.range(..start).next_back()
            && last.end == start
            && last.holds.after(start - before) == holds
        {
            (start, run.holds) = (*before, last.holds);
        }
        if let Some(next) = self.runs.get(&run.end)
            && run.holds.after(run.end - start) == next.holds
        {
            let end = next.end;
            self.runs.remove(&run.end);
            run.end = end;
        }
        self.runs.insert(start, run);
    }

    /// Cuts a range out of all runs.
    fn clear(&mut self, range: &Range<u64>) {
        if let Some((start, run)) = self.runs.range_mut(..range.start).next_back()
            && run.end > range.start
        {
            let (start, whole) = (*start, *run);
            run.end = range.start;
            if whole.end > range.end {
                let holds = whole.holds.after(range.end - start);
                self.runs.insert(range.end, Run { end: whole.end, holds });
            }
        }
        while let Some((start, run)) =
            self.runs.range(range.clone()).next().map(|(start, run)| (*start, *run))
        {
            self.runs.remove(&start);
            if run.end > range.end {
                let holds = run.holds.after(range.end - start);
                self.runs.insert(range.end, Run { end: run.end, holds });
            }
        }
    }

    /// Fills a buffer with the contents at `address`.
    pub(crate) fn read(&self, address: u64, buffer: &mut [u8]) {
        let end = address + buffer.len() as u64;
        let first = self.runs.range(..=address).next_back().map_or(address, |(start, _)| *start);
        let mut filled = address;
        for (start, run) in self.runs.range(first..end) {
            let part = address.max(*start)..end.min(run.end);
            if part.is_empty() {
                continue;
            }
            let place = |at: u64| (at - address) as usize;
            buffer[place(filled)..place(part.start)].fill(0);
            let bytes = &mut buffer[place(part.start)..place(part.end)];
            match run.holds.after(part.start - start) {
                RunContent::Stamped(label) => label.stamp.fill(label.address, bytes),
                RunContent::Unknown => bytes.fill(UNKNOWN),
            }
            filled = part.end;
        }
        buffer[(filled - address) as usize..].fill(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use likenew_core::stamp::Stamp;
    use proptest::prelude::*;

    const STAMP: Stamp = Stamp { key: 1, pass: 1 };

    fn stamped_sectors(address: u64, sectors: u64) -> Vec<u8> {
        let mut bytes = vec![0; sectors as usize * SECTOR];
        STAMP.fill(address, &mut bytes);
        bytes
    }

    #[test]
    fn what_is_written_in_sequence_takes_one_run() {
        let mut memory = StampMemory::default();
        for write in (0..1000).rev().chain(0..500) {
            memory.write(write * 4096, &stamped_sectors(write * 4096, 8));
        }
        assert_eq!(memory.runs.len(), 1);
        memory.put(0..1 << 40, None);
        assert!(memory.is_empty());
    }

    proptest! {
        #[test]
        fn it_holds_what_a_plain_array_holds(
            writes in prop::collection::vec((0u64..60, 1u64..20, 0u8..5), 0..60),
            from in 0u64..70, length in 1u64..10,
        ) {
            let mut memory = StampMemory::default();
            let mut array = vec![0u8; 80 * SECTOR];
            for (start, sectors, what) in writes {
                let range = start * SECTOR as u64..(start + sectors) * SECTOR as u64;
                let bytes = match what {
                    0 => vec![0; sectors as usize * SECTOR],
                    1 => vec![UNKNOWN; sectors as usize * SECTOR],
                    2 => stamped_sectors(range.start + 7 * SECTOR as u64, sectors),
                    3 => [stamped_sectors(0, 1), stamped_sectors(range.start, sectors)].concat()[..sectors as usize * SECTOR].to_vec(),
                    _ => stamped_sectors(range.start, sectors),
                };
                match what {
                    0 => memory.put(range.clone(), None),
                    _ => memory.write(range.start, &bytes),
                }
                array[range.start as usize..range.end as usize].copy_from_slice(&bytes);
            }
            let range = from as usize * SECTOR..(from + length) as usize * SECTOR;
            let mut read = vec![9; range.len()];
            memory.read(range.start as u64, &mut read);
            prop_assert!(read == array[range]);
            let runs: Vec<(u64, Run)> = memory.runs.iter().map(|(start, run)| (*start, *run)).collect();
            prop_assert!(runs.iter().all(|(start, run)| *start < run.end));
            prop_assert!(runs.windows(2).all(|pair| pair[0].1.end <= pair[1].0));
        }
    }
}
