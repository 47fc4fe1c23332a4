//! Rewrites a store chunk by chunk.

use std::io;
use std::ops::Range;

use likenew_core::drive::{BlockStore, LeaseState};

use crate::durable_file::DurableFile;
use crate::error::RefreshError;
use crate::journal::{Journal, SLOTS};
use crate::plan::{Plan, Task, Verify};
use crate::record::{ChunkBuffer, Kind, Record};

/// Bytes to read before checking again whether another program waits. Chosen: even a drive that reads 1 MB/s
/// is checked every second.
const READ_BYTES: usize = 1 << 20;

/// A refresh under way. It advances step by step, and can be stopped between two steps.
/// [`InspectedRefresh`](crate::InspectedRefresh) resumes a refresh that was dropped, killed or cut off by a loss of power.
#[derive(Debug)]
pub struct Refresh<S, F> {
    store: S,
    journal: Journal<F>,
    buffer: ChunkBuffer,
    /// The first byte that is not done.
    at: u64,
    /// The turn of the last record.
    turn: u64,
    /// Chunks that were written and may not be durable, oldest first.
    in_flight: Vec<Record>,
    is_committed: bool,
    has_failed: bool,
    written_bytes: u64,
    zero_bytes: u64,
}

/// What a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// These bytes were rewritten.
    Written(Range<u64>),
    /// These bytes are zeros, and were left unwritten.
    Zeros(Range<u64>),
}

/// The progress of a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that are done, including by earlier runs.
    pub done_bytes: u64,
    /// Bytes to do in total.
    pub all_bytes: u64,
    /// Bytes that this run wrote to the store.
    pub written_bytes: u64,
    /// Bytes of zeros that this run left unwritten.
    pub zero_bytes: u64,
}

impl<S: BlockStore, F: DurableFile> Refresh<S, F> {
    /// Begins a refresh of `store`, with an empty `file` on other blocks for its journal. Nothing is written
    /// to the store yet.
    ///
    /// The caller makes sure that no other program uses the store until the refresh has ended.
    ///
    /// # Errors
    /// The task cannot be done, a witness cannot be read, or the journal cannot be made.
    pub fn begin(mut store: S, file: F, task: &Task) -> Result<Self, RefreshError> {
        let plan = Plan::new(task, &mut store)?;
        Ok(Self::at(store, Journal::begin(file, plan)?, 0, 0))
    }

    /// A refresh that continues at byte `at`, after a record with this turn.
    pub(crate) fn at(store: S, journal: Journal<F>, at: u64, turn: u64) -> Self {
        let buffer = ChunkBuffer::new(journal.plan().settings.chunk_bytes);
        Self {
            store,
            journal,
            buffer,
            at,
            turn,
            in_flight: Vec::with_capacity(SLOTS),
            is_committed: false,
            has_failed: false,
            written_bytes: 0,
            zero_bytes: 0,
        }
    }

    /// Rewrites the next chunk. Returns `None` when all chunks are done and durable, and the journal may be removed.
    ///
    /// # Errors
    /// The store or the file failed. Nothing more is written; the journal keeps the chunks in flight.
    ///
    /// # Panics
    /// After an error.
    pub fn step(&mut self) -> Result<Option<Step>, RefreshError> {
        self.with_guard(Self::next)
    }

    /// Ends the refresh for now: everything written is durable and read back, and the journal has the progress.
    ///
    /// # Errors
    /// As for [`Refresh::step`].
    pub fn stop(&mut self) -> Result<(), RefreshError> {
        self.with_guard(Self::commit)
    }

    /// The store and the journal's file.
    pub fn into_parts(self) -> (S, F) {
        (self.store, self.journal.into_file())
    }

    /// Its progress.
    pub fn progress(&self) -> Progress {
        let ranges = self.journal.ranges();
        Progress {
            done_bytes: ranges.bytes_before(self.at),
            all_bytes: ranges.bytes(),
            written_bytes: self.written_bytes,
            zero_bytes: self.zero_bytes,
        }
    }

    /// The refresh's journal.
    pub fn journal(&self) -> &Journal<F> {
        &self.journal
    }

    /// The store, for queries between steps, such as its temperature.
    pub fn store(&mut self) -> &mut S {
        &mut self.store
    }

    /// Ensures that nothing is written after an error: the next record would replace a chunk that the store may lack.
    fn with_guard<T>(
        &mut self,
        act: impl FnOnce(&mut Self) -> Result<T, RefreshError>,
    ) -> Result<T, RefreshError> {
        assert!(!self.has_failed, "a refresh that has failed goes on from its journal alone");
        let result = act(self);
        self.has_failed = result.is_err();
        result
    }

    fn next(&mut self) -> Result<Option<Step>, RefreshError> {
        if self.in_flight.len() == SLOTS {
            self.verify_chunk()?;
        }
        let settings = self.journal.plan().settings;
        let Some(place) = self.journal.ranges().chunk_from(self.at, settings.chunk_bytes) else {
            self.commit()?;
            return Ok(None);
        };
        let length = place.end - place.start;
        if !self.read(&place)? {
            // No part of the chunk was written, so a waiting program finds the existing data.
            self.commit()?;
            return Err(RefreshError::Wanted);
        }
        self.at = place.end;
        if settings.skips_zeros && is_zero(self.buffer.chunk(length)) {
            self.zero_bytes += length;
            return Ok(Some(Step::Zeros(place)));
        }
        self.write(place.clone())?;
        Ok(Some(Step::Written(place)))
    }

    /// Reads a chunk in parts, and returns `false` as soon as another program waits for the store.
    fn read(&mut self, place: &Range<u64>) -> Result<bool, RefreshError> {
        let length = place.end - place.start;
        let mut at = place.start;
        for part in self.buffer.chunk(length).chunks_mut(READ_BYTES) {
            if self.store.lease_state() != LeaseState::Active {
                return Ok(false);
            }
            if let Err(error) = self.store.read_at(at, part) {
                // The previous chunks are not to blame for this one. Saving what can be read is all that is
                // left to do.
                self.verify_chunk()?;
                return Err(RefreshError::read(place.start, length)(error));
            }
            at += part.len() as u64;
        }
        Ok(true)
    }

    /// Saves the chunk in the buffer, then writes it.
    fn write(&mut self, range: Range<u64>) -> Result<(), RefreshError> {
        let length = range.end - range.start;
        self.turn += 1;
        self.is_committed = false;
        let record =
            Record::new(self.journal.id(), self.turn, Kind::Chunk, range.clone(), self.buffer.chunk(length));
        self.journal.write(&record, &mut self.buffer)?;
        match self.store.write_at(range.start, self.buffer.chunk(length)) {
            Err(busy) if busy.kind() == io::ErrorKind::ResourceBusy => {
                // No part of the chunk was written, and the next user of the store may write there, so the
                // saved chunk must never be restored.
                self.at = range.start;
                self.commit()?;
                return Err(RefreshError::Wanted);
            }
            written => written.map_err(RefreshError::write(range.start, length))?,
        }
        self.written_bytes += length;
        self.in_flight.push(record);
        Ok(())
    }

    /// Writes a chunk that was saved before a cut, without saving it again.
    pub(crate) fn restore(&mut self, record: Record, bytes: &[u8]) -> Result<(), RefreshError> {
        let (offset, length) = (record.range.start, record.length());
        self.buffer.chunk(length).copy_from_slice(bytes);
        let written = self.store.write_at(offset, self.buffer.chunk(length));
        written.map_err(RefreshError::write(offset, length))?;
        self.written_bytes += length;
        self.in_flight.push(record);
        Ok(())
    }

    /// Makes chunks in flight durable, and reads them back.
    pub(crate) fn verify_chunk(&mut self) -> Result<(), RefreshError> {
        if self.in_flight.is_empty() {
            return Ok(());
        }
        self.store.flush().map_err(RefreshError::Flush)?;
        if self.journal.plan().settings.verify == Verify::All {
            for record in &self.in_flight {
                let (offset, length) = (record.range.start, record.length());
                let bytes = self.buffer.chunk(length);
                self.store.read_at(offset, bytes).map_err(RefreshError::read_back(offset, length))?;
                if record.hash_of(bytes) != record.hash {
                    return Err(match self.store.lease_state() {
                        LeaseState::Lost => RefreshError::Lost { offset, length },
                        LeaseState::Active | LeaseState::BreakRequested => {
                            RefreshError::NotKept { offset, length }
                        }
                    });
                }
            }
        }
        self.in_flight.clear();
        Ok(())
    }

    fn commit(&mut self) -> Result<(), RefreshError> {
        self.verify_chunk()?;
        if !self.is_committed {
            self.turn += 1;
            let record = Record::new(self.journal.id(), self.turn, Kind::Committed, self.at..self.at, &[]);
            self.journal.write(&record, &mut self.buffer)?;
            self.is_committed = true;
        }
        Ok(())
    }
}

/// Whether all bytes are zero.
fn is_zero(bytes: &[u8]) -> bool {
    // The bytes of a block are combined, so that the compiler uses wide registers; a block with data ends the search early.
    bytes.chunks(4096).all(|block| block.iter().fold(0, |bits, byte| bits | byte) == 0)
}
