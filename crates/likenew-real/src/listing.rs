//! The block devices of this machine, to choose a target from.

use std::fs;

use likenew_core::lab_error::LabError;
use serde::Serialize;

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::mounts::mounted_at;
use crate::swaps::is_swap;
use crate::wording::action;

/// A whole block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveListing {
    /// As it is given: `/dev/sda`.
    pub path: String,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// Its size.
    pub capacity_bytes: u64,
    /// Whether it has nothing below it: neither a file, as under a loop device, nor memory, nor other
    /// devices.
    pub is_drive: bool,
    /// What uses it, as far as can be seen: where it or a partition is mounted, swap, or a layer on top.
    pub used_by: Option<String>,
}

/// All block devices that hold anything, by name.
///
/// # Errors
/// The system does not list them.
pub fn list() -> Result<Vec<DriveListing>, LabError> {
    let folder = fs::read_dir("/sys/block").map_err(LabError::system(action::LIST_DEVICES))?;
    let mut all: Vec<DriveListing> =
        folder.flatten().filter_map(|entry| list_drive(&entry.file_name().to_string_lossy())).collect();
    all.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(all)
}

fn list_drive(name: &str) -> Option<DriveListing> {
    let (number, device) = device(&format!("/sys/block/{name}/dev"))?;
    // /sys counts in sectors of 512 bytes, whatever the device's own are.
    let sectors: u64 = device.attribute("size")?.parse().ok()?;
    let used_by = use_of(number, &device).or_else(|| {
        let parts = device.partitions();
        parts.iter().find_map(|part| use_of(DeviceNumber::parse(&part.attribute("dev")?)?, part))
    });
    let path = format!("/dev/{}", name.replace('!', "/"));
    (sectors > 0).then(|| DriveListing {
        path,
        model: device.model(),
        capacity_bytes: sectors * 512,
        is_drive: is_drive(&device),
        used_by,
    })
}

fn is_drive(device: &BlockDevice) -> bool {
    let made_up = ["loop", "ram", "zram"];
    device.slaves().is_empty() && !made_up.into_iter().any(|kind| device.name().starts_with(kind))
}

fn device(dev: &str) -> Option<(DeviceNumber, BlockDevice)> {
    let number = DeviceNumber::parse(fs::read_to_string(dev).ok()?.trim())?;
    Some((number, BlockDevice::by_number(number)?))
}

fn use_of(number: DeviceNumber, device: &BlockDevice) -> Option<String> {
    if let Some(point) = mounted_at(number) {
        return Some(format!("mounted at {point}"));
    }
    if is_swap(number) {
        return Some("swap".to_owned());
    }
    device.holders().first().map(|holder| format!("part of {holder}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_can_be_inspected() {
        for listed in list().unwrap() {
            assert!(listed.path.starts_with("/dev/") && listed.capacity_bytes > 0, "{listed:?}");
        }
    }
}
