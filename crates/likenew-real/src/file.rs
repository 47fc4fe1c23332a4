//! An existing file as a drive: for reading, as it is the user's own, or for writing where a consent says so.

use std::os::fd::OwnedFd;
use std::path::Path;

use likenew_core::drive::{Drive, Kind};
use likenew_core::fault::Fault;
use likenew_core::target::{Clock, Geometry};
use rustix::fs::{Mode, OFlags, fstat};

use crate::consent::Consent;
use crate::direct::Direct;
use crate::drive::RealDrive;
use crate::engine::{Carrier, Engine};
use crate::fault::{failed, not_possible};
use crate::identify::{About, resolve};
use crate::in_use::Claims;
use crate::single::Single;

/// Opens a regular file for reading.
///
/// # Errors
/// It is too short to be measured, or can not be read.
pub(crate) fn open(path: &Path, engine: Engine) -> Result<impl Drive + use<>, Fault> {
    let read = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
    let (fd, direct) = Direct::open(|flags| rustix::fs::open(path, read | flags, Mode::empty()))
        .map_err(|errno| not_possible("read", path, errno))?;
    drive(path, fd, direct, None, engine)
}

/// Opens the file that a consent was given for, for reading and writing. Its length stays what it is.
///
/// # Errors
/// As [`open`].
pub(crate) fn open_writable(consent: Consent, engine: Engine) -> Result<impl Drive + use<>, Fault> {
    let (path, fd, claims) = consent.into_parts();
    let direct = Direct::of(&fd).map_err(failed(format!("look at {}", path.display())))?;
    drive(&path, fd, direct, Some(claims), engine)
}

/// What is held against others may be written.
fn drive(
    path: &Path,
    fd: OwnedFd,
    direct: Direct,
    claims: Option<Claims>,
    engine: Engine,
) -> Result<impl Drive + use<>, Fault> {
    let writable = claims.is_some();
    let carrier = Carrier::choose(engine)?;
    let stat = fstat(&fd).map_err(failed(format!("look at {}", path.display())))?;
    let bytes = stat.st_size.cast_unsigned();
    let capacity = bytes - bytes % u64::from(direct.block);
    if capacity == 0 {
        return Err(Fault::Unsuitable(format!(
            "{} is a file of {bytes} bytes, less than one block of {}: give a longer one, or a folder",
            path.display(),
            direct.block
        )));
    }
    let mut about = About::of_mount(&fd);
    about.add_resolution(path, &resolve(path));
    about.caveats.extend(direct.caveat());
    if stat.st_blocks.cast_unsigned() < capacity / 512 {
        about.caveats.push(
            "this file has holes or is compressed: reading what was never written does not reach the drive"
                .into(),
        );
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
    let medium = Single::new(fd, geometry, direct.flags.contains(OFlags::DIRECT)).with_claims(claims);
    Ok(RealDrive::new(path, Kind::File, medium, carrier, about))
}
