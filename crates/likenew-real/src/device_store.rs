//! A block device or open file as a block store, which bypasses the page cache where the system allows it. A
//! consent holds a device exclusively: no program can mount or claim it while the store lives.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt as _;

use likenew_core::drive::BlockStore;
use likenew_core::io::Slot;
use likenew_core::target_error::TargetError;
use rustix::fs::{Advice, OFlags, fadvise, fdatasync, ioctl_blksszget};

use crate::block::{BlockDevice, capacity};
use crate::buffers::Buffers;
use crate::consent::Consent;
use crate::in_use::Claims;
use crate::medium::{DirectIo, read_fully};
use crate::target_error::ErrorContext as _;
use crate::wording::action;

/// The largest alignment of memory that direct I/O may need, in bytes.
const ALIGNMENT: usize = 4096;
/// Bytes at the start of a partition in which its file system leaves a mark whenever it is used.
const MARK: u64 = 1 << 20;

/// All whole blocks of a block device, or of an open file.
#[derive(Debug)]
pub struct DeviceStore {
    file: File,
    direct: DirectIo,
    bytes: u64,
    /// An aligned buffer, for callers whose memory does not suit direct I/O.
    bounce: Option<Buffers>,
    marks: Vec<Range<u64>>,
    /// Claims on other devices over the same bytes.
    _claims: Option<Claims>,
}

impl DeviceStore {
    /// The store of the device that a consent was given for.
    ///
    /// # Errors
    /// The device does not report its size.
    pub fn open(consent: Consent) -> Result<Self, TargetError> {
        let (path, fd, claims) = consent.into_parts();
        let error_text = || action::look_at(path.display());
        let block = ioctl_blksszget(&fd).context(error_text())?;
        let direct = DirectIo { block, ..DirectIo::from_fd(&fd).context(error_text())? };
        let bytes = capacity(&fd, &path)?;
        let device = BlockDevice::at_path(&path);
        let partitions = device.iter().flat_map(BlockDevice::partitions).filter_map(|part| part.range());
        let marks = partitions.map(|(start, length)| start..start + length.min(MARK)).collect();
        let store = Self::of_open(fd, direct, bytes - bytes % u64::from(block));
        Ok(Self { marks, _claims: Some(claims), ..store })
    }

    /// The first `bytes` bytes of what is open for reading and writing in the way of `direct`.
    pub(crate) fn of_open(fd: OwnedFd, direct: DirectIo, bytes: u64) -> Self {
        assert!(bytes.is_multiple_of(direct.block.into()), "a store has whole blocks");
        Self { file: fd.into(), direct, bytes, bounce: None, marks: Vec::new(), _claims: None }
    }

    /// The first MiB of each partition, or less if a partition is shorter. It changes whenever the device is
    /// used, so it is not rewritten.
    pub fn marks(&self) -> &[Range<u64>] {
        &self.marks
    }

    /// Takes the bounce buffer, of at least `length` bytes; the caller puts it back after use.
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
        let is_direct = self.direct.flags.contains(OFlags::DIRECT);
        !is_direct || bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
    }
}

impl AsFd for DeviceStore {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

fn read(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    let moved = read_fully(file, into, at)?;
    if moved < into.len() { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(()) }
}

impl BlockStore for DeviceStore {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn block(&self) -> u32 {
        self.direct.block
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        if self.takes(into) {
            return read(&self.file, offset, into);
        }
        let mut bounce = self.bounce(into.len())?;
        let aligned = &mut bounce.slot_mut(Slot(0))[..into.len()];
        let done = read(&self.file, offset, aligned);
        into.copy_from_slice(aligned);
        self.bounce = Some(bounce);
        done
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let end = offset.checked_add(bytes.len() as u64);
        assert!(end.is_some_and(|end| end <= self.bytes), "a store keeps its length");
        if self.takes(bytes) {
            return self.file.write_all_at(bytes, offset);
        }
        let mut bounce = self.bounce(bytes.len())?;
        let aligned = &mut bounce.slot_mut(Slot(0))[..bytes.len()];
        aligned.copy_from_slice(bytes);
        let done = self.file.write_all_at(aligned, offset);
        self.bounce = Some(bounce);
        done
    }

    fn flush(&mut self) -> io::Result<()> {
        fdatasync(&self.file)?;
        // Data read back then comes from the drive, even if the file system sends direct I/O through the page
        // cache, as btrfs does for files with checksums.
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed);
        Ok(())
    }
}
