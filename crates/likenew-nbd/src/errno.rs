//! The error numbers that the protocol knows; others may not be sent.

use std::io;

use likenew_core::io::Outcome;

/// An error number of the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Errno {
    /// EPERM: the export may only be read.
    Perm = 1,
    /// EIO: the drive's own.
    Io = 5,
    /// ENOMEM.
    NoMemory = 12,
    /// EINVAL: the request makes no sense.
    Invalid = 22,
    /// ENOSPC: a write beyond the end, or the store is full.
    NoSpace = 28,
    /// EOVERFLOW: too long to be answered in one piece.
    Overflow = 75,
    /// ENOTSUP: it cannot be done quickly.
    NotSupported = 95,
    /// ESHUTDOWN: the server is about to end.
    Shutdown = 108,
}

impl Errno {
    /// Maps a drive's outcome to the protocol; `None` when all of it was done. Errors without a number in the
    /// protocol become EIO.
    pub(crate) fn of_outcome(outcome: Outcome) -> Option<Self> {
        match outcome {
            Outcome::Done => None,
            Outcome::Error(1) => Some(Self::Perm),
            Outcome::Error(12) => Some(Self::NoMemory),
            Outcome::Error(22) => Some(Self::Invalid),
            Outcome::Error(28) => Some(Self::NoSpace),
            Outcome::Error(95) => Some(Self::NotSupported),
            Outcome::Short(_) | Outcome::Error(_) => Some(Self::Io),
        }
    }

    /// Maps the store's error to the protocol.
    pub(crate) fn of_store(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull => Self::NoSpace,
            io::ErrorKind::OutOfMemory => Self::NoMemory,
            _ => Self::Io,
        }
    }

    /// The number that is sent.
    pub(crate) fn number(self) -> u32 {
        self as u32
    }
}
