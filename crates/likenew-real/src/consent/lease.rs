//! Whether anybody else has a file open, as far as the system can tell.

use std::os::fd::{AsFd, AsRawFd as _};

/// What asking for a lease has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lease {
    /// Nobody else has it open.
    Free,
    /// Somebody has.
    Taken,
    /// The file system gives no leases.
    Unknown,
}

/// Asks for a lease for writing, which is given only while nobody else has the file open, and gives it back at once
/// (fcntl(2), F_SETLEASE).
#[allow(unsafe_code, reason = "no library in use here asks for leases")]
pub(crate) fn lease(file: impl AsFd) -> Lease {
    let fd = file.as_fd().as_raw_fd();
    // SAFETY: the descriptor is open as long as `file` is borrowed, and both calls take plain numbers.
    let taken = unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_WRLCK) };
    if taken == 0 {
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
        return Lease::Free;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Lease::Taken,
        _ => Lease::Unknown,
    }
}
