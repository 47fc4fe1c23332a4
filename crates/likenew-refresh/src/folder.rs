//! An open folder in which files are opened and made by name; no link leads out of it.

use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, fsync, openat, openat2, unlinkat};

/// No component may be a link of any kind, lead up, or lie on another file system.
const STAY: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// A folder that stays the same one even if its path changes.
#[derive(Clone, Debug)]
pub struct Folder {
    fd: Arc<OwnedFd>,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder that its caller has named.
    ///
    /// # Errors
    /// The system's.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let named = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let fd = openat(CWD, named, flags, Mode::empty())?;
        Ok(Self { fd: Arc::new(fd), path: path.to_owned() })
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a file beneath it.
    pub(crate) fn open_file(&self, name: &OsStr, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
        // With O_PATH nothing but these is allowed.
        let more = if flags.contains(OFlags::PATH) { OFlags::empty() } else { OFlags::NOCTTY };
        openat2(&*self.fd, name, flags | more | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode, STAY)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> rustix::io::Result<()> {
        unlinkat(&*self.fd, name, AtFlags::empty())
    }

    /// Makes names in it durable.
    pub(crate) fn sync(&self) -> rustix::io::Result<()> {
        fsync(&*self.fd)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
