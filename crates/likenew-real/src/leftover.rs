//! Scratch files of a run that was killed, or could not remove them.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::lab_error::LabError;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::hold::lock_patiently;
use crate::lab_error::{io_error, not_possible};
use crate::scratch_layout::{
    DIRECTORY, MARKER, PROCESS, RemovalReport, list, open_directory, open_folder, remove_ours,
};
use crate::wording::action;
use crate::wording::scratch as wording;

/// A scratch directory with our marker whose run is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The directory.
    pub path: PathBuf,
    /// Files of ours in it.
    pub files: u64,
    /// Bytes that they take up.
    pub bytes: u64,
    /// When it was made, in UTC, as its marker says.
    pub started: Option<String>,
    folder: PathBuf,
}

impl Leftover {
    /// Searches for one in `folder`.
    ///
    /// # Errors
    /// A refusal when there is something of that name that is not ours to remove: a live run's, or no scratch
    /// directory at all.
    pub fn find(folder: &Path) -> Result<Option<Self>, LabError> {
        Ok(Self::open(folder)?.map(|open| open.leftover))
    }

    /// Removes the files that bear our names and are regular files, then the marker and the directory.
    /// Follows no link. If there is anything foreign in it, that stays, and the directory and its marker with
    /// it.
    ///
    /// # Errors
    /// Another run holds it by now, or something could not be removed.
    pub fn remove(self) -> Result<RemovalReport, LabError> {
        let Some(open) = Self::open(&self.folder)? else { return Ok(RemovalReport::default()) };
        if open.locked.is_none() {
            // Should a run be about to put its marker there, it is not empty any more, and stays.
            return match unlinkat(&open.folder, DIRECTORY, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => Ok(RemovalReport::default()),
                Err(errno) => Err(io_error(action::remove_folder(self.path.display()))(errno)),
            };
        }
        remove_ours(&open.folder, &open.directory, &self.path)
    }

    /// Why nothing can be measured in the folder while this is there.
    pub(crate) fn refusal(&self) -> LabError {
        let Self { path, files, bytes, started, .. } = self;
        LabError::Refused(wording::leftover(path, started.as_deref(), *files, *bytes))
    }

    fn open(folder: &Path) -> Result<Option<LockedLeftover>, LabError> {
        let path = folder.join(DIRECTORY);
        let folder_fd = open_folder(folder)?;
        let stat = match statat(&folder_fd, DIRECTORY, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat.map_err(io_error(action::look_at(path.display())))?,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(not_ours(&path, wording::NOT_A_FOLDER));
        }
        let directory = match open_directory(&folder_fd) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_ours(&path, wording::NOT_A_FOLDER)),
            directory => directory.map_err(|errno| not_possible(action::OPEN, &path, errno))?,
        };
        let found = match open_marker(&directory, &path) {
            // A kill between making the directory and its marker, or between removing one and the other,
            // leaves it empty.
            Err(_) if is_empty(&directory).map_err(io_error(action::list(path.display())))? => None,
            found => Some(found?),
        };
        let Some((marker, text)) = found else {
            let leftover = Self { files: 0, bytes: 0, started: None, folder: folder.to_owned(), path };
            return Ok(Some(LockedLeftover { leftover, folder: folder_fd, directory, locked: None }));
        };
        match lock_patiently(&marker) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => {
                let process = line_after(&text, PROCESS);
                return Err(LabError::Refused(wording::busy(process.as_deref(), folder)));
            }
            Err(errno) => return Err(io_error(action::lock(path.join(MARKER).display()))(errno)),
        }
        let listing = list(&directory).map_err(io_error(action::list(path.display())))?;
        let leftover = Self {
            files: listing.own_files.len() as u64,
            bytes: listing.bytes(),
            started: line_after(&text, "started: "),
            folder: folder.to_owned(),
            path,
        };
        Ok(Some(LockedLeftover { leftover, folder: folder_fd, directory, locked: Some(marker) }))
    }
}

const NO_MARKER: &str = wording::NO_MARKER;
/// Longer than any marker of ours.
const MARKER_BYTES_MAX: usize = 4096;

/// A leftover that is locked while it is examined, so that no other process can take it.
struct LockedLeftover {
    leftover: Leftover,
    folder: OwnedFd,
    directory: OwnedFd,
    /// Held as long as this is. None where there is nothing that could be locked: an empty directory, which
    /// is removed only as long as it is.
    locked: Option<OwnedFd>,
}

fn is_empty(directory: &OwnedFd) -> rustix::io::Result<bool> {
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            return Ok(false);
        }
    }
    Ok(true)
}

fn open_marker(directory: &OwnedFd, path: &Path) -> Result<(OwnedFd, String), LabError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let marker = match openat(directory, MARKER, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP) => return Err(not_ours(path, NO_MARKER)),
        marker => marker.map_err(|errno| not_possible(action::READ_MARKER_IN, path, errno))?,
    };
    let stat = fstat(&marker).map_err(io_error(action::look_at_marker(path.display())))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_ours(path, NO_MARKER));
    }
    let mut text = vec![0; MARKER_BYTES_MAX];
    let length =
        rustix::io::read(&marker, &mut text).map_err(io_error(action::read_marker(path.display())))?;
    let text = marker_text(&text[..length]).ok_or_else(|| not_ours(path, NO_MARKER))?;
    Ok((marker, text))
}

/// A marker of ours as text.
fn marker_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // A run that was killed between making the marker and writing to it leaves an empty one. After a loss of power it may be zeros:
    // file systems make its length durable before its text (ext4 with dioread_nolock, xfs).
    let is_unwritten = bytes.iter().all(|byte| *byte == 0);
    (is_unwritten || text.lines().next() == Some(wording::MARKER_LINE)).then_some(text)
}

/// Reads a marker and formats its contents, for fuzzers.
pub(crate) fn fuzzed_marker(bytes: &[u8]) -> bool {
    let Some(text) = marker_text(bytes) else { return false };
    [PROCESS, "started: "].into_iter().filter_map(|key| line_after(&text, key)).for_each(|line| {
        assert!(line.chars().count() <= 40 && !line.chars().any(char::is_control), "{line:?} is shown");
    });
    true
}

fn line_after(text: &str, key: &str) -> Option<String> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.chars().filter(|c| !c.is_control()).take(40).collect())
}

fn not_ours(path: &Path, what: &str) -> LabError {
    LabError::Refused(wording::in_the_way(path.display(), what))
}
