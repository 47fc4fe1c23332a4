//! Whether a file can be reached without the page cache, and in which steps.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, OFlags, StatxFlags, fcntl_getfl, statx};
use rustix::io::Errno;

use crate::wording::target as wording;

/// Every drive takes I/Os in steps of this; used where nothing better is known, and without direct I/O.
const BLOCK_UNKNOWN: u32 = 4096;
/// The smallest sector there is.
const BLOCK_MIN: u32 = 512;

/// How files are to be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectIo {
    /// `O_DIRECT`, or nothing where the file system refuses it.
    pub(crate) flags: OFlags,
    /// Offsets and lengths are multiples of this, in bytes.
    pub(crate) block: u32,
}

impl DirectIo {
    /// Opens a file by `open`, with direct I/O if its file system has that.
    ///
    /// # Errors
    /// It cannot be opened without direct I/O either.
    pub(crate) fn open(
        open: impl Fn(OFlags) -> rustix::io::Result<OwnedFd>,
    ) -> rustix::io::Result<(OwnedFd, Self)> {
        match open(OFlags::DIRECT) {
            Ok(fd) => {
                let direct = Self::with_alignment(&fd);
                Ok((fd, direct))
            }
            Err(Errno::INVAL | Errno::NOTSUP) => {
                Ok((open(OFlags::empty())?, Self { flags: OFlags::empty(), block: BLOCK_UNKNOWN }))
            }
            Err(errno) => Err(errno),
        }
    }

    /// How a file is open.
    ///
    /// # Errors
    /// The system does not say.
    pub(crate) fn from_fd(fd: impl AsFd) -> rustix::io::Result<Self> {
        if fcntl_getfl(&fd)?.contains(OFlags::DIRECT) {
            return Ok(Self::with_alignment(fd));
        }
        Ok(Self { flags: OFlags::empty(), block: BLOCK_UNKNOWN })
    }

    fn with_alignment(fd: impl AsFd) -> Self {
        let block = alignment(fd).unwrap_or(BLOCK_UNKNOWN).max(BLOCK_MIN);
        Self { flags: OFlags::DIRECT, block }
    }

    /// The caveat for numbers measured this way.
    pub(crate) fn caveat(self) -> Option<String> {
        (!self.flags.contains(OFlags::DIRECT)).then(|| wording::PAGE_CACHE.to_owned())
    }
}

/// The alignment of direct I/O in a file, where the file system says (Linux 6.1).
fn alignment(fd: impl AsFd) -> Option<u32> {
    let status = statx(fd, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok()?;
    let known = StatxFlags::from_bits_retain(status.stx_mask).contains(StatxFlags::DIOALIGN);
    // Zero says that this very file is not direct; its offsets may then be any.
    let (offset, memory) = (status.stx_dio_offset_align, status.stx_dio_mem_align);
    (known && offset.is_power_of_two() && memory <= BLOCK_UNKNOWN).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_direct_io_the_page_cache_is_used_and_reported() {
        let null = || rustix::fs::open("/dev/null", OFlags::RDONLY, rustix::fs::Mode::empty());
        let refuse = |flags: OFlags| if flags.contains(OFlags::DIRECT) { Err(Errno::INVAL) } else { null() };
        let (_, direct) = DirectIo::open(refuse).unwrap();
        assert_eq!(direct, DirectIo { flags: OFlags::empty(), block: 4096 });
        assert!(direct.caveat().unwrap().contains("memory"));
        assert_eq!(DirectIo::open(|_| Err(Errno::ACCESS)).unwrap_err(), Errno::ACCESS);
    }
}
