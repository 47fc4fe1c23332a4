//! Consent by the user: to overwrite a block device or an existing file by its stable name.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::lab_error::LabError;
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;

use super::identity::Identity;
use super::{Agreement, Consent, Loss, hold, refusal};
use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::device_number::DeviceNumber;
use crate::direct_io::DirectIo;
use crate::hold::{HOLD_PAUSE, lock_patiently};
use crate::in_use::{Claims, Target, use_of};
use crate::lab_error::not_possible;
use crate::lease::{Lease, LeaseError};
use crate::loop_device::Store;
use crate::openers::{Access, opener_of};
use crate::wording::action;
use crate::wording::consent as wording;

impl Consent {
    /// Consents to overwriting the block device or file at `path`, after every check has passed: it is not in
    /// use, neither directly nor through anything built on it; the system does not run from it; its stable
    /// name was given; everything on it was named; no other program holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn to_overwrite(path: &Path, agreement: &Agreement) -> Result<Self, LabError> {
        let loss = Loss::at(path)?;
        Self::take(path, &loss, agreement)
    }

    /// The same for a loss that was determined earlier and shown to the user.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`], and a refusal if the device or file now there is not the one in `loss`.
    pub fn to_lose(loss: &Loss, agreement: &Agreement) -> Result<Self, LabError> {
        Self::take(&loss.path, loss, agreement)
    }

    /// Consents to rewriting the block device at `path` with the data already on it: its contents need not be
    /// named, as nothing is lost. Every other check is the same.
    ///
    /// # Errors
    /// As [`Consent::to_overwrite`]; and a refusal of anything but a block device.
    pub fn to_rewrite(path: &Path, agreement: &Agreement) -> Result<Self, LabError> {
        let loss = Loss::at(path)?;
        if !loss.is_device() {
            return Err(refusal(path, wording::NOT_A_DEVICE_TO_REWRITE));
        }
        agreement.names(path, &loss.id)?;
        Self::hold(path, &loss)
    }

    fn take(path: &Path, loss: &Loss, agreement: &Agreement) -> Result<Self, LabError> {
        loss.check(agreement)?;
        Self::hold(path, loss)
    }

    /// Holds the device or file that was examined.
    fn hold(path: &Path, loss: &Loss) -> Result<Self, LabError> {
        let fd = if loss.is_device() { open_device(&loss.path) } else { open_file(&loss.path) }?;
        let changed = || refusal(path, wording::CHANGED_SINCE_CHECK);
        if Identity::from_fd(&fd)? != loss.identity {
            return Err(changed());
        }
        let target = loss.target().ok_or_else(changed)?;
        let claims = Claims::take(&target).map_err(|reason| refusal(path, &reason))?;
        // What was examined is what was opened, has not changed, and is still not in use. From here on no
        // program can mount or claim it, nor any other device over the same bytes.
        if Loss::at(&loss.path)? != *loss {
            return Err(changed());
        }
        Ok(Self { path: path.to_owned(), fd, claims })
    }
}

impl Loss {
    /// Whether this loss was agreed to.
    ///
    /// # Errors
    /// A refusal that says what was to be typed.
    pub fn check(&self, agreement: &Agreement) -> Result<(), LabError> {
        let Self { path, id, carries, .. } = self;
        agreement.names(path, id)?;
        let unnamed: Vec<&str> = carries
            .iter()
            .map(String::as_str)
            .filter(|found| !agreement.destroy.iter().any(|typed| crate::signature::is_called(found, typed)))
            .collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        Err(refusal(path, &wording::unnamed_contents(&unnamed, carries)))
    }
}

fn open_device(path: &Path) -> Result<OwnedFd, LabError> {
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
    // Its use may have begun after the first check.
    let found = Target::device(&device).and_then(|target| use_of(&target));
    found.unwrap_or_else(|| wording::HOLDER_UNKNOWN.to_owned())
}

fn open_file(path: &Path) -> Result<OwnedFd, LabError> {
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
        // Given back at once: this only asks whether another program has it open.
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

    /// Holds it as a child of another thread does between fork and exec; /proc shows those copies of
    /// descriptors as our own.
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
        // A copy of a descriptor that was used to examine it.
        let lock_holder = held_for_a_moment(File::open(&path).unwrap());
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        let locked = File::options().read(true).write(true).open(&path).unwrap();
        flock(&locked, FlockOperation::NonBlockingLockExclusive).unwrap();
        let lock_holder = held_for_a_moment(locked);
        open_file(&path).unwrap();
        lock_holder.join().unwrap();
        // A program that keeps it open is in the way.
        let kept = File::open(&path).unwrap();
        if Lease::take(File::options().read(true).write(true).open(&path).unwrap()).err()
            == Some(LeaseError::Taken)
        {
            assert!(open_file(&path).is_err(), "{kept:?}");
        }
    }
}
