//! Claims and locks that others may have for a moment: how long they are waited for.

use std::os::fd::AsFd;

use likenew_core::units::Nanos;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::clock::Monotonic;

/// How many times a claim is tried: the kernel may take a moment to release a device of ours that was just
/// closed. Chosen: with [`HOLD_PAUSE`], half a second in all.
pub(crate) const HOLD_TRIES: u32 = 100;
/// Time between two tries. Chosen: short beside the wait that a user would notice.
pub(crate) const HOLD_PAUSE: Nanos = Nanos::from_millis(5);

/// Locks what was opened (flock). Others may have it locked for a moment: the system's own helpers when a
/// disk changes, and a program that is just being started, which has copies of all descriptors of the one
/// that starts it.
///
/// # Errors
/// Another program keeps the lock (`WOULDBLOCK`), or there is no lock to be had.
pub(crate) fn lock_patiently(fd: impl AsFd) -> rustix::io::Result<()> {
    let clock = Monotonic::start();
    for _ in 1..HOLD_TRIES {
        match flock(&fd, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => clock.rest(clock.now() + HOLD_PAUSE),
            locked => return locked,
        }
    }
    flock(&fd, FlockOperation::NonBlockingLockExclusive)
}
