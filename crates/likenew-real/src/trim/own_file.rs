//! One more file in a scratch directory, for the time of a probe.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use likenew_core::trim::{UNIT, pattern};
use rustix::fs::{FallocateFlags, OFlags, fallocate, fsync, syncfs};
use rustix::io::{Errno, pwrite};

use crate::medium::PUNCH;
use crate::scratch::Scratch;

/// Bytes that are written at once.
const CHUNK: u64 = 1 << 20;

/// The file. Dropping it deletes it.
pub(crate) struct OwnFile<'a> {
    scratch: &'a Scratch,
    number: u32,
    fd: OwnedFd,
}

impl<'a> OwnFile<'a> {
    /// Makes file `number`, which nothing else uses.
    pub(crate) fn create(scratch: &'a Scratch, number: u32) -> Result<Self, Errno> {
        let fd = scratch.create_fd(number, OFlags::empty())?;
        Ok(Self { scratch, number, fd })
    }

    /// Writes the pattern of `seed`, and waits until it is on the drive.
    pub(crate) fn write(&self, seed: u64, bytes: u64) -> Result<(), Errno> {
        // In as few pieces as the file system has; where it cannot reserve space, in as many as come of it.
        match fallocate(&self.fd, FallocateFlags::empty(), 0, bytes) {
            Ok(()) | Err(Errno::OPNOTSUPP) => {}
            Err(errno) => return Err(errno),
        }
        let mut buffer = vec![0; CHUNK as usize];
        for offset in (0..bytes).step_by(CHUNK as usize) {
            let length = CHUNK.min(bytes - offset) as usize;
            pattern(seed, offset / UNIT as u64, &mut buffer[..length]);
            let mut written = 0;
            while written < length {
                match pwrite(&self.fd, &buffer[written..length], offset + written as u64) {
                    Err(Errno::INTR) => {}
                    Ok(0) => return Err(Errno::IO),
                    moved => written += moved?,
                }
            }
        }
        fsync(&self.fd)
    }

    /// Frees the blocks of a range durably: when this returns, a crash would not bring them back.
    pub(crate) fn release(&self, range: &Range<u64>) -> Result<(), Errno> {
        fallocate(&self.fd, PUNCH, range.start, range.end - range.start)?;
        fsync(&self.fd)?;
        syncfs(&self.fd)
    }
}

impl AsFd for OwnFile<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Drop for OwnFile<'_> {
    fn drop(&mut self) {
        // What could not be deleted goes with the scratch directory.
        let _ = self.scratch.delete(self.number);
    }
}
