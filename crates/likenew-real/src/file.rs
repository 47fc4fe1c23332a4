//! An existing file as a drive: for reading, as it is the user's own, or for writing where a consent says so.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::drive::{Drive, Kind};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Clock, Geometry};
use rustix::fs::{Mode, OFlags, fdatasync, fstat};

use crate::consent::Consent;
use crate::direct_io::DirectIo;
use crate::drive::RealDrive;
use crate::engine::{Carrier, Engine};
use crate::identify::{DeviceInfo, resolve};
use crate::in_use::Claims;
use crate::lab_error::{io_error, not_possible};
use crate::single_file::SingleFile;
use crate::wording::action;
use crate::wording::target as wording;

/// Opens a regular file for reading.
///
/// # Errors
/// It is too short to be measured, or cannot be read.
pub(crate) fn open(path: &Path, engine: Engine) -> Result<impl Drive + use<>, LabError> {
    let read = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let (fd, direct) = DirectIo::open(|flags| rustix::fs::open(path, read | flags, Mode::empty()))
        .map_err(|errno| not_possible(action::READ, path, errno))?;
    // What was written a moment ago would reach the drive during the first reads, and make them slow. A file system that cannot do
    // it on request does it by itself.
    let _ = fdatasync(&fd);
    drive(path, fd, direct, None, engine)
}

/// Opens the file that a consent was given for, for reading and writing. Its length stays what it is.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_writable(consent: Consent, engine: Engine) -> Result<impl Drive + use<>, LabError> {
    let (path, fd, claims) = consent.into_parts();
    let direct = DirectIo::from_fd(&fd).map_err(io_error(action::look_at(path.display())))?;
    drive(&path, fd, direct, Some(claims), engine)
}

/// A drive that can be written; the consent holds it against other programs.
fn drive(
    path: &Path,
    fd: OwnedFd,
    direct: DirectIo,
    claims: Option<Claims>,
    engine: Engine,
) -> Result<impl Drive + use<>, LabError> {
    let writable = claims.is_some();
    let carrier = Carrier::choose(engine)?;
    let stat = fstat(&fd).map_err(io_error(action::look_at(path.display())))?;
    let bytes = stat.st_size.cast_unsigned();
    let capacity = bytes - bytes % u64::from(direct.block);
    if capacity == 0 {
        return Err(LabError::Unsuitable(wording::file_too_short(path.display(), bytes, direct.block)));
    }
    let mut info = DeviceInfo::of_mount(&fd);
    info.add_resolution(path, &resolve(path));
    info.caveats.extend(direct.caveat());
    if stat.st_blocks.cast_unsigned() < capacity / 512 {
        info.caveats.push(wording::HAS_HOLES.into());
    }
    let geometry = Geometry {
        capacity,
        block: direct.block,
        boundary: None,
        writable,
        trims: writable,
        carries_data: true,
        clock: Clock::Wall,
    };
    let medium = SingleFile::new(fd, geometry, direct.flags.contains(OFlags::DIRECT)).with_claims(claims);
    Ok(RealDrive::new(path, Kind::File, medium, carrier, info))
}
