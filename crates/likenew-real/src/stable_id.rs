//! The stable name of a drive, whatever the kernel calls it today.

use std::fs;
use std::path::Path;

use crate::block::BlockDevice;
use crate::standards::ata::IdentifyDevice;
use crate::standards::scsi;

/// The words that distinguish one drive from all others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StableId {
    /// What it is: `serial number`, `backing file` …
    pub kind: &'static str,
    /// The words themselves.
    pub text: String,
}

impl StableId {
    /// Of a block device: its serial number; of one that is made of something else, that; of a USB drive that
    /// shows no number of its own, where it is plugged in, and its exact size; of one that has nothing of the
    /// kind, its name and exact size. A namespace of an NVMe drive other than the first adds its number, as
    /// they all have the drive's serial number; a partition adds its number to its disk's, as udev does.
    pub(crate) fn of_device(device: &BlockDevice, bytes: u64) -> Self {
        let disk = device.disk();
        let namespace = disk.attribute("nsid").filter(|number| number != "1");
        let of_disk = Self::of_disk(&disk).map(|id| match namespace {
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

    /// Of the drive that a device is a part of, whatever part that is.
    pub(crate) fn of_drive(device: &BlockDevice) -> Option<Self> {
        Self::of_disk(&device.disk())
    }

    /// Of an existing file: its name.
    pub(crate) fn of_file(path: &Path) -> Self {
        let text = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Self { kind: "file name", text }
    }

    fn of_disk(disk: &BlockDevice) -> Option<Self> {
        let attribute = |kind, name: &str| disk.attribute(name).map(|text| Self { kind, text });
        serials(disk)
            .find(|serial| is_of_one_drive(disk, serial, |other| serials(other).any(|of| of == *serial)))
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

/// The kind of a serial number.
pub(crate) const SERIAL: &str = "serial number";

/// Serial numbers that a disk shows, what it says itself before what its USB device says, which may be a bridge.
fn serials(disk: &BlockDevice) -> impl Iterator<Item = String> {
    let page = |name: &str| disk.binary_attribute(&format!("device/{name}"));
    let ata = || IdentifyDevice::parse(scsi::ata_identify(&page("vpd_pg89")?)?)?.serial();
    // udev asks ATA drives behind bridges too.
    let udev = || disk.udev("ID_ATA").and_then(|_| disk.udev("ID_SERIAL_SHORT"));
    let found = [
        disk.attribute("device/serial"),
        disk.attribute("serial"),
        ata(),
        udev(),
        page("vpd_pg80").and_then(|page| scsi::unit_serial(&page)),
        usb_device(disk).and_then(|usb| usb.attribute("serial")),
    ];
    found.into_iter().flatten()
}

/// Whether a name is one drive's, and not that of a bridge or an array in front of several, or a maker's placeholder.
fn is_of_one_drive(disk: &BlockDevice, name: &str, has_it: impl Fn(&BlockDevice) -> bool) -> bool {
    let vendor = usb_device(disk).and_then(|usb| usb.attribute("idVendor"));
    !is_placeholder(name, vendor.as_deref())
        && !disk.other_disks().iter().any(|other| has_it(other) && !is_same_drive(disk, other))
}

/// Namespaces of one NVMe drive, and paths to one disk. All that a bridge of USB says can be its own.
fn is_same_drive(one: &BlockDevice, other: &BlockDevice) -> bool {
    let device = |disk: &BlockDevice| fs::canonicalize(disk.folder().join("device")).ok();
    let name = one.world_wide_name().filter(|_| !one.is_behind("usb"));
    (device(one).is_some() && device(one) == device(other))
        || (name.is_some() && name == other.world_wide_name())
}

/// Whether it is a number that makers of USB bridges give to every one: one that counts up, of hardly anything
/// but zeros, that begins with the maker's own number (as of JMicron), or known from lists of USB devices.
pub(crate) fn is_placeholder(serial: &str, vendor: Option<&str>) -> bool {
    const KNOWN: [&str; 4] = ["DD56419883", "AAAABBBBCCCC", "CCCCBBBBAAAA", "000000123AFF"];
    /// As short as this, a number may well be one that was counted.
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

/// The USB port that a disk is plugged into, and its number there: `usb-2-1-lun1`.
pub(crate) fn usb_port(disk: &BlockDevice) -> Option<String> {
    let address = fs::canonicalize(disk.folder().join("device")).ok()?;
    let unit = address.file_name()?.to_str()?.rsplit(':').next()?.to_owned();
    Some(format!("usb-{}-lun{unit}", usb_device(disk)?.name()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
