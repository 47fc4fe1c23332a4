//! Describes a target for reports: facts, what limits the trust in its numbers, and its stable name.

use std::fs;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::facts::{LayerKind, is_in_memory};
use likenew_core::target::Health;

use crate::block::{BlockDevice, DeviceNumber, layer_kind};
use crate::drive_traffic::CounterSource;
use crate::mounts::Mount;
use crate::standards::ata::IdentifyDevice;
use crate::standards::scsi;
use crate::wording::target as wording;

/// What the system knows of a target without root and without querying the drive. Unknown facts stay out.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceInfo {
    pub(crate) model: Option<String>,
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) caveats: Vec<String>,
    pub(crate) health: HealthSource,
    pub(crate) counters: CounterSource,
}

impl DeviceInfo {
    /// Describes what holds an open file or folder.
    pub(crate) fn of_mount(fd: impl AsFd) -> Self {
        let mut info = Self::default();
        let Some(mount) = Mount::containing(fd) else {
            info.caveats.push(wording::FILE_SYSTEM_UNKNOWN.into());
            return info;
        };
        info.fact("file system", &mount.kind);
        info.fact("mounted from", &mount.source.to_string_lossy());
        info.fact("mount options", &mount.options);
        if is_in_memory(&mount.kind) {
            info.add_memory();
        }
        info.caveats.extend(file_system_caveat(&mount.kind, &mount.options));
        info.counters = CounterSource::of_mount(&mount);
        if info.counters.names().len() > 1 {
            info.fact("devices", &info.counters.names().join(", "));
        }
        if let Some(device) = mount.block_device() {
            info.add_device(&device);
        }
        info
    }

    /// Describes a block device.
    pub(crate) fn of_device(number: DeviceNumber) -> Self {
        let mut info = Self::default();
        if let Some(device) = BlockDevice::by_number(number) {
            info.counters = CounterSource::of_device(&device);
            info.add_device(&device);
        }
        info
    }

    /// The identity with which a report introduces a target of this name.
    pub(crate) fn identity(
        self,
        name: String,
        kind: TargetKind,
        engine: &str,
        capacity_bytes: u64,
        block_bytes: u32,
    ) -> Identity {
        let Self { model, facts, caveats, .. } = self;
        let engine = engine.to_owned();
        Identity { name, kind, model, engine, capacity_bytes, block_bytes, facts, caveats, accounting: None }
    }

    /// Adds where a path leads, if that is not where it seems to lead.
    pub(crate) fn add_resolution(&mut self, path: &Path, resolved: &Path) {
        if std::path::absolute(path).is_ok_and(|absolute| absolute.components().ne(resolved.components())) {
            self.fact("leads to", &resolved.display().to_string());
        }
    }

    fn fact(&mut self, name: &str, value: &str) {
        self.facts.push((name.to_owned(), value.to_owned()));
    }

    fn add_memory(&mut self) {
        let (name, value) = Identity::IN_MEMORY;
        self.fact(name, value);
        self.caveats.push(wording::MEMORY.to_owned());
    }

    /// Adds that files are written in place, although the file system writes other files elsewhere.
    pub(crate) fn add_writing_in_place(&mut self) {
        let (name, value) = Identity::IN_PLACE;
        self.fact(name, value);
        self.caveats.retain(|caveat| ![wording::COPY_ON_WRITE, wording::COMPRESSES].contains(&&**caveat));
        self.caveats.push(wording::IN_PLACE.to_owned());
    }

    fn add_device(&mut self, device: &BlockDevice) {
        let disk = device.disk();
        self.fact("device", &device.name());
        if device.is_partition() {
            self.fact("disk", &disk.name());
        }
        self.model = disk.model();
        self.health = HealthSource::of_disk(disk.folder());
        for (name, attribute) in [
            ("firmware", "device/firmware_rev"),
            ("firmware", "device/rev"),
            ("built on file", "loop/backing_file"),
            ("mapped name", "dm/name"),
            ("scheduler", "queue/scheduler"),
            ("write cache", "queue/write_cache"),
            ("physical block bytes", "queue/physical_block_size"),
            ("largest discard bytes", "queue/discard_max_bytes"),
        ] {
            if let Some(value) = disk.attribute(attribute) {
                self.fact(name, &value);
            }
        }
        if let Some(bus) = disk.bus() {
            self.fact("bus", &bus);
        }
        let rotates = disk.attribute("queue/rotational").filter(|_| disk.slaves().is_empty());
        if let Some(rotates) = rotates {
            self.fact("rotating", if rotates == "1" { "yes" } else { "no" });
        }
        let slaves = disk.slaves();
        if !slaves.is_empty() {
            self.fact("built on", &slaves.join(", "));
            self.caveats.push(wording::built_on(&disk.name(), &slaves.join(", ")));
        }
        if is_memory(&disk) {
            self.add_memory();
        } else {
            self.caveats.extend(device_caveat(&disk.name(), self.model.as_deref(), disk.hypervisor()));
        }
    }
}

/// The resolved path, or the path itself where it cannot be resolved.
pub(crate) fn resolve(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Memory used as a device, or a loop device over a file that lies in memory.
fn is_memory(disk: &BlockDevice) -> bool {
    let lies_in_memory = || {
        let file = std::fs::File::open(disk.attribute("loop/backing_file")?).ok()?;
        Some(is_in_memory(&Mount::containing(file)?.kind))
    };
    layer_kind(disk) == LayerKind::Memory || lies_in_memory().unwrap_or(false)
}

fn file_system_caveat(kind: &str, options: &str) -> Option<String> {
    let sentence = match kind {
        "overlay" | "aufs" => wording::OVERLAY,
        "btrfs" | "bcachefs" | "f2fs" if compresses(options) => wording::COMPRESSES,
        "zfs" => wording::ZFS,
        "btrfs" | "bcachefs" => wording::COPY_ON_WRITE,
        "nfs" | "nfs4" | "cifs" | "smb3" | "smbfs" | "9p" | "ceph" | "afs" | "lustre" | "virtiofs"
        | "vboxsf" | "glusterfs" | "prl_fs" | "vmhgfs" => wording::REMOTE,
        _ if kind.starts_with("fuse") => wording::FUSE,
        "ecryptfs" => wording::ENCRYPTED,
        _ => return None,
    };
    Some(sentence.to_owned())
}

/// Whether a mount with these options compresses what is written.
pub(crate) fn compresses(options: &str) -> bool {
    let named = |option: &str| option.split_once('=').map_or(option, |(name, _)| name).to_owned();
    let value_is_none = |option: &str| option.ends_with("=no") || option.ends_with("=none");
    options
        .split(',')
        .any(|option| matches!(&*named(option), "compress" | "compress-force") && !value_is_none(option))
}

/// Words in the models of virtual disks.
const VIRTUAL_MODELS: [&str; 8] =
    ["QEMU", "VBOX", "VMware", "Virtual", "Elastic Block Store", "PersistentDisk", "BlockVolume", "LIO-ORG"];

/// What presents a virtual disk: the bus of the hypervisor, or the words of its model.
pub(crate) fn virtual_by(model: Option<&str>, hypervisor: Option<&str>) -> Option<String> {
    let of_model = || model.filter(|model| VIRTUAL_MODELS.iter().any(|word| model.contains(word)));
    hypervisor.or_else(of_model).map(crate::standards::clean)
}

fn device_caveat(name: &str, model: Option<&str>, hypervisor: Option<&str>) -> Option<String> {
    let sentence = if virtual_by(model, hypervisor).is_some() {
        wording::VIRTUAL_DISK
    } else if name.starts_with("loop") {
        wording::LOOP_DEVICE
    } else if name.starts_with("nbd") || name.starts_with("rbd") || name.starts_with("drbd") {
        wording::NETWORK_DEVICE
    } else {
        return None;
    };
    Some(sentence.to_owned())
}

// What the system knows about a drive's state without any command to the drive.

/// Where a disk's temperature can be read, if anywhere: the hardware monitor that its driver offers (nvme, drivetemp).
#[derive(Clone, Debug, Default)]
pub(crate) struct HealthSource {
    temperature: Option<PathBuf>,
}

impl HealthSource {
    /// Looks below a disk's folder in /sys/block.
    pub(crate) fn of_disk(disk: &Path) -> Self {
        // NVMe: device/hwmon3 (a child of the controller) · SATA with drivetemp: device/hwmon/hwmon3.
        let monitors = [disk.join("device"), disk.join("device/hwmon"), disk.join("device/device/hwmon")];
        let inputs = monitors.iter().flat_map(fs::read_dir).flatten().flatten().map(|entry| entry.path());
        let is_monitor = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"hwmon"))
        };
        let temperature =
            inputs.filter(is_monitor).map(|path| path.join("temp1_input")).find(|path| path.exists());
        Self { temperature }
    }

    /// Whether there is a temperature to read.
    pub(crate) fn has_temperature(&self) -> bool {
        self.temperature.is_some()
    }

    /// The temperature now, if it is known.
    pub(crate) fn read(&self) -> Health {
        let millidegrees = self.temperature.as_ref().and_then(|path| fs::read_to_string(path).ok());
        let temperature_c = millidegrees
            .and_then(|text| text.trim().parse::<f64>().ok())
            .and_then(|millidegrees| plausible_c(millidegrees / 1e3));
        Health { temperature_c, ..Health::default() }
    }
}

/// Keeps degrees that a drive can have. Volumes of RAID controllers, bridges and drives without a sensor say
/// 0, -1, 127, 255 or absolute zero.
pub(crate) fn plausible_c(degrees: f64) -> Option<f64> {
    let is_measured = degrees.abs() >= 0.5 && degrees != -1.0 && (-60.0..=125.0).contains(&degrees);
    is_measured.then_some(degrees)
}

// The stable name of a drive, whatever the kernel calls it today.

/// Words that distinguish one drive from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableId {
    /// The kind of these words: `serial number`, `backing file` …
    pub kind: &'static str,
    /// The words themselves.
    pub text: String,
}

impl StableId {
    /// The stable name of a block device: its serial number, or what it is made of. Without these, a USB
    /// drive has its port and exact size, and any other device its name and exact size. An NVMe namespace
    /// other than the first adds its number, as all share the drive's serial number. A partition adds its
    /// number to its disk's name, as udev does.
    pub(crate) fn of_device(device: &BlockDevice, bytes: u64) -> Self {
        let disk = device.disk();
        let of_disk = Self::of_disk(&disk).map(|id| match disk.namespace() {
            Some(number) => Self { text: format!("{}-ns{number}", id.text), ..id },
            None => id,
        });
        let of_disk = of_disk
            .or_else(|| Some(Self { kind: "port and size", text: format!("{} {bytes}", usb_port(&disk)?) }));
        match (of_disk, device.attribute("partition")) {
            (Some(id), Some(number)) => Self { text: format!("{}-part{number}", id.text), ..id },
            (Some(id), None) => id,
            (None, _) => Self { kind: "name and size", text: format!("{} {bytes}", device.name()) },
        }
    }

    /// The stable name of the drive that a device is a part of.
    pub(crate) fn of_drive(device: &BlockDevice) -> Option<Self> {
        Self::of_disk(&device.disk())
    }

    /// The stable name of an existing file: its file name.
    pub(crate) fn of_file(path: &Path) -> Self {
        let text = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { kind: "file name", text }
    }

    fn of_disk(disk: &BlockDevice) -> Option<Self> {
        let attribute = |kind, name: &str| disk.attribute(name).map(|text| Self { kind, text });
        serials(disk)
            .find(|serial| {
                is_of_one_drive(disk, serial, |other| serials(other).any(|shown| shown == *serial))
            })
            .map(|text| Self { kind: SERIAL, text })
            .or_else(|| {
                let name = disk.world_wide_name()?;
                let is_own =
                    is_of_one_drive(disk, &name, |other| other.world_wide_name().as_ref() == Some(&name));
                is_own.then_some(Self { kind: "world-wide name", text: name })
            })
            .or_else(|| attribute("identifier", "dm/uuid"))
            .or_else(|| attribute("identifier", "md/uuid"))
            .or_else(|| attribute("backing file", "loop/backing_file"))
    }
}

/// The kind of a stable name that is a serial number.
pub(crate) const SERIAL: &str = "serial number";

/// Serial numbers of a disk: its own before those of its USB device, which may be a bridge.
fn serials(disk: &BlockDevice) -> impl Iterator<Item = String> {
    let page = |name: &str| disk.binary_attribute(&format!("device/{name}"));
    let ata = || IdentifyDevice::parse(scsi::ata_identify(&page("vpd_pg89")?)?)?.serial();
    // udev asks ATA drives behind bridges too.
    let udev = || disk.udev("ID_ATA").and_then(|_| disk.udev("ID_SERIAL_SHORT"));
    let numbers = [
        disk.attribute("device/serial"),
        disk.attribute("serial"),
        ata(),
        udev(),
        page("vpd_pg80").and_then(|page| scsi::unit_serial(&page)),
        usb_device(disk).and_then(|usb| usb.attribute("serial")),
    ];
    numbers.into_iter().flatten()
}

/// Whether a name is one drive's, and not that of a bridge or an array in front of several, or a maker's placeholder.
fn is_of_one_drive(disk: &BlockDevice, name: &str, has_it: impl Fn(&BlockDevice) -> bool) -> bool {
    let vendor = usb_device(disk).and_then(|usb| usb.attribute("idVendor"));
    !is_placeholder(name, vendor.as_deref())
        && !disk.other_disks().iter().any(|other| has_it(other) && !is_same_drive(disk, other))
}

/// Whether two devices are one drive: namespaces of an NVMe drive, or paths to a disk. Names from a USB bridge do not count.
fn is_same_drive(one: &BlockDevice, other: &BlockDevice) -> bool {
    let device = |disk: &BlockDevice| fs::canonicalize(disk.folder().join("device")).ok();
    let name = one.world_wide_name().filter(|_| !one.is_behind("usb"));
    (device(one).is_some() && device(one) == device(other))
        || (name.is_some() && name == other.world_wide_name())
}

/// Whether a serial number is one that makers give to all of their USB bridges. Such a number counts up, has hardly
/// anything but zeros, begins with the maker's own number (as of JMicron), or is known from lists of USB devices.
pub(crate) fn is_placeholder(serial: &str, vendor: Option<&str>) -> bool {
    const KNOWN: [&str; 4] = ["DD56419883", "AAAABBBBCCCC", "CCCCBBBBAAAA", "000000123AFF"];
    /// A shorter number may well be a genuine one that counts up.
    const DIGITS_MIN: usize = 6;
    let serial = serial.trim().trim_start_matches("naa.").trim_start_matches("eui.").to_uppercase();
    let follows =
        |pair: &[u8]| pair[1] == pair[0] + 1 || matches!(pair, b"9A" | b"90" | b"F0") || pair == b"99";
    let digits: Vec<u8> = serial.bytes().filter(u8::is_ascii_alphanumeric).collect();
    let other_than_zero = digits.iter().filter(|digit| **digit != b'0').count();
    digits.len() >= DIGITS_MIN
        && (other_than_zero <= 2
            || digits.iter().all(|digit| *digit == digits[0])
            || digits.windows(2).all(follows)
            || KNOWN.iter().any(|known| serial.starts_with(known))
            || vendor.is_some_and(|vendor| serial.starts_with(&vendor.to_uppercase())))
}

/// The USB device of a disk, some folders up.
pub(crate) fn usb_device(disk: &BlockDevice) -> Option<BlockDevice> {
    let device = fs::canonicalize(disk.folder().join("device")).ok()?;
    let usb = device.ancestors().find(|folder| folder.join("idVendor").exists())?;
    Some(BlockDevice::at(usb.to_owned()))
}

/// The USB port that a disk is plugged into, and the disk's number there: `usb-2-1-lun1`.
pub(crate) fn usb_port(disk: &BlockDevice) -> Option<String> {
    let address = fs::canonicalize(disk.folder().join("device")).ok()?;
    let unit = address.file_name()?.to_str()?.rsplit(':').next()?.to_owned();
    Some(format!("usb-{}-lun{unit}", usb_device(disk)?.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_plain_drive_is_reported() {
        for (kind, options, word) in [
            ("overlay", "rw", "overlay"),
            ("btrfs", "rw,compress=zstd:3", "compresses"),
            ("btrfs", "rw,nocompress", "in place"),
            ("nfs4", "rw", "another machine"),
            ("fuse.sshfs", "rw", "program"),
            ("zfs", "rw", "ZFS"),
        ] {
            let caveat = file_system_caveat(kind, options).unwrap();
            assert!(caveat.contains(word), "{caveat}");
        }
        assert_eq!(file_system_caveat("ext4", "rw,discard"), None);
        for (name, model, hypervisor, word) in [
            ("vda", None, Some("virtio"), "virtual disk"),
            ("sda", Some("QEMU HARDDISK"), None, "virtual disk"),
            ("nvme0n1", Some("Amazon Elastic Block Store"), None, "virtual disk"),
            ("loop3", None, None, "file on another drive"),
            ("nbd0", None, None, "network"),
        ] {
            let caveat = device_caveat(name, model, hypervisor).unwrap();
            assert!(caveat.contains(word), "{caveat}");
        }
        assert_eq!(device_caveat("nvme0n1", Some("Samsung SSD 990 PRO"), None), None);
    }

    #[test]
    fn this_folder_is_on_a_known_file_system() {
        let info = DeviceInfo::of_mount(std::fs::File::open(env!("CARGO_MANIFEST_DIR")).unwrap());
        assert!(
            info.facts.iter().any(|(name, value)| name == "file system" && !value.is_empty()),
            "{info:?}"
        );
    }

    #[test]
    fn a_temperature_is_found_where_drivers_put_it() {
        for place in ["device/hwmon3", "device/hwmon/hwmon3"] {
            let disk = tempfile::tempdir().unwrap();
            let monitor = disk.path().join(place);
            fs::create_dir_all(&monitor).unwrap();
            assert_eq!(HealthSource::of_disk(disk.path()).read(), Health::default());
            fs::write(monitor.join("temp1_input"), "38850\n").unwrap();
            let source = HealthSource::of_disk(disk.path());
            assert_eq!(source.read().temperature_c, Some(38.85));
            fs::write(monitor.join("temp1_input"), "nonsense").unwrap();
            assert_eq!(source.read().temperature_c, None);
        }
    }

    #[test]
    fn what_stands_for_no_temperature_is_none() {
        for degrees in [0.0, -1.0, -0.001, 127.0, 128.0, -128.0, 255.0, -273.0, 65_262.0, f64::NAN] {
            assert_eq!(plausible_c(degrees), None, "{degrees}");
        }
        assert_eq!([-20.0, 1.0, 38.85, 125.0].map(plausible_c), [-20.0, 1.0, 38.85, 125.0].map(Some));
    }

    fn disk(files: &[(&str, &[u8])]) -> (tempfile::TempDir, BlockDevice) {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("usb1/1-1/host0/block/sdx");
        for (name, bytes) in files {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        fs::create_dir_all(&folder).unwrap();
        (root, BlockDevice::at(folder))
    }

    #[test]
    fn the_serial_number_is_found_where_each_kind_of_disk_has_it() {
        let page = b"\x00\x80\x00\x08  S3RIAL";
        for (files, kind, text) in [
            (&[("device/serial", &b"NVME1 \n"[..])][..], "serial number", "NVME1"),
            (&[("device/serial", b"NVME1"), ("nsid", b"1\n")], "serial number", "NVME1"),
            (&[("device/serial", b"NVME1"), ("nsid", b"2\n")], "serial number", "NVME1-ns2"),
            (&[("serial", b"virtio-7")], "serial number", "virtio-7"),
            (&[("device/vpd_pg80", page)], "serial number", "S3RIAL"),
            (&[("device/vpd_pg80", b"\x00"), ("device/wwid", b"naa.5000")], "world-wide name", "naa.5000"),
            (
                &[("device/x", b""), ("../../../idVendor", b"0781"), ("../../../serial", b"USB9\n")],
                "serial number",
                "USB9",
            ),
            (&[("loop/backing_file", b"/a/disk.img\n")], "backing file", "/a/disk.img"),
            (&[("dm/uuid", b"CRYPT-LUKS2-1")], "identifier", "CRYPT-LUKS2-1"),
            (&[("size", b"8")], "name and size", "sdx 4096"),
        ] {
            let (_root, disk) = disk(files);
            assert_eq!(StableId::of_device(&disk, 4096), StableId { kind, text: text.into() });
        }
    }

    #[test]
    fn a_partition_is_distinguished_from_its_disk() {
        let (_root, disk) = disk(&[("device/serial", b"NVME1"), ("sdx2/partition", b"2\n")]);
        let [partition] = &disk.partitions()[..] else { panic!("one partition") };
        assert_eq!(StableId::of_device(partition, 4096).text, "NVME1-part2");
        assert_eq!(StableId::of_drive(partition).unwrap().text, "NVME1");
    }

    #[test]
    fn numbers_that_every_bridge_of_a_kind_has_are_known() {
        for serial in
            ["000000000001", "0123456789ABCDEF", "DD564198838A2", "123456789012", "012345678999", "FFFFFFFF"]
        {
            assert!(is_placeholder(serial, None), "{serial}");
        }
        assert!(is_placeholder("152D00539000", Some("152d")) && is_placeholder("naa.3000000000000000", None));
        for serial in
            ["S3Z8NB0K", "WD-WCC1", "50026B7686000001", "disk-1", "1", "4C530001", "naa.5000c500a1b2"]
        {
            assert!(!is_placeholder(serial, Some("0781")), "{serial}");
        }
    }
}
