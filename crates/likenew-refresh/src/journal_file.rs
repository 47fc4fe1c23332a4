//! Files of journals, and checks that only their owner can have written them.
//!
//! A resumed refresh writes what a journal says, so a journal is trusted only if it must be our own. It is a
//! regular file of the user who runs this, and no other user may write to it. It has no other name, and is
//! found in its folder without following a link.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat, XattrFlags, fgetxattr, fsetxattr, fstat, fsync,
    openat, openat2, unlinkat,
};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::durable_file::DurableFile;
use super::error::RefreshError;
use super::journal::Journal;
use super::wording;

/// An extended attribute, because it is written as a whole even if power is lost, and leaves the records as they are.
const RESUMED_IN: &str = "user.likenew.resumed-in";
const BOOT_BYTES_MAX: usize = 256;

/// Where a refresh keeps its journal and the torn data that it finds.
#[derive(Clone, Debug)]
pub struct JournalPaths {
    folder: Folder,
    journal: OsString,
    salvage: OsString,
}

impl JournalPaths {
    /// Files with these names in a folder.
    pub fn new(folder: Folder, journal: impl Into<OsString>, salvage: impl Into<OsString>) -> Self {
        Self { folder, journal: journal.into(), salvage: salvage.into() }
    }

    /// The path of the journal.
    pub fn path(&self) -> PathBuf {
        self.folder.path().join(&self.journal)
    }

    pub(crate) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(crate) fn salvage(&self) -> &OsStr {
        &self.salvage
    }
}

/// The file of a journal, locked as long as this lives.
#[derive(Debug)]
pub struct JournalFile {
    paths: JournalPaths,
    file: File,
}

impl JournalFile {
    /// Creates the file, and makes its name durable.
    ///
    /// # Errors
    /// The name is taken, or the system's error.
    pub fn create(paths: &JournalPaths) -> Result<Self, RefreshError> {
        let path = paths.path();
        match create_own(&paths.folder, &paths.journal) {
            Ok(file) => Ok(Self { paths: paths.clone(), file }),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Err(RefreshError::NotOurs { path, reason: wording::EXISTS.to_owned() })
            }
            Err(error) => Err(RefreshError::journal("make")(error)),
        }
    }

    /// Opens the file if it exists.
    ///
    /// # Errors
    /// The file may not be our own, another run uses it, or the system's error.
    pub fn open(paths: &JournalPaths) -> Result<Option<Self>, RefreshError> {
        let file = open_own(&paths.folder, &paths.journal)?;
        Ok(file.map(|file| Self { paths: paths.clone(), file }))
    }

    /// The file's path.
    pub fn path(&self) -> PathBuf {
        self.paths.path()
    }

    /// When the file was last written.
    ///
    /// # Errors
    /// The system's error.
    pub fn modified(&self) -> io::Result<SystemTime> {
        self.file.metadata()?.modified()
    }

    /// The boot in which the refresh was last resumed: empty if that boot was unknown, `None` if it was never resumed.
    ///
    /// # Errors
    /// The system's error.
    pub fn resumed_in(&self) -> io::Result<Option<String>> {
        let mut boot = vec![0; BOOT_BYTES_MAX];
        match fgetxattr(&self.file, RESUMED_IN, &mut boot[..]) {
            Ok(length) => {
                boot.truncate(length);
                Ok(Some(String::from_utf8_lossy(&boot).into_owned()))
            }
            // Without support for attributes, none was set.
            Err(Errno::NODATA | Errno::NOTSUP) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Notes durably the boot in which the refresh is resumed. Only a loss of power after this can tear what
    /// is saved and restored from now on.
    ///
    /// # Errors
    /// The system's error, or the file system keeps no attributes: then nothing may be written to the store.
    pub fn note_resumed_in(&self, boot: &str) -> Result<(), RefreshError> {
        let noted = fsetxattr(&self.file, RESUMED_IN, boot.as_bytes(), XattrFlags::empty());
        noted
            .map_err(io::Error::from)
            .and_then(|()| self.file.sync_all())
            .map_err(RefreshError::journal("write to"))
    }

    /// The paths of the journal and of the torn data.
    pub(crate) fn paths(&self) -> &JournalPaths {
        &self.paths
    }

    /// Removes the file durably: a journal that came back after a cut would describe an outdated state.
    ///
    /// # Errors
    /// The system's error, or the file's name now belongs to another file.
    pub fn remove(self) -> Result<(), RefreshError> {
        let Self { paths: JournalPaths { folder, journal, .. }, file } = &self;
        let look = |error: Errno| RefreshError::journal("remove")(error.into());
        let named = folder.open_file(journal, OFlags::PATH, Mode::empty()).and_then(fstat).map_err(look)?;
        let own = fstat(file).map_err(look)?;
        if (named.st_dev, named.st_ino) != (own.st_dev, own.st_ino) {
            let reason = wording::REPLACED.to_owned();
            return Err(RefreshError::NotOurs { path: self.path(), reason });
        }
        folder.remove(journal).and_then(|()| folder.sync()).map_err(look)
    }
}

impl DurableFile for JournalFile {
    fn bytes(&mut self) -> io::Result<u64> {
        self.file.bytes()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.file.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(offset, bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync()
    }
}

/// Creates a new file, locks it, and makes its name durable.
pub(crate) fn create_own(folder: &Folder, name: &OsStr) -> io::Result<File> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
    let file = File::from(folder.open_file(name, flags, Mode::RUSR | Mode::WUSR)?);
    file.try_lock()?;
    folder.sync()?;
    Ok(file)
}

/// Opens the file of this name, which must be our own, and locks it.
pub(crate) fn open_own(folder: &Folder, name: &OsStr) -> Result<Option<File>, RefreshError> {
    let path = || folder.path().join(name);
    let refused = |reason: String| RefreshError::NotOurs { path: path(), reason };
    let system = |errno: Errno| RefreshError::journal("open")(errno.into());
    // The file is checked before it is opened, because opening a device or a pipe may have effects.
    let path_stat = match folder.open_file(name, OFlags::PATH, Mode::empty()) {
        Err(Errno::NOENT) => return Ok(None),
        Err(Errno::XDEV) => return Err(refused(wording::MOUNT_POINT.to_owned())),
        path_stat => path_stat.and_then(fstat).map_err(system)?,
    };
    check_own(&path_stat).map_err(refused)?;
    let file = folder.open_file(name, OFlags::RDWR | OFlags::NONBLOCK, Mode::empty()).map_err(system)?;
    let stat = fstat(&file).map_err(system)?;
    check_own(&stat).map_err(refused)?;
    let file = File::from(file);
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Err(RefreshError::InUse(path())),
        Err(TryLockError::Error(error)) => Err(RefreshError::journal("lock")(error)),
    }
}

/// Checks that only this user can have written the file.
fn check_own(stat: &Stat) -> Result<(), String> {
    let (owner, own) = (stat.st_uid, geteuid().as_raw());
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => {}
        FileType::Symlink => return Err(wording::SYMLINK.to_owned()),
        _ => return Err(wording::NOT_REGULAR.to_owned()),
    }
    if owner != own {
        return Err(wording::other_owner(owner, own));
    }
    if stat.st_mode & 0o022 != 0 {
        return Err(wording::OTHERS_WRITE.to_owned());
    }
    if stat.st_nlink != 1 {
        return Err(wording::OTHER_LINKS.to_owned());
    }
    if stat.st_size.cast_unsigned() > Journal::<File>::BYTES_MAX {
        return Err(wording::TOO_LONG.to_owned());
    }
    Ok(())
}

/// No part of a path may be a link of any kind, lead up, or lie on another file system.
const STAY: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// A folder that stays the same even if its path changes.
#[derive(Clone, Debug)]
pub struct Folder {
    fd: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder that the caller has named.
    ///
    /// # Errors
    /// The system's error.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let fd = openat(CWD, named, flags, Mode::empty())?;
        Ok(Self { fd: Arc::new(fd), path: path.to_owned() })
    }

    /// The path by which the folder was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file below the folder.
    pub(crate) fn open_file(&self, name: &OsStr, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        // O_PATH allows no flags but these.
        let more = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NOCTTY };
        openat2(&*self.fd, name, flags | more | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode, STAY)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> rustix::io::Result<()> {
        unlinkat(&*self.fd, name, AtFlags::empty())
    }

    /// Makes names in the folder durable.
    pub(crate) fn sync(&self) -> rustix::io::Result<()> {
        fsync(&*self.fd)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
