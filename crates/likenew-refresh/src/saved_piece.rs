//! Recovers pieces from a journal or a salvage file, even if everything else in it is damaged.

use std::io::Write;
use std::ops::Range;

use crate::durable_file::DurableFile;
use crate::error::RefreshError;
use crate::plan::CHUNK_BYTES_MAX;
use crate::record::{BLOCK, Kind, Record};

/// An intact piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPiece {
    /// Where on the store its bytes are from.
    pub range: Range<u64>,
    /// Whether it is a chunk that was saved before it was written; otherwise data found after a cut.
    pub is_chunk: bool,
    /// In which order chunks were saved.
    pub turn: u64,
    /// Its place in the file.
    at: u64,
}

/// All intact pieces, in the order of the file. The search goes block by block, so the file need not be a
/// journal any more.
///
/// # Errors
/// The file's length cannot be determined. Places that cannot be read hold nothing.
pub fn scan_saved_pieces(file: &mut impl DurableFile) -> Result<Vec<SavedPiece>, RefreshError> {
    let end = file.bytes().map_err(RefreshError::journal("read"))?;
    let (mut found, mut at) = (Vec::new(), 0);
    let mut bytes = Vec::new();
    while at + BLOCK as u64 <= end {
        let piece = read(file, at, end, &mut bytes);
        at += BLOCK as u64;
        if let Some(record) = piece {
            at += record.length().next_multiple_of(BLOCK as u64);
            let Record { kind, turn, range, .. } = record;
            let from = at - (range.end - range.start).next_multiple_of(BLOCK as u64);
            found.push(SavedPiece { range, is_chunk: kind == Kind::Chunk, turn, at: from });
        }
    }
    Ok(found)
}

/// The record at `at`, if it and its bytes are whole; `bytes` then holds these.
fn read(file: &mut impl DurableFile, at: u64, end: u64, bytes: &mut Vec<u8>) -> Option<Record> {
    let mut block = [0; BLOCK];
    file.read_at(at, &mut block).ok()?;
    let record = Record::decode(&block)?;
    let from = at + BLOCK as u64;
    if record.kind == Kind::Committed || record.length() > u64::from(CHUNK_BYTES_MAX).min(end - from) {
        return None;
    }
    bytes.resize(record.length() as usize, 0);
    file.read_at(from, bytes).ok()?;
    (record.hash_of(bytes) == record.hash).then_some(record)
}

impl SavedPiece {
    /// Writes its bytes to a file, for example, from where its owner can compare them or put them back.
    ///
    /// # Errors
    /// Either cannot be read or written.
    pub fn extract(&self, file: &mut impl DurableFile, into: &mut impl Write) -> Result<(), RefreshError> {
        let mut bytes = vec![0; (self.range.end - self.range.start) as usize];
        file.read_at(self.at, &mut bytes).map_err(RefreshError::journal("read"))?;
        into.write_all(&bytes).and_then(|()| into.flush()).map_err(RefreshError::journal("copy a chunk from"))
    }
}
