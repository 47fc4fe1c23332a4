//! Who uses a block device, directly or through what is built on it.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use likenew_core::units::Nanos;

use crate::block::BlockDevice;
use crate::clock::Monotonic;
use crate::mounts::{DeviceNumber, Mount, is_swap, mounted_at};
use crate::openers::{Sought, writer_of};

/// How often, and how long apart, somebody has to be seen with a device before that is no passing look.
const PASSING_TRIES: u32 = 20;
const PASSING_PAUSE: Nanos = Nanos::from_millis(10);

/// Why a device must not be written, if anybody uses it: a reason, and what to do.
pub(crate) fn use_of(device: &BlockDevice) -> Option<String> {
    if carries_the_system().contains(device.folder()) {
        return Some(format!(
            "the system runs from {}; nothing here writes to it. Start from another drive, or give a folder",
            device.name()
        ));
    }
    // What is on a whole disk is on its partitions, too, whether it respects them or not.
    let mut all = vec![device.clone()];
    all.extend(device.is_partition().then(|| device.disk()));
    all.extend(device.partitions());
    all.iter().find_map(direct_use).or_else(|| all.iter().find_map(written_by))
}

/// The same of a whole disk whose partitions may be in use, and the system's.
pub(crate) fn use_of_whole(disk: &BlockDevice) -> Option<String> {
    direct_use(disk).or_else(|| written_by(disk))
}

/// A program that writes to the device as such, as virtual machines do: nothing else in the system shows it.
fn written_by(device: &BlockDevice) -> Option<String> {
    let sought = Sought::Device(device.number()?);
    let clock = Monotonic::start();
    let mut program = writer_of(sought)?;
    // Some look only for a moment, though they could write (losetup, udev's helpers).
    for _ in 0..PASSING_TRIES {
        clock.rest(clock.now() + PASSING_PAUSE);
        program = writer_of(sought)?;
    }
    Some(format!("{program} has {} open for writing; end that first", device.name()))
}

/// Of this device alone, without its partitions.
fn direct_use(device: &BlockDevice) -> Option<String> {
    let name = device.name();
    let number = device.number()?;
    if let Some(point) = mounted_at(number) {
        return Some(format!("{name} is mounted at {point}; unmount it first"));
    }
    if is_swap(number) {
        return Some(format!("{name} serves as swap; switch that off first (swapoff)"));
    }
    if let Some(holder) = device.holders().first() {
        return Some(format!("{name} carries {holder} (LVM, RAID or encryption); take that down first"));
    }
    let on_it = loop_devices().into_iter().find(|(_, backing)| DeviceNumber::at(backing) == Some(number));
    on_it.map(|(loops, _)| format!("{name} carries {}; detach that first (losetup -d)", loops.name()))
}

/// Places whose loss ends a system.
const SYSTEM: [&str; 8] = ["/", "/boot", "/boot/efi", "/etc", "/usr", "/var", "/home", "/nix"];

/// Folders in /sys of all devices that the system stands on: what is mounted there, and everything below that.
fn carries_the_system() -> HashSet<PathBuf> {
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

/// Every loop device with what is attached to it.
fn loop_devices() -> Vec<(BlockDevice, PathBuf)> {
    let folders = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let devices = folders.map(|entry| BlockDevice::at(entry.path()));
    let attached = |device: BlockDevice| {
        let backing = device.attribute("loop/backing_file")?;
        Some((device, PathBuf::from(backing)))
    };
    devices.filter_map(attached).collect()
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

    #[test]
    fn the_system_stands_on_what_is_mounted_at_its_root() {
        let root = Mount::of(fs::File::open("/").unwrap()).unwrap();
        let Some(device) = below(&root) else { return eprintln!("SKIPPED: / is on no device") };
        assert!(carries_the_system().contains(device.folder()));
        let reason = use_of(&device).unwrap();
        assert!(reason.contains("the system runs from"), "{reason}");
    }
}
