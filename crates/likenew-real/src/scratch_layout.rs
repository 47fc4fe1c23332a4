//! What a scratch directory looks like on disk, and how it is listed and removed, for the run that holds it and for a later one.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::lab_error::LabError;
use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::Errno;

use crate::lab_error::{io_error, not_possible};
use crate::wording::action;

/// The name of the directory.
pub const DIRECTORY: &str = "likenew-scratch";
/// The name of the marker in it.
pub const MARKER: &str = "LIKENEW-SCRATCH.txt";
/// What precedes the process id in the marker.
pub(crate) const PROCESS: &str = "process: ";
const SUFFIX: &str = ".likenew";

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalReport {
    /// Files of ours that were removed, without the marker.
    pub files: u64,
    /// Bytes that they took up.
    pub bytes: u64,
    /// Foreign entries in it. They were left alone, so the directory and its marker stay, too.
    pub foreign: Vec<String>,
}

/// Removes files of ours, then the marker and the directory unless there is anything foreign in it. The
/// caller holds the lock of the marker.
pub(crate) fn remove_ours(
    folder: &OwnedFd,
    directory: &OwnedFd,
    path: &Path,
) -> Result<RemovalReport, LabError> {
    let here = || path.display();
    let listing = list(directory).map_err(io_error(action::list(here())))?;
    let mut removed = RemovalReport { foreign: listing.foreign, ..RemovalReport::default() };
    for (name, stat) in listing.own_files {
        match unlinkat(directory, &*name, AtFlags::empty()) {
            Ok(()) => {
                removed.files += 1;
                removed.bytes += occupied_bytes(&stat);
            }
            Err(Errno::NOENT) => {}
            Err(errno) => {
                return Err(not_possible(action::REMOVE_TEMPORARY, &path.join(name), errno));
            }
        }
    }
    if removed.foreign.is_empty() {
        match unlinkat(directory, MARKER, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(not_possible(action::REMOVE_TEMPORARY, &path.join(MARKER), errno)),
        }
        match unlinkat(folder, DIRECTORY, AtFlags::REMOVEDIR) {
            // Another program may have put something there, or removed it all, at this very moment, which is
            // its right.
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            Err(errno) => return Err(not_possible(action::REMOVE_FOLDER, path, errno)),
        }
    }
    Ok(removed)
}

/// What is in a scratch directory besides the marker.
#[derive(Default)]
pub(crate) struct Listing {
    /// Files of ours, by name, with their status.
    pub(crate) own_files: Vec<(String, Stat)>,
    /// The names of everything else.
    pub(crate) foreign: Vec<String>,
}

impl Listing {
    /// Bytes that our files take up.
    pub(crate) fn bytes(&self) -> u64 {
        self.own_files.iter().map(|(_, stat)| occupied_bytes(stat)).sum()
    }
}

fn occupied_bytes(stat: &Stat) -> u64 {
    // The unit of `st_blocks` is 512 bytes on every file system (stat(2)).
    stat.st_blocks.cast_unsigned() * 512
}

/// Lists a scratch directory.
pub(crate) fn list(directory: &OwnedFd) -> rustix::io::Result<Listing> {
    let mut listing = Listing::default();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." || name.to_bytes() == MARKER.as_bytes() {
            continue;
        }
        let stat = match statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            stat => stat?,
        };
        let text = name.to_string_lossy().into_owned();
        if is_file_name(&text) && FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile {
            listing.own_files.push((text, stat));
        } else {
            listing.foreign.push(text);
        }
    }
    listing.foreign.sort();
    Ok(listing)
}

/// `00042.likenew`.
pub(crate) fn file_name(number: u32) -> String {
    format!("{number:05}{SUFFIX}")
}

fn is_file_name(name: &str) -> bool {
    name.strip_suffix(SUFFIX)
        .and_then(|number| number.parse().ok())
        .is_some_and(|number| file_name(number) == name)
}

/// Whether a folder is where likenew itself measures.
pub(crate) fn is_scratch(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == DIRECTORY) && folder.join(MARKER).exists()
}

pub(crate) fn open_folder(folder: &Path) -> Result<OwnedFd, LabError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, folder, flags, Mode::empty())
        .map_err(|errno| not_possible(action::OPEN_FOLDER, folder, errno))
}

pub(crate) fn open_directory(folder: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, DIRECTORY, flags, Mode::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_ours() {
        for name in ["00000.likenew", "00042.likenew", "123456.likenew"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in [
            "0.likenew",
            "000001.likenew",
            "+0001.likenew",
            "likenew",
            "00000.likenew~",
            "99999999999.likenew",
        ] {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
