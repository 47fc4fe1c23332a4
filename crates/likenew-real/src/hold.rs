//! Claims, locks and leases that others may hold for a moment: how they are taken, and how long to wait for them.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};
use std::time::Duration;

use likenew_core::units::Nanos;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::clock::Monotonic;

/// How often to try what others may hold for a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tries {
    /// How many tries in all; at least one.
    pub(crate) count: u32,
    /// Time between two tries.
    pub(crate) pause: Nanos,
}

impl Tries {
    /// For claims: the kernel may take a moment to release a device of ours that was just closed. Chosen: half a
    /// second in all, in pauses that are short beside the wait that a user would notice.
    pub(crate) const CLAIM: Self = Self { count: 100, pause: Nanos::from_millis(5) };
    /// Without any wait.
    pub(crate) const ONCE: Self = Self { count: 1, ..Self::CLAIM };

    /// The first answer that is not held, or else the answer of the last try.
    pub(crate) fn until_free<T>(self, is_held: impl Fn(&T) -> bool, mut attempt: impl FnMut() -> T) -> T {
        let clock = Monotonic::start();
        for _ in 1..self.count {
            let answer = attempt();
            if !is_held(&answer) {
                return answer;
            }
            // What came of a try must not stand in the way of the next one.
            drop(answer);
            clock.rest(clock.now() + self.pause);
        }
        attempt()
    }

    /// As [`Tries::until_free`], for a system call that answers `busy` while others hold it.
    ///
    /// # Errors
    /// The error of the last try.
    pub(crate) fn while_busy<T>(
        self,
        busy: Errno,
        attempt: impl FnMut() -> rustix::io::Result<T>,
    ) -> rustix::io::Result<T> {
        self.until_free(|answer| answer.as_ref().err() == Some(&busy), attempt)
    }
}

/// Locks an open file (flock). Others may hold the lock for a moment: the system's own helpers when a disk
/// changes, and a program that is just being started. Such a program has copies of its parent's descriptors.
///
/// # Errors
/// Another program keeps the lock (`WOULDBLOCK`), or the file cannot be locked.
pub(crate) fn lock_patiently(fd: impl AsFd) -> rustix::io::Result<()> {
    Tries::CLAIM.while_busy(Errno::WOULDBLOCK, || flock(&fd, FlockOperation::NonBlockingLockExclusive))
}

// A lease for writing: no other program has the file open. A program that wants to open or truncate the file
// waits until the lease is given back.
//
// The system signals the holder of a lease when another program waits. By default that is SIGIO, which ends a
// process that does not expect it. A handler or mask would belong to the whole process, whose other threads
// and libraries know nothing of it. So every lease uses SIGURG, which a process ignores by default, and the
// holder asks the system instead (F_GETLEASE).

/// `F_SETSIG` of asm-generic/fcntl.h, which the `libc` crate leaves out.
const F_SETSIG: libc::c_int = 10;

/// Held until it is dropped, or the system takes it away (fcntl(2), F_SETLEASE).
#[derive(Debug)]
pub(crate) struct Lease(OwnedFd);

/// Why there is no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeaseError {
    /// Another program has the file open, runs it or has it mapped.
    Taken,
    /// Only root and the owner of the file are given a lease.
    NotOwner,
    /// The file system gives none.
    Unknown,
}

impl Lease {
    /// Takes a lease on a file that is open for reading and writing.
    ///
    /// # Errors
    /// Why there is no lease.
    pub(crate) fn take(file: impl AsFd) -> Result<Self, LeaseError> {
        // A copy of the descriptor is the same open file, so the lease is held as long as either.
        let copy = file.as_fd().try_clone_to_owned().map_err(|_| LeaseError::Unknown)?;
        // The signal is set first: a program that comes right after the lease was given would trigger the
        // default one.
        let taken =
            call(&copy, F_SETSIG, libc::SIGURG).and_then(|_| call(&copy, libc::F_SETLEASE, libc::F_WRLCK));
        match taken {
            Ok(_) => Ok(Self(copy)),
            Err(libc::EAGAIN) => Err(LeaseError::Taken),
            Err(libc::EACCES) => Err(LeaseError::NotOwner),
            Err(_) => Err(LeaseError::Unknown),
        }
    }

    /// Whether the lease is held and no program waits for the file.
    pub(crate) fn is_held(&self) -> bool {
        call(&self.0, libc::F_GETLEASE, 0) == Ok(libc::F_WRLCK)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Given back before the last descriptor is closed, so that a waiting program need not wait for that.
        let _ = call(&self.0, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

/// How long other programs have to wait for a lease's holder before the system breaks the lease; `None` if
/// forever.
pub(crate) fn patience() -> Option<Duration> {
    // The kernel's default, for when it does not say (fcntl(2)).
    const DEFAULT_S: u64 = 45;
    let text = std::fs::read_to_string("/proc/sys/fs/lease-break-time").unwrap_or_default();
    let seconds = text.trim().parse().unwrap_or(DEFAULT_S);
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

fn call(file: impl AsFd, command: libc::c_int, argument: libc::c_int) -> Result<libc::c_int, libc::c_int> {
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open as long as `file` is borrowed, and these commands take a plain number.
    let answer = unsafe { libc::fcntl(fd, command, argument) };
    if answer >= 0 { Ok(answer) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    /// The signal for a break of this file's lease (0 is SIGIO).
    fn signal(file: &File) -> libc::c_int {
        const F_GETSIG: libc::c_int = 11;
        call(file, F_GETSIG, 0).unwrap()
    }

    #[test]
    fn who_wants_the_file_waits_and_does_not_end_its_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "mine").unwrap();
        let file = File::options().read(true).write(true).open(&path).unwrap();
        let lease = match Lease::take(&file) {
            Ok(lease) => lease,
            Err(reason) => return eprintln!("SKIPPED: no lease here: {reason:?}"),
        };
        assert_eq!(signal(&file), libc::SIGURG);
        assert!(lease.is_held());
        let other = std::thread::spawn(move || std::fs::read(path).unwrap());
        while lease.is_held() {
            std::thread::yield_now();
        }
        assert!(!other.is_finished(), "it waits, and this process goes on");
        drop(lease);
        drop(file);
        assert_eq!(other.join().unwrap(), b"mine");
    }
}
