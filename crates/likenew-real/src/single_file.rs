//! A medium behind one descriptor: an existing file or a block device.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use likenew_core::drive::TargetKind;
use likenew_core::io::{Io, Outcome};
use likenew_core::probe::{ExtentMap, Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::workload::Access;
use rustix::fs::{Mode, OFlags, fdatasync, fstat, ioctl_blksszget};

use crate::block::{BlockDevice, DeviceNumber, capacity};
use crate::clock::Monotonic;
use crate::consent::Consent;
use crate::engine::{Carrier, Engine, RealDrive};
use crate::identify::{DeviceInfo, resolve};
use crate::in_use::Claims;
use crate::medium::{DirectIo, Medium, Spot, drop_cached, geometry, perform_at, set_direct};
use crate::mounts::mounted_at;
use crate::target_error::ErrorContext as _;
use crate::trim::{MountedDevice, device_extents, device_path, disk_claims, mount_path};
use crate::wording::{action, target as wording, trim as trim_wording};

/// A medium with one descriptor; addresses are offsets in it.
pub(crate) struct SingleFile {
    fd: OwnedFd,
    /// Claims on other devices over the same bytes.
    _claims: Option<Claims>,
    geometry: Geometry,
    /// Whether the medium can be reached past the page cache.
    direct: bool,
}

impl Medium for SingleFile {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    #[inline]
    fn spot(&self, io: &Io) -> Option<Spot<'_>> {
        Some(Spot { fd: self.fd.as_fd(), offset: io.offset })
    }

    fn perform(&self, io: &Io, buffer: &mut [u8]) -> Outcome {
        perform_at(Spot { fd: self.fd.as_fd(), offset: io.offset }, io, buffer)
    }

    fn probe(&self, probe: &Probe, _clock: &Monotonic) -> Result<ProbeResult, TargetError> {
        Ok(probe_open(&self.fd, probe))
    }

    fn prepare_access(&self, access: Access) -> Result<(), TargetError> {
        set_direct(&self.fd, self.direct && access == Access::Direct).context(action::CHANGE_DIRECT_IO)
    }

    fn make_cold(&self) -> Result<(), TargetError> {
        // A file that may be written is closed to other programs.
        if self.geometry.writable {
            return drop_cached(&self.fd);
        }
        Err(TargetError::Unsuitable(wording::CACHE_LEFT_ALONE.into()))
    }

    fn sole_descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.fd.as_fd())
    }
}

/// Opens a block device for reading, which changes nothing, so the device may be mounted and in use. With a
/// consent it is opened for writing as well, and the consent's claims keep other programs out.
///
/// # Errors
/// The device cannot be read, or holds nothing.
pub(crate) fn open_device(
    path: &Path,
    consent: Option<Consent>,
    engine: Engine,
) -> Result<RealDrive<SingleFile>, TargetError> {
    let (fd, claims) = match consent.map(Consent::into_parts) {
        Some((_, fd, claims)) => (fd, Some(claims)),
        None => {
            let flags = OFlags::RDONLY | OFlags::DIRECT | OFlags::CLOEXEC;
            let fd = rustix::fs::open(path, flags, Mode::empty());
            (fd.context_at(action::READ, path)?, None)
        }
    };
    let carrier = Carrier::choose(engine)?;
    let look_at = || action::look_at(path.display());
    let number = DeviceNumber::from_raw(fstat(&fd).context(look_at())?.st_rdev);
    let block = ioctl_blksszget(&fd).context(look_at())?;
    let bytes = capacity(&fd, path)?;
    let whole = bytes - bytes % u64::from(block);
    if whole == 0 {
        return Err(TargetError::Unsuitable(wording::no_medium(path.display())));
    }
    let mut info = DeviceInfo::of_device(number);
    info.add_resolution(path, &resolve(path));
    if let Some(point) = mounted_at(number) {
        info.caveats.push(wording::mounted_at(path.display(), &point));
    }
    let disk = BlockDevice::by_number(number).map(|device| device.disk());
    let discards = disk.and_then(|disk| disk.attribute("queue/discard_max_bytes"));
    let trims = claims.is_some() && discards.is_some_and(|bytes| bytes != "0");
    let geometry = Geometry { trims, ..geometry(whole, block, claims.is_some()) };
    let medium = SingleFile { fd, _claims: claims, geometry, direct: true };
    Ok(RealDrive::new(path, TargetKind::Device, medium, carrier, info))
}

/// Opens a regular file for reading, as it is the user's own; with a consent for writing as well. The length
/// of the file stays as it is.
///
/// # Errors
/// The file is too short to be measured, or cannot be read.
pub(crate) fn open_file(
    path: &Path,
    consent: Option<Consent>,
    engine: Engine,
) -> Result<RealDrive<SingleFile>, TargetError> {
    let (fd, direct, claims) = match consent.map(Consent::into_parts) {
        Some((_, fd, claims)) => {
            let direct = DirectIo::from_fd(&fd).context(action::look_at(path.display()))?;
            (fd, direct, Some(claims))
        }
        None => {
            let read = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
            let (fd, direct) = DirectIo::open(|flags| rustix::fs::open(path, read | flags, Mode::empty()))
                .context_at(action::READ, path)?;
            // Data written a moment ago would reach the drive during the first reads, and make them slow. A
            // file system that cannot do this on request does it by itself.
            let _ = fdatasync(&fd);
            (fd, direct, None)
        }
    };
    let carrier = Carrier::choose(engine)?;
    let stat = fstat(&fd).context(action::look_at(path.display()))?;
    let bytes = stat.st_size.cast_unsigned();
    let whole = bytes - bytes % u64::from(direct.block);
    if whole == 0 {
        return Err(TargetError::Unsuitable(wording::file_too_short(path.display(), bytes, direct.block)));
    }
    let mut info = DeviceInfo::of_mount(&fd);
    info.add_resolution(path, &resolve(path));
    info.caveats.extend(direct.caveat());
    if stat.st_blocks.cast_unsigned() < whole / 512 {
        info.caveats.push(wording::HAS_HOLES.into());
    }
    let geometry = geometry(whole, direct.block, claims.is_some());
    let direct = direct.flags.contains(OFlags::DIRECT);
    let medium = SingleFile { fd, _claims: claims, geometry, direct };
    Ok(RealDrive::new(path, TargetKind::File, medium, carrier, info))
}

// Answers of probes about an open file or device that is not written to.

/// Answers probes that need no file of our own, about the folder, file or device of `fd`.
pub(crate) fn probe_open(fd: impl AsFd, probe: &Probe) -> ProbeResult {
    let unknown = |reason: &str| ProbeResult::Unknown(reason.to_owned());
    let device = DeviceNumber::of_open(&fd).map(BlockDevice::by_number);
    let mounted = if device.is_none() { MountedDevice::find(&fd) } else { None };
    match (probe, device, mounted) {
        (Probe::Facts, ..) => crate::facts::collect(fd, None),
        (Probe::TrimPath, Some(Some(device)), _) => ProbeResult::TrimPath(device_path(&device)),
        (Probe::TrimPath, None, Some(mounted)) => ProbeResult::TrimPath(mount_path(&mounted)),
        (Probe::TrimClaims, Some(Some(device)), _) => disk_claims(&device.stack()),
        (Probe::TrimClaims, None, Some(MountedDevice { device: Some(device), .. })) => {
            disk_claims(&device.stack())
        }
        (Probe::TrimPath | Probe::TrimClaims, Some(None), _) => unknown(wording::DEVICE_NOT_LISTED),
        (Probe::TrimPath, None, None) => unknown(wording::FILE_SYSTEM_NOT_LISTED),
        (Probe::TrimClaims, None, _) => unknown(trim_wording::NO_DEVICE_BELOW),
        (Probe::Feasibility, ..) => crate::erase::probe_feasibility(fd, None),
        (Probe::Extents, Some(_), _) => unknown(trim_wording::DEVICE_ADDRESSES),
        (Probe::Extents, None, None) => unknown(wording::FILE_SYSTEM_NOT_LISTED),
        (Probe::Extents, None, Some(mounted)) => match (mounted.unsuitable(), fstat(&fd)) {
            (Some(reason), _) => ProbeResult::Unknown(reason),
            (None, Ok(stat)) => {
                let mapped = device_extents(&fd, 0, stat.st_size as u64);
                mapped.map_or_else(ProbeResult::Unknown, |extents| {
                    ProbeResult::Extents(ExtentMap::new(extents))
                })
            }
            (None, Err(errno)) => ProbeResult::Unknown(trim_wording::length_unknown(errno)),
        },
        (Probe::OldFiles, ..) => unknown(wording::OLD_FILES_ONLY_IN_FOLDERS),
        (Probe::Fix(_), ..) => unknown(trim_wording::READ_ONLY),
        (Probe::TrimReadBack(_) | Probe::Release { .. }, ..) => unknown(trim_wording::READ_ONLY_FOR_TRIM),
    }
}
