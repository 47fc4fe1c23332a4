//! Notes of a running `watch`: one line of JSON each, in `live.jsonl`.

use std::path::Path;

use likenew_core::input::NOTES;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ArchiveError;
use crate::lines::{self, Lines};

pub(crate) const LIVE: &str = "live.jsonl";

/// The notes of a run that is being written.
#[derive(Debug)]
pub struct LiveWriter(Lines);

impl LiveWriter {
    pub(crate) fn create(folder: &Path) -> Result<Self, ArchiveError> {
        Lines::create(folder.join(LIVE)).map(Self)
    }

    /// Writes notes in one call, so that they survive a kill of this program; [`LiveWriter::close`] makes
    /// them durable.
    ///
    /// # Errors
    /// They could not be written. Then none of them is in the file.
    ///
    /// # Panics
    /// When a note cannot be written as JSON.
    pub fn push<T: Serialize>(&mut self, notes: &[T]) -> Result<(), ArchiveError> {
        self.0.push_all(notes)
    }

    /// Makes the notes durable.
    ///
    /// # Errors
    /// The system's error.
    pub fn close(self) -> Result<(), ArchiveError> {
        self.0.close()
    }
}

/// Passes the notes of a run folder to `each`, oldest first. A last line without an end was cut off by a
/// kill; it is left out, and the returned sentence says so.
///
/// # Errors
/// There are no notes, or they are damaged.
pub fn read_live<T: DeserializeOwned>(
    folder: &Path,
    mut each: impl FnMut(T),
) -> Result<Option<String>, ArchiveError> {
    let (path, mut message) = (folder.join(LIVE), Vec::new());
    let take = |note| {
        each(note);
        Ok(())
    };
    if lines::for_each_line(&path, NOTES, &mut message, take)? {
        Ok(message.pop())
    } else {
        Err(ArchiveError::damaged_file(&path, None, "it is missing"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path) -> Result<(Vec<u64>, Option<String>), ArchiveError> {
        let mut notes = Vec::new();
        let message = read_live(folder, |note| notes.push(note))?;
        Ok((notes, message))
    }

    #[test]
    fn notes_read_back_and_a_torn_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("missing"));
        let mut writer = LiveWriter::create(folder.path()).unwrap();
        writer.push(&[1, 2]).unwrap();
        writer.push::<u64>(&[]).unwrap();
        writer.push(&[3]).unwrap();
        writer.close().unwrap();
        assert_eq!(read(folder.path()).unwrap(), (vec![1, 2, 3], None));
        assert!(LiveWriter::create(folder.path()).is_err(), "notes are never overwritten");
        std::fs::write(folder.path().join(LIVE), "1\n2").unwrap();
        let (notes, message) = read(folder.path()).unwrap();
        assert!(notes == [1] && message.unwrap().contains("line 2"));
        std::fs::write(folder.path().join(LIVE), "1\nx\n").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("line 2"));
    }
}
