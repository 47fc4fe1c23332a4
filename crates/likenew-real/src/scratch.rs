//! The one directory that holds everything we write into a user's folder: marked, locked, and removed on every way out.
//!
//! `FOLDER/likenew-scratch/` holds a marker that explains it to anyone who finds it and carries a lock that
//! the system releases when its process ends, however it ends. Nothing else in a user's folder is ever
//! touched, and inside it nothing is ever removed that does not have one of our names.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use likenew_core::lab_error::LabError;
use rustix::fs::{
    AtFlags, FlockOperation, IFlags, Mode, OFlags, Stat, flock, fstat, fsync, ioctl_getflags, ioctl_setflags,
    mkdirat, openat, statat, unlinkat,
};
use rustix::io::Errno;

use crate::clock::wall_date;
use crate::folder_times::FolderTimes;
use crate::lab_error::{io_error, not_possible};
use crate::leftover::Leftover;
pub use crate::scratch_layout::{DIRECTORY, MARKER, RemovalReport};
pub(crate) use crate::scratch_layout::{
    PROCESS, file_name, is_scratch, list, open_directory, open_folder, remove_ours,
};
use crate::wording::action;
use crate::wording::scratch as wording;

/// The scratch directory of one folder, ours alone while this value lives. Dropping it removes it.
#[derive(Debug)]
pub struct Scratch {
    inner: Arc<ScratchDirectory>,
}

/// Every scratch directory that this process holds, for ways out on which nothing is dropped.
static OPEN_DIRECTORIES: Mutex<Vec<Weak<ScratchDirectory>>> = Mutex::new(Vec::new());

#[derive(Debug)]
struct ScratchDirectory {
    folder: OwnedFd,
    directory: OwnedFd,
    path: PathBuf,
    /// Holds the lock while it is open; none once the directory was removed.
    marker: Mutex<Option<OwnedFd>>,
    /// When the folder was changed before the directory was made.
    times: Mutex<Option<FolderTimes>>,
}

/// A scratch directory that could not be removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnremovedScratch {
    /// Where it is.
    pub path: PathBuf,
    /// Why: a sentence without a full stop.
    pub reason: String,
}

/// Those that were not reported yet.
static UNREMOVED_DIRECTORIES: Mutex<Vec<UnremovedScratch>> = Mutex::new(Vec::new());

/// Scratch directories that could not be removed when they were dropped; each is reported once.
pub fn unremoved_directories() -> Vec<UnremovedScratch> {
    std::mem::take(&mut lock(&UNREMOVED_DIRECTORIES))
}

impl Scratch {
    /// Makes the scratch directory of `folder` and takes its lock.
    ///
    /// # Errors
    /// Refusals, each with what to do: a run before this one has left files there, another run is using it,
    /// something else has that name, or the folder cannot be written.
    pub fn create(folder: &Path) -> Result<Self, LabError> {
        // Some file systems make a file durable but not the files beside it: without its marker, it would be
        // unclear whose these are.
        Self::create_durably(folder, |marker, directory| fsync(marker).and_then(|()| fsync(directory)))
    }

    fn create_durably(
        folder: &Path,
        make_durable: impl FnOnce(&OwnedFd, &OwnedFd) -> rustix::io::Result<()>,
    ) -> Result<Self, LabError> {
        let path = folder.join(DIRECTORY);
        let folder_fd = open_folder(folder)?;
        let times = FolderTimes::watch(&folder_fd);
        match mkdirat(&folder_fd, DIRECTORY, Mode::RWXU) {
            Ok(()) => {}
            Err(Errno::EXIST) => return Err(refuse_existing(folder)),
            Err(errno) => return Err(not_possible(action::CREATE_SCRATCH_IN, folder, errno)),
        }
        let directory =
            open_directory(&folder_fd).map_err(|errno| not_possible(action::OPEN, &path, errno))?;
        write_in_place(&directory);
        let marker = lock_new_marker(&directory, &path).and_then(|marker| {
            let durable = make_durable(&marker, &directory);
            durable.map_err(io_error(action::make_durable(path.join(MARKER).display())))?;
            Ok(marker)
        });
        let marker = match marker {
            Ok(marker) => marker,
            Err(lab_error) => {
                // It is as empty as it was made, or else this does nothing.
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
                return Err(lab_error);
            }
        };
        let inner = Arc::new(ScratchDirectory {
            folder: folder_fd,
            directory,
            path,
            marker: Mutex::new(Some(marker)),
            times: Mutex::new(times),
        });
        let mut all = lock(&OPEN_DIRECTORIES);
        all.retain(|inner| inner.strong_count() > 0);
        all.push(Arc::downgrade(&inner));
        Ok(Self { inner })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// Creates a file of ours in it, for reading and writing, and returns it with its path.
    ///
    /// # Errors
    /// There is one of that number already, or the system refuses.
    pub fn create_file(&self, number: u32) -> Result<(std::fs::File, PathBuf), LabError> {
        let path = self.inner.path.join(file_name(number));
        let fd = self
            .create_fd(number, OFlags::empty())
            .map_err(|errno| not_possible(action::CREATE, &path, errno))?;
        Ok((fd.into(), path))
    }

    /// Removes it with everything of ours in it, and says what that was.
    ///
    /// # Errors
    /// Something could not be removed.
    pub fn remove(self) -> Result<RemovalReport, LabError> {
        self.inner.remove()
    }

    pub(crate) fn create_fd(&self, number: u32, flags: OFlags) -> rustix::io::Result<OwnedFd> {
        let flags = flags | OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(&self.inner.directory, file_name(number), flags, Mode::RUSR | Mode::WUSR)
    }

    pub(crate) fn delete(&self, number: u32) -> rustix::io::Result<()> {
        unlinkat(&self.inner.directory, file_name(number), AtFlags::empty())
    }

    /// Whether its files are written in place although the file system writes others elsewhere.
    pub(crate) fn is_set_to_write_in_place(&self) -> bool {
        ioctl_getflags(&self.inner.directory).is_ok_and(|flags| flags.contains(IFlags::NOCOW))
    }

    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.inner.directory.as_fd()
    }

    /// Whether it was deleted while we use it.
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
            Err(lab_error) => lab_error.to_string(),
        };
        lock(&UNREMOVED_DIRECTORIES).push(UnremovedScratch { path: self.inner.path.clone(), reason });
    }
}

/// Removes every scratch directory that this process holds: for ways out on which no value is dropped, such
/// as `std::process::exit`. Lanes that are still open continue with files that no longer have a name.
pub fn remove_all() -> Vec<Result<RemovalReport, LabError>> {
    let all = std::mem::take(&mut *lock(&OPEN_DIRECTORIES));
    all.iter().filter_map(Weak::upgrade).map(|inner| inner.remove()).collect()
}

/// Whether a file of ours in a scratch directory that this process holds is the one with these numbers of
/// device and inode.
pub(crate) fn holds_file(device: u64, inode: u64) -> bool {
    let inner: Vec<_> = lock(&OPEN_DIRECTORIES).iter().filter_map(Weak::upgrade).collect();
    inner.iter().filter(|inner| lock(&inner.marker).is_some()).any(|inner| {
        let is_it = |(_, stat): &(String, Stat)| (stat.st_dev, stat.st_ino) == (device, inode);
        list(&inner.directory).is_ok_and(|listing| listing.own_files.iter().any(is_it))
    })
}

impl ScratchDirectory {
    fn remove(&self) -> Result<RemovalReport, LabError> {
        let mut marker = lock(&self.marker);
        if marker.is_none() {
            return Ok(RemovalReport::default());
        }
        let removed = remove_ours(&self.folder, &self.directory, &self.path)?;
        lock(&self.times).take().map(FolderTimes::restore);
        *marker = None;
        Ok(removed)
    }
}

/// Has files in a directory of btrfs written in place. Otherwise data that is written again goes to another place, so that no place
/// is compared with itself, and direct writes go through the page cache, as btrfs takes checksums of them (since Linux 6.14).
/// Other file systems write in place or refuse the flag.
fn write_in_place(directory: &OwnedFd) {
    if let Ok(flags) = ioctl_getflags(directory) {
        let _is_refused = ioctl_setflags(directory, flags | IFlags::NOCOW);
    }
}

fn refuse_existing(folder: &Path) -> LabError {
    match Leftover::find(folder) {
        Err(lab_error) => lab_error,
        Ok(Some(leftover)) => leftover.refusal(),
        Ok(None) => LabError::Refused(wording::run_just_ended(folder.display())),
    }
}

fn lock_new_marker(directory: &OwnedFd, path: &Path) -> Result<OwnedFd, LabError> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let marker = openat(directory, MARKER, flags, Mode::RUSR | Mode::WUSR)
        .map_err(|errno| not_possible(action::CREATE_MARKER_IN, path, errno))?;
    flock(&marker, FlockOperation::NonBlockingLockExclusive)
        .map_err(io_error(action::lock_marker(path.join(MARKER).display())))?;
    let text = wording::marker(PROCESS, std::process::id(), &wall_date());
    let mut rest = text.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&marker, rest)
            .map_err(|errno| not_possible(action::WRITE_MARKER_IN, path, errno))?;
        rest = &rest[written..];
    }
    // Had a removal of leftovers taken it for one before it was locked, it would have no name any more.
    let stat = fstat(&marker).map_err(io_error(action::look_at(path.join(MARKER).display())))?;
    if stat.st_nlink == 0 {
        return Err(LabError::Refused(wording::removed_meanwhile(path.display())));
    }
    Ok(marker)
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic while it was held leaves nothing half done that matters to who removes files.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_made_durable_is_taken_back_or_reported() {
        let folder = tempfile::tempdir().unwrap();
        let is_empty = || std::fs::read_dir(folder.path()).unwrap().next().is_none();
        let lab_error =
            Scratch::create_durably(folder.path(), |_, _| Err(Errno::IO)).unwrap_err().to_string();
        assert!(lab_error.contains("durable") && is_empty(), "{lab_error}");
        // Another program takes its place in the meantime, with files that we must not remove.
        let foreign = folder.path().join(DIRECTORY).join(MARKER);
        let lab_error = Scratch::create_durably(folder.path(), |_, _| {
            std::fs::remove_file(&foreign).unwrap();
            std::fs::create_dir(&foreign).unwrap();
            Err(Errno::IO)
        });
        assert!(lab_error.is_err());
        let left = unremoved_directories();
        assert!(left.iter().any(|left| left.path == folder.path().join(DIRECTORY)), "{left:?}");
    }
}
