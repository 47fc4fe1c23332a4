//! Distinguishes a device or file from any other that may later have its path.

use std::os::fd::AsFd;

use likenew_core::lab_error::LabError;
use rustix::fs::{AtFlags, FileType, StatxFlags, StatxTimestamp, makedev, statx};

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::lab_error::io_error;
use crate::wording::action;

/// Of an open block device or file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// A block device.
    Device {
        number: DeviceNumber,
        /// The kernel's count of disks that ever came up, which a new one at an old number has another of
        /// (since Linux 5.15).
        sequence: Option<u64>,
        /// The range of a partition: one that was created anew can have the number of the old one.
        range: Option<(u64, u64)>,
    },
    /// A file. Numbers of files are used again at once, so the time at which it was made belongs to it; where
    /// a file system keeps none, that of its last change.
    File { device: u64, inode: u64, birth_time: (i64, u32) },
    /// Neither.
    Other,
}

impl Identity {
    /// # Errors
    /// The system does not say.
    pub(super) fn from_fd(fd: impl AsFd) -> Result<Self, LabError> {
        let wanted = StatxFlags::BASIC_STATS | StatxFlags::BTIME;
        let found = statx(fd, "", AtFlags::EMPTY_PATH, wanted).map_err(io_error(action::LOOK_AT_OPENED))?;
        let born = StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::BTIME);
        let StatxTimestamp { tv_sec, tv_nsec, .. } = if born { found.stx_btime } else { found.stx_ctime };
        Ok(match FileType::from_raw_mode(found.stx_mode.into()) {
            FileType::BlockDevice => {
                let number = DeviceNumber { major: found.stx_rdev_major, minor: found.stx_rdev_minor };
                let device = BlockDevice::by_number(number);
                let sequence =
                    device.as_ref().and_then(|device| device.disk().attribute("diskseq")?.parse().ok());
                let range = device.and_then(|device| device.range());
                Self::Device { number, sequence, range }
            }
            FileType::RegularFile => Self::File {
                device: makedev(found.stx_dev_major, found.stx_dev_minor),
                inode: found.stx_ino,
                birth_time: (tv_sec, tv_nsec),
            },
            _ => Self::Other,
        })
    }
}
