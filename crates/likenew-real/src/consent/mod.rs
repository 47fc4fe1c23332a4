//! Consent to write where there may be data: to a block device, or an existing file. Only this module can
//! make one, and without one neither is ever opened for writing.
//!
//! There are three ways to it: [`Consent::for_own_loop_device`], for what we have made ourselves;
//! [`Consent::to_overwrite`], for what the user has been shown ([`Loss`]) and has named ([`Agreement`]); and
//! [`Consent::to_rewrite`], for what gets the same bytes back. [`UnusedConsent`] is for less: what no
//! partition of a disk covers.

mod agreement;
mod file_checks;
mod gpt_table;
mod identity;
mod loss;
mod overwrite;
mod own_loop;
mod unused_space;

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use likenew_core::lab_error::LabError;
use rustix::fs::{Advice, Mode, OFlags, fadvise};
use rustix::io::Errno;

pub use self::agreement::Agreement;
pub(crate) use self::gpt_table::mend_sums;
pub use self::loss::Loss;
pub(crate) use self::unused_space::partition_table;
pub use self::unused_space::{UnusedConsent, UnusedSpace};
use crate::clock::Monotonic;
use crate::hold::{HOLD_PAUSE, HOLD_TRIES};
use crate::in_use::Claims;
use crate::lab_error::not_possible;
use crate::wording::action;
use crate::wording::consent as wording;

/// The right to overwrite one block device or file, and the hold on it: while this lives, no program can
/// mount the device or claim it, nor any other device over the same bytes.
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

/// Exclusive means, for a block device: not mounted, and without another claim.
const HOLD: OFlags = OFlags::EXCL.union(OFlags::DIRECT).union(OFlags::CLOEXEC);

/// Opens a block device for writing, exclusively.
fn hold(path: &Path) -> rustix::io::Result<OwnedFd> {
    let clock = Monotonic::start();
    for _ in 1..HOLD_TRIES {
        match rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty()) {
            Err(Errno::BUSY) => clock.rest(clock.now() + HOLD_PAUSE),
            fd => return fd,
        }
    }
    rustix::fs::open(path, OFlags::RDWR | HOLD, Mode::empty())
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, LabError> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| match errno {
        Errno::NXIO | Errno::NODEV | Errno::NOMEDIUM => refusal(path, NOTHING_BEHIND),
        errno => not_possible(action::OPEN, path, errno),
    })
}

/// Makes the next reads return what is on the drive, and not what memory has cached since it was opened
/// elsewhere.
fn reread_kernel_state(fd: &OwnedFd) {
    // Where that is not supported, cached data has to do.
    let _ = fadvise(fd, 0, None, Advice::DontNeed);
}

const NOTHING_BEHIND: &str = wording::NOTHING_BEHIND;

fn refusal(path: &Path, reason: &str) -> LabError {
    LabError::Refused(wording::not_changed(path.display(), reason))
}
