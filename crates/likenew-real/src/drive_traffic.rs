//! Bytes that all programs together move at a drive, as the kernel counts them.

use std::fs::File;
use std::path::Path;

use crate::block::BlockDevice;
use crate::counter_source::CounterSource;
use crate::device_number::DeviceNumber;
use crate::mounts::Mount;

/// The counters of one disk, those of all of its partitions and volumes included.
#[derive(Debug)]
pub struct DriveTraffic(CounterSource);

impl DriveTraffic {
    /// Of the disk that a block device is or lies on; none where there are several, or the kernel does not count.
    pub fn of_device(path: &Path) -> Option<Self> {
        let device = DeviceNumber::at(path).and_then(BlockDevice::by_number)?;
        Self::counted(CounterSource::of_device(&device))
    }

    /// Of the disk that the file system of a folder lies on; none where there are several, or the kernel does not count.
    pub fn of_folder(folder: &Path) -> Option<Self> {
        let mount = File::open(folder).ok().and_then(Mount::containing)?;
        Self::counted(CounterSource::of_mount(&mount))
    }

    fn counted(source: CounterSource) -> Option<Self> {
        source.disk_bytes().map(|_| Self(source))
    }

    /// Bytes read and written since the drive was attached; none once it is gone.
    pub fn bytes(&self) -> Option<u64> {
        self.0.disk_bytes()
    }

    /// Whether what is written in this folder is known to reach the same disk.
    pub fn holds(&self, folder: &Path) -> bool {
        let mount = File::open(folder).ok().and_then(Mount::containing);
        mount.is_some_and(|mount| CounterSource::of_mount(&mount).disk() == self.0.disk())
    }
}
