//! Which layers are between a file system and the medium, and which of them pass TRIM on, as /sys and the
//! mount say.

use std::os::fd::{AsFd, OwnedFd};

use likenew_core::facts::LayerKind;
use likenew_core::probe::{Layer, ProbeResult, ReadsAs, TrimCapabilities, TrimPath};
use rustix::fs::{Mode, OFlags, open, stat};
use rustix::io::Errno;

use super::MountedDevice;
use crate::block::{BlockDevice, layer_kind};
use crate::drive_commands::{NvmeCommand, identify_ata, read_nvme};
use crate::identify::usb_device;
use crate::standards::ata::TrimSupport;
use crate::standards::nvme::{Controller, Namespace};
use crate::standards::scsi;
use crate::wording::trim as wording;

/// File systems that send TRIM when they are asked to (FITRIM), and most of them by themselves when mounted
/// with `discard`.
pub(crate) const SENDERS: [&str; 15] = [
    "ext2", "ext3", "ext4", "xfs", "btrfs", "bcachefs", "f2fs", "jfs", "nilfs2", "gfs2", "ocfs2", "vfat",
    "exfat", "ntfs3", "hfsplus",
];

/// TRIM's way down from a mounted file system.
pub(crate) fn mount_path(mounted: &MountedDevice) -> TrimPath {
    let mut path = mounted.device.as_ref().map(device_path).unwrap_or_default();
    let sends = SENDERS.contains(&&*mounted.mount.kind);
    let evidence = match &*mounted.mount.kind {
        _ if sends && mounted.discards_immediately() => wording::MOUNTED_WITH_DISCARD,
        _ if sends => wording::MOUNTED_WITHOUT_DISCARD,
        "zfs" => wording::ZFS_AUTOTRIM,
        _ => wording::SENDING_UNKNOWN,
    };
    let (name, kind) = (mounted.mount.point.clone(), mounted.mount.kind.clone());
    let top = Layer { passes: sends.then_some(true), ..without_limits(name, kind, evidence.to_owned()) };
    path.immediate = sends.then(|| mounted.discards_immediately());
    path.layers.insert(0, top);
    path
}

/// TRIM's way down from a block device.
pub(crate) fn device_path(device: &BlockDevice) -> TrimPath {
    let stack = stack(device);
    let medium = stack.last().filter(|last| !is_loop(last));
    let rotates = medium.and_then(|medium| medium.attribute("queue/rotational")).map(|text| text == "1");
    let medium_bytes = stack.last().and_then(BlockDevice::bytes);
    TrimPath { layers: stack.iter().map(layer).collect(), immediate: None, rotates, medium_bytes }
}

/// A device and everything that it is built on, from the top down; the members of an array come one after the other.
pub(crate) fn stack(device: &BlockDevice) -> Vec<BlockDevice> {
    let mut devices = Vec::new();
    add(device, &mut devices);
    devices
}

/// Most devices of a stack, more than any real one has: only a bug could make /sys lead in a circle.
const DEVICES_MAX: usize = 64;

fn add(device: &BlockDevice, devices: &mut Vec<BlockDevice>) {
    if devices.len() >= DEVICES_MAX || devices.iter().any(|known| known.folder() == device.folder()) {
        return;
    }
    devices.push(device.clone());
    device.devices_below().iter().for_each(|below| add(below, devices));
}

fn layer(device: &BlockDevice) -> Layer {
    let number = |name: &str| device.attribute(name)?.parse::<u64>().ok();
    let (kind, name) = (layer_kind(device), device.name());
    if kind == LayerKind::Partition {
        return without_limits(name, words(kind, device), wording::as_the_disk(&device.disk().name()));
    }
    let most = number("queue/discard_max_bytes");
    let provisioning = device.provisioning_mode();
    let passes = most.map(|bytes| bytes > 0);
    let limit = most.map(|bytes| format!("queue/discard_max_bytes = {bytes}"));
    let mode = provisioning.as_ref().map(|mode| format!("provisioning_mode = {mode}"));
    let evidence: Vec<String> = limit.into_iter().chain(mode).collect();
    Layer {
        passes,
        discard_max_bytes: most,
        granularity_bytes: number("queue/discard_granularity").filter(|bytes| *bytes > 0),
        evidence: if evidence.is_empty() { wording::NOT_IN_SYS.to_owned() } else { evidence.join(", ") },
        remedy: (passes == Some(false)).then(|| remedy(kind, device)).flatten(),
        kind: words(kind, device),
        name,
    }
}

/// A layer whose limits of discards are unknown.
fn without_limits(name: String, kind: String, evidence: String) -> Layer {
    let (discard_max_bytes, granularity_bytes) = (None, None);
    Layer { name, kind, passes: None, discard_max_bytes, granularity_bytes, evidence, remedy: None }
}

fn is_loop(device: &BlockDevice) -> bool {
    device.attribute("loop/backing_file").is_some()
}

/// The kind of a device in words.
fn words(kind: LayerKind, device: &BlockDevice) -> String {
    match kind {
        LayerKind::Array => format!("array ({})", device.attribute("md/level").unwrap_or_default()),
        kind => kind.words().to_owned(),
    }
}

/// The udev rule with which the kernel sends TRIM to a disk that supports UNMAP, but does not announce thin
/// provisioning. The rule names the numbers of the disk's USB bridge, or else the disk's names.
pub(crate) fn unmap_rule(device: &BlockDevice) -> Option<String> {
    let page = device.binary_attribute("device/vpd_pgb2")?;
    let is_unsent =
        device.provisioning_mode().as_deref() == Some("full") && scsi::provisioning(&page)?.unmaps;
    let is_word = |text: &String| !text.contains(['"', '\\', '*', '?', '[', '|']);
    let by = |device: &BlockDevice, names: [&str; 2]| {
        let [first, second] = names.map(|name| {
            let value = device.attribute(name).filter(is_word)?;
            Some(format!("ATTRS{{{name}}}==\"{value}\""))
        });
        Some(format!("{}, {}", first?, second?))
    };
    let device = usb_device(device).map_or_else(
        || by(&BlockDevice::at(device.folder().join("device")), ["vendor", "model"]),
        |usb| by(&usb, ["idVendor", "idProduct"]),
    )?;
    is_unsent.then(|| {
        format!(
            "ACTION==\"add|change\", SUBSYSTEM==\"scsi_disk\", {device}, ATTR{{provisioning_mode}}=\"unmap\""
        )
    })
}

/// What would let TRIM pass a layer.
fn remedy(kind: LayerKind, device: &BlockDevice) -> Option<String> {
    let level = device.attribute("md/level").unwrap_or_default();
    Some(match kind {
        LayerKind::Crypt => {
            let name = device.attribute("dm/name").unwrap_or_else(|| "NAME".to_owned());
            wording::allow_through_encryption(&name)
        }
        LayerKind::Array if ["raid4", "raid5", "raid6"].contains(&&*level) => {
            wording::PARITY_ARRAY.to_owned()
        }
        LayerKind::Loop => wording::LOOP_FILE.to_owned(),
        LayerKind::UsbDisk | LayerKind::Disk => match unmap_rule(device) {
            Some(rule) => wording::unmap_by_rule(&rule),
            None if kind == LayerKind::UsbDisk => wording::USB_BRIDGE.to_owned(),
            None => return None,
        },
        LayerKind::VirtualDisk => wording::VIRTUAL_DISK.to_owned(),
        LayerKind::LogicalVolume
        | LayerKind::Thin
        | LayerKind::ThinPool
        | LayerKind::Cache
        | LayerKind::Multipath
        | LayerKind::Mapping
        | LayerKind::Array => wording::CHECK_LAYERS.to_owned(),
        _ => return None,
    })
}

// What a drive reports about TRIM, by NVMe's Identify, ATA's IDENTIFY DEVICE, or SCSI's page of logical block
// provisioning.

/// What the lowest device of a stack reports about TRIM.
pub(crate) fn disk_claims(stack: &[BlockDevice]) -> ProbeResult {
    let Some(disk) = stack.last() else {
        return ProbeResult::Unknown(wording::NO_DEVICE_BELOW_IT.to_owned());
    };
    let name = disk.name();
    if let Some(claims) = disk.binary_attribute("device/vpd_pgb2").as_deref().and_then(scsi_claims) {
        return ProbeResult::TrimClaims(claims);
    }
    let is_nvme = name.starts_with("nvme");
    if !is_nvme && !name.starts_with("sd") && !name.starts_with("hd") {
        return ProbeResult::Unknown(wording::kind_reports_none(&name));
    }
    let device = match open_disk(disk) {
        Ok(device) => device,
        Err(Errno::ACCESS | Errno::PERM) => {
            return ProbeResult::Unknown(wording::needs_root(&name));
        }
        Err(errno) => return ProbeResult::Unknown(wording::not_opened(&name, errno)),
    };
    let claims = if is_nvme {
        nvme_claims(&device)
    } else {
        identify_ata(&device).map(|identify| Some(ata_claims(identify.trim())))
    };
    match claims {
        Ok(Some(claims)) => ProbeResult::TrimClaims(claims),
        Ok(None) => ProbeResult::Unknown(wording::invalid_answer(&name)),
        Err(errno) => ProbeResult::Unknown(wording::no_answer(&name, errno)),
    }
}

/// Bytes that the lowest device of a stack counts as in use, and which counter says so; `None` if there is no
/// such counter.
pub(crate) fn allocated_bytes(stack: &[BlockDevice]) -> Option<(u64, String)> {
    let disk = stack.last()?;
    if let Some(file) = disk.attribute("loop/backing_file") {
        let blocks = stat(&*file).ok()?.st_blocks.cast_unsigned();
        // The unit of `st_blocks` is 512 bytes on every file system (stat(2)). Some report none, although the
        // file holds something.
        return (blocks > 0).then(|| (blocks * 512, wording::blocks_of_file(&file, &disk.name())));
    }
    if !disk.name().starts_with("nvme") {
        return None;
    }
    let (answer, _) = read_nvme(open_disk(disk).ok()?, NvmeCommand::Namespace).ok()?;
    let namespace = Namespace::parse(&answer)?;
    let bytes = namespace.used_blocks?.checked_mul(namespace.format.block_bytes)?;
    Some((bytes, wording::namespace_utilization(&disk.name())))
}

fn open_disk(disk: &BlockDevice) -> Result<OwnedFd, Errno> {
    open(disk.node(), OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())
}

fn claims(trims: bool, reads_as: ReadsAs, evidence: String) -> TrimCapabilities {
    TrimCapabilities { trims: Some(trims), reads_as: Some(reads_as), evidence }
}

fn scsi_claims(page: &[u8]) -> Option<TrimCapabilities> {
    let provisioning = scsi::provisioning(page)?;
    let reads_as = if provisioning.reads_as & 1 == 1 { ReadsAs::Zeros } else { ReadsAs::Anything };
    Some(claims(
        provisioning.unmaps,
        reads_as,
        wording::scsi_claims(provisioning.unmaps, provisioning.reads_as),
    ))
}

fn ata_claims(trim_support: TrimSupport) -> TrimCapabilities {
    let TrimSupport { trims, reads_same, reads_zeros } = trim_support;
    let reads_as = match (reads_same, reads_zeros) {
        (true, true) => ReadsAs::Zeros,
        (true, false) => ReadsAs::Same,
        _ => ReadsAs::Anything,
    };
    claims(trims, reads_as, wording::ata_claims(trims, reads_same, reads_zeros))
}

fn nvme_claims(device: impl AsFd) -> Result<Option<TrimCapabilities>, Errno> {
    let (controller, _) = read_nvme(&device, NvmeCommand::Controller)?;
    let (namespace, _) = read_nvme(&device, NvmeCommand::Namespace)?;
    let answers = Controller::parse(&controller).zip(Namespace::parse(&namespace));
    Ok(answers.map(|(controller, namespace)| claims_of(controller.trims(), namespace.deallocated)))
}

/// What NVMe's Dataset Management and DLFEAT say about TRIM.
fn claims_of(trims: bool, deallocated: u8) -> TrimCapabilities {
    let reads_as = match deallocated & 0b111 {
        1 => ReadsAs::Zeros,
        2 => ReadsAs::Ones,
        _ => ReadsAs::Anything,
    };
    claims(trims, reads_as, wording::nvme_claims(trims, deallocated))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A part of a /sys.
    struct Sys(tempfile::TempDir);

    impl Sys {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn device(&self, path: &str, attributes: &[(&str, &str)]) -> BlockDevice {
            let folder = self.0.path().join(path);
            fs::create_dir_all(&folder).unwrap();
            for (name, value) in attributes {
                let file = folder.join(name);
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(file, format!("{value}\n")).unwrap();
            }
            BlockDevice::at(folder)
        }

        fn built_on(&self, device: &BlockDevice, below: &BlockDevice) {
            let slaves = device.folder().join("slaves");
            fs::create_dir_all(&slaves).unwrap();
            symlink(below.folder(), slaves.join(below.name())).unwrap();
        }
    }

    const PASSES: (&str, &str) = ("queue/discard_max_bytes", "2147450880");
    const BLOCKS: (&str, &str) = ("queue/discard_max_bytes", "0");

    #[test]
    fn encryption_on_a_partition_is_named_with_its_fix() {
        let sys = Sys::new();
        let disk = sys
            .device("nvme0n1", &[PASSES, ("queue/rotational", "0"), ("queue/discard_granularity", "4096")]);
        let part = sys.device("nvme0n1/nvme0n1p2", &[("partition", "2")]);
        let crypt = sys.device("dm-0", &[BLOCKS, ("dm/uuid", "CRYPT-LUKS2-0123"), ("dm/name", "home")]);
        sys.built_on(&crypt, &part);
        let path = device_path(&crypt);
        let kinds: Vec<&str> = path.layers.iter().map(|layer| &*layer.kind).collect();
        assert_eq!(kinds, ["encryption (dm-crypt)", "partition", "disk"]);
        let passes: Vec<Option<bool>> = path.layers.iter().map(|layer| layer.passes).collect();
        assert_eq!(passes, [Some(false), None, Some(true)]);
        let blocked = path.blocked_by().unwrap();
        assert_eq!(blocked.name, "dm-0");
        assert!(blocked.remedy.as_ref().unwrap().contains("refresh home"));
        assert_eq!((path.layers[2].granularity_bytes, path.rotates), (Some(4096), Some(false)));
        assert_eq!(disk.name(), "nvme0n1");
    }

    #[test]
    fn an_array_has_all_its_members_and_a_fix_that_is_careful() {
        let sys = Sys::new();
        let array = sys.device("md0", &[BLOCKS, ("md/level", "raid5")]);
        for name in ["sda", "sdb", "sdc"] {
            sys.built_on(&array, &sys.device(name, &[PASSES]));
        }
        let path = device_path(&array);
        assert_eq!(path.layers.len(), 4);
        assert_eq!(path.blocked_by().unwrap().kind, "array (raid5)");
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("rebuild"));
    }

    #[test]
    fn a_usb_bridge_that_announces_nothing_is_to_blame_for_what_lies_on_it() {
        let sys = Sys::new();
        let disk = sys.device(
            "pci0/usb2/2-1/host6/sdb",
            &[BLOCKS, ("device/scsi_disk/6:0:0:0/provisioning_mode", "full")],
        );
        let volume = sys.device("dm-1", &[BLOCKS, ("dm/uuid", "LVM-x"), ("dm/name", "vg-lv")]);
        sys.built_on(&volume, &disk);
        let path = device_path(&volume);
        let blocked = path.blocked_by().unwrap();
        assert_eq!((&*blocked.name, &*blocked.kind), ("sdb", "disk behind USB"));
        assert!(blocked.evidence.contains("provisioning_mode = full"), "{}", blocked.evidence);
        assert!(blocked.remedy.as_ref().unwrap().contains("connect the drive directly"));
    }

    #[test]
    fn a_disk_that_supports_unmap_has_a_rule_for_it() {
        let sys = Sys::new();
        let rule = |mode: &str, page: &[u8]| {
            let usb = [("idVendor", "152d"), ("idProduct", "0578")];
            sys.device("usb2/2-1", &usb);
            let disk = sys.device(
                "usb2/2-1/host6/sdb",
                &[BLOCKS, ("device/scsi_disk/6:0:0:0/provisioning_mode", mode)],
            );
            fs::write(disk.folder().join("device/vpd_pgb2"), page).unwrap();
            unmap_rule(&disk)
        };
        let (unmaps, silent) = ([0, 0xB2, 0, 4, 0, 0x84, 2, 0], [0, 0xB2, 0, 4, 0, 0x04, 2, 0]);
        assert_eq!(
            rule("full", &unmaps).unwrap(),
            r#"ACTION=="add|change", SUBSYSTEM=="scsi_disk", ATTRS{idVendor}=="152d", ATTRS{idProduct}=="0578", ATTR{provisioning_mode}="unmap""#
        );
        for (mode, page) in [("full", &silent[..]), ("unmap", &unmaps), ("disabled", &unmaps), ("full", &[])]
        {
            assert_eq!(rule(mode, page), None, "{mode}");
        }
    }

    #[test]
    fn what_says_nothing_blocks_nothing() {
        let sys = Sys::new();
        let path = device_path(&sys.device("sdz", &[]));
        assert_eq!((path.layers[0].passes, path.blocked_by()), (None, None));
        assert_eq!(path.layers[0].evidence, "/sys does not report it");
        let virtual_disk = sys.device("vda", &[BLOCKS]);
        let bus = sys.0.path().join("bus/virtio");
        fs::create_dir_all(&bus).unwrap();
        fs::create_dir_all(virtual_disk.folder().join("device")).unwrap();
        symlink(&bus, virtual_disk.folder().join("device/subsystem")).unwrap();
        let path = device_path(&virtual_disk);
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("discard=unmap"));
        let own_file =
            sys.device("loop9", &[BLOCKS, ("loop/backing_file", "/x/y"), ("queue/rotational", "1")]);
        let path = device_path(&own_file);
        assert!(path.blocked_by().unwrap().remedy.as_ref().unwrap().contains("punch holes"));
        assert_eq!(
            path.rotates, None,
            "a loop device reports what its file's disk reports, which is not below it here"
        );
    }

    #[test]
    fn a_circle_ends() {
        let sys = Sys::new();
        let (first, second) = (sys.device("dm-0", &[PASSES]), sys.device("dm-1", &[PASSES]));
        sys.built_on(&first, &second);
        sys.built_on(&second, &first);
        assert_eq!(stack(&first).len(), 2);
    }

    #[test]
    fn scsi_claims_are_two_fields_of_one_page() {
        let page = |flags: u8| [0, 0xB2, 0, 4, 0, flags, 2, 0];
        let claims = scsi_claims(&page(0b1000_0100)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        let claims = scsi_claims(&page(0b0000_0000)).unwrap();
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Anything)));
        assert_eq!(scsi_claims(&[0; 64]), None, "another page");
    }

    #[test]
    fn ata_claims_are_three_bits() {
        let claims = |trims, reads_same, reads_zeros| {
            let claims = ata_claims(TrimSupport { trims, reads_same, reads_zeros });
            (claims.trims.unwrap(), claims.reads_as.unwrap())
        };
        assert_eq!(claims(true, true, true), (true, ReadsAs::Zeros));
        assert_eq!(claims(true, true, false), (true, ReadsAs::Same));
        assert_eq!(
            claims(true, false, true),
            (true, ReadsAs::Anything),
            "zeros are promised only together with DRAT"
        );
        assert_eq!(claims(false, false, false), (false, ReadsAs::Anything));
    }

    #[test]
    fn nvme_claims_come_from_controller_and_namespace() {
        let claims = claims_of(true, 0b1001);
        assert_eq!((claims.trims, claims.reads_as), (Some(true), Some(ReadsAs::Zeros)));
        let claims = claims_of(false, 2);
        assert_eq!((claims.trims, claims.reads_as), (Some(false), Some(ReadsAs::Ones)));
    }

    #[test]
    fn a_device_that_makes_no_claims_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let device = folder.path().join("loop77");
        std::fs::create_dir_all(device.join("device")).unwrap();
        let device = BlockDevice::at(device);
        assert!(
            matches!(disk_claims(std::slice::from_ref(&device)), ProbeResult::Unknown(reason) if reason.contains("loop77"))
        );
        std::fs::write(device.folder().join("device/vpd_pgb2"), [0, 0xB2, 0, 4, 0, 0x84, 0, 0]).unwrap();
        assert!(
            matches!(disk_claims(&[device]), ProbeResult::TrimClaims(claims) if claims.trims == Some(true))
        );
        assert!(matches!(disk_claims(&[]), ProbeResult::Unknown(_)));
    }
}
