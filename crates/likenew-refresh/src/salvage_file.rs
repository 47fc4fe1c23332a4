//! The salvage file keeps existing data that a restored chunk replaces, although most likely torn. Pieces can
//! be recovered from it or from a journal, even if everything else in the file is damaged.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use likenew_core::drive::BlockStore;

use super::durable_file::DurableFile;
use super::error::RefreshError;
use super::journal_file::{JournalPaths, create_own, open_own};
use super::plan::CHUNK_BYTES_MAX;
use super::record::{BLOCK, Kind, Record};
use super::wording;

/// Most files. Each keeps what one cut has torn, so there are never that many.
const FILES_MAX: u32 = 1000;

/// A salvage file, created when there is something to keep. An existing file is left as it is, and the next
/// number is used.
#[derive(Debug)]
pub struct SalvageFile {
    paths: JournalPaths,
    file: Option<(File, PathBuf)>,
}

impl SalvageFile {
    pub(crate) fn new(paths: JournalPaths) -> Self {
        Self { paths, file: None }
    }

    /// The file's path, if there was anything to keep.
    pub fn path(&self) -> Option<&Path> {
        self.file.as_ref().map(|(_, path)| &**path)
    }

    fn create(&self) -> io::Result<(File, PathBuf)> {
        let folder = self.paths.folder();
        for number in 1..=FILES_MAX {
            let mut name = OsString::from(self.paths.salvage());
            if number > 1 {
                name.push(format!("-{number}"));
            }
            let path = folder.path().join(&name);
            match create_own(folder, &name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => return Ok((made?, path)),
            }
            // This file of ours was created just before a cut, and is empty.
            if let Ok(Some(file)) = open_own(folder, &name)
                && file.metadata()?.len() == 0
            {
                return Ok((file, path));
            }
        }
        let first = folder.path().join(self.paths.salvage());
        Err(io::Error::other(wording::too_many_salvage_files(&first, FILES_MAX)))
    }
}

impl DurableFile for SalvageFile {
    fn bytes(&mut self) -> io::Result<u64> {
        self.file.as_mut().map_or(Ok(0), |(file, _)| file.bytes())
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match &mut self.file {
            Some((file, _)) => file.read_at(offset, into),
            None => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.file.is_none() {
            self.file = Some(self.create()?);
        }
        let (file, _) = self.file.as_mut().expect("it was just made");
        file.write_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), |(file, _)| file.sync())
    }
}

impl From<SalvageFile> for Option<PathBuf> {
    fn from(salvage: SalvageFile) -> Self {
        salvage.file.map(|(_, path)| path)
    }
}

/// Appends the data at these places of the store to `salvage`, and makes it durable.
pub(crate) fn append<'a>(
    places: impl Iterator<Item = &'a Range<u64>>,
    journal: u64,
    store: &mut impl BlockStore,
    salvage: &mut impl DurableFile,
) -> Result<(), RefreshError> {
    let mut is_empty = true;
    for place in places {
        let length = place.end - place.start;
        let mut buffer = vec![0; BLOCK + length as usize];
        let (block, bytes) = buffer.split_at_mut(BLOCK);
        store.read_at(place.start, bytes).map_err(RefreshError::read(place.start, length))?;
        Record::new(journal, 0, Kind::Original, place.clone(), bytes).encode(block);
        let end = salvage.bytes().map_err(RefreshError::Salvage)?;
        salvage.write_at(end.next_multiple_of(BLOCK as u64), &buffer).map_err(RefreshError::Salvage)?;
        is_empty = false;
    }
    if !is_empty {
        salvage.sync().map_err(RefreshError::Salvage)?;
    }
    Ok(())
}

/// An intact saved piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SavedPiece {
    /// Where on the store its bytes are from.
    pub range: Range<u64>,
    /// Whether it is a chunk saved before it was written; otherwise it is data found after a cut.
    pub is_chunk: bool,
    /// The order in which chunks were saved.
    pub turn: u64,
    /// Its position in the file.
    at: u64,
}

/// All intact pieces, in the order of the file. It searches block by block, so the file need not be a valid
/// journal.
///
/// # Errors
/// The file's length cannot be determined. Parts that cannot be read count as empty.
pub fn scan_saved_pieces(file: &mut impl DurableFile) -> Result<Vec<SavedPiece>, RefreshError> {
    let end = file.bytes().map_err(RefreshError::journal("read"))?;
    let (mut pieces, mut at) = (Vec::new(), 0);
    let mut bytes = Vec::new();
    while at + BLOCK as u64 <= end {
        let piece = read(file, at, end, &mut bytes);
        at += BLOCK as u64;
        if let Some(record) = piece {
            at += record.length().next_multiple_of(BLOCK as u64);
            let Record { kind, turn, range, .. } = record;
            let from = at - (range.end - range.start).next_multiple_of(BLOCK as u64);
            pieces.push(SavedPiece { range, is_chunk: kind == Kind::Chunk, turn, at: from });
        }
    }
    Ok(pieces)
}

/// The record at `at`, if it and its bytes are intact; `bytes` then holds these.
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
    /// Writes the piece's bytes to `into`, such as a file, so that the owner can compare them or put them back.
    ///
    /// # Errors
    /// The piece cannot be read, or `into` cannot be written.
    pub fn extract(&self, file: &mut impl DurableFile, into: &mut impl Write) -> Result<(), RefreshError> {
        let mut bytes = vec![0; (self.range.end - self.range.start) as usize];
        file.read_at(self.at, &mut bytes).map_err(RefreshError::journal("read"))?;
        into.write_all(&bytes).and_then(|()| into.flush()).map_err(RefreshError::journal("copy a chunk from"))
    }
}
