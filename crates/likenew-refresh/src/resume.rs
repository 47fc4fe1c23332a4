//! Resumes an interrupted refresh. It checks what the journal and the store say together, and which chunks
//! may be restored.

use std::ops::Range;

use likenew_core::drive::BlockStore;

use crate::durable_file::DurableFile;
use crate::error::{RefreshError, is_readable};
use crate::journal::{Journal, Slot};
use crate::plan::StoreFacts;
use crate::ranges::{fingerprint, witnesses};
use crate::record::{Kind, Record};
use crate::refresh::Refresh;
use crate::salvage_file::append;
use crate::wording;

/// An interrupted refresh that was inspected; nothing has been written yet.
#[derive(Debug)]
pub struct InspectedRefresh<S, F> {
    store: S,
    journal: Journal<F>,
    /// The first byte that is not done.
    at: u64,
    turn: u64,
    in_flight: Vec<InFlight>,
    owner_confirmed: bool,
}

/// A chunk that may have been in flight.
#[derive(Debug)]
struct InFlight {
    record: Record,
    original: Vec<u8>,
    differences: Vec<Difference>,
}

/// Blocks of a chunk in flight that differ from the saved data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Their place on the store.
    pub range: Range<u64>,
    /// Whether they can be read at all.
    pub is_readable: bool,
}

/// Blocks that a loss of power may tear without suspicion in any chunk, however short.
const TORN_BLOCKS: u64 = 8;

impl<S: BlockStore, F: DurableFile> InspectedRefresh<S, F> {
    /// Compares the journal in `file` with the `store` and the facts `known` of it, without writing anything.
    ///
    /// # Errors
    /// The file is not a journal, is another store's, or is damaged; the refresh was finished; or another
    /// program has written to the store since.
    pub fn inspect<'a>(
        mut store: S,
        file: F,
        known: impl Into<StoreFacts<'a>>,
    ) -> Result<Self, RefreshError> {
        let StoreFacts { identity, marks } = known.into();
        let mut journal = Journal::open(file)?;
        let plan = journal.plan();
        let of_journal = wording::store(&plan.identity, plan.bytes, plan.block);
        let of_store = wording::store(identity, store.bytes(), store.block());
        if of_journal != of_store {
            return Err(RefreshError::OtherStore { journal: of_journal, store: of_store });
        }
        // A journal may list more witnesses, so that less is written, but never fewer.
        if !witnesses(plan.bytes, plan.block, marks).subtract(journal.witnesses()).as_slice().is_empty() {
            return Err(RefreshError::OtherWitnesses);
        }
        let State { newest, older, doubtful } = State::from_slots(journal.slots()?)?;
        let turn = newest.0.turn;
        let at = newest.0.range.end;
        let is_committed = newest.0.kind == Kind::Committed;
        if is_committed && journal.ranges().chunk_from(at, journal.plan().settings.chunk_bytes).is_none() {
            return Err(RefreshError::Finished);
        }
        if let Some(record) = doubtful {
            check_doubtful(&record, &mut store)?;
        }
        let mut in_flight = Vec::new();
        let records = older.into_iter().chain([newest]);
        for (record, original) in records.filter(|(record, _)| !is_committed && record.kind == Kind::Chunk) {
            let differences = differences(&record, &original, &mut store)?;
            in_flight.push(InFlight { record, original, differences });
        }
        let inspected = Self { store, journal, at, turn, in_flight, owner_confirmed: false };
        inspected.check_witnesses()
    }

    /// The refresh's journal.
    pub fn journal(&self) -> &Journal<F> {
        &self.journal
    }

    /// The store.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// Chunks that may have been in flight. Only these are written again from the journal.
    pub fn in_flight(&self) -> impl Iterator<Item = Range<u64>> {
        self.in_flight.iter().map(|chunk| chunk.record.range.clone())
    }

    /// Where these chunks differ from the saved data: torn by the cut, or written by another program where
    /// there is no witness.
    pub fn differences(&self) -> impl Iterator<Item = &Difference> {
        self.in_flight.iter().flat_map(|chunk| &chunk.differences)
    }

    /// Records that the owner confirms that no program has written there since. Then the cut tore every
    /// difference in a chunk in flight.
    #[must_use]
    pub fn with_owner_confirmation(mut self) -> Self {
        self.owner_confirmed = true;
        self
    }

    /// Writes the chunks in flight again from the journal, and resumes. Existing data there that can be read
    /// is first appended to `salvage` and made durable; [`scan_saved_pieces`](crate::scan_saved_pieces) finds
    /// it there.
    ///
    /// # Errors
    /// More differs than a cut explains; or a file or the store failed, and the refresh can be resumed later.
    pub fn resume(mut self, salvage: &mut impl DurableFile) -> Result<Refresh<S, F>, RefreshError> {
        let block = u64::from(self.store.block());
        for chunk in &self.in_flight {
            let sectors = chunk.sectors(block);
            if !self.owner_confirmed && sectors > TORN_BLOCKS && sectors > chunk.record.length() / block / 2 {
                return Err(RefreshError::TooMuch { offset: chunk.record.range.start, sectors });
            }
        }
        self.journal.sync()?;
        let readable = self.in_flight.iter().flat_map(|chunk| &chunk.differences);
        let places = readable.filter(|difference| difference.is_readable).map(|difference| &difference.range);
        append(places, self.journal.id(), &mut self.store, salvage)?;
        let mut refresh = Refresh::at(self.store, self.journal, self.at, self.turn);
        for chunk in self.in_flight {
            refresh.restore(chunk.record, &chunk.original)?;
        }
        refresh.verify_chunk()?;
        Ok(refresh)
    }

    /// Compares the witnesses with the journal's hash of them.
    fn check_witnesses(mut self) -> Result<Self, RefreshError> {
        let fingerprint = fingerprint(self.journal.witnesses(), &mut self.store)?;
        if fingerprint == self.journal.plan().fingerprint {
            return Ok(self);
        }
        let block = u64::from(self.store.block());
        let differing = self.in_flight.iter().find(|chunk| !chunk.differences.is_empty());
        Err(match differing {
            None => RefreshError::ChangedButWhole,
            Some(chunk) => {
                RefreshError::Changed { offset: chunk.record.range.start, sectors: chunk.sectors(block) }
            }
        })
    }
}

impl InFlight {
    /// The number of blocks that differ.
    fn sectors(&self, block: u64) -> u64 {
        self.differences.iter().map(|Difference { range, .. }| (range.end - range.start) / block).sum()
    }
}

/// What both slots say together.
struct State {
    newest: (Record, Vec<u8>),
    /// The record before it, if its chunk may be in flight, too.
    older: Option<(Record, Vec<u8>)>,
    /// A record whose bytes are damaged: either its slot was being written, and so not yet its chunk, or the
    /// journal was damaged later.
    doubtful: Option<Record>,
}

impl State {
    fn from_slots(slots: [Slot; 2]) -> Result<Self, RefreshError> {
        let damaged = |reason: &str| Err(RefreshError::Damaged(reason.to_owned()));
        let alone = |record, bytes, doubtful| Self { newest: (record, bytes), older: None, doubtful };
        Ok(match slots {
            [Slot::Whole(one, saved_one), Slot::Whole(two, saved_two)] => {
                let mut records = [(one, saved_one), (two, saved_two)];
                records.sort_by_key(|(record, _)| record.turn);
                let [older, newest] = records;
                if !follows(&older.0, &newest.0) {
                    return damaged(wording::SLOTS_OUT_OF_ORDER);
                }
                Self { newest, older: Some(older), doubtful: None }
            }
            [Slot::Whole(record, bytes), Slot::Nothing] | [Slot::Nothing, Slot::Whole(record, bytes)] => {
                alone(record, bytes, None)
            }
            [Slot::Whole(record, bytes), Slot::Torn(torn)]
            | [Slot::Torn(torn), Slot::Whole(record, bytes)] => {
                if torn.turn.abs_diff(record.turn) != 1 || torn.kind != Kind::Chunk {
                    return damaged(wording::SLOTS_OUT_OF_ORDER);
                }
                alone(record, bytes, Some(torn))
            }
            [Slot::Torn(_) | Slot::Nothing, Slot::Torn(_) | Slot::Nothing] => {
                return damaged(wording::NO_WHOLE_SLOT);
            }
        })
    }
}

/// Whether the records can have been written one after the other.
fn follows(older: &Record, newest: &Record) -> bool {
    // A chunk that was saved and then given up, because another program wanted the store, is still to be done.
    let is_given_up = newest.kind == Kind::Committed && newest.range.start == older.range.start;
    newest.turn == older.turn + 1 && (older.range.end <= newest.range.start || is_given_up)
}

/// Checks that a chunk with damaged saved bytes is on the store as its record says. Then the cut came while
/// the chunk was saved, before it was written.
fn check_doubtful(record: &Record, store: &mut impl BlockStore) -> Result<(), RefreshError> {
    let mut bytes = vec![0; record.length() as usize];
    let read = store.read_at(record.range.start, &mut bytes);
    if is_readable(read).map_err(RefreshError::read(record.range.start, record.length()))?
        && record.hash_of(&bytes) == record.hash
    {
        return Ok(());
    }
    Err(RefreshError::Damaged(wording::copy_not_whole(record.range.start, record.length())))
}

/// Where the store differs from the saved data, block by block; adjacent blocks of the same kind are joined.
fn differences(
    record: &Record,
    original: &[u8],
    store: &mut impl BlockStore,
) -> Result<Vec<Difference>, RefreshError> {
    let start = record.range.start;
    let mut bytes = vec![0; original.len()];
    let block = store.block() as usize;
    let mut read = |at: u64, into: &mut [u8]| {
        let length = into.len() as u64;
        is_readable(store.read_at(at, into)).map_err(RefreshError::read(at, length))
    };
    if read(start, &mut bytes)? && bytes == original {
        return Ok(Vec::new());
    }
    let mut differences: Vec<Difference> = Vec::new();
    for (index, expected) in original.chunks(block).enumerate() {
        let part = &mut bytes[..expected.len()];
        let at = start + (index * block) as u64;
        let is_readable = read(at, part)?;
        if is_readable && part == expected {
            continue;
        }
        let range = at..at + expected.len() as u64;
        match differences.last_mut() {
            Some(last) if last.range.end == at && last.is_readable == is_readable => {
                last.range.end = range.end
            }
            _ => differences.push(Difference { range, is_readable }),
        }
    }
    Ok(differences)
}
