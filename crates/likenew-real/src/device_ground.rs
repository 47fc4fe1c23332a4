//! A block device as a ground, held exclusively by a consent: nobody can mount or claim it while this lives.

use std::io;

use likenew_core::fault::Fault;
use likenew_core::ground::Ground;
use rustix::fs::ioctl_blksszget;

use crate::consent::Consent;
use crate::device::capacity;
use crate::direct::Direct;
use crate::fault::failed;
use crate::raw_ground::RawGround;

/// All whole sectors of a block device.
#[derive(Debug)]
pub struct DeviceGround(RawGround);

impl DeviceGround {
    /// Of the device that a consent was given for.
    ///
    /// # Errors
    /// It does not tell its size.
    pub fn of(consent: Consent) -> Result<Self, Fault> {
        let (path, fd) = consent.into_parts();
        let look = || format!("look at {}", path.display());
        let block = ioctl_blksszget(&fd).map_err(failed(look()))?;
        let direct = Direct { block, ..Direct::of(&fd).map_err(failed(look()))? };
        let bytes = capacity(&fd, &path)?;
        Ok(Self(RawGround::new(fd, direct, bytes - bytes % u64::from(block))))
    }
}

impl Ground for DeviceGround {
    fn bytes(&self) -> u64 {
        self.0.bytes()
    }

    fn block(&self) -> u32 {
        self.0.block()
    }

    fn read_at(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_at(offset, into)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_at(offset, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
