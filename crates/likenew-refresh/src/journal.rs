//! The journal: what remains of a refresh that was cut off, namely its plan, its progress, and the chunks in flight.
//!
//! ```text
//! plan | slot 0: record, chunk | slot 1: record, chunk
//! ```
//!
//! The journal's length never changes. A chunk's record replaces the second-to-last record, in one write, and
//! the chunk is not touched until that is durable. A cut tears at most the slot that was being written, and
//! its chunk was not being written yet.

use crate::durable_file::DurableFile;
use crate::error::{RefreshError, is_readable};
use crate::plan::{CHUNK_BYTES_MAX, PLAN_BYTES_MAX, Plan};
use crate::ranges::Ranges;
use crate::record::{BLOCK, ChunkBuffer, Kind, Record};
use crate::wording;

/// Chunks that are kept at a time.
pub(crate) const SLOTS: usize = 2;

/// A journal in its file.
#[derive(Debug)]
pub struct Journal<F> {
    file: F,
    plan: Plan,
    ranges: Ranges,
    witnesses: Ranges,
    /// The plan's hash, which every record repeats.
    id: u64,
    /// Where slot 0 begins, in bytes.
    slots_at: u64,
}

/// What a slot holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Slot {
    /// A record and its intact bytes.
    Whole(Record, Vec<u8>),
    /// A record whose bytes are damaged or missing.
    Torn(Record),
    /// Nothing readable.
    Nothing,
}

impl<F: DurableFile> Journal<F> {
    /// Begins a journal in an empty file. It writes all slots, so that no later write can lack space.
    pub(crate) fn begin(mut file: F, plan: Plan) -> Result<Self, RefreshError> {
        let (ranges, witnesses) = plan.validate().map_err(RefreshError::Unsuitable)?;
        if file.bytes().map_err(RefreshError::journal("read"))? != 0 {
            return Err(RefreshError::NotEmpty);
        }
        let head = plan.encode();
        let (_, id, slots_at) = Plan::decode(head.len() as u64, |bytes| Ok(head[..bytes].to_vec()))?;
        let mut journal = Self { file, plan, ranges, witnesses, id, slots_at };
        let begin = "begin";
        let mut buffer = ChunkBuffer::new(journal.plan.settings.chunk_bytes);
        let length = u64::from(journal.plan.settings.chunk_bytes);
        for slot in 0..SLOTS as u64 {
            let at = journal.slot_at(slot);
            journal.file.write_at(at, buffer.all(length)).map_err(RefreshError::journal(begin))?;
        }
        journal.write(&Record::new(journal.id, 0, Kind::Committed, 0..0, &[]), &mut buffer)?;
        // The head makes the file a journal, so it comes last. A file system may make a file durable from its
        // beginning on, and its length later.
        journal.file.sync().map_err(RefreshError::journal(begin))?;
        journal.file.write_at(0, &head).map_err(RefreshError::journal(begin))?;
        journal.file.sync().map_err(RefreshError::journal(begin))?;
        Ok(journal)
    }

    /// Reads the plan of a journal.
    ///
    /// # Errors
    /// The file is not a journal, has another version, or is damaged.
    pub fn open(mut file: F) -> Result<Self, RefreshError> {
        let bytes = file.bytes().map_err(RefreshError::journal("read"))?;
        let (plan, id, slots_at) = Plan::decode(bytes, |first| {
            let mut head = vec![0; first];
            file.read_at(0, &mut head).map_err(RefreshError::journal("read"))?;
            Ok(head)
        })?;
        let (ranges, witnesses) = plan.validate().map_err(RefreshError::Damaged)?;
        let journal = Self { file, plan, ranges, witnesses, id, slots_at };
        let expected = journal.slot_at(SLOTS as u64);
        if bytes != expected {
            return Err(RefreshError::Damaged(wording::other_length(bytes, expected)));
        }
        Ok(journal)
    }

    /// Whether a file that may be a journal ever saved a chunk. It looks block by block, as the file's beginning may be damaged.
    ///
    /// # Errors
    /// The file's length cannot be determined. A record that cannot be read counts as a chunk.
    pub(crate) fn has_chunks(file: &mut F) -> Result<bool, RefreshError> {
        let end = file.bytes().map_err(RefreshError::journal("read"))?;
        let mut block = [0; BLOCK];
        Ok((0..end / BLOCK as u64).any(|index| match file.read_at(index * BLOCK as u64, &mut block) {
            Ok(()) => Record::decode(&block).is_some_and(|record| record.turn > 0),
            Err(_) => true,
        }))
    }

    /// The identity of the store that it belongs to.
    pub fn identity(&self) -> &str {
        &self.plan.identity
    }

    /// The task's note for resuming.
    pub fn note(&self) -> &str {
        &self.plan.note
    }

    /// What is rewritten, without witnesses.
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

    pub(crate) fn file(&self) -> &F {
        &self.file
    }

    pub(crate) fn into_file(self) -> F {
        self.file
    }

    /// Makes a record durable, with the chunk in the buffer.
    pub(crate) fn write(&mut self, record: &Record, buffer: &mut ChunkBuffer) -> Result<(), RefreshError> {
        record.encode(buffer.block());
        let at = self.slot_at(record.turn % SLOTS as u64);
        self.file.write_at(at, buffer.all(record.length())).map_err(RefreshError::journal("write"))?;
        self.file.sync().map_err(RefreshError::journal("write"))
    }

    /// Makes durable what was read: a killed process may not have flushed it.
    pub(crate) fn sync(&mut self) -> Result<(), RefreshError> {
        self.file.sync().map_err(RefreshError::journal("write"))
    }

    /// What the slots hold. A slot torn so that it cannot be read holds nothing.
    ///
    /// # Errors
    /// A record says what no refresh of this plan writes, or the file cannot be read now.
    pub(crate) fn slots(&mut self) -> Result<[Slot; SLOTS], RefreshError> {
        Ok([self.slot(0)?, self.slot(1)?])
    }

    fn slot(&mut self, index: u64) -> Result<Slot, RefreshError> {
        let mut block = [0; BLOCK];
        let at = self.slot_at(index);
        if !is_readable(self.file.read_at(at, &mut block)).map_err(RefreshError::journal("read"))? {
            return Ok(Slot::Nothing);
        }
        let Some(record) = Record::decode(&block) else { return Ok(Slot::Nothing) };
        self.check(&record, index)?;
        let mut bytes = vec![0; record.length() as usize];
        let read = self.file.read_at(at + BLOCK as u64, &mut bytes);
        if is_readable(read).map_err(RefreshError::journal("read"))? && record.hash_of(&bytes) == record.hash
        {
            return Ok(Slot::Whole(record, bytes));
        }
        Ok(Slot::Torn(record))
    }

    fn check(&self, record: &Record, index: u64) -> Result<(), RefreshError> {
        let Record { journal, turn, kind, ref range, .. } = *record;
        let is_possible = match kind {
            Kind::Chunk => self.ranges.has_chunk(range, self.plan.settings.chunk_bytes),
            Kind::Committed => range.end <= self.plan.bytes,
            Kind::Original => false,
        };
        // No journal reaches so high a turn, so adding one never overflows.
        if journal == self.id && turn % SLOTS as u64 == index && turn < u64::MAX / 2 && is_possible {
            return Ok(());
        }
        Err(RefreshError::Damaged(wording::foreign_slot(index)))
    }

    /// Most bytes of any journal.
    pub(crate) const BYTES_MAX: u64 = (BLOCK as u64 + PLAN_BYTES_MAX).next_multiple_of(BLOCK as u64)
        + SLOTS as u64 * (BLOCK as u64 + CHUNK_BYTES_MAX as u64);

    fn slot_at(&self, slot: u64) -> u64 {
        self.slots_at + slot * (BLOCK as u64 + u64::from(self.plan.settings.chunk_bytes))
    }
}
