//! A block device as a drive: for reading, or for writing where a consent says so.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::drive::{Drive, Kind};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Clock, Geometry};
use rustix::fs::{Mode, OFlags, fstat, ioctl_blksszget};

use crate::block::{BlockDevice, capacity};
use crate::consent::Consent;
use crate::device_number::DeviceNumber;
use crate::drive::RealDrive;
use crate::engine::{Carrier, Engine};
use crate::identify::{DeviceInfo, resolve};
use crate::in_use::Claims;
use crate::lab_error::{io_error, not_possible};
use crate::mounts::mounted_at;
use crate::single_file::SingleFile;
use crate::wording::action;
use crate::wording::target as wording;

/// Opens a block device for reading. That changes nothing, so it may be mounted and in use.
///
/// # Errors
/// It cannot be read, or holds nothing.
pub(crate) fn open(path: &Path, engine: Engine) -> Result<impl Drive + use<>, LabError> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let fd = rustix::fs::open(path, flags, Mode::empty())
        .map_err(|errno| not_possible(action::READ, path, errno))?;
    drive(path, fd, None, engine)
}

/// Opens the block device that a consent was given for, for reading and writing.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_writable(consent: Consent, engine: Engine) -> Result<impl Drive + use<>, LabError> {
    let (path, fd, claims) = consent.into_parts();
    drive(&path, fd, Some(claims), engine)
}

/// A drive that can be written; the consent holds it against other programs.
fn drive(
    path: &Path,
    fd: OwnedFd,
    claims: Option<Claims>,
    engine: Engine,
) -> Result<impl Drive + use<>, LabError> {
    let writable = claims.is_some();
    let carrier = Carrier::choose(engine)?;
    let error_text = || action::look_at(path.display());
    let number = DeviceNumber::from_raw(fstat(&fd).map_err(io_error(error_text()))?.st_rdev);
    let block = ioctl_blksszget(&fd).map_err(io_error(error_text()))?;
    let capacity = capacity(&fd, path)?;
    let capacity = capacity - capacity % u64::from(block);
    if capacity == 0 {
        return Err(LabError::Unsuitable(wording::no_medium(path.display())));
    }
    let mut info = DeviceInfo::of_device(number);
    info.add_resolution(path, &resolve(path));
    if let Some(point) = mounted_at(number) {
        info.caveats.push(wording::mounted_at(path.display(), &point));
    }
    let trims = writable && takes_discards(number);
    let geometry =
        Geometry { capacity, block, boundary: None, writable, trims, carries_data: true, clock: Clock::Wall };
    let medium = SingleFile::new(fd, geometry, true).with_claims(claims);
    Ok(RealDrive::new(path, Kind::Device, medium, carrier, info))
}

fn takes_discards(number: DeviceNumber) -> bool {
    let device = BlockDevice::by_number(number).map(|device| device.disk());
    device.and_then(|disk| disk.attribute("queue/discard_max_bytes")).is_some_and(|bytes| bytes != "0")
}
