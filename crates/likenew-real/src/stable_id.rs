//! The stable name of a drive, whatever the kernel calls it today.

use std::fs;
use std::path::Path;

use crate::block::BlockDevice;
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
    /// Of a block device: its serial number; of one that is made of something else, that; of one that has
    /// nothing of the kind, its name and exact size. A namespace of an NVMe drive other than the first adds
    /// its number, as they all have the drive's serial number; a partition adds its number to its disk's, as
    /// udev does.
    pub(crate) fn of_device(device: &BlockDevice, bytes: u64) -> Self {
        let disk = device.disk();
        let namespace = disk.attribute("nsid").filter(|number| number != "1");
        let of_disk = Self::of_disk(&disk).map(|id| match namespace {
            Some(number) => Self { text: format!("{}-ns{number}", id.text), ..id },
            None => id,
        });
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
        attribute("serial number", "device/serial")
            .or_else(|| attribute("serial number", "serial"))
            .or_else(|| serial_of_page(disk.folder()))
            .or_else(|| serial_of_usb(disk.folder()))
            .or_else(|| attribute("world-wide name", "wwid"))
            .or_else(|| attribute("world-wide name", "device/wwid"))
            .or_else(|| attribute("identifier", "dm/uuid"))
            .or_else(|| attribute("identifier", "md/uuid"))
            .or_else(|| attribute("backing file", "loop/backing_file"))
    }
}

/// The unit serial number page of SCSI and ATA disks.
fn serial_of_page(disk: &Path) -> Option<StableId> {
    let page = fs::read(disk.join("device/vpd_pg80")).ok()?;
    Some(StableId { kind: "serial number", text: scsi::unit_serial(&page)? })
}

/// A stick answers no such page, but its USB device has a serial number, some folders up.
fn serial_of_usb(disk: &Path) -> Option<StableId> {
    let device = fs::canonicalize(disk.join("device")).ok()?;
    let usb = device.ancestors().find(|folder| folder.join("idVendor").exists())?;
    let text = fs::read_to_string(usb.join("serial")).ok()?.trim().to_owned();
    (!text.is_empty()).then_some(StableId { kind: "serial number", text })
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
}
