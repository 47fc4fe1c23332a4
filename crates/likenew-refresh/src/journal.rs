//! What is known of a refresh if everything else ends: its plan, how far it came, and the chunks in flight.
//!
//! ```text
//! plan | slot 0: record, chunk | slot 1: record, chunk
//! ```
//!
//! Its length never changes. A chunk's record goes to the slot of the record before the last one, in one write, and the chunk is not
//! touched until that is durable. A cut tears at most the slot that was being written, whose chunk was not being written yet.

use crate::error::{RefreshError, is_readable};
use crate::paper::Paper;
use crate::plan::Plan;
use crate::ranges::Ranges;
use crate::record::{BLOCK, Kind, Record};
use crate::sheet::Sheet;

/// So many chunks are kept at once.
pub(crate) const SLOTS: usize = 2;

/// A journal on its paper.
#[derive(Debug)]
pub struct Journal<P> {
    paper: P,
    plan: Plan,
    ranges: Ranges,
    witnesses: Ranges,
    /// The hash of the plan, which every record repeats.
    id: u64,
    /// Where slot 0 begins.
    slots_at: u64,
}

/// What a slot turned out to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A record and its bytes.
    Whole(Record, Vec<u8>),
    /// A record whose bytes are not all there.
    Torn(Record),
    /// Nothing that can be read.
    Nothing,
}

impl<P: Paper> Journal<P> {
    /// Begins one on an empty paper. Nothing of the slots is ever missing later for want of space.
    pub(crate) fn begin(mut paper: P, plan: Plan, first: u64) -> Result<Self, RefreshError> {
        let (ranges, witnesses) = plan.checked().map_err(RefreshError::Unsuitable)?;
        if paper.bytes().map_err(RefreshError::paper("look at"))? != 0 {
            return Err(RefreshError::NotEmpty);
        }
        let head = plan.encode();
        let (_, id, slots_at) = Plan::decode(head.len() as u64, |bytes| Ok(head[..bytes].to_vec()))?;
        let mut journal = Self { paper, plan, ranges, witnesses, id, slots_at };
        let begin = "begin";
        let mut sheet = Sheet::new(journal.plan.settings.chunk_bytes);
        let length = u64::from(journal.plan.settings.chunk_bytes);
        for slot in 0..SLOTS as u64 {
            let at = journal.slot_at(slot);
            journal.paper.write_at(at, sheet.whole(length)).map_err(RefreshError::paper(begin))?;
        }
        journal.write(&Record::new(journal.id, 0, Kind::Settled, first..first, &[]), &mut sheet)?;
        // The head makes it a journal, so it comes last: a file system may make a file durable from its beginning on, and then its length.
        journal.paper.sync().map_err(RefreshError::paper(begin))?;
        journal.paper.write_at(0, &head).map_err(RefreshError::paper(begin))?;
        journal.paper.sync().map_err(RefreshError::paper(begin))?;
        Ok(journal)
    }

    /// Reads the plan of a journal.
    ///
    /// # Errors
    /// It is none, is of another version, or is damaged.
    pub fn open(mut paper: P) -> Result<Self, RefreshError> {
        let bytes = paper.bytes().map_err(RefreshError::paper("look at"))?;
        let (plan, id, slots_at) = Plan::decode(bytes, |first| {
            let mut head = vec![0; first];
            paper.read_at(0, &mut head).map_err(RefreshError::paper("read"))?;
            Ok(head)
        })?;
        let (ranges, witnesses) = plan.checked().map_err(RefreshError::Damaged)?;
        let journal = Self { paper, plan, ranges, witnesses, id, slots_at };
        let expected = journal.slot_at(SLOTS as u64);
        if bytes != expected {
            return Err(RefreshError::Damaged(format!("it has {bytes} bytes instead of {expected}")));
        }
        Ok(journal)
    }

    /// What it was begun for.
    pub fn identity(&self) -> &str {
        &self.plan.identity
    }

    /// What was noted for whoever goes on.
    pub fn note(&self) -> &str {
        &self.plan.note
    }

    /// What is rewritten, witnesses left out.
    pub fn ranges(&self) -> &Ranges {
        &self.ranges
    }

    pub(crate) fn plan(&self) -> &Plan {
        &self.plan
    }

    pub(crate) fn witnesses(&self) -> &Ranges {
        &self.witnesses
    }

    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    pub(crate) fn into_paper(self) -> P {
        self.paper
    }

    /// Makes a record durable, with the chunk that the sheet holds.
    pub(crate) fn write(&mut self, record: &Record, sheet: &mut Sheet) -> Result<(), RefreshError> {
        record.encode(sheet.block());
        let at = self.slot_at(record.turn % SLOTS as u64);
        self.paper.write_at(at, sheet.whole(record.length())).map_err(RefreshError::paper("write"))?;
        self.paper.sync().map_err(RefreshError::paper("write"))
    }

    /// Makes durable what was read: whoever was killed may have written it and not have come to that.
    pub(crate) fn sync(&mut self) -> Result<(), RefreshError> {
        self.paper.sync().map_err(RefreshError::paper("write"))
    }

    /// What the slots hold. One that was torn so that it can not be read holds nothing.
    ///
    /// # Errors
    /// A record says what no refresh of this plan would have written, or the paper can not be read for now.
    pub(crate) fn slots(&mut self) -> Result<[Slot; SLOTS], RefreshError> {
        Ok([self.slot(0)?, self.slot(1)?])
    }

    fn slot(&mut self, index: u64) -> Result<Slot, RefreshError> {
        let mut block = [0; BLOCK];
        let at = self.slot_at(index);
        if !is_readable(self.paper.read_at(at, &mut block)).map_err(RefreshError::paper("read"))? {
            return Ok(Slot::Nothing);
        }
        let Some(record) = Record::decode(&block) else { return Ok(Slot::Nothing) };
        self.check(&record, index)?;
        let mut bytes = vec![0; record.length() as usize];
        let read = self.paper.read_at(at + BLOCK as u64, &mut bytes);
        if is_readable(read).map_err(RefreshError::paper("read"))? && record.hash_of(&bytes) == record.hash {
            return Ok(Slot::Whole(record, bytes));
        }
        Ok(Slot::Torn(record))
    }

    fn check(&self, record: &Record, index: u64) -> Result<(), RefreshError> {
        let Record { journal, turn, kind, ref place, .. } = *record;
        let is_possible = match kind {
            Kind::Chunk => self.ranges.has_chunk(place, self.plan.settings.chunk_bytes),
            Kind::Settled => place.end <= self.plan.bytes,
            Kind::Found => false,
        };
        // The last turn of all is never reached: one more than it is always a number.
        if journal == self.id && turn % SLOTS as u64 == index && turn < u64::MAX / 2 && is_possible {
            return Ok(());
        }
        Err(RefreshError::Damaged(format!("slot {index} holds what this refresh has not written")))
    }

    fn slot_at(&self, slot: u64) -> u64 {
        self.slots_at + slot * (BLOCK as u64 + u64::from(self.plan.settings.chunk_bytes))
    }
}
