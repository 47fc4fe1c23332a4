//! A block device as a store, held exclusively by a consent: no program can mount or claim it while this
//! lives.

use std::io;
use std::ops::Range;

use likenew_core::block_store::BlockStore;
use likenew_core::lab_error::LabError;
use rustix::fs::ioctl_blksszget;

use crate::block::BlockDevice;
use crate::block::capacity;
use crate::consent::Consent;
use crate::device_number::DeviceNumber;
use crate::direct_io::DirectIo;
use crate::in_use::Claims;
use crate::lab_error::io_error;
use crate::raw_store::RawStore;
use crate::wording::action;

/// All whole sectors of a block device.
#[derive(Debug)]
pub struct DeviceStore {
    raw: RawStore,
    marks: Vec<Range<u64>>,
    /// On other ways to the same bytes.
    _claims: Claims,
}

/// Here a file system on a partition leaves a mark whenever it is used.
const MARK: u64 = 1 << 20;

impl DeviceStore {
    /// Of the device that a consent was given for.
    ///
    /// # Errors
    /// It does not tell its size.
    pub fn open(consent: Consent) -> Result<Self, LabError> {
        let (path, fd, claims) = consent.into_parts();
        let error_text = || action::look_at(path.display());
        let block = ioctl_blksszget(&fd).map_err(io_error(error_text()))?;
        let direct = DirectIo { block, ..DirectIo::from_fd(&fd).map_err(io_error(error_text()))? };
        let bytes = capacity(&fd, &path)?;
        let device = DeviceNumber::at(&path).and_then(BlockDevice::by_number);
        let partitions = device.iter().flat_map(BlockDevice::partitions).filter_map(|of| of.range());
        let marks = partitions.map(|(start, length)| start..start + length.min(MARK)).collect();
        Ok(Self { raw: RawStore::new(fd, direct, bytes - bytes % u64::from(block)), marks, _claims: claims })
    }

    /// The beginnings of its partitions: they change whenever the device is used, and only the system knows
    /// where.
    pub fn marks(&self) -> &[Range<u64>] {
        &self.marks
    }
}

impl BlockStore for DeviceStore {
    fn bytes(&self) -> u64 {
        self.raw.bytes()
    }

    fn block(&self) -> u32 {
        self.raw.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.raw.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.raw.write_at(offset, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.raw.flush()
    }
}
