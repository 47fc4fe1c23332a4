//! The block devices of this machine, to choose a target from.

use std::fs;
use std::path::Path;

use likenew_core::target_error::TargetError;
use serde::Serialize;

use crate::block::BlockDevice;
use crate::mounts::{is_swap, mounted_at};
use crate::target_error::ErrorContext as _;
use crate::wording::action;

/// A whole block device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DriveListing {
    /// The path as it is given for a target: `/dev/sda`.
    pub path: String,
    /// Maker and model, where known.
    pub model: Option<String>,
    /// Its size.
    pub capacity_bytes: u64,
    /// Whether nothing is below it: neither a file, as under a loop device, nor memory, nor other devices.
    pub is_drive: bool,
    /// What uses it, as far as can be seen: where it or a partition is mounted, swap, or a layer on top.
    pub used_by: Option<String>,
}

/// All block devices with a capacity above zero, by name.
///
/// # Errors
/// The system does not list them.
pub fn list() -> Result<Vec<DriveListing>, TargetError> {
    let folder = fs::read_dir("/sys/block").context(action::LIST_DEVICES)?;
    let mut listings: Vec<DriveListing> =
        folder.flatten().filter_map(|entry| list_drive(&entry.file_name().to_string_lossy())).collect();
    listings.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(listings)
}

fn list_drive(name: &str) -> Option<DriveListing> {
    let device = BlockDevice::at(fs::canonicalize(Path::new("/sys/block").join(name)).ok()?);
    let used_by = use_of(&device).or_else(|| device.partitions().iter().find_map(use_of));
    let is_made_up = ["loop", "ram", "zram"].into_iter().any(|kind| device.name().starts_with(kind));
    let capacity_bytes = device.bytes().filter(|bytes| *bytes > 0)?;
    Some(DriveListing {
        path: device.node().display().to_string(),
        model: device.model(),
        capacity_bytes,
        is_drive: device.slaves().is_empty() && !is_made_up,
        used_by,
    })
}

fn use_of(device: &BlockDevice) -> Option<String> {
    let number = device.number()?;
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
