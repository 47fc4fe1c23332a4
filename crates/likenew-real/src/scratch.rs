//! The one directory that holds everything we write into a user's folder: marked, locked, and removed on every way out.
//!
//! `FOLDER/likenew-scratch/` holds a marker that explains it to anyone who finds it and carries a lock that
//! the system releases when its process ends, however it ends. Nothing else in a user's folder is ever
//! touched, and inside it nothing is ever removed that does not have one of our names.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, FlockOperation, IFlags, Mode, OFlags, Stat, flock, fstat, fsync,
    ioctl_getflags, ioctl_setflags, mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::clock::wall_date;
pub use crate::folder_times::DIRECTORY;
use crate::folder_times::FolderTimes;
use crate::hold::{Tries, lock_patiently};
use crate::target_error::{ErrorContext as _, not_possible};
use crate::wording::{action, target as wording};

/// The scratch directory of one folder, ours alone while this value lives. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    inner: Arc<ScratchDirectory>,
}

/// Every scratch directory that this process holds, for ways out on which no value is dropped.
static OPEN_DIRECTORIES: Mutex<Vec<Weak<ScratchDirectory>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct ScratchDirectory {
    folder: OwnedFd,
    directory: OwnedFd,
    path: PathBuf,
    /// Holds the lock while it is open; `None` once the directory was removed.
    marker: Mutex<Option<OwnedFd>>,
    /// When the folder had last changed before the directory was made.
    times: Mutex<Option<FolderTimes>>,
}

/// A scratch directory that could not be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnremovedScratch {
    /// The directory.
    pub path: PathBuf,
    /// The reason: a sentence without a full stop.
    pub reason: String,
}

/// Directories that could not be removed and were not reported yet.
static UNREMOVED_DIRECTORIES: Mutex<Vec<UnremovedScratch>> = Mutex::new(Vec::new());

/// Scratch directories that could not be removed when they were dropped; each is reported once.
pub fn unremoved_directories() -> Vec<UnremovedScratch> {
    std::mem::take(&mut lock(&UNREMOVED_DIRECTORIES))
}

impl Scratch {
    /// Makes the scratch directory of `folder` and takes its lock.
    ///
    /// # Errors
    /// A refusal with what to do: a run before this one has left files there, or another run is using the
    /// directory. Or something else has that name, or the folder cannot be written.
    pub fn create(folder: &Path) -> Result<Self, TargetError> {
        // The marker is made durable first, as some file systems keep a file through a crash but not the
        // files beside it. Without the marker, it would be unclear whose the others are.
        Self::create_durably(folder, |marker, directory| fsync(marker).and_then(|()| fsync(directory)))
    }

    fn create_durably(
        folder: &Path,
        make_durable: impl FnOnce(&OwnedFd, &OwnedFd) -> rustix::io::Result<()>,
    ) -> Result<Self, TargetError> {
        let path = folder.join(DIRECTORY);
        let folder_fd = open_folder(folder)?;
        let times = FolderTimes::watch(&folder_fd);
        match mkdirat(&folder_fd, DIRECTORY, Mode::RWXU) {
            Err(Errno::EXIST) => return Err(refuse_existing(folder)),
            made => made.context_at(action::CREATE_SCRATCH_IN, folder)?,
        }
        let directory = open_directory(&folder_fd).context_at(action::OPEN, &path)?;
        write_in_place(&directory);
        let marker = lock_new_marker(&directory, &path).and_then(|marker| {
            let durable = make_durable(&marker, &directory);
            durable.context(action::make_durable(path.join(MARKER).display()))?;
            Ok(marker)
        });
        let marker = match marker {
            Ok(marker) => marker,
            Err(target_error) => {
                // If the directory is no longer empty, this does nothing.
                let undone = match unlinkat(&directory, MARKER, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => unlinkat(&folder_fd, DIRECTORY, AtFlags::REMOVEDIR),
                    kept => kept,
                };
                match undone {
                    Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => {}
                    Err(errno) => lock(&UNREMOVED_DIRECTORIES)
                        .push(UnremovedScratch { path, reason: errno.to_string() }),
                }
                times.map(FolderTimes::restore);
                return Err(target_error);
            }
        };
        let inner = Arc::new(ScratchDirectory {
            folder: folder_fd,
            directory,
            path,
            marker: Mutex::new(Some(marker)),
            times: Mutex::new(times),
        });
        let mut directories = lock(&OPEN_DIRECTORIES);
        directories.retain(|inner| inner.strong_count() > 0);
        directories.push(Arc::downgrade(&inner));
        Ok(Self { inner })
    }

    /// The path of the directory.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Creates a file in the directory, for reading and writing, and returns it with its path.
    ///
    /// # Errors
    /// There is one of that number already, or the system refuses.
    pub fn create_file(&self, number: u32) -> Result<(std::fs::File, PathBuf), TargetError> {
        let path = self.inner.path.join(file_name(number));
        let fd = self.create_fd(number, OFlags::empty()).context_at(action::CREATE, &path)?;
        Ok((fd.into(), path))
    }

    /// Removes the directory with everything of ours in it, and says what that was.
    ///
    /// # Errors
    /// Something could not be removed.
    pub fn remove(self) -> Result<RemovalReport, TargetError> {
        self.inner.remove()
    }

    pub(crate) fn create_fd(&self, number: u32, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // A directory that is being removed gets no more files: they would stay, without the marker that explains them.
        let marker = lock(&self.inner.marker);
        if marker.is_none() {
            return Err(Errno::CANCELED);
        }
        openat(&self.inner.directory, file_name(number), flags, Mode::RUSR | Mode::WUSR)
    }

    pub(crate) fn delete(&self, number: u32) -> rustix::io::Result<()> {
        unlinkat(&self.inner.directory, file_name(number), AtFlags::empty())
    }

    /// Whether files in the directory are written in place although the file system writes others elsewhere.
    pub(crate) fn is_set_to_write_in_place(&self) -> bool {
        ioctl_getflags(&self.inner.directory).is_ok_and(|flags| flags.contains(IFlags::NOCOW))
    }

    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.inner.directory.as_fd()
    }

    /// Whether the directory was deleted while we use it.
    pub(crate) fn is_gone(&self) -> bool {
        fstat(&self.inner.directory).is_ok_and(|stat| stat.st_nlink == 0)
            || statat(&self.inner.directory, MARKER, AtFlags::SYMLINK_NOFOLLOW).err() == Some(Errno::NOENT)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // Whoever ends the run tells what could not be removed; the next run finds it as a leftover.
        let reason = match self.inner.remove() {
            Ok(RemovalReport { foreign, .. }) if foreign.is_empty() => return,
            Ok(RemovalReport { foreign, .. }) => wording::foreign_files(&foreign),
            Err(target_error) => target_error.to_string(),
        };
        lock(&UNREMOVED_DIRECTORIES).push(UnremovedScratch { path: self.inner.path.clone(), reason });
    }
}

/// Removes every scratch directory that this process holds: for ways out on which no value is dropped, such
/// as `std::process::exit`. Lanes that are still open continue with files that no longer have a name.
pub fn remove_all() -> Vec<Result<RemovalReport, TargetError>> {
    let directories = std::mem::take(&mut *lock(&OPEN_DIRECTORIES));
    directories.iter().filter_map(Weak::upgrade).map(|inner| inner.remove()).collect()
}

impl ScratchDirectory {
    fn remove(&self) -> Result<RemovalReport, TargetError> {
        let mut marker = lock(&self.marker);
        if marker.is_none() {
            return Ok(RemovalReport::default());
        }
        let removed = remove_ours(&self.folder, &self.directory, &self.path)?;
        *marker = None;
        remove_emptied(&self.folder, &self.directory);
        lock(&self.times).take().map(FolderTimes::restore);
        Ok(removed)
    }
}

/// Has btrfs write the files of a directory in place. Otherwise data that is written again goes elsewhere, so
/// that no place is compared with itself. Direct writes would also go through the page cache, as btrfs takes
/// checksums of them (since Linux 6.14). Other file systems write in place or refuse the flag.
fn write_in_place(directory: &OwnedFd) {
    if let Ok(flags) = ioctl_getflags(directory) {
        let _is_refused = ioctl_setflags(directory, flags | IFlags::NOCOW);
    }
}

fn refuse_existing(folder: &Path) -> TargetError {
    match Leftover::find(folder) {
        Err(target_error) => target_error,
        Ok(Some(leftover)) => leftover.refusal(),
        Ok(None) => TargetError::Refused(wording::run_just_ended(folder.display())),
    }
}

fn lock_new_marker(directory: &OwnedFd, path: &Path) -> Result<OwnedFd, TargetError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let marker = openat(directory, MARKER, flags, Mode::RUSR | Mode::WUSR)
        .context_at(action::CREATE_MARKER_IN, path)?;
    flock(&marker, FlockOperation::NonBlockingLockExclusive)
        .context(action::lock_marker(path.join(MARKER).display()))?;
    let text = wording::marker(PROCESS, std::process::id(), &wall_date());
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&marker, rest).context_at(action::WRITE_MARKER_IN, path)?;
        rest = &rest[written..];
    }
    // If a removal of leftovers took the marker before it was locked, the marker has no name any more.
    let stat = fstat(&marker).context(action::look_at(path.join(MARKER).display()))?;
    if stat.st_nlink == 0 {
        return Err(TargetError::Refused(wording::removed_meanwhile(path.display())));
    }
    Ok(marker)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic under this lock leaves nothing half done that matters for removing files.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

// What a scratch directory looks like on disk, and how it is listed and removed, for the run that holds it and for a later one.

/// The name of the marker in a scratch directory.
pub const MARKER: &str = "LIKENEW-SCRATCH.txt";
/// What precedes the process id in the marker.
pub(crate) const PROCESS: &str = "process: ";
const SUFFIX: &str = ".likenew";

/// The result of a removal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RemovalReport {
    /// Files of ours that were removed, without the marker.
    pub files: u64,
    /// Bytes that the files took up.
    pub bytes: u64,
    /// Foreign entries in the directory. They were left alone, so the directory and its marker stay, too.
    pub foreign: Vec<String>,
}

/// Removes files of ours, then the marker and the directory unless there is anything foreign in it. The
/// caller holds the lock of the marker.
pub(crate) fn remove_ours(
    folder: &OwnedFd,
    directory: &OwnedFd,
    path: &Path,
) -> Result<RemovalReport, TargetError> {
    let here = || path.display();
    let listing = list(directory).context(action::list(here()))?;
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
            Err(Errno::NOENT) => {}
            removed => removed.context_at(action::REMOVE_TEMPORARY, &path.join(MARKER))?,
        }
        match unlinkat(folder, DIRECTORY, AtFlags::REMOVEDIR) {
            // Another program may just have put something there, or removed it all, which is its right.
            Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => {}
            removed => removed.context_at(action::REMOVE_FOLDER, path)?,
        }
    }
    Ok(removed)
}

/// Removes the directory if only the open marker kept it from being empty. NFS and FUSE keep an open file that was removed,
/// under another name, until it is closed. A directory that somebody has put in its place stays.
fn remove_emptied(folder: &OwnedFd, directory: &OwnedFd) {
    let is_there = || {
        let named = statat(folder, DIRECTORY, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let own = fstat(directory).ok()?;
        Some((named.st_dev, named.st_ino) == (own.st_dev, own.st_ino))
    };
    let remove = || {
        let is_kept =
            is_there() == Some(true) && list(directory).is_ok_and(|listing| listing.is_hidden_only());
        is_kept && unlinkat(folder, DIRECTORY, AtFlags::REMOVEDIR) == Err(Errno::NOTEMPTY)
    };
    EMPTIED.until_free(|is_kept| *is_kept, remove);
}

/// How long to wait until a closed file is gone. Chosen: a second in all.
const EMPTIED: Tries = Tries { count: 100, pause: Nanos::from_millis(10) };

/// What is in a scratch directory besides the marker.
#[derive(Default)]
pub(crate) struct Listing {
    /// Files of ours, by name, with their status.
    pub(crate) own_files: Vec<(String, Stat)>,
    /// The names of everything else.
    pub(crate) foreign: Vec<String>,
}

impl Listing {
    /// Whether nothing is left but what NFS and FUSE keep of removed files (`.nfs…`, `.fuse_hidden…`).
    fn is_hidden_only(&self) -> bool {
        let is_hidden = |name: &String| [".nfs", ".fuse_hidden"].iter().any(|start| name.starts_with(start));
        self.own_files.is_empty() && self.foreign.iter().all(is_hidden)
    }

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

/// The name of a file: `00042.likenew`.
pub(crate) fn file_name(number: u32) -> String {
    format!("{number:05}{SUFFIX}")
}

fn is_file_name(name: &str) -> bool {
    name.strip_suffix(SUFFIX)
        .and_then(|number| number.parse().ok())
        .is_some_and(|number| file_name(number) == name)
}

/// Whether a folder is a scratch directory of Likenew.
pub(crate) fn is_scratch(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == DIRECTORY) && folder.join(MARKER).exists()
}

pub(crate) fn open_folder(folder: &Path) -> Result<OwnedFd, TargetError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    openat(CWD, folder, flags, Mode::empty()).context_at(action::OPEN_FOLDER, folder)
}

pub(crate) fn open_directory(folder: &OwnedFd) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(folder, DIRECTORY, flags, Mode::empty())
}

// Scratch files of a run that was killed, or could not remove them.

/// A scratch directory with our marker whose run is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The directory.
    pub path: PathBuf,
    /// Files of ours in the directory.
    pub files: u64,
    /// Bytes that the files take up.
    pub bytes: u64,
    /// When the directory was made, in UTC, as its marker says.
    pub started: Option<String>,
    folder: PathBuf,
}

impl Leftover {
    /// Searches for leftovers in `folder`.
    ///
    /// # Errors
    /// A refusal if something has the directory's name that is not ours to remove: the directory of a live
    /// run, or something that is no scratch directory.
    pub fn find(folder: &Path) -> Result<Option<Self>, TargetError> {
        Ok(Self::open(folder)?.map(|open| open.leftover))
    }

    /// Removes the regular files that bear our names, then the marker and the directory. Follows no link.
    /// Anything foreign stays, and the directory and its marker with it.
    ///
    /// # Errors
    /// Another run holds the directory by now, or something could not be removed.
    pub fn remove(self) -> Result<RemovalReport, TargetError> {
        let Some(open) = Self::open(&self.folder)? else { return Ok(RemovalReport::default()) };
        if open.locked.is_none() {
            // If a run is about to put its marker there, the directory is not empty any more, and stays.
            return match unlinkat(&open.folder, DIRECTORY, AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::NOTDIR) => Ok(RemovalReport::default()),
                Err(errno) => Err(errno).context(action::remove_folder(self.path.display())),
            };
        }
        let removed = remove_ours(&open.folder, &open.directory, &self.path)?;
        let LockedLeftover { folder, directory, locked, .. } = open;
        drop(locked);
        remove_emptied(&folder, &directory);
        Ok(removed)
    }

    /// Why nothing can be measured in the folder while these leftovers are there.
    pub(crate) fn refusal(&self) -> TargetError {
        let Self { path, files, bytes, started, .. } = self;
        TargetError::Refused(wording::leftover(path, started.as_deref(), *files, *bytes))
    }

    fn open(folder: &Path) -> Result<Option<LockedLeftover>, TargetError> {
        let path = folder.join(DIRECTORY);
        let folder_fd = open_folder(folder)?;
        let stat = match statat(&folder_fd, DIRECTORY, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return Ok(None),
            stat => stat.context(action::look_at(path.display()))?,
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
            return Err(not_ours(&path, wording::NOT_A_FOLDER));
        }
        let directory = match open_directory(&folder_fd) {
            Err(Errno::LOOP | Errno::NOTDIR) => return Err(not_ours(&path, wording::NOT_A_FOLDER)),
            directory => directory.context_at(action::OPEN, &path)?,
        };
        let opened = match open_marker(&directory, &path) {
            // A kill between making the directory and its marker, or between removing one and the other,
            // leaves it empty.
            Err(_) if is_empty(&directory).context(action::list(path.display()))? => None,
            opened => Some(opened?),
        };
        let Some((marker, text)) = opened else {
            let leftover = Self { files: 0, bytes: 0, started: None, folder: folder.to_owned(), path };
            return Ok(Some(LockedLeftover { leftover, folder: folder_fd, directory, locked: None }));
        };
        match lock_patiently(&marker) {
            Err(Errno::WOULDBLOCK) => {
                let process = line_after(&text, PROCESS);
                return Err(TargetError::Refused(wording::busy(process.as_deref(), folder)));
            }
            locked => locked.context(action::lock(path.join(MARKER).display()))?,
        }
        let listing = list(&directory).context(action::list(path.display()))?;
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

/// Most bytes of a marker that are read; no marker of ours is longer.
const MARKER_BYTES_MAX: usize = 4096;

/// A leftover that is locked while it is examined, so that no other process can take it.
struct LockedLeftover {
    leftover: Leftover,
    folder: OwnedFd,
    directory: OwnedFd,
    /// The lock on the marker. `None` for an empty directory, which has nothing to lock, and is removed only
    /// as long as it is empty.
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

fn open_marker(directory: &OwnedFd, path: &Path) -> Result<(OwnedFd, String), TargetError> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let marker = match openat(directory, MARKER, flags, Mode::empty()) {
        Err(Errno::NOENT | Errno::LOOP) => return Err(not_ours(path, wording::NO_MARKER)),
        marker => marker.context_at(action::READ_MARKER_IN, path)?,
    };
    let stat = fstat(&marker).context(action::look_at_marker(path.display()))?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(not_ours(path, wording::NO_MARKER));
    }
    let mut text = vec![0; MARKER_BYTES_MAX];
    let length = rustix::io::read(&marker, &mut text).context(action::read_marker(path.display()))?;
    let text = marker_text(&text[..length]).ok_or_else(|| not_ours(path, wording::NO_MARKER))?;
    Ok((marker, text))
}

/// The text of a marker, if the marker is ours.
fn marker_text(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    // A run that was killed between making the marker and writing to it leaves an empty one. After a loss of power, the
    // marker may be zeros: file systems make its length durable before its text (ext4 with dioread_nolock, xfs).
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

fn not_ours(path: &Path, what: &str) -> TargetError {
    TargetError::Refused(wording::in_the_way(path.display(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_made_durable_is_taken_back_or_reported() {
        let folder = tempfile::tempdir().unwrap();
        let is_empty = || std::fs::read_dir(folder.path()).unwrap().next().is_none();
        let target_error =
            Scratch::create_durably(folder.path(), |_, _| Err(Errno::IO)).unwrap_err().to_string();
        assert!(target_error.contains("durable") && is_empty(), "{target_error}");
        // Another program takes the place of the directory's marker, with files that we must not remove.
        let foreign = folder.path().join(DIRECTORY).join(MARKER);
        let target_error = Scratch::create_durably(folder.path(), |_, _| {
            std::fs::remove_file(&foreign).unwrap();
            std::fs::create_dir(&foreign).unwrap();
            Err(Errno::IO)
        });
        assert!(target_error.is_err());
        let left = unremoved_directories();
        assert!(left.iter().any(|left| left.path == folder.path().join(DIRECTORY)), "{left:?}");
    }

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
