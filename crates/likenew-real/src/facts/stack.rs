//! The layers from a folder or device down to the drives.

use likenew_core::facts::{Fact, Layer, LayerKind};

use super::file_system;
use super::identity::scsi_rotation;
use super::machine::{MachineQuery, Question, Roots, answer};
use crate::block::{BlockDevice, layer_kind};
use crate::mounts::Mount;
use crate::standards::clean;
use crate::trim::{SENDERS, stack, unmap_rule};
use crate::wording::facts as wording;

/// The layers below some devices, from the top down; a layer that several devices share is listed once.
pub(crate) fn layers(roots: &Roots, queries: &dyn MachineQuery, devices: &[BlockDevice]) -> Vec<Layer> {
    let mut layers: Vec<Layer> = Vec::new();
    for device in devices.iter().flat_map(stack) {
        if layers.iter().all(|known| known.name != device.name()) {
            layers.push(layer(roots, queries, &device));
        }
    }
    layers
}

/// The drives at the bottom of some devices.
pub(crate) fn bottoms(devices: &[BlockDevice]) -> Vec<BlockDevice> {
    let mut bottoms: Vec<BlockDevice> = Vec::new();
    for device in devices.iter().flat_map(stack) {
        if device.devices_below().is_empty() && bottoms.iter().all(|known| known.folder() != device.folder())
        {
            bottoms.push(device);
        }
    }
    bottoms
}

/// A mounted file system as the topmost layer.
pub(crate) fn mount_layer(mount: &Mount, devices: &[BlockDevice]) -> Layer {
    let sends = SENDERS.contains(&&*mount.kind);
    let origin = "/proc/self/mountinfo";
    Layer {
        name: clean(&mount.point),
        kind: LayerKind::FileSystem,
        on: devices.iter().map(BlockDevice::name).collect(),
        label: Fact::new(clean(&mount.kind), origin),
        takes_trim: if sends {
            Fact::new(true, origin)
        } else {
            Fact::unknown(wording::sends_trim_unknown(&mount.kind), origin)
        },
        ..Layer::default()
    }
}

fn layer(roots: &Roots, queries: &dyn MachineQuery, device: &BlockDevice) -> Layer {
    let kind = layer_kind(device);
    let number = |name: &str| roots.count::<u64>(device, name);
    let base = Layer {
        name: device.name(),
        kind,
        on: device.devices_below().iter().map(BlockDevice::name).collect(),
        label: label(roots, device, kind),
        start_bytes: start_bytes(roots, device, kind),
        hole_bytes: hole_bytes(roots, device, kind),
        capacity_bytes: number("size").and_then(wording::TOO_LARGE, sector_bytes),
        alignment_offset_bytes: roots.count(device, "alignment_offset"),
        discard_alignment_bytes: number("discard_alignment"),
        ..Layer::default()
    };
    if kind == LayerKind::Partition {
        return base;
    }
    let kibibytes = |kibibytes: u64| kibibytes.checked_mul(1024);
    let discards = number("queue/discard_max_bytes");
    Layer {
        logical_block_bytes: number("queue/logical_block_size"),
        physical_block_bytes: number("queue/physical_block_size"),
        optimal_io_bytes: number("queue/optimal_io_size"),
        takes_trim: discards.clone().map(|bytes| bytes > 0),
        discard_bytes_max: discards,
        discard_granularity_bytes: number("queue/discard_granularity"),
        provisioning_mode: known(device.provisioning_mode(), device, "device/scsi_disk/*/provisioning_mode"),
        unmap_rule: known(unmap_rule(device), device, "device/vpd_pgb2"),
        scheduler: roots.attribute(device, "queue/scheduler").map(|line| selected_option(&line)),
        queue_requests_max: number("queue/nr_requests"),
        request_bytes_max: number("queue/max_sectors_kb").and_then(wording::TOO_LARGE, kibibytes),
        read_ahead_bytes: number("queue/read_ahead_kb").and_then(wording::TOO_LARGE, kibibytes),
        write_cache: roots.attribute(device, "queue/write_cache"),
        rotates: rotates(roots, device, kind),
        options: options(queries, device, kind),
        ..array(roots, device, kind, base)
    }
}

/// Sectors in bytes: /sys counts in sectors of 512 bytes, whatever the device's own are.
fn sector_bytes(sectors: u64) -> Option<u64> {
    sectors.checked_mul(512)
}

fn start_bytes(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<u64> {
    let number = |name: &str| roots.count::<u64>(device, name);
    match kind {
        LayerKind::Partition => number("start").and_then(wording::TOO_LARGE, sector_bytes),
        LayerKind::Loop
            if ["loop/offset", "loop/sizelimit"].iter().any(|name| number(name).get() > Some(0)) =>
        {
            number("loop/offset")
        }
        _ => Fact::NotQueried,
    }
}

fn label(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<String> {
    match kind {
        LayerKind::Loop => roots.attribute(device, "loop/backing_file"),
        _ if device.attribute("dm/name").is_some() => roots.attribute(device, "dm/name"),
        _ => Fact::NotQueried,
    }
}

fn hole_bytes(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<u64> {
    if kind != LayerKind::Loop {
        return Fact::NotQueried;
    }
    let file = roots.attribute(device, "loop/backing_file").value().and_then(|file| roots.file(file));
    let length = file.as_ref().and_then(|file| file.metadata().ok()).map(|metadata| metadata.len());
    match file.zip(length) {
        Some((file, length)) => file_system::hole_bytes(file, length),
        None => Fact::unknown(wording::FILE_NOT_VISIBLE, "SEEK_HOLE"),
    }
}

/// Whether a disk rotates. The kernel assumes that it does unless the disk says otherwise, which most USB and
/// virtual disks do not (SCSI's page B1h).
fn rotates(roots: &Roots, device: &BlockDevice, kind: LayerKind) -> Fact<bool> {
    let flag = roots.attribute(device, "queue/rotational").map(|text| text == "1");
    let may_be_silent = matches!(kind, LayerKind::UsbDisk | LayerKind::VirtualDisk);
    if may_be_silent && flag.get() == Some(true) && scsi_rotation(roots, device).value().is_none() {
        return flag.and_then(wording::ROTATION_ASSUMED, |_| None);
    }
    flag
}

/// A fact about something that not every device has.
fn known(value: Option<String>, device: &BlockDevice, attribute: &str) -> Fact<String> {
    value.map_or(Fact::NotQueried, |value| Fact::new(value, Roots::place(device, attribute)))
}

/// The option in brackets: `none` in `mq-deadline [none] kyber`.
fn selected_option(line: &str) -> String {
    let inside = line.split_once('[').and_then(|(_, rest)| Some(rest.split_once(']')?.0));
    inside.unwrap_or(line).to_owned()
}

fn array(roots: &Roots, device: &BlockDevice, kind: LayerKind, base: Layer) -> Layer {
    if kind != LayerKind::Array {
        return base;
    }
    Layer {
        level: roots.attribute(device, "md/level"),
        chunk_bytes: roots.count(device, "md/chunk_size"),
        members_missing: roots.count(device, "md/degraded"),
        busy_with: roots.attribute(device, "md/sync_action"),
        ..base
    }
}

/// Options of an encrypted mapping that decide speed, without its keys and places.
fn options(queries: &dyn MachineQuery, device: &BlockDevice, kind: LayerKind) -> Fact<Vec<String>> {
    if kind != LayerKind::Crypt {
        return Fact::NotQueried;
    }
    let table = answer(queries, &device.name(), Question::MapperTable);
    table.and_then(wording::NOT_DM_CRYPT, |table| crypt_options(&String::from_utf8_lossy(&table)))
}

/// The options in `START LENGTH crypt CIPHER KEY IV DEVICE OFFSET [COUNT OPTION…]`
/// (Documentation/admin-guide/device-mapper/dm-crypt.rst).
fn crypt_options(table: &str) -> Option<Vec<String>> {
    let words: Vec<&str> = table.lines().next()?.split_whitespace().collect();
    let at = words.iter().position(|word| *word == "crypt")?;
    words.get(at + 5)?;
    Some(words.iter().skip(at + 7).map(|word| clean(word)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_table_only_the_options_are_kept() {
        let table = "0 41943040 crypt aes-xts-plain64 :64:logon:cryptsetup:abc 0 8:3 32768 2 allow_discards no_read_workqueue\n";
        assert_eq!(crypt_options(table).unwrap(), ["allow_discards", "no_read_workqueue"]);
        assert_eq!(crypt_options("0 8 crypt aes-xts-plain64 00ff 0 8:3 32768").unwrap(), [""; 0]);
        for table in ["", "0 8 linear 8:3 0", "crypt", "0 8 crypt aes"] {
            assert_eq!(crypt_options(table), None, "{table}");
        }
    }

    #[test]
    fn the_scheduler_in_use_stands_in_brackets() {
        assert_eq!(selected_option("mq-deadline [none] kyber"), "none");
        assert_eq!((selected_option("none"), selected_option("[x")), ("none".into(), "[x".into()));
    }
}
