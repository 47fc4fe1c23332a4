//! What is noted while a run goes on: one line of JSON a note, in `live.jsonl`.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ArchiveError;

pub(crate) const LIVE: &str = "live.jsonl";

/// The notes of a run that is being written.
#[derive(Debug)]
pub struct LiveWriter {
    path: PathBuf,
    file: File,
}

impl LiveWriter {
    pub(crate) fn create(folder: &Path) -> Result<Self, ArchiveError> {
        let path = folder.join(LIVE);
        let file = OpenOptions::new().append(true).create_new(true).open(&path);
        Ok(Self { file: file.map_err(ArchiveError::system("write", &path))?, path })
    }

    /// Keeps notes in one write, so that they survive a kill of this program; [`LiveWriter::close`] makes them durable.
    ///
    /// # Errors
    /// They could not be written. Then none of them is in the file.
    ///
    /// # Panics
    /// When a note has no form in JSON.
    pub fn push<T: Serialize>(&mut self, notes: &[T]) -> Result<(), ArchiveError> {
        let mut lines = Vec::new();
        for note in notes {
            serde_json::to_writer(&mut lines, note).expect("a note is plain values");
            lines.push(b'\n');
        }
        let before = self.file.metadata().map_err(ArchiveError::system("write", &self.path))?.len();
        self.file.write_all(&lines).map_err(|error| {
            // Half a line would make a later one unreadable. Shortening works on a full drive, too.
            let _ = self.file.set_len(before);
            ArchiveError::system("write", &self.path)(error)
        })
    }

    /// Makes the notes durable.
    ///
    /// # Errors
    /// The system could not.
    pub fn close(self) -> Result<(), ArchiveError> {
        self.file.sync_all().map_err(ArchiveError::system("write", &self.path))
    }
}

/// Hands the notes in a run folder to `each`, in order. A last line without an end is what a kill leaves; it is left out, which
/// the sentence that comes back says.
///
/// # Errors
/// There are no notes, or they are damaged.
pub fn read_live<T: DeserializeOwned>(
    folder: &Path,
    mut each: impl FnMut(T),
) -> Result<Option<String>, ArchiveError> {
    let path = folder.join(LIVE);
    let file = File::open(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => ArchiveError::broken(&path, None, "it is missing"),
        _ => ArchiveError::system("read", &path)(error),
    })?;
    let (mut reader, mut line) = (BufReader::new(file), Vec::new());
    for number in 1.. {
        line.clear();
        if reader.read_until(b'\n', &mut line).map_err(ArchiveError::system("read", &path))? == 0 {
            break;
        }
        if !line.ends_with(b"\n") {
            return Ok(Some(format!("{LIVE} ends in the middle of line {number}; that line is left out")));
        }
        let note = serde_json::from_slice(&line);
        each(note.map_err(|error| ArchiveError::broken(&path, Some(number), error))?);
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(folder: &Path) -> Result<(Vec<u64>, Option<String>), ArchiveError> {
        let mut notes = Vec::new();
        let said = read_live(folder, |note| notes.push(note))?;
        Ok((notes, said))
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
        let (notes, said) = read(folder.path()).unwrap();
        assert!(notes == [1] && said.unwrap().contains("line 2"));
        std::fs::write(folder.path().join(LIVE), "1\nx\n").unwrap();
        assert!(read(folder.path()).unwrap_err().to_string().contains("line 2"));
    }
}
