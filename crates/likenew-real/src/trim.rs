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

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::mounts::Mount;
use crate::wording::trim as wording;

pub(crate) use claims::disk_claims;
pub(crate) use extents::{Extent, Flush, device_extents, extents, fuzzed_extents};
pub(crate) use free_space::fuzzed_free_space;
pub(crate) use layers::{SENDERS, device_path, mount_path, stack, unmap_rule};
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
            "ext4" | "xfs" if self.mount.has_option("rtdev") => wording::XFS_REALTIME,
            "ext4" | "xfs" if self.device.is_none() => wording::DEVICE_BELOW_NOT_LISTED,
            "ext4" | "xfs" => return None,
            "btrfs" | "bcachefs" => wording::BTRFS,
            "zfs" => wording::ZFS,
            "overlay" | "aufs" => wording::OVERLAY,
            "tmpfs" | "ramfs" | "devtmpfs" | "rootfs" => wording::MEMORY,
            "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "ceph" | "afs" | "lustre" | "virtiofs"
            | "glusterfs" | "vboxsf" => wording::REMOTE,
            kind if kind.starts_with("fuse") => wording::FUSE,
            kind => {
                return Some(wording::kind_unsupported(kind));
            }
        };
        Some(sentence.to_owned())
    }

    /// Whether the file system sends TRIM by itself as soon as blocks are freed.
    pub(crate) fn discards_immediately(&self) -> bool {
        self.mount.has_option("discard")
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
