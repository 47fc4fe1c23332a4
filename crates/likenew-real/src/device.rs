//! A block device as a drive: for reading, or for writing where a consent says so.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::drive::{Drive, Kind};
use likenew_core::fault::Fault;
use likenew_core::target::{Clock, Geometry};
use rustix::fs::{Mode, OFlags, SeekFrom, fstat, ioctl_blksszget, seek};

use crate::block::BlockDevice;
use crate::consent::Consent;
use crate::drive::RealDrive;
use crate::engine::{Carrier, Engine};
use crate::fault::{failed, not_possible};
use crate::identify::{About, resolve};
use crate::in_use::Claims;
use crate::mounts::{DeviceNumber, mounted_at};
use crate::single::Single;

/// Opens a block device for reading. That changes nothing, so it may be mounted and in use.
///
/// # Errors
/// It can not be read, or holds nothing.
pub(crate) fn open(path: &Path, engine: Engine) -> Result<impl Drive + use<>, Fault> {
    let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let fd =
        rustix::fs::open(path, flags, Mode::empty()).map_err(|errno| not_possible("read", path, errno))?;
    drive(path, fd, None, engine)
}

/// Opens the block device that a consent was given for, for reading and writing.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_writable(consent: Consent, engine: Engine) -> Result<impl Drive + use<>, Fault> {
    let (path, fd, claims) = consent.into_parts();
    drive(&path, fd, Some(claims), engine)
}

/// What is held against others may be written.
fn drive(
    path: &Path,
    fd: OwnedFd,
    claims: Option<Claims>,
    engine: Engine,
) -> Result<impl Drive + use<>, Fault> {
    let writable = claims.is_some();
    let carrier = Carrier::choose(engine)?;
    let look = || format!("look at {}", path.display());
    let number = DeviceNumber::of(fstat(&fd).map_err(failed(look()))?.st_rdev);
    let block = ioctl_blksszget(&fd).map_err(failed(look()))?;
    let capacity = capacity(&fd, path)?;
    let capacity = capacity - capacity % u64::from(block);
    if capacity == 0 {
        return Err(Fault::Unsuitable(format!(
            "{} holds nothing: no medium is inserted, or nothing is attached to it",
            path.display()
        )));
    }
    let mut about = About::of_device(number);
    about.add_resolution(path, &resolve(path));
    if let Some(point) = mounted_at(number) {
        about.caveats.push(format!("{} is mounted at {point}: others may use it meanwhile", path.display()));
    }
    let trims = writable && takes_discards(number);
    let geometry =
        Geometry { capacity, block, boundary: None, writable, trims, carries_data: true, clock: Clock::Wall };
    let medium = Single::new(fd, geometry, true).with_claims(claims);
    Ok(RealDrive::new(path, Kind::Device, medium, carrier, about))
}

/// Bytes of an open block device.
pub(crate) fn capacity(fd: &OwnedFd, path: &Path) -> Result<u64, Fault> {
    seek(fd, SeekFrom::End(0)).map_err(failed(format!("ask for the size of {}", path.display())))
}

fn takes_discards(number: DeviceNumber) -> bool {
    let device = BlockDevice::numbered(number).map(|device| device.disk());
    device.and_then(|disk| disk.attribute("queue/discard_max_bytes")).is_some_and(|bytes| bytes != "0")
}
