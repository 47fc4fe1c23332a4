//! Reads and writes the files of a run folder: lines of JSON, notes of a running `watch`, and what the run
//! was measured with. Each line is durable before the next.
//!
//! The folder is no link and holds no links, so nothing outside of it is read or written, even if its path
//! changes meanwhile. What is written is on the drive as a whole, or not at all.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::drive::Identity;
use likenew_core::input::{self, FileKind, InputError, NOTES, RECORD, RECORD_LINES_MAX, RECORDS};
use likenew_core::instrument::Instrument;
use likenew_core::target::Geometry;
use rustix::fs::{AtFlags, Mode, OFlags, fsync, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::ArchiveError;
use super::wording;

/// Permissions of a new file, before the process's umask.
const MODE: Mode = Mode::from_bits_retain(0o666);

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(folder, flags, Mode::empty()).map_err(|errno| without_links(errno, folder))
}

/// The folder of a file, and the file's name in it.
fn place(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((open_folder(folder)?, path.file_name().expect("a file of a run has a name")))
}

fn open_file(path: &Path, flags: OFlags) -> io::Result<File> {
    let (folder, name) = place(path)?;
    let file = openat(&folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, MODE);
    file.map(File::from).map_err(|errno| without_links(errno, path))
}

/// Explains that a path is a link, which the system's error does not.
fn without_links(errno: Errno, path: &Path) -> io::Error {
    if path.is_symlink() {
        io::Error::new(io::ErrorKind::InvalidInput, wording::link(path))
    } else {
        errno.into()
    }
}

/// Creates a file that does not exist yet, for appending.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL)
}

/// Opens an existing file for appending.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::RDWR | OFlags::APPEND)
}

/// Opens an ordinary file for reading; refuses anything else.
pub(crate) fn input(path: &Path, kind: FileKind) -> Result<File, InputError> {
    input::check(&open_file(path, OFlags::PATH)?, kind)?;
    let file = open_file(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    input::check(&file, kind)?;
    Ok(file)
}

/// Replaces a file of a run folder: writes it under another name, then renames it; durable when this returns.
/// At any moment the name holds the old content or the new one.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), ArchiveError> {
    let unfinished = format!(".{name}.unfinished");
    let written = open_folder(folder).and_then(|directory| {
        // A killed run may have left this name; that file is never written to.
        let remove = || unlinkat(&directory, &*unfinished, AtFlags::empty());
        let _ = remove();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let written =
            openat(&directory, &*unfinished, flags, MODE).map_err(io::Error::from).and_then(|file| {
                let mut file = File::from(file);
                file.write_all(text.as_bytes())?;
                file.sync_all()?;
                Ok(renameat(&directory, &*unfinished, &directory, name)?)
            });
        if written.is_err() {
            // The earlier error says what is wrong.
            let _ = remove();
        }
        written.and_then(|()| Ok(fsync(&directory)?))
    });
    written.map_err(ArchiveError::system("write", &folder.join(name)))
}

/// Makes the names in a folder durable.
pub(crate) fn sync(folder: &Path) -> Result<(), ArchiveError> {
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(ArchiveError::system("write", folder))
}

/// A file of lines, open for writing.
#[derive(Debug)]
pub(crate) struct Lines {
    path: PathBuf,
    file: File,
    is_torn: bool,
}

impl Lines {
    /// Creates a file that does not exist yet.
    pub(crate) fn create(path: PathBuf) -> Result<Self, ArchiveError> {
        Self::new(create(&path), path)
    }

    /// Opens an existing file to continue it.
    pub(crate) fn reopen(path: PathBuf) -> Result<Self, ArchiveError> {
        Self::new(append(&path), path)
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
    /// The line could not be written. Then no part of it is in the file, and earlier lines are intact.
    pub(crate) fn push<T: Serialize + DeserializeOwned + PartialEq>(
        &mut self,
        value: &T,
    ) -> Result<(), ArchiveError> {
        let line = json(&self.path, value, false)?;
        self.append(format!("{line}\n").as_bytes(), true)
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
            // Half a line would make later ones unreadable. The file can be shortened even on a full drive.
            self.is_torn = self.file.set_len(before).is_err();
        }
        written.map_err(ArchiveError::system("write", path))
    }

    /// Keeps the first `lines` lines and cuts off the rest.
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

/// Reads all whole lines of `path`, up to the limit of a run; none if the file does not exist. A last line
/// without a line end was cut off by a kill: it is left out, and `notes` says so.
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
    kind: FileKind,
    notes: &mut Vec<String>,
    mut take: impl FnMut(T) -> Result<(), String>,
) -> Result<bool, ArchiveError> {
    let file = match input(path, kind) {
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

/// The value as JSON that was checked to read back.
pub(crate) fn json<T: Serialize + DeserializeOwned + PartialEq>(
    path: &Path,
    value: &T,
    pretty: bool,
) -> Result<String, ArchiveError> {
    let text = if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    readable(path, value, text, |text| serde_json::from_str(text))
}

/// The text of a value, once it was checked to read back: infinities and not-a-number would silently become `null`.
pub(crate) fn readable<T: PartialEq, R: ToString>(
    path: &Path,
    value: &T,
    text: Result<String, impl ToString>,
    read: impl FnOnce(&str) -> Result<T, R>,
) -> Result<String, ArchiveError> {
    let checked = |text: String| match read(&text) {
        Ok(again) if again == *value => Ok(text),
        Ok(_) => Err(wording::READS_BACK_DIFFERENTLY.to_owned()),
        Err(error) => Err(error.to_string()),
    };
    let text = text.map_err(|error| error.to_string()).and_then(checked);
    text.map_err(|reason| ArchiveError::Unreadable { path: path.to_owned(), reason })
}

pub(crate) const LIVE: &str = "live.jsonl";

/// The notes of a run, open for writing.
#[derive(Debug)]
pub struct LiveWriter(Lines);

impl LiveWriter {
    pub(crate) fn create(folder: &Path) -> Result<Self, ArchiveError> {
        Lines::create(folder.join(LIVE)).map(Self)
    }

    /// Writes notes in one call, so that they survive a kill of this program. [`LiveWriter::close`] makes
    /// them durable.
    ///
    /// # Errors
    /// They could not be written. Then none of them is in the file.
    ///
    /// # Panics
    /// A note cannot be written as JSON.
    pub fn push<T: Serialize>(&mut self, notes: &[T]) -> Result<(), ArchiveError> {
        let mut text = Vec::new();
        for note in notes {
            serde_json::to_writer(&mut text, note).expect("notes are plain values");
            text.push(b'\n');
        }
        self.0.append(&text, false)
    }

    /// Makes the notes durable.
    ///
    /// # Errors
    /// The system's error.
    pub fn close(self) -> Result<(), ArchiveError> {
        self.0.file.sync_all().map_err(ArchiveError::system("write", &self.0.path))
    }
}

/// Passes the notes of a run folder to `each`, oldest first. A last line without a line end was cut off by a
/// kill: it is left out, and the returned sentence says so.
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
    if for_each_line(&path, NOTES, &mut message, take)? {
        Ok(message.pop())
    } else {
        Err(ArchiveError::damaged_file(&path, None, "it is missing"))
    }
}

/// The schema of run folders that this version writes and reads.
pub const SCHEMA: u32 = 2;
/// The newest schema of plans.
pub(crate) const PLAN_SCHEMA: u32 = 1;

/// What a run was measured with: the drive, the program, and when the run began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// Version of the run folder's schema.
    pub schema: u32,
    /// When the run began: date and time as text, such as `2026-03-14T15:09:26Z`. It names the folder, so
    /// that runs sort by time; nothing is computed from it.
    pub started_at: String,
    /// The target.
    pub identity: Identity,
    /// The target's addresses and clock.
    pub geometry: Geometry,
    /// The program that measured it, with its version.
    pub instrument: Instrument,
    /// Settings of the run that differ from the defaults.
    #[serde(default, skip_serializing_if = "Settings::is_default")]
    pub settings: Settings,
}

/// What the user requested besides the plan, so that a resumed run uses the same.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settings {
    /// The requested engine, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The free space that the user wants left on a folder's file system, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reserve_bytes: Option<u64>,
    /// Whether every single I/O is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub samples: bool,
}

impl Settings {
    /// Whether nothing was requested.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl Machine {
    /// A machine of the current schema.
    pub fn new(
        started_at: impl Into<String>,
        identity: Identity,
        geometry: Geometry,
        instrument: Instrument,
    ) -> Self {
        Self {
            schema: SCHEMA,
            started_at: started_at.into(),
            identity,
            geometry,
            instrument,
            settings: Settings::default(),
        }
    }

    /// The same machine with these settings.
    #[must_use]
    pub fn with_settings(self, settings: Settings) -> Self {
        Self { settings, ..self }
    }
}

/// Checks the schema before a file is parsed, so that a newer version is reported as such and not as damage.
pub(crate) fn check_schema(path: &Path, version: Option<u64>, supported: u32) -> Result<(), ArchiveError> {
    match version {
        Some(version) if version != u64::from(supported) => {
            Err(ArchiveError::OtherSchema { path: path.to_owned(), version, supported })
        }
        _ => Ok(()),
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
