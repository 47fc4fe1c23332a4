//! Block devices as /sys describes them: numbers, sizes, partitions, and the devices above and below.

use std::fs;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use likenew_core::facts::LayerKind;
use likenew_core::stat::{OpStat, Stat};
use likenew_core::target_error::TargetError;
use rustix::fs::{FileType, Mode, OFlags, SeekFrom, fstat, major, minor, seek};

use crate::standards::text;
use crate::target_error::ErrorContext as _;
use crate::wording::action;

/// A block device's folder in /sys, without symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BlockDevice {
    folder: PathBuf,
}

impl BlockDevice {
    /// The device with these numbers; `None` if no device has them, as with memory and network file systems.
    pub(crate) fn by_number(number: DeviceNumber) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", number.major, number.minor);
        Some(Self { folder: fs::canonicalize(link).ok()? })
    }

    /// The device with this folder.
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// The device at a path such as `/dev/sda1`; `None` if there is none.
    pub(crate) fn at_path(path: &Path) -> Option<Self> {
        DeviceNumber::at(path).and_then(Self::by_number)
    }

    /// The device's major and minor number.
    pub(crate) fn number(&self) -> Option<DeviceNumber> {
        DeviceNumber::parse(&self.attribute("dev")?)
    }

    /// The device's folder in /sys.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The kernel's name for the device: `sda1`, `loop0`.
    pub(crate) fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub(crate) fn is_partition(&self) -> bool {
        self.folder.join("partition").exists()
    }

    /// The disk that a partition belongs to; for any other device, the device itself.
    pub(crate) fn disk(&self) -> Self {
        match self.folder.parent() {
            Some(parent) if self.is_partition() => Self { folder: parent.to_owned() },
            _ => self.clone(),
        }
    }

    /// The device's size in bytes.
    pub(crate) fn bytes(&self) -> Option<u64> {
        // Here the kernel counts in sectors of 512 bytes, whatever the device's own sectors are
        // (Documentation/ABI/stable/sysfs-block).
        Some(self.attribute("size")?.parse::<u64>().ok()?.saturating_mul(512))
    }

    /// The kernel's counters of the device's I/O.
    pub(crate) fn stat(&self) -> Option<Stat> {
        parse_stat(&self.attribute("stat")?)
    }

    /// The device's file in /dev.
    pub(crate) fn node(&self) -> PathBuf {
        Path::new("/dev").join(self.name().replace('!', "/"))
    }

    /// All other disks of the machine.
    pub(crate) fn other_disks(&self) -> Vec<Self> {
        let mut disks = self.sys().map(Self::disks).unwrap_or_default();
        disks.retain(|disk| disk != self);
        disks
    }

    /// All disks that a /sys lists.
    pub(crate) fn disks(sys: &Path) -> Vec<Self> {
        let links = entries(&sys.join("class/block"));
        let devices = links.filter_map(|link| Some(Self { folder: fs::canonicalize(link.path()).ok()? }));
        devices.filter(|device| !device.is_partition()).collect()
    }

    /// A property from udev's database, which everyone may read: `ID_MODEL_ENC`, `ID_SERIAL_SHORT` … (udev's ata_id and usb_id).
    pub(crate) fn udev(&self, name: &str) -> Option<String> {
        let number = self.number()?;
        let file = format!("../run/udev/data/b{}:{}", number.major, number.minor);
        let lines = fs::read(self.sys()?.join(file)).ok()?;
        let lines = String::from_utf8_lossy(&lines);
        let value =
            lines.lines().find_map(|line| line.strip_prefix("E:")?.strip_prefix(name)?.strip_prefix('='))?;
        text(unescape(value).as_bytes())
    }

    /// The root of the /sys that the device's folder is in.
    fn sys(&self) -> Option<&Path> {
        self.folder.ancestors().find(|folder| folder.ends_with("sys"))
    }

    /// The device's partitions.
    pub(crate) fn partitions(&self) -> Vec<Self> {
        entries(&self.folder).map(|entry| Self { folder: entry.path() }).filter(Self::is_partition).collect()
    }

    /// The world wide name of a disk, equal on all of its paths; `None` for a partition.
    pub(crate) fn world_wide_name(&self) -> Option<String> {
        self.attribute("wwid").or_else(|| self.attribute("device/wwid")).filter(|_| !self.is_partition())
    }

    /// Where a partition begins on its disk, and its length, in bytes.
    pub(crate) fn range(&self) -> Option<(u64, u64)> {
        let bytes = |name: &str| self.attribute(name)?.parse::<u64>().ok()?.checked_mul(512);
        Some((bytes("start")?, bytes("size")?))
    }

    /// Names of the devices built on this one: LVM, RAID, encryption.
    pub(crate) fn holders(&self) -> Vec<String> {
        self.links("holders")
    }

    /// Names of the devices that this one is built on.
    pub(crate) fn slaves(&self) -> Vec<String> {
        self.links("slaves")
    }

    /// The devices right below: the disk of a partition, or what the device is built on.
    pub(crate) fn devices_below(&self) -> Vec<Self> {
        if self.is_partition() {
            return vec![self.disk()];
        }
        self.slave_devices()
    }

    /// The device and everything that it is built on, from the top down; the members of an array come one after the other.
    pub(crate) fn stack(&self) -> Vec<Self> {
        let mut devices = Vec::new();
        self.add_stack(&mut devices);
        devices
    }

    fn add_stack(&self, devices: &mut Vec<Self>) {
        /// More than any real stack has: only a bug could make /sys lead in a circle.
        const DEVICES_MAX: usize = 64;
        if devices.len() >= DEVICES_MAX || devices.contains(self) {
            return;
        }
        devices.push(self.clone());
        self.devices_below().iter().for_each(|below| below.add_stack(devices));
    }

    /// How the kernel provisions a SCSI disk: `unmap` where it sends TRIM, `full` where it sends none.
    pub(crate) fn provisioning_mode(&self) -> Option<String> {
        let disks = entries(&self.folder.join("device/scsi_disk"));
        let modes = disks.map(|disk| disk.path().join("provisioning_mode"));
        let text = modes.filter_map(|mode| fs::read_to_string(mode).ok()).next()?;
        Some(text.trim().to_owned())
    }

    /// A binary attribute of the device.
    pub(crate) fn binary_attribute(&self, name: &str) -> Option<Vec<u8>> {
        fs::read(self.folder.join(name)).ok()
    }

    /// The devices that this one is built on.
    pub(crate) fn slave_devices(&self) -> Vec<Self> {
        self.linked_devices("slaves")
    }

    /// The devices built on this one.
    pub(crate) fn holder_devices(&self) -> Vec<Self> {
        self.linked_devices("holders")
    }

    fn linked_devices(&self, kind: &str) -> Vec<Self> {
        let folders = self.links(kind).into_iter().map(|name| self.folder.join(kind).join(name));
        folders.filter_map(|folder| Some(Self { folder: fs::canonicalize(folder).ok()? })).collect()
    }

    /// The first line of an attribute; `None` if it is missing or empty. Bytes that are not text are
    /// replaced, so a file name in the line is for display only.
    pub(crate) fn attribute(&self, name: &str) -> Option<String> {
        let text = fs::read(self.folder.join(name)).ok()?;
        let text = String::from_utf8_lossy(&text);
        let line = text.lines().next()?.trim();
        (!line.is_empty()).then(|| line.to_owned())
    }

    /// The number of an NVMe namespace other than the first. All namespaces of a drive share its serial
    /// number, so their numbers tell them apart.
    pub(crate) fn namespace(&self) -> Option<String> {
        self.attribute("nsid").filter(|number| number != "1")
    }

    /// Maker and model, where known.
    pub(crate) fn model(&self) -> Option<String> {
        let model = self.attribute("device/model")?;
        // Disks behind a SATA translation report their bus as maker.
        let vendor =
            self.attribute("device/vendor").filter(|vendor| vendor != "ATA" && !vendor.starts_with("0x"));
        Some(match vendor {
            Some(vendor) if !model.starts_with(&vendor) => format!("{vendor} {model}"),
            _ => model,
        })
    }

    /// The device's bus or driver: `nvme`, `virtio`, `scsi`.
    pub(crate) fn bus(&self) -> Option<String> {
        let link = fs::read_link(self.folder.join("device/subsystem")).ok()?;
        Some(link.file_name()?.to_string_lossy().into_owned())
    }

    /// The hypervisor's bus that the device is on, directly or behind a SCSI controller: `virtio`, `xen`,
    /// `vmbus`.
    pub(crate) fn hypervisor(&self) -> Option<&'static str> {
        let bus = self.bus();
        let hangs_on = |name: &str| bus.as_deref() == Some(name) || self.is_behind(name);
        ["virtio", "xen", "vmbus"].into_iter().find(|name| hangs_on(name))
    }

    /// Whether the device's path has a part made of this word and a number, such as `usb2` or `session1`.
    pub(crate) fn is_behind(&self, word: &str) -> bool {
        self.folder
            .components()
            .any(|part| part.as_os_str().to_str().is_some_and(|part| begins_numbered(part, word)))
    }

    fn links(&self, kind: &str) -> Vec<String> {
        names_in(&self.folder.join(kind))
    }
}

/// What is in a folder; nothing if the folder cannot be read.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = fs::DirEntry> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten()
}

/// Names in a folder, sorted; none if the folder cannot be read.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        entries(folder).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// The devices at the bottom of some devices, each once.
pub(crate) fn bottoms(devices: &[BlockDevice]) -> Vec<BlockDevice> {
    let mut bottoms: Vec<BlockDevice> = Vec::new();
    for device in devices.iter().flat_map(BlockDevice::stack) {
        if device.devices_below().is_empty() && !bottoms.contains(&device) {
            bottoms.push(device);
        }
    }
    bottoms
}

/// Opens a path to ask about it, which takes no right to read what is there, and waits for nobody.
pub(crate) fn open_path(path: impl AsRef<Path>) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path.as_ref(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
}

/// Undoes udev's escapes of blanks and other characters: `\x20`.
fn unescape(text: &str) -> String {
    let mut parts = text.split("\\x");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) if byte.is_ascii() => {
                plain.push(byte.into());
                plain += &part[2..];
            }
            _ => {
                plain += "\\x";
                plain += part;
            }
        }
    }
    plain
}

/// The size of an open block device in bytes.
pub(crate) fn capacity(fd: &OwnedFd, path: &Path) -> Result<u64, TargetError> {
    seek(fd, SeekFrom::End(0)).context(action::ask_size(path.display()))
}

// Major and minor number, by which the kernel knows a block device.

/// Numbers of a block device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct DeviceNumber {
    pub(crate) major: u32,
    pub(crate) minor: u32,
}

impl DeviceNumber {
    pub(crate) fn from_raw(device: u64) -> Self {
        Self { major: major(device), minor: minor(device) }
    }

    /// The numbers of the block device at `path`; `None` if there is none.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        metadata.file_type().is_block_device().then(|| Self::from_raw(metadata.rdev()))
    }

    /// The numbers of an open block device; `None` for anything else.
    pub(crate) fn of_open(fd: impl AsFd) -> Option<Self> {
        let stat = fstat(fd).ok()?;
        let is_device = FileType::from_raw_mode(stat.st_mode) == FileType::BlockDevice;
        is_device.then(|| Self::from_raw(stat.st_rdev))
    }

    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }
}

// What a block device is, as a layer between a folder and a medium.

/// Whether a name begins with this word and a number: `loop7`, `md127p1`.
pub(crate) fn begins_numbered(name: &str, word: &str) -> bool {
    name.strip_prefix(word).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// The kind of layer that a device is, from its name, its identifier and its parents.
pub(crate) fn layer_kind(device: &BlockDevice) -> LayerKind {
    let name = device.name();
    let by_number = |prefix: &str| begins_numbered(&name, prefix);
    if device.is_partition() {
        LayerKind::Partition
    } else if ["dm/name", "dm/uuid"].iter().any(|name| device.attribute(name).is_some()) {
        mapping_kind(device)
    } else if device.attribute("md/level").is_some() || by_number("md") {
        LayerKind::Array
    } else if by_number("bcache") {
        LayerKind::Cache
    } else if device.attribute("loop/backing_file").is_some() || by_number("loop") {
        LayerKind::Loop
    } else if ["ram", "zram", "brd"].into_iter().any(by_number) {
        LayerKind::Memory
    } else if ["nbd", "rbd", "drbd"].into_iter().any(by_number) || device.is_behind("session") {
        LayerKind::Network
    } else if device.is_behind("usb") {
        LayerKind::UsbDisk
    } else if matches!(device.bus().as_deref(), Some("virtio" | "xen" | "vmbus")) {
        LayerKind::VirtualDisk
    } else {
        LayerKind::Disk
    }
}

/// The kind of a mapping. Its identifier begins with the program that made it (libdevmapper's `DM_UUID`); an
/// identifier of LVM ends with its purpose.
fn mapping_kind(device: &BlockDevice) -> LayerKind {
    let uuid = device.attribute("dm/uuid").unwrap_or_default();
    let is_pool = |uuid: &str| ["-tpool", "-tdata", "-tmeta"].iter().any(|end| uuid.ends_with(end));
    let on_pool = || {
        device.slave_devices().iter().any(|below| is_pool(&below.attribute("dm/uuid").unwrap_or_default()))
    };
    match uuid.split_once('-').map(|(maker, _)| maker) {
        Some("CRYPT") => LayerKind::Crypt,
        Some("LVM") if is_pool(&uuid) => LayerKind::ThinPool,
        Some("LVM") if on_pool() => LayerKind::Thin,
        Some("LVM") => LayerKind::LogicalVolume,
        Some("mpath") => LayerKind::Multipath,
        _ => LayerKind::Mapping,
    }
}

// The line in which the kernel counts a block device's I/O.

/// Reads a line of `/sys/block/DEVICE/stat`: 11 fields, 15 since Linux 4.18 (discards), 17 since 5.5
/// (flushes). Fields beyond these are ignored, as newer kernels may add some.
pub(crate) fn parse_stat(line: &str) -> Option<Stat> {
    let mut fields = [0u64; 17];
    let mut count = 0;
    for (field, text) in fields.iter_mut().zip(line.split_ascii_whitespace()) {
        *field = text.parse().ok()?;
        count += 1;
    }
    if count < 11 {
        return None;
    }
    let op = |at: usize| OpStat {
        ios: fields[at],
        merged: fields[at + 1],
        sectors: fields[at + 2],
        ms: fields[at + 3],
    };
    Some(Stat {
        read: op(0),
        write: op(4),
        discard: (count >= 15).then(|| op(11)),
        flush: (count >= 17).then(|| OpStat { ios: fields[15], ms: fields[16], ..OpStat::default() }),
        in_flight: fields[8],
        busy_ms: fields[9],
        weighted_ms: fields[10],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_described_by_its_folder() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sda");
        for sub in ["device", "sda1", "holders/dm-0", "slaves"] {
            fs::create_dir_all(folder.join(sub)).unwrap();
        }
        fs::write(folder.join("sda1/partition"), "1\n").unwrap();
        let disk = BlockDevice { folder };
        assert_eq!(disk.model(), None);
        let write = |name: &str, text: &str| fs::write(disk.folder().join(name), text).unwrap();
        write("device/model", "INTEL SSDSA2M080\n");
        write("device/vendor", "ATA     \n");
        assert_eq!(disk.model().unwrap(), "INTEL SSDSA2M080");
        write("device/vendor", "Seagate \n");
        assert_eq!(disk.model().unwrap(), "Seagate INTEL SSDSA2M080");
        let [partition] = &disk.partitions()[..] else { panic!("one partition") };
        assert_eq!((partition.name(), partition.disk().name()), ("sda1".into(), "sda".into()));
        assert_eq!(disk.hypervisor(), None);
        let volume = root.path().join("devices/pci0000:00/virtio2/host7/target7:0:0/7:0:0:0/block/sdc");
        assert_eq!(BlockDevice::at(volume).hypervisor(), Some("virtio"));
        assert_eq!((disk.holders(), disk.slaves().len()), (vec!["dm-0".to_owned()], 0));
    }

    #[test]
    fn blanks_of_udev_are_undone() {
        assert_eq!(unescape(r"Samsung\x20SSD\x20870"), "Samsung SSD 870");
        for text in [r"a\x", r"a\xzz", r"\x2", "plain", r"\xff"] {
            assert_eq!(unescape(text), text);
        }
    }

    #[test]
    fn every_kernels_line_is_read() {
        let line = "  147762    11214  8617234   606679    38062   150523 65902648   440821        3    49160  1053740";
        let old = parse_stat(line).unwrap();
        assert_eq!(old.read, OpStat { ios: 147_762, merged: 11_214, sectors: 8_617_234, ms: 606_679 });
        assert_eq!((old.write.ios, old.write.ms, old.in_flight), (38_062, 440_821, 3));
        assert_eq!((old.busy_ms, old.weighted_ms, old.discard, old.flush), (49_160, 1_053_740, None, None));
        let newer = parse_stat(&format!("{line} 6361 83 644088 5970")).unwrap();
        assert_eq!(newer.discard.unwrap().bytes(), 644_088 * 512);
        assert_eq!(newer.flush, None);
        let newest = parse_stat(&format!("{line} 6361 83 644088 5970 3552 268 77\n")).unwrap();
        assert_eq!(newest.flush, Some(OpStat { ios: 3552, ms: 268, ..OpStat::default() }));
        assert_eq!(Stat { discard: None, flush: None, ..newest }, old);
    }

    #[test]
    fn what_is_no_such_line_is_none() {
        for line in ["", "1 2 3", "a b c d e f g h i j k", "1 2 3 4 5 6 7 8 -9 10 11"] {
            assert_eq!(parse_stat(line), None, "{line}");
        }
    }
}
