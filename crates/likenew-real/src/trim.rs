//! TRIM on a real drive: the layers on its way, what the drive claims, and what becomes of blocks that a file
//! of ours freed.
//!
//! Raw reads touch only blocks that a file of ours holds, or has held and that the file system reports as
//! still free. TRIM is asked for only over the range that our own file has freed.

mod claims;
mod counters;
#[allow(unsafe_code, reason = "a file tells its blocks by an ioctl only")]
mod extents;
#[allow(unsafe_code, reason = "a file system is asked for TRIM by an ioctl only")]
mod fitrim;
#[allow(unsafe_code, reason = "a file system tells its free blocks by an ioctl only")]
mod free_space;
mod layers;
mod own_file;
mod raw;
mod read_back;
mod send;
mod trim_free_space;

use std::os::fd::AsFd;
use std::path::Path;

use likenew_core::extents::ExtentMap;
use likenew_core::probe::{Probe, ProbeResult};

use crate::block::BlockDevice;
use crate::mounts::{DeviceNumber, Mount};

pub(crate) use claims::disk_claims;
pub(crate) use extents::{Extent, Flush, device_extents, extents, fuzzed_extents};
pub(crate) use free_space::fuzzed_free_space;
pub(crate) use layers::{SENDERS, device_path, mount_path, stack};
pub(crate) use read_back::read_back;
pub(crate) use send::Sender;
pub(crate) use trim_free_space::trim_free_space;

/// The device of a folder or file.
pub(crate) struct MountedDevice {
    pub(crate) mount: Mount,
    /// The block device that its file system is on, or one of them.
    pub(crate) device: Option<BlockDevice>,
}

impl MountedDevice {
    /// Of what holds an open file or folder.
    pub(crate) fn find(fd: impl AsFd) -> Option<Self> {
        let mount = Mount::containing(fd)?;
        // A file system of several devices has a number that none of them has; its source is then one of
        // them.
        let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::by_number);
        let device = BlockDevice::by_number(mount.device).or_else(by_source);
        Some(Self { mount, device })
    }

    /// Why its files' blocks cannot be followed to a device, if they cannot: a sentence without a full stop.
    pub(crate) fn unsuitable(&self) -> Option<String> {
        let sentence = match &*self.mount.kind {
            "ext4" | "xfs" if self.mount.has_option("rtdev") => {
                "files on an xfs with a realtime device may be on either of two devices"
            }
            "ext4" | "xfs" if self.device.is_none() => {
                "the device below the file system is not listed in /sys"
            }
            "ext4" | "xfs" => return None,
            "btrfs" | "bcachefs" => {
                "this file system's addresses are its own and those of no single device: for btrfs, compare the discard counters of \
                 /sys/block/*/stat before and after fstrim, or make an ext4 or xfs on a free partition and test there"
            }
            "zfs" => {
                "ZFS does not report where a file is: zpool status -t and zpool iostat -r show TRIM as it is sent"
            }
            "overlay" | "aufs" => {
                "this is an overlay, as in containers: give a folder of the file system below it"
            }
            "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" => {
                "this is memory, with no flash below it: give a folder on a drive"
            }
            "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "ceph" | "afs" | "lustre" | "virtiofs"
            | "glusterfs" | "vboxsf" => "this folder is on another machine: run likenew trim there",
            kind if kind.starts_with("fuse") => {
                "this is a FUSE file system, and only its program knows its blocks: give a folder of the file system below it"
            }
            kind => {
                return Some(format!("files can be located on ext4 and xfs only, and this is {kind}"));
            }
        };
        Some(sentence.to_owned())
    }

    /// Whether the file system sends TRIM by itself as soon as blocks are freed.
    pub(crate) fn discards_immediately(&self) -> bool {
        self.mount.has_option("discard")
    }
}

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
        (Probe::TrimPath | Probe::TrimClaims, Some(None), _) => unknown("the device is not listed in /sys"),
        (Probe::TrimPath, None, None) => unknown("the file system is not listed in /proc"),
        (Probe::TrimClaims, None, _) => unknown("no device is known below this file system"),
        (Probe::Feasibility, ..) => crate::erase::feasibility::check(fd),
        (Probe::Extents, Some(_), _) => unknown("a device's addresses are its own"),
        (Probe::Extents, None, None) => unknown("the file system is not listed in /proc"),
        (Probe::Extents, None, Some(mounted)) => match (mounted.unsuitable(), stat) {
            (Some(reason), _) => ProbeResult::Unknown(reason),
            (None, Ok(stat)) => {
                let mapped = device_extents(&fd, 0, stat.st_size as u64);
                mapped.map_or_else(ProbeResult::Unknown, |extents| {
                    ProbeResult::Extents(ExtentMap::new(extents))
                })
            }
            (None, Err(errno)) => ProbeResult::Unknown(format!("the file does not tell its length: {errno}")),
        },
        (Probe::OldFiles, ..) => unknown("only the files of a folder are looked for"),
        (Probe::Fix(_), ..) => unknown("it is opened read-only: give a folder on it"),
        (Probe::TrimReadBack(_) | Probe::Release { .. }, ..) => {
            unknown("it is opened read-only, and TRIM would change its contents: give a folder on it")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mounted(kind: &str, options: &str, device: bool) -> MountedDevice {
        let mount = Mount {
            id: 1,
            device: DeviceNumber { major: 0, minor: 0 },
            root: "/".into(),
            point: "/mnt".into(),
            kind: kind.into(),
            source: "/dev/x".into(),
            options: options.into(),
        };
        MountedDevice { mount, device: device.then(|| BlockDevice::at("/nowhere".into())) }
    }

    #[test]
    fn only_file_systems_whose_files_can_be_followed_are_suitable() {
        assert_eq!(mounted("ext4", "rw", true).unsuitable(), None);
        assert_eq!(mounted("xfs", "rw,discard", true).unsuitable(), None);
        for (kind, options, device, words) in [
            ("ext4", "rw", false, "/sys"),
            ("xfs", "rw,rtdev=/dev/sdb", true, "two devices"),
            ("btrfs", "rw", true, "make an ext4 or xfs"),
            ("zfs", "rw", false, "zpool status -t"),
            ("overlay", "rw", false, "file system below"),
            ("tmpfs", "rw", false, "folder on a drive"),
            ("nfs4", "rw", false, "run likenew trim there"),
            ("fuse.sshfs", "rw", false, "FUSE"),
            ("hfsplus", "rw", true, "hfsplus"),
        ] {
            let reason = mounted(kind, options, device).unsuitable().unwrap();
            assert!(reason.contains(words), "{kind}: {reason}");
        }
    }

    #[test]
    fn a_mount_that_discards_at_once_is_known_by_its_option() {
        assert!(mounted("ext4", "rw,discard", true).discards_immediately());
        assert!(mounted("btrfs", "rw,discard=async", true).discards_immediately());
        assert!(!mounted("ext4", "rw,nodiscard,x-discards", true).discards_immediately());
    }
}
