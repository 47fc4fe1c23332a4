//! What is recorded for a target: the disks below it that take requests, or parts of them.

use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use likenew_core::drive::{Identity, Kind};
use likenew_core::lab_error::LabError;

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::identify::DeviceInfo;
use crate::lab_error::not_possible;
use crate::mounts::Mount;
use crate::wording::action;
use crate::wording::record as wording;

/// A disk, or a partition of one, whose I/Os are recorded with its own addresses.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedDrive {
    /// The kernel's name: `sda`, `nvme0n1p2`.
    pub name: String,
    /// How a report introduces it: named as the target was typed.
    pub identity: Identity,
    /// The disk as records number it.
    pub(crate) device: u32,
    /// First sector on the disk.
    pub(crate) first_sector: u64,
    /// How many, where it is a partition: a disk takes everything that goes to it.
    pub(crate) sectors: Option<u64>,
}

impl RecordedDrive {
    /// The drives below a target: a block device, a partition, or a folder or file, which stands for the
    /// drives of its file system. What is made of several drives is taken apart, since only drives take
    /// requests.
    ///
    /// # Errors
    /// There is none, or its I/Os cannot be seen; the text says why.
    pub fn drives_of(target: &Path) -> Result<Vec<Self>, LabError> {
        let (kind, devices) = devices(target)?;
        let mut leaves = Vec::new();
        for device in &devices {
            descend(device, &mut leaves, 0);
        }
        if leaves.is_empty() {
            return Err(no_drive(target, wording::DEVICES_INVISIBLE));
        }
        let several = leaves.len() > 1 || leaves[0].folder() != devices[0].folder();
        leaves
            .iter()
            .map(|leaf| Self::describe(leaf, target, kind, several.then(|| devices[0].name())))
            .collect()
    }

    /// Whether both get I/Os of the same disk.
    pub fn shares_disk_with(&self, other: &Self) -> bool {
        self.device == other.device
    }

    /// Whether a sector of the disk belongs to it. A flush has no address and goes to the whole disk.
    pub(crate) fn holds(&self, device: u32, sector: u64, is_flush: bool) -> bool {
        let inside = |sectors| is_flush || (self.first_sector..self.first_sector + sectors).contains(&sector);
        self.device == device && self.sectors.is_none_or(inside)
    }

    /// What the kernel is to record, in the language of its filters.
    pub(crate) fn filter(&self) -> String {
        let (device, first) = (self.device, self.first_sector);
        match self.sectors {
            None => format!("dev == {device}"),
            Some(sectors) => {
                let end = first + sectors;
                format!("(dev == {device} && (nr_sector == 0 || (sector >= {first} && sector < {end})))")
            }
        }
    }

    fn describe(
        leaf: &BlockDevice,
        target: &Path,
        kind: Kind,
        above: Option<String>,
    ) -> Result<Self, LabError> {
        let (name, disk) = (leaf.name(), leaf.disk());
        let number = |device: &BlockDevice, attribute: &str| {
            let text = device.attribute(attribute);
            text.and_then(|text| text.parse::<u64>().ok())
                .ok_or_else(|| LabError::Unsuitable(wording::attribute_unknown(attribute, &device.name())))
        };
        if !disk.folder().join("mq").exists() {
            return Err(no_drive(target, &wording::invisible_to_tracing(&disk.name())));
        }
        let at = disk.attribute("dev").and_then(|text| DeviceNumber::parse(&text));
        let at = at.ok_or_else(|| LabError::Unsuitable(wording::no_device_number(&name)))?;
        let sectors = number(leaf, "size")?;
        let first_sector = if leaf.is_partition() { number(leaf, "start")? } else { 0 };
        let own = leaf.attribute("dev").and_then(|text| DeviceNumber::parse(&text)).unwrap_or(at);
        let mut about = DeviceInfo::of_device(own);
        if let Some(above) = above {
            about.facts.push(("below".to_owned(), above));
            about.caveats.push(wording::layers_between(target.display(), &name));
        }
        if leaf.is_partition() {
            about.caveats.push(wording::partition_only(&name, &disk.name()));
        }
        let block_bytes = disk.attribute("queue/logical_block_size").and_then(|text| text.parse().ok());
        let identity = Identity {
            name: target.display().to_string(),
            kind,
            model: about.model,
            engine: "tracefs".into(),
            capacity_bytes: sectors.saturating_mul(512),
            block_bytes: block_bytes.unwrap_or(512),
            facts: about.facts,
            caveats: about.caveats,
            accounting: None,
        };
        let device = at.major << 20 | at.minor;
        let sectors = leaf.is_partition().then_some(sectors);
        Ok(Self { name, identity, device, first_sector, sectors })
    }
}

/// The devices that a target names, or those of its file system.
fn devices(target: &Path) -> Result<(Kind, Vec<BlockDevice>), LabError> {
    let metadata = fs::metadata(target).map_err(|error| match rustix::io::Errno::from_io_error(&error) {
        Some(errno) => not_possible(action::LOOK_AT, target, errno),
        None => LabError::system(action::look_at(target.display()))(error),
    })?;
    if metadata.file_type().is_block_device() {
        let device = DeviceNumber::at(target).and_then(BlockDevice::by_number);
        let device = device.ok_or_else(|| no_drive(target, wording::NOT_LISTED))?;
        return Ok((Kind::Device, vec![device]));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(no_drive(target, wording::NEITHER_DEVICE_NOR_FOLDER));
    }
    let kind = if metadata.is_dir() { Kind::Folder } else { Kind::File };
    let file = fs::File::open(target).map_err(LabError::system(action::open_path(target.display())))?;
    let mount = Mount::containing(file).ok_or_else(|| no_drive(target, wording::MOUNT_UNKNOWN))?;
    let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::by_number);
    let device = BlockDevice::by_number(mount.device).or_else(by_source);
    let device = device.ok_or_else(|| no_drive(target, &wording::no_visible_device(&mount.kind)))?;
    Ok((kind, siblings(&device).unwrap_or_else(|| vec![device])))
}

/// All devices of the btrfs file system that this one is part of.
fn siblings(device: &BlockDevice) -> Option<Vec<BlockDevice>> {
    let file_systems = fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    let mut lists = file_systems.map(|entry| entry.path().join("devices"));
    let list = lists.find(|list| list.join(device.name()).exists())?;
    let entries = fs::read_dir(list).ok()?.flatten();
    let number =
        |entry: fs::DirEntry| DeviceNumber::parse(&fs::read_to_string(entry.path().join("dev")).ok()?);
    Some(entries.filter_map(number).filter_map(BlockDevice::by_number).collect())
}

/// More layers than anyone builds.
const LAYERS_MOST: u32 = 16;

/// Follows a device down to what it is built on.
fn descend(device: &BlockDevice, leaves: &mut Vec<BlockDevice>, layer: u32) {
    let slaves = device.disk().slave_devices();
    if slaves.is_empty() || layer >= LAYERS_MOST {
        if !leaves.iter().any(|known| known.folder() == device.folder()) {
            leaves.push(device.clone());
        }
        return;
    }
    for slave in slaves {
        descend(&slave, leaves, layer + 1);
    }
}

fn no_drive(target: &Path, reason: &str) -> LabError {
    LabError::Unsuitable(wording::no_drive(target.display(), reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drive(first_sector: u64, sectors: Option<u64>) -> RecordedDrive {
        let identity = Identity {
            name: String::new(),
            kind: Kind::Device,
            model: None,
            engine: String::new(),
            capacity_bytes: 0,
            block_bytes: 512,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        };
        RecordedDrive { name: "sda1".into(), identity, device: 8 << 20, first_sector, sectors }
    }

    #[test]
    fn a_partition_holds_its_own_sectors_and_every_flush() {
        let partition = drive(2048, Some(100));
        for (device, sector, is_flush, holds) in [
            (8 << 20, 2048, false, true),
            (8 << 20, 2147, false, true),
            (8 << 20, 2148, false, false),
            (8 << 20, 2047, false, false),
            (8 << 20, 0, true, true),
            (7 << 20, 2048, false, false),
        ] {
            assert_eq!(partition.holds(device, sector, is_flush), holds, "{sector}");
        }
        assert!(drive(0, None).holds(8 << 20, u64::MAX, false));
        assert_eq!(
            partition.filter(),
            "(dev == 8388608 && (nr_sector == 0 || (sector >= 2048 && sector < 2148)))"
        );
    }

    #[test]
    fn what_lies_on_no_drive_is_reported() {
        for target in ["/proc", "/dev/null", "/dev/shm"] {
            let message = RecordedDrive::drives_of(Path::new(target)).unwrap_err().to_string();
            assert!(message.starts_with(target) && message.contains("cannot be recorded"), "{message}");
        }
        let message = RecordedDrive::drives_of(Path::new("/nowhere")).unwrap_err().to_string();
        assert!(message.contains("does not exist"), "{message}");
    }
}
