//! The devices below a mount, and all of those that the system runs from.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::block::BlockDevice;
use crate::counter_source::CounterSource;
use crate::device_number::DeviceNumber;
use crate::loop_device::{Backing, Store, backing_path};
use crate::mounts::Mount;

/// Places whose loss ends a system.
pub(super) const SYSTEM: [&str; 8] = ["/", "/boot", "/boot/efi", "/etc", "/usr", "/var", "/home", "/nix"];

/// Folders in /sys of all devices that the system runs from: the mounted ones, and everything below them.
pub(super) fn system_devices() -> HashSet<PathBuf> {
    let mut found = HashSet::new();
    for place in SYSTEM {
        if let Some(device) =
            fs::File::open(place).ok().and_then(Mount::containing).and_then(|mount| lower_device(&mount))
        {
            // The devices below a mount are also taken from other lists.
            let _ = add_with_lower_devices(&device, &mut found);
        }
    }
    found
}

/// The device that a mount comes from.
pub(crate) fn lower_device(mount: &Mount) -> Option<BlockDevice> {
    let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::by_number);
    BlockDevice::by_number(mount.device).or_else(by_source)
}

/// Adds the folders in /sys of a device, of its disk, and of everything that these are built on. Whether that
/// is known to be all.
#[must_use]
pub(crate) fn add_with_lower_devices(device: &BlockDevice, found: &mut HashSet<PathBuf>) -> bool {
    if !found.insert(device.folder().to_owned()) {
        return true;
    }
    let mut below = device.slave_devices();
    below.push(device.disk());
    let backing = below_loop(device);
    let is_known = backing.is_some();
    below.extend(backing.into_iter().flatten());
    below.iter().fold(is_known, |is_all, device| add_with_lower_devices(device, found) && is_all)
}

/// What is right below a loop device: the devices that hold its file, or the one it is attached to. `None`
/// where that cannot be seen from here; empty where it is memory, and for anything but a loop device.
pub(crate) fn below_loop(device: &BlockDevice) -> Option<Vec<BlockDevice>> {
    let Some(Backing { store, .. }) = Backing::read(device).ok()? else { return Some(Vec::new()) };
    let system = match store {
        Store::Device(number) => return Some(vec![BlockDevice::by_number(number)?]),
        Store::File { device, .. } => DeviceNumber::from_raw(device),
    };
    // Whoever attached it may have had another file of that name.
    let path = backing_path(device).filter(|path| Store::at(path) == Some(store));
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let opened = path.and_then(|path| rustix::fs::open(path, flags, Mode::empty()).ok());
    match opened.and_then(Mount::containing) {
        Some(mount) => Some(CounterSource::of_mount(&mount).devices().collect()),
        // File systems of several devices, and memory, have numbers that belong to no device.
        None => BlockDevice::by_number(system).map(|device| vec![device]),
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
        assert!(add_with_lower_devices(&BlockDevice::at(sys.join("dm-0")), &mut found));
        let expected = ["dm-0", "sda/sda1", "sda"].map(|name| sys.join(name));
        assert_eq!(found, expected.into_iter().collect(), "not the other partition");
    }
}
