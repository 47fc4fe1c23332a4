//! The guest's drives: one of every kind that QEMU can emulate, each with its own model string for
//! identification.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use super::image;

/// Capacity of all drives.
pub(crate) const BYTES: u64 = 64 << 20;
/// Reads of this sector fail on the disk behind the RAID controller.
pub(crate) const BAD_SECTOR: u64 = 2048;

/// The devices, in the order in which they are added.
const DEVICES: [&str; 20] = [
    // A four-lane port with a one-lane drive.
    "pcie-root-port,id=wide,chassis=1,x-speed=8,x-width=4",
    "nvme,id=two,bus=wide,serial=LN-NVME-TWO",
    "nvme-ns,drive=first,bus=two,nsid=1",
    "nvme-ns,drive=second,bus=two,nsid=2,logical_block_size=4096,physical_block_size=4096",
    // A zoned drive that reports degraded reliability (bit 2).
    "pcie-root-port,id=plain,chassis=2",
    "nvme,id=worn,bus=plain,serial=LN-NVME-WORN,smart_critical_warning=4",
    "nvme-ns,drive=worn,bus=worn,nsid=1,zoned=true,zoned.zone_size=4M",
    "ide-hd,bus=ide.0,drive=fast,model=LN FAST,serial=LN-SATA-FAST,ver=1.5,rotation_rate=1,physical_block_size=4096",
    "ide-hd,bus=ide.1,drive=spinning,model=LN SPINNING,serial=LN-SATA-SPINNING,ver=2.5,rotation_rate=7200,write-cache=off",
    "qemu-xhci,id=usb",
    "usb-storage,bus=usb.0,drive=stick,serial=LN-USB-STICK,removable=on",
    "usb-uas,id=uas,bus=usb.0,serial=LN-USB-BRIDGE",
    "scsi-hd,bus=uas.0,drive=bridge,vendor=LN,product=LN BRIDGE,serial=LN-BRIDGE-DISK",
    "virtio-blk-pci,drive=virtual,serial=LN-VIRTIO-BLK",
    "virtio-scsi-pci,id=scsi",
    "scsi-hd,bus=scsi.0,drive=volume,vendor=LN,product=LN VOLUME,serial=LN-VOLUME,rotation_rate=1",
    "megasas,id=raid",
    "scsi-hd,bus=raid.0,drive=sas,vendor=LN,product=LN SAS,serial=LN-SAS,ver=3.5,rotation_rate=10000",
    "sdhci-pci",
    "sd-card,drive=card",
];

/// QEMU's arguments for all of them.
pub(super) fn hardware(folder: &Path) -> Vec<String> {
    let mut all = Vec::new();
    let drives =
        ["first", "second", "worn", "fast", "spinning", "stick", "bridge", "virtual", "volume", "card"];
    for name in drives {
        let path = image(folder, name, BYTES);
        let file = format!("driver=file,filename={},node-name={name}-file,discard=unmap", path.display());
        let drive = format!("driver=raw,file={name}-file,node-name={name},discard=unmap");
        all.extend(["-blockdev".to_owned(), file, "-blockdev".to_owned(), drive]);
    }
    // Where disks of 4 KiB blocks had their first partition for decades.
    partition(&folder.join("fast.img"), 63);
    partition(&folder.join("spinning.img"), 2048);
    let sas = image(folder, "sas", BYTES);
    let sas = serde_json::json!({
        "driver": "blkdebug", "node-name": "sas",
        "image": {"driver": "file", "filename": sas},
        "inject-error": [{"event": "none", "iotype": "read", "sector": BAD_SECTOR, "errno": 5}],
    });
    all.extend(["-blockdev".to_owned(), sas.to_string()]);
    all.extend(DEVICES.iter().flat_map(|device| ["-device".to_owned(), (*device).to_owned()]));
    all
}

/// One partition from a sector on.
fn partition(image: &Path, start: u64) {
    let mut sfdisk = Command::new("sfdisk");
    let mut sfdisk = sfdisk.arg("-q").arg(image).stdin(Stdio::piped()).spawn().unwrap();
    sfdisk.stdin.take().unwrap().write_all(format!("start={start}\n").as_bytes()).unwrap();
    assert!(sfdisk.wait().unwrap().success(), "sfdisk {}", image.display());
}
