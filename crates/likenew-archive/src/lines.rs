//! A file of one JSON value per line, each durable before the next is begun, so that it survives a kill at
//! any moment.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use likenew_core::input::{self, InputError, Kind, RECORD, RECORD_LINES_MAX, RECORDS};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::ArchiveError;
use crate::{folder, wording};

/// A file of lines that is being written.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
    is_torn: bool,
}

impl Lines {
    /// Makes a file that is not there yet.
    pub(crate) fn create(path: PathBuf) -> Result<Self, ArchiveError> {
        Self::new(folder::create(&path), path)
    }

    /// Goes on with a file that is there.
    pub(crate) fn reopen(path: PathBuf) -> Result<Self, ArchiveError> {
        Self::new(folder::append(&path), path)
    }

    fn new(file: io::Result<File>, path: PathBuf) -> Result<Self, ArchiveError> {
        let file = file.map_err(ArchiveError::system("write", &path))?;
        Ok(Self { path, file, is_torn: false })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Adds a line; durable when this returns.
    ///
    /// # Errors
    /// It could not be written. Then nothing of it is in the file, and what was there before still is.
    pub(crate) fn push<T: Serialize + DeserializeOwned + PartialEq>(
        &mut self,
        value: &T,
    ) -> Result<(), ArchiveError> {
        let line = readable(value, false)
            .map_err(|reason| ArchiveError::Unreadable { path: self.path.clone(), reason })?;
        self.append(format!("{line}\n").as_bytes(), true)
    }

    /// Adds lines in one write; they survive a kill of this program, and are durable after [`Lines::close`].
    ///
    /// # Errors
    /// They could not be written. Then none of them is in the file.
    ///
    /// # Panics
    /// When a value cannot be written as JSON.
    pub(crate) fn push_all<T: Serialize>(&mut self, values: &[T]) -> Result<(), ArchiveError> {
        let mut text = Vec::new();
        for value in values {
            serde_json::to_writer(&mut text, value).expect("notes are plain values");
            text.push(b'\n');
        }
        self.append(&text, false)
    }

    /// Makes everything durable.
    ///
    /// # Errors
    /// The system's error.
    pub(crate) fn close(self) -> Result<(), ArchiveError> {
        self.file.sync_all().map_err(ArchiveError::system("write", &self.path))
    }

    fn append(&mut self, text: &[u8], durable: bool) -> Result<(), ArchiveError> {
        let path = &self.path;
        if self.is_torn {
            return Err(ArchiveError::Torn(path.clone()));
        }
        let before = self.file.metadata().map_err(ArchiveError::system("write", path))?.len();
        let sync = || if durable { self.file.sync_data() } else { Ok(()) };
        let written = (&self.file).write_all(text).and_then(|()| sync());
        if written.is_err() {
            // Half a line would make a later one unreadable. Shortening works on a full drive, too.
            self.is_torn = self.file.set_len(before).is_err();
        }
        written.map_err(ArchiveError::system("write", path))
    }

    /// Keeps so many whole lines and cuts off the rest.
    pub(crate) fn cut_after(&self, lines: usize) -> Result<(), ArchiveError> {
        let cut = || -> io::Result<()> {
            (&self.file).rewind()?;
            let mut reader = BufReader::new(&self.file);
            let (mut whole, mut line) = (0, Vec::new());
            for _ in 0..lines {
                whole += reader.read_until(b'\n', &mut line)? as u64;
                line.clear();
            }
            if whole < self.file.metadata()?.len() {
                self.file.set_len(whole)?;
                self.file.sync_all()?;
            }
            Ok(())
        };
        cut().map_err(ArchiveError::system("write", &self.path))
    }
}

/// Every whole line of `path`, up to the limit of a run; none if it does not exist. A last line without an
/// end was cut off by a kill: it is left out, and `notes` says so.
pub(crate) fn read<T: DeserializeOwned>(
    path: &Path,
    notes: &mut Vec<String>,
) -> Result<Option<Vec<T>>, ArchiveError> {
    let mut values = Vec::new();
    let is_there = for_each_line(path, RECORDS, notes, |value| {
        if values.len() == RECORD_LINES_MAX {
            return Err(wording::too_many_lines(RECORD_LINES_MAX));
        }
        values.push(value);
        Ok(())
    })?;
    Ok(is_there.then_some(values))
}

/// Passes every whole line of `path` to `take`, which may refuse it; returns whether the file exists.
pub(crate) fn for_each_line<T: DeserializeOwned>(
    path: &Path,
    kind: Kind,
    notes: &mut Vec<String>,
    mut take: impl FnMut(T) -> Result<(), String>,
) -> Result<bool, ArchiveError> {
    let file = match folder::input(path, kind) {
        Err(error) if error.is_missing() => return Ok(false),
        file => file.map_err(ArchiveError::input(path, None))?,
    };
    if file.metadata().is_ok_and(|file| file.len() > kind.bytes_max) {
        return Err(ArchiveError::input(path, None)(InputError::TooLarge { kind }));
    }
    // The file can grow while it is read.
    let (mut reader, mut line) = (BufReader::new(file.take(kind.bytes_max)), Vec::new());
    for number in 1.. {
        let length = input::next_line(&mut reader, &mut line, RECORD);
        if length.map_err(ArchiveError::input(path, Some(number)))? == 0 {
            break;
        }
        if !line.ends_with(b"\n") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            notes.push(wording::unfinished_line(&name, number));
            break;
        }
        let value = serde_json::from_slice(&line).map_err(|error| error.to_string());
        value.and_then(&mut take).map_err(|reason| ArchiveError::damaged_file(path, Some(number), reason))?;
    }
    Ok(true)
}

/// The value as JSON that is known to read back: infinities and not-a-number would turn into `null` unnoticed.
pub(crate) fn readable<T: Serialize + DeserializeOwned + PartialEq>(
    value: &T,
    pretty: bool,
) -> Result<String, String> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    let text = text.map_err(|error| error.to_string())?;
    match serde_json::from_str::<T>(&text) {
        Ok(again) if again == *value => Ok(text),
        Ok(_) => Err(wording::READS_BACK_DIFFERENTLY.to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
