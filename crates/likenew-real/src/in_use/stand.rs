//! What stands on what: the devices below a mount, and all of those that the system runs from.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::block::BlockDevice;
use crate::mounts::{DeviceNumber, Mount};

/// Places whose loss ends a system.
pub(super) const SYSTEM: [&str; 8] = ["/", "/boot", "/boot/efi", "/etc", "/usr", "/var", "/home", "/nix"];

/// Folders in /sys of all devices that the system stands on: what is mounted there, and everything below that.
pub(super) fn carries_the_system() -> HashSet<PathBuf> {
    let mut found = HashSet::new();
    for place in SYSTEM {
        if let Some(device) = fs::File::open(place).ok().and_then(Mount::of).and_then(|mount| below(&mount)) {
            add_with_what_is_below(&device, &mut found);
        }
    }
    found
}

/// The device that a mount comes from.
pub(crate) fn below(mount: &Mount) -> Option<BlockDevice> {
    let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::numbered);
    BlockDevice::numbered(mount.device).or_else(by_source)
}

/// Adds the folders in /sys of a device, of its disk, and of everything that these are built on.
pub(crate) fn add_with_what_is_below(device: &BlockDevice, found: &mut HashSet<PathBuf>) {
    if !found.insert(device.folder().to_owned()) {
        return;
    }
    add_with_what_is_below(&device.disk(), found);
    for slave in device.slave_devices() {
        add_with_what_is_below(&slave, found);
    }
    let backing = device.attribute("loop/backing_file").and_then(|path| fs::File::open(path).ok());
    if let Some(device) = backing.and_then(Mount::of).and_then(|mount| below(&mount)) {
        add_with_what_is_below(&device, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_is_found_through_partitions_and_slaves() {
        let root = tempfile::tempdir().unwrap();
        let sys = fs::canonicalize(root.path()).unwrap();
        for folder in ["sda/sda1", "sda/sda2", "dm-0/slaves"] {
            fs::create_dir_all(sys.join(folder)).unwrap();
        }
        for partition in ["sda1", "sda2"] {
            fs::write(sys.join("sda").join(partition).join("partition"), "1").unwrap();
        }
        std::os::unix::fs::symlink(sys.join("sda/sda1"), sys.join("dm-0/slaves/sda1")).unwrap();
        let mut found = HashSet::new();
        add_with_what_is_below(&BlockDevice::at(sys.join("dm-0")), &mut found);
        let expected = ["dm-0", "sda/sda1", "sda"].map(|name| sys.join(name));
        assert_eq!(found, expected.into_iter().collect(), "not the other partition");
    }
}
