//! What is found out about an open file or device that is not written to, otherwise than by timing I/O.

use std::os::fd::AsFd;

use likenew_core::extents::ExtentMap;
use likenew_core::probe::{Probe, ProbeResult};

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::trim::{MountedDevice, device_extents, device_path, disk_claims, mount_path, stack};
use crate::wording::trim as wording;

/// Answers probes that need no file of our own, about the folder, file or device of `fd`.
pub(crate) fn check(fd: impl AsFd, probe: &Probe) -> ProbeResult {
    let unknown = |reason: &str| ProbeResult::Unknown(reason.to_owned());
    let stat = rustix::fs::fstat(&fd);
    let device = stat.as_ref().ok().filter(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::BlockDevice
    });
    let device = device.map(|stat| BlockDevice::by_number(DeviceNumber::from_raw(stat.st_rdev)));
    let mounted = if device.is_none() { MountedDevice::find(&fd) } else { None };
    match (probe, device, mounted) {
        (Probe::Facts, ..) => crate::facts::collect(fd, None),
        (Probe::TrimPath, Some(Some(device)), _) => ProbeResult::TrimPath(device_path(&device)),
        (Probe::TrimPath, None, Some(mounted)) => ProbeResult::TrimPath(mount_path(&mounted)),
        (Probe::TrimClaims, Some(Some(device)), _) => disk_claims(&stack(&device)),
        (Probe::TrimClaims, None, Some(MountedDevice { device: Some(device), .. })) => {
            disk_claims(&stack(&device))
        }
        (Probe::TrimPath | Probe::TrimClaims, Some(None), _) => unknown(wording::DEVICE_NOT_LISTED),
        (Probe::TrimPath, None, None) => unknown(wording::FILE_SYSTEM_NOT_LISTED),
        (Probe::TrimClaims, None, _) => unknown(wording::NO_DEVICE_BELOW),
        (Probe::Feasibility, ..) => crate::erase::feasibility::check(fd),
        (Probe::Extents, Some(_), _) => unknown(wording::DEVICE_ADDRESSES),
        (Probe::Extents, None, None) => unknown(wording::FILE_SYSTEM_NOT_LISTED),
        (Probe::Extents, None, Some(mounted)) => match (mounted.unsuitable(), stat) {
            (Some(reason), _) => ProbeResult::Unknown(reason),
            (None, Ok(stat)) => {
                let mapped = device_extents(&fd, 0, stat.st_size as u64);
                mapped.map_or_else(ProbeResult::Unknown, |extents| {
                    ProbeResult::Extents(ExtentMap::new(extents))
                })
            }
            (None, Err(errno)) => ProbeResult::Unknown(wording::length_unknown(errno)),
        },
        (Probe::OldFiles, ..) => unknown(wording::OLD_FILES_ONLY_IN_FOLDERS),
        (Probe::Fix(_), ..) => unknown(wording::READ_ONLY),
        (Probe::TrimReadBack(_) | Probe::Release { .. }, ..) => unknown(wording::READ_ONLY_FOR_TRIM),
    }
}
