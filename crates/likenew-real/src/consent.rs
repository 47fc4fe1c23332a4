//! Consent to write where there may be data: to a block device or an existing file. Only this module can make a consent.
//! Without one, no block device is opened for writing, and no existing file but a [`crate::file_store::FileStore`].
//!
//! There are two ways to a consent. [`Consent::to_overwrite`] is for a loss that the user was shown
//! ([`Loss`]) and has named ([`Agreement`]); [`Consent::to_rewrite`] is for a device that gets its own bytes
//! back. [`UnusedConsent`] covers less: space outside of a disk's partitions.

mod contents;
mod loss;
mod unused_space;

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use likenew_core::target_error::TargetError;
use rustix::fs::{
    Advice, AtFlags, FileType, Mode, OFlags, StatxFlags, StatxTimestamp, fadvise, fstat, makedev, statx,
};
use rustix::io::Errno;

pub(crate) use self::contents::{mend_sums, signatures};
pub use self::loss::Loss;
pub(crate) use self::unused_space::partition_table;
pub use self::unused_space::{UnusedConsent, UnusedSpace};
use crate::block::{BlockDevice, DeviceNumber};
use crate::clock::Monotonic;
use crate::hold::{HOLD_PAUSE, HOLD_TRIES, Lease, LeaseError, lock_patiently, try_until_free};
use crate::identify::StableId;
use crate::in_use::{Claims, Target, use_of};
use crate::medium::DirectIo;
use crate::mounts::Store;
use crate::openers::{Access, opener_of};
use crate::target_error::{io_error, not_possible};
use crate::wording::{action, consent as wording};

/// The right to overwrite one block device or file, and the claim on it. While this lives, no program can
/// mount or claim the device, nor any other device over the same bytes.
#[derive(Debug)]
pub struct Consent {
    path: PathBuf,
    fd: OwnedFd,
    claims: Claims,
}

impl Consent {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The target, held open for writing.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    pub(crate) fn into_parts(self) -> (PathBuf, OwnedFd, Claims) {
        (self.path, self.fd, self.claims)
    }
}

/// On a block device, exclusive opening fails if the device is mounted or claimed.
const HOLD: OFlags = OFlags::EXCL.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// Opens a block device for writing, exclusively.
fn hold(path: &Path) -> rustix::io::Result<OwnedFd> {
    try_until_free(Errno::BUSY, HOLD_TRIES, || rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty()))
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, TargetError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => refusal(path, wording::NOTHING_BEHIND),
        errno => not_possible(action::OPEN, path, errno),
    })
}

/// Drops cached pages, so that the next reads return what is on the drive and not what was cached earlier.
fn reread_kernel_state(fd: &OwnedFd) {
    // If this is not supported, cached data has to do.
    let _ = fadvise(fd, 0, None, Advice::DontNeed);
}

fn refusal(path: &Path, reason: &str) -> TargetError {
    TargetError::Refused(wording::not_changed(path.display(), reason))
}

// What the user has typed to agree to a loss, or to a step that loses nothing.

/// What the user typed: a target's stable name, and the names of everything on it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// The serial number, or what stands in for it (see `crate::identify::StableId`).
    pub id: String,
    /// What may be destroyed: names of file systems, partition tables and the like.
    pub destroy: Vec<String>,
}

impl Agreement {
    /// Checks that this names the device or file at `path`.
    ///
    /// # Errors
    /// A refusal that gives the target's stable name.
    pub fn names(&self, path: &Path, id: &StableId) -> Result<(), TargetError> {
        if self.id == id.text {
            return Ok(());
        }
        Err(refusal(path, &wording::not_its_id(&self.id, id.kind, &id.text)))
    }
}

// The identity of a device or file, which tells it from any other that may later have its path.

/// The identity of an open block device or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// A block device.
    Device {
        number: DeviceNumber,
        /// The kernel's sequence number of disks (since Linux 5.15): a new disk with an old device number has
        /// another one.
        sequence: Option<u64>,
        /// The range of a partition: a partition created anew can have the number of the old one.
        range: Option<(u64, u64)>,
    },
    /// A file. Inode numbers are reused at once, so the birth time belongs to the identity. If the file
    /// system keeps none, the time of the last change does.
    File { device: u64, inode: u64, birth_time: (i64, u32) },
    /// Neither a block device nor a file.
    Other,
}

impl Identity {
    /// # Errors
    /// The system does not say.
    pub(super) fn from_fd(fd: impl AsFd) -> Result<Self, TargetError> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let stat = statx(fd, "", AtFlags::EMPTY_PATH, wanted).map_err(io_error(action::LOOK_AT_OPENED))?;
        let born = StatxFlags::from_bits_retain(stat.stx_mask).contains(StatxFlags::BTIME);
        let StatxTimestamp { tv_sec, tv_nsec, .. } = if born { stat.stx_btime } else { stat.stx_ctime };
        Ok(match FileType::from_raw_mode(stat.stx_mode.into()) {
            FileType::BlockDevice => {
                let number = DeviceNumber { major: stat.stx_rdev_major, minor: stat.stx_rdev_minor };
                let device = BlockDevice::by_number(number);
                let sequence =
                    device.as_ref().and_then(|device| device.disk().attribute("diskseq")?.parse().ok());
                let range = device.and_then(|device| device.range());
                Self::Device { number, sequence, range }
            }
            FileType::RegularFile => Self::File {
                device: makedev(stat.stx_dev_major, stat.stx_dev_minor),
                inode: stat.stx_ino,
                birth_time: (tv_sec, tv_nsec),
            },
            _ => Self::Other,
        })
    }
}

// Consent by the user: to overwrite a block device or an existing file by its stable name.

impl Consent {
    /// Consents to overwriting the block device or file at `path`, after every check has passed. The target
    /// is not in use, neither directly nor through anything built on it. The system does not run from it. Its
    /// stable name was given, everything on it was named, and no other program holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn to_overwrite(path: &Path, agreement: &Agreement) -> Result<Self, TargetError> {
        let loss = Loss::at(path)?;
        loss.check(agreement)?;
        Self::hold(path, &loss)
    }

    /// As [`Consent::to_overwrite`], for a loss that was determined earlier and shown to the user.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`], and a refusal if the path no longer leads to the device or file of `loss`.
    pub fn to_lose(loss: &Loss, agreement: &Agreement) -> Result<Self, TargetError> {
        loss.check(agreement)?;
        Self::hold(&loss.path, loss)
    }

    /// Consents to rewriting the block device at `path` with the data already on it. Nothing is lost, so the
    /// contents need not be named. Every other check is the same.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`], and a refusal of anything but a block device.
    pub fn to_rewrite(path: &Path, agreement: &Agreement) -> Result<Self, TargetError> {
        let loss = Loss::at(path)?;
        if !loss.is_device() {
            return Err(refusal(path, wording::NOT_A_DEVICE_TO_REWRITE));
        }
        agreement.names(path, &loss.id)?;
        Self::hold(path, &loss)
    }

    /// Opens and claims the device or file that `loss` describes.
    fn hold(path: &Path, loss: &Loss) -> Result<Self, TargetError> {
        let fd = if loss.is_device() { open_device(&loss.path) } else { open_file(&loss.path) }?;
        let changed = || refusal(path, wording::CHANGED_SINCE_CHECK);
        if Identity::from_fd(&fd)? != loss.identity {
            return Err(changed());
        }
        let target = loss.target().ok_or_else(changed)?;
        let claims = Claims::take(&target).map_err(|reason| refusal(path, &reason))?;
        // Checks that what was opened is what was examined, unchanged and still not in use. From here on no
        // program can mount or claim it, nor any other device over the same bytes.
        if Loss::at(&loss.path)? != *loss {
            return Err(changed());
        }
        Ok(Self { path: path.to_owned(), fd, claims })
    }
}

impl Loss {
    /// Checks that the user agreed to this loss.
    ///
    /// # Errors
    /// A refusal that says what has to be typed.
    pub fn check(&self, agreement: &Agreement) -> Result<(), TargetError> {
        let Self { path, id, carries, .. } = self;
        agreement.names(path, id)?;
        let unnamed: Vec<&str> = carries
            .iter()
            .map(String::as_str)
            .filter(|name| !agreement.destroy.iter().any(|typed| contents::is_called(name, typed)))
            .collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        Err(refusal(path, &wording::unnamed_contents(&unnamed, carries)))
    }
}

fn open_device(path: &Path) -> Result<OwnedFd, TargetError> {
    match hold(path) {
        Err(Errno::BUSY) => Err(refusal(path, &holder_of(path))),
        Err(Errno::ROFS) => Err(refusal(path, wording::WRITE_PROTECTED)),
        fd => fd.map_err(|errno| not_possible(action::OPEN_FOR_WRITING, path, errno)),
    }
}

/// Who holds a device, as far as it can be determined, and what to do.
fn holder_of(path: &Path) -> String {
    let Some(device) = DeviceNumber::at(path).and_then(BlockDevice::by_number) else {
        return wording::HELD.to_owned();
    };
    // The use may have begun after the first check.
    let holder = Target::device(&device).and_then(|target| use_of(&target));
    holder.unwrap_or_else(|| wording::HOLDER_UNKNOWN.to_owned())
}

fn open_file(path: &Path) -> Result<OwnedFd, TargetError> {
    let write = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let (fd, _) = match DirectIo::open(|flags| rustix::fs::open(path, write | flags, Mode::empty())) {
        Err(Errno::TXTBSY) => {
            return Err(refusal(path, wording::RUNNING_PROGRAM));
        }
        Err(Errno::LOOP) => {
            return Err(refusal(path, wording::BECAME_A_LINK));
        }
        fd => fd.map_err(|errno| not_possible(action::OPEN_FOR_WRITING, path, errno))?,
    };
    if lock_patiently(&fd) == Err(Errno::WOULDBLOCK) {
        return Err(refusal(path, wording::LOCKED));
    }
    let stat = fstat(&fd).map_err(|errno| not_possible(action::LOOK_AT, path, errno))?;
    let candidates = [Store::File { device: stat.st_dev, inode: stat.st_ino }];
    let clock = Monotonic::start();
    let mut tries = 1;
    loop {
        // The lease is given back at once: it only shows whether another program has the file open.
        let reason = match (Lease::take(&fd).map(drop), opener_of(&candidates, Access::Any)) {
            (_, Some((program, _))) => wording::open_in(&program),
            (Err(LeaseError::Taken), None) => wording::OPEN_IN_UNKNOWN.to_owned(),
            (Ok(()) | Err(LeaseError::NotOwner | LeaseError::Unknown), None) => return Ok(fd),
        };
        // A program that is just being started has copies of all its parent's descriptors, including those
        // closed since.
        if tries >= OPEN_TRIES {
            return Err(refusal(path, &reason));
        }
        tries += 1;
        clock.rest(clock.now() + HOLD_PAUSE);
    }
}

/// How many times to check whether a file is still open elsewhere.
const OPEN_TRIES: u32 = 40;

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::Duration;

    use rustix::fs::{FlockOperation, flock};

    use super::*;

    /// Holds the file as a child process does between fork and exec; /proc shows such copies of descriptors
    /// as our own.
    fn held_for_a_moment(file: File) -> std::thread::JoinHandle<()> {
        std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            drop(file);
        })
    }

    #[test]
    fn a_program_that_is_being_started_stands_in_nobodys_way() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "mine").unwrap();
        // A copy of a descriptor that was used to examine the file.
        let lock_holder = held_for_a_moment(File::open(&path).unwrap());
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        let locked = File::options().read(true).write(true).open(&path).unwrap();
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        let lock_holder = held_for_a_moment(locked);
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        // A program that keeps the file open prevents that.
        let kept = File::open(&path).unwrap();
        if Lease::take(File::options().read(true).write(true).open(&path).unwrap()).err()
            == Some(LeaseError::Taken)
        {
            assert!(open_file(&path).is_err(), "{kept:?}");
        }
    }
}
