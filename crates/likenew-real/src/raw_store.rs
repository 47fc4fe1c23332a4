//! An open file or block device as a store, without the page cache where the system allows that.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::{fmt, io};

use likenew_core::block_store::BlockStore;
use likenew_core::io::Slot;
use rustix::fs::{Advice, OFlags, fadvise, fdatasync};
use rustix::io::{Errno, pread, pwrite};

use crate::buffers::Buffers;
use crate::direct_io::DirectIo;

/// Direct I/O wants memory at multiples of this at most.
const ALIGNMENT: usize = 4096;

/// Its first so many bytes.
pub(crate) struct RawStore {
    fd: OwnedFd,
    direct: DirectIo,
    bytes: u64,
    /// For callers whose memory is not aligned as direct I/O wants it.
    bounce: Option<Buffers>,
}

impl RawStore {
    /// Of what is open for reading and writing as `direct` says.
    pub(crate) fn new(fd: OwnedFd, direct: DirectIo, bytes: u64) -> Self {
        assert!(bytes.is_multiple_of(direct.block.into()), "a store has whole blocks");
        Self { fd, direct, bytes, bounce: None }
    }

    /// Takes the buffer for memory that is not aligned, to be put back after use.
    fn bounce(&mut self, length: usize) -> io::Result<Buffers> {
        match self.bounce.take().filter(|bounce| bounce.bytes() >= length) {
            Some(bounce) => Ok(bounce),
            None => {
                let length = u32::try_from(length.next_multiple_of(ALIGNMENT));
                Buffers::map(1, length.map_err(|_| io::ErrorKind::InvalidInput)?).map_err(io::Error::other)
            }
        }
    }

    fn takes(&self, bytes: &[u8]) -> bool {
        !self.is_direct() || bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
    }

    fn is_direct(&self) -> bool {
        self.direct.flags.contains(OFlags::DIRECT)
    }
}

impl fmt::Debug for RawStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fd, direct, bytes, bounce: _ } = self;
        let mut shown = f.debug_struct("RawStore");
        shown.field("fd", fd).field("direct", direct).field("bytes", bytes).finish_non_exhaustive()
    }
}

impl AsFd for RawStore {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn read(fd: &OwnedFd, mut at: u64, mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        match pread(fd, &mut *into, at) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                into = &mut into[read..];
                at += read as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

fn write(fd: &OwnedFd, mut at: u64, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match pwrite(fd, bytes, at) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => {
                bytes = &bytes[written..];
                at += written as u64;
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

impl BlockStore for RawStore {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block(&self) -> u32 {
        self.direct.block
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if self.takes(into) {
            return read(&self.fd, offset, into);
        }
        let mut bounce = self.bounce(into.len())?;
        let aligned = &mut bounce.slot_mut(Slot(0))[..into.len()];
        let done = read(&self.fd, offset, aligned);
        into.copy_from_slice(aligned);
        self.bounce = Some(bounce);
        done
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        assert!(end.is_some_and(|end| end <= self.bytes), "a store keeps its length");
        if self.takes(bytes) {
            return write(&self.fd, offset, bytes);
        }
        let mut bounce = self.bounce(bytes.len())?;
        let aligned = &mut bounce.slot_mut(Slot(0))[..bytes.len()];
        aligned.copy_from_slice(bytes);
        let done = write(&self.fd, offset, aligned);
        self.bounce = Some(bounce);
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        fdatasync(&self.fd)?;
        // So that what is read back comes from the drive also where a file system takes direct I/O through
        // the page cache after all, as btrfs does to files with checksums.
        let _ = fadvise(&self.fd, 0, None, Advice::DontNeed);
        Ok(())
    }
}
