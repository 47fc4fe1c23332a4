//! What a block device is, as a layer between a folder and a medium.

use likenew_core::facts::LayerKind;

use crate::block::BlockDevice;

/// Determined from its name, its identifier, and its parents.
pub(crate) fn layer_kind(device: &BlockDevice) -> LayerKind {
    let name = device.name();
    let by_number = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
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

/// The identifiers of mappings begin with who made them (libdevmapper's `DM_UUID`); those of LVM end with
/// what they are for.
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
