//! Whether what is to be kept safe is on other blocks than what is rewritten.

use std::collections::HashSet;
use std::fs::{self, File};
use std::path::Path;

use likenew_core::lab_error::LabError;

use crate::block::BlockDevice;
use crate::device_number::DeviceNumber;
use crate::in_use::{add_with_lower_devices, lower_device};
use crate::mounts::Mount;
use crate::wording::action;
use crate::wording::lock as wording;

/// File systems that may span several devices, which /sys does not list.
const ON_SEVERAL_DEVICES: [&str; 2] = ["bcachefs", "zfs"];
/// Memory: it shares nothing with a drive, but a journal there is lost with the power.
const MEMORY: [&str; 4] = ["tmpfs", "ramfs", "devtmpfs", "rootfs"];
/// Files on other machines.
const REMOTE: [&str; 8] = ["nfs", "nfs4", "cifs", "smb3", "9p", "ceph", "virtiofs", "afs"];

/// Checks that the folder or file `kept` is durable and on other blocks than the block device `device`,
/// through any number of layers.
///
/// # Errors
/// A refusal: it is not, or that cannot be determined.
pub fn check_disjoint(kept: &Path, device: &Path) -> Result<(), LabError> {
    let refuse = |reason: String| {
        Err(LabError::Refused(wording::no_place_for_journal(kept.display(), device.display(), &reason)))
    };
    let mount = File::open(kept)
        .map_err(LabError::system(action::open_path(kept.display())))
        .map(Mount::containing)?;
    let Some(mount) = mount else { return refuse(wording::DRIVE_NOT_REPORTED.to_owned()) };
    let kind = &*mount.kind;
    if MEMORY.contains(&kind) {
        return refuse(wording::in_memory(kind));
    }
    if REMOTE.contains(&kind) {
        return Ok(());
    }
    let Some(ground) = DeviceNumber::at(device).and_then(BlockDevice::by_number) else {
        return refuse(wording::NOT_A_DEVICE.to_owned());
    };
    let Some(one) = lower_device(&mount).filter(|_| !ON_SEVERAL_DEVICES.contains(&kind)) else {
        return refuse(wording::drives_unknown(kind));
    };
    let mut stands_on = HashSet::new();
    for member in members(&one, Path::new("/sys/fs/btrfs")) {
        if !add_with_lower_devices(&member, &mut stands_on) {
            return refuse(wording::LOOP_BACKING_UNKNOWN.to_owned());
        }
    }
    if stands_on.contains(ground.folder()) {
        return refuse(wording::on_the_device(&ground.name()));
    }
    Ok(())
}

/// All devices of the btrfs that one of them belongs to; that one alone, where it belongs to none.
fn members(one: &BlockDevice, btrfs: &Path) -> Vec<BlockDevice> {
    let systems = fs::read_dir(btrfs).into_iter().flatten().flatten();
    let devices = |system: fs::DirEntry| -> Vec<BlockDevice> {
        let links = fs::read_dir(system.path().join("devices")).into_iter().flatten().flatten();
        links.filter_map(|link| Some(BlockDevice::at(fs::canonicalize(link.path()).ok()?))).collect()
    };
    let is_in = |all: &Vec<BlockDevice>| all.iter().any(|device| device.folder() == one.folder());
    systems.map(devices).find(is_in).unwrap_or_else(|| vec![one.clone()])
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_btrfs_stands_on_all_of_its_devices() {
        let root = tempfile::tempdir().unwrap();
        let sys = fs::canonicalize(root.path()).unwrap();
        for folder in ["sda", "sdb", "sdc", "btrfs/features", "btrfs/1-2-3/devices"] {
            fs::create_dir_all(sys.join(folder)).unwrap();
        }
        for name in ["sda", "sdb"] {
            symlink(sys.join(name), sys.join("btrfs/1-2-3/devices").join(name)).unwrap();
        }
        let of = |name: &str| {
            let mut names: Vec<_> = members(&BlockDevice::at(sys.join(name)), &sys.join("btrfs"))
                .iter()
                .map(BlockDevice::name)
                .collect();
            names.sort();
            names
        };
        assert_eq!(of("sdb"), ["sda", "sdb"]);
        assert_eq!(of("sdc"), ["sdc"]);
    }
}
