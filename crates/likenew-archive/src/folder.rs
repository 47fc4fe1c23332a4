//! Files of a run folder. The folder is no link and holds none, so that nothing outside of it is read or written, whatever
//! becomes of its path meanwhile. What is written is on the drive, whole or not at all.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::input::{self, InputError, Kind};
use rustix::fs::{AtFlags, Mode, OFlags, fsync, open, openat, renameat, unlinkat};
use rustix::io::Errno;

use crate::error::ArchiveError;
use crate::wording;

/// What a new file is allowed to everybody, less what the process keeps from them.
const MODE: Mode = Mode::from_bits_retain(0o666);

fn open_folder(folder: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    open(folder, flags, Mode::empty()).map_err(|errno| without_links(errno, folder))
}

/// The folder of a file, and its name there.
fn place(path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((open_folder(folder)?, path.file_name().expect("a file of a run has a name")))
}

fn open_file(path: &Path, flags: OFlags) -> io::Result<File> {
    let (folder, name) = place(path)?;
    let file = openat(&folder, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, MODE);
    file.map(File::from).map_err(|errno| without_links(errno, path))
}

/// The system's words for a link say nothing of one.
fn without_links(errno: Errno, path: &Path) -> io::Error {
    if path.is_symlink() {
        io::Error::new(io::ErrorKind::InvalidInput, wording::link(path))
    } else {
        errno.into()
    }
}

/// Makes a file, which is not there yet, to append to.
pub(crate) fn create(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL)
}

/// Opens a file that is there, to append to.
pub(crate) fn append(path: &Path) -> io::Result<File> {
    open_file(path, OFlags::RDWR | OFlags::APPEND)
}

/// Opens an ordinary file to read; nothing else is opened.
pub(crate) fn input(path: &Path, kind: Kind) -> Result<File, InputError> {
    input::check(&open_file(path, OFlags::PATH)?, kind)?;
    let file = open_file(path, OFlags::RDONLY | OFlags::NONBLOCK)?;
    input::check(&file, kind)?;
    Ok(file)
}

/// Replaces a file of a run folder: writes it under another name, then renames it; durable when this returns.
/// Whatever happens, the name holds the old content or the new one.
pub(crate) fn write(folder: &Path, name: &str, text: &str) -> Result<(), ArchiveError> {
    let unfinished = format!(".{name}.unfinished");
    let written = open_folder(folder).and_then(|directory| {
        // A leftover of a killed run is never written to.
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
            // The first error is the one that says what is wrong.
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
