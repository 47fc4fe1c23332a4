//! Consent that a person gives: to overwrite a block device or an existing file that was named by what it is known by.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::fault::Fault;
use rustix::fs::{FileType, FlockOperation, Mode, OFlags, flock, fstat};
use rustix::io::Errno;

use super::lease::{Lease, lease};
use super::{Agreement, Consent, Loss, hold, refusal};
use crate::direct::Direct;
use crate::fault::not_possible;

impl Consent {
    /// Consents to overwriting the block device or file at `path`, after every check has passed: nobody uses it, directly or
    /// through what is built on it; the system does not run from it; it was named by what it is known by; everything that it
    /// carries was named; nobody else holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn to_overwrite(path: &Path, agreement: &Agreement) -> Result<Self, Fault> {
        let loss = Loss::at(path)?;
        loss.check(agreement)?;
        let opened = if loss.is_device { open_device(&loss.path) } else { open_file(&loss.path) }?;
        // What was looked at is what was opened, and is still what it was: from here on nobody can mount or claim it.
        let stat = fstat(&opened).map_err(|errno| not_possible("look at", path, errno))?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        let number = if is_device { (stat.st_rdev, 0) } else { (stat.st_dev, stat.st_ino) };
        if (is_device, number) != (loss.is_device, loss.number) || Loss::at(&loss.path)? != loss {
            return Err(refusal(path, "it became something else while it was checked; start again"));
        }
        Ok(Self { path: path.to_owned(), opened })
    }
}

impl Loss {
    /// Whether this loss was agreed to.
    ///
    /// # Errors
    /// A refusal that says what was to be typed.
    pub fn check(&self, agreement: &Agreement) -> Result<(), Fault> {
        let Self { path, id, carries, .. } = self;
        if agreement.id != id.text {
            return Err(refusal(
                path,
                &format!(
                    "\"{}\" is not its {}, which is \"{}\"; if that is the one you mean, consent with that",
                    agreement.id, id.kind, id.text
                ),
            ));
        }
        let unnamed: Vec<&str> = carries
            .iter()
            .copied()
            .filter(|found| !agreement.destroy.iter().any(|named| named.eq_ignore_ascii_case(found)))
            .collect();
        if unnamed.is_empty() {
            return Ok(());
        }
        Err(refusal(
            path,
            &format!(
                "it carries {}, which is not named as something to destroy; if it may go, add --destroy {}",
                unnamed.join(" and "),
                carries.join(",")
            ),
        ))
    }
}

fn open_device(path: &Path) -> Result<OwnedFd, Fault> {
    match hold(path) {
        Err(Errno::BUSY) => Err(refusal(path, "somebody holds it exclusively; end what uses it first")),
        opened => opened.map_err(|errno| not_possible("open for writing", path, errno)),
    }
}

fn open_file(path: &Path) -> Result<OwnedFd, Fault> {
    let write = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NOFOLLOW;
    let (opened, _) = match Direct::open(|flags| rustix::fs::open(path, write | flags, Mode::empty())) {
        Err(Errno::TXTBSY) => {
            return Err(refusal(path, "it is a program that runs, or serves as swap; end that first"));
        }
        opened => opened.map_err(|errno| not_possible("open for writing", path, errno))?,
    };
    if flock(&opened, FlockOperation::NonBlockingLockExclusive) == Err(Errno::WOULDBLOCK) {
        return Err(refusal(path, "another program holds a lock on it; end that first"));
    }
    match lease(&opened) {
        Lease::Taken => Err(refusal(
            path,
            "another program has it open, or a loop device is attached to it; end that first (losetup -j shows the latter)",
        )),
        Lease::Free | Lease::Unknown => Ok(opened),
    }
}
