//! A lease for writing that is kept: nobody else has the file open, and whoever wants to open it or cut it off waits until it is given back.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

/// `F_SETSIG` of asm-generic/fcntl.h, which the `libc` crate leaves out.
const F_SETSIG: libc::c_int = 10;

/// Held until the file is closed (fcntl(2), F_SETLEASE).
#[derive(Debug)]
pub(super) struct Lease(OwnedFd);

impl Lease {
    /// Of a file that is open for reading and writing.
    ///
    /// # Errors
    /// A sentence without a full stop: somebody else has it open, or nobody can tell.
    pub(super) fn take(file: &OwnedFd) -> Result<Self, &'static str> {
        // A copy of the descriptor is the same open file, so the lease is held as long as either.
        let copy = file.try_clone().map_err(|_| "too many files are open")?;
        // A lease is called in by a signal, by default one that would end us; this one is ignored by default.
        let told =
            call(&copy, F_SETSIG, libc::SIGURG).and_then(|_| call(&copy, libc::F_SETLEASE, libc::F_WRLCK));
        match told {
            Ok(_) => Ok(Self(copy)),
            Err(libc::EAGAIN) => Err("another program has it open, runs it or has it mapped; end that first"),
            Err(libc::EACCES) => {
                Err("only its owner and root may hold it against others while it is rewritten")
            }
            Err(_) => {
                Err("its file system can not hold it against others while it is rewritten; copy it instead")
            }
        }
    }

    /// Whether nobody wants the file.
    pub(super) fn is_held(&self, file: impl AsFd) -> bool {
        call(file, libc::F_GETLEASE, 0) == Ok(libc::F_WRLCK)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Before the last descriptor is closed, so that whoever waits need not wait for that.
        let _ = call(&self.0, libc::F_SETLEASE, libc::F_UNLCK);
    }
}

fn call(file: impl AsFd, command: libc::c_int, argument: libc::c_int) -> Result<libc::c_int, libc::c_int> {
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open as long as `file` is borrowed, and these commands take a plain number.
    let answer = unsafe { libc::fcntl(fd, command, argument) };
    if answer >= 0 { Ok(answer) } else { Err(std::io::Error::last_os_error().raw_os_error().unwrap_or(0)) }
}
