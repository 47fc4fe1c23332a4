//! Consent that needs no user: to a loop device over a file that this process has made in a scratch folder it
//! holds, so there is nothing on it to lose.

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::lab_error::LabError;
use rustix::fs::{FileType, fstat, stat};
use rustix::io::Errno;

use super::{Consent, NOTHING_BEHIND, hold, open_for_reading, refusal};
use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::in_use::{Claims, Target, use_of};
use crate::lab_error::not_possible;
use crate::loop_device::{Backing, LOOP_MAJOR, Store};
use crate::scratch::{DIRECTORY, holds_file};
use crate::wording::action;
use crate::wording::consent as wording;

impl Consent {
    /// Consents to writing to the loop device at `path`, after every check has passed: its backing file is
    /// ours; it has no partitions; it is not mounted, serves as no swap and carries no other device; no other
    /// program holds it.
    ///
    /// # Errors
    /// A refusal that names the check which failed, and what to do.
    pub fn for_own_loop_device(path: &Path) -> Result<Self, LabError> {
        let refuse = |reason: &str| Err(refusal(path, reason));
        let stat = stat(path).map_err(|errno| not_possible(action::LOOK_AT, path, errno))?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::BlockDevice {
            return refuse(wording::NOT_A_DEVICE);
        }
        let number = DeviceNumber::from_raw(stat.st_rdev);
        if number.major != LOOP_MAJOR {
            return refuse(wording::MAY_HOLD_DATA);
        }
        let Some(device) = BlockDevice::by_number(number) else {
            return refuse(wording::NOT_IN_SYS);
        };
        if device.is_partition() || !device.partitions().is_empty() {
            return refuse(wording::HAS_PARTITIONS);
        }
        let look = open_for_reading(path)?;
        check_is_ours(&look, path)?;
        let Some(target) = Target::device(&device) else { return refuse(NOTHING_BEHIND) };
        let unused = || use_of(&target).map_or(Ok(()), |reason| Err(refusal(path, &reason)));
        unused()?;
        drop(look);
        let device = match hold(path) {
            Err(Errno::BUSY) => {
                return refuse(wording::HELD);
            }
            device => device.map_err(|errno| not_possible(action::OPEN_FOR_WRITING, path, errno))?,
        };
        // What was checked by its path is what was opened, and has not changed; from here on it cannot
        // change.
        let fd = fstat(&device).map_err(|errno| not_possible(action::LOOK_AT, path, errno))?;
        if fd.st_rdev != stat.st_rdev || FileType::from_raw_mode(fd.st_mode) != FileType::BlockDevice {
            return refuse(wording::DEVICE_REPLACED);
        }
        check_is_ours(&device, path)?;
        let claims = Claims::take(&target).map_err(|reason| refusal(path, &reason))?;
        unused()?;
        Ok(Self { path: path.to_owned(), fd: device, claims })
    }
}

fn check_is_ours(device: impl AsFd, path: &Path) -> Result<(), LabError> {
    match Backing::of_open(device) {
        Err(Errno::NXIO) => Err(refusal(path, wording::NO_FILE_ATTACHED)),
        Err(errno) => Err(not_possible(action::ASK_BACKING_FILE, path, errno)),
        Ok(Backing { store: Store::File { device, inode }, .. }) if holds_file(device, inode) => Ok(()),
        Ok(_) => Err(refusal(path, &wording::not_own_file(DIRECTORY))),
    }
}
