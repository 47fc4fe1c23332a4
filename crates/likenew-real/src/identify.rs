//! What is measured: facts for a report, and what limits the trust in its numbers.

use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

use likenew_core::drive::Identity;
use likenew_core::facts::{LayerKind, is_in_memory};

use crate::block::BlockDevice;
use crate::counter_source::CounterSource;
use crate::device_number::DeviceNumber;
use crate::health::HealthSource;
use crate::layer_kind::layer_kind;
use crate::mounts::Mount;
use crate::wording::target as wording;

/// What the system knows of a place or device without root and without asking the drive. What is unknown stays out.
#[derive(Clone, Debug, Default)]
pub(crate) struct DeviceInfo {
    pub(crate) model: Option<String>,
    pub(crate) facts: Vec<(String, String)>,
    pub(crate) caveats: Vec<String>,
    pub(crate) health: HealthSource,
    pub(crate) counters: CounterSource,
}

impl DeviceInfo {
    /// Of what holds an open file or folder.
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
        // A file system of several devices has a number that none of them has; its source is then one of
        // them.
        let by_source = || DeviceNumber::at(Path::new(&mount.source)).and_then(BlockDevice::by_number);
        if let Some(device) = BlockDevice::by_number(mount.device).or_else(by_source) {
            info.add_device(&device);
        }
        info
    }

    /// Of a block device.
    pub(crate) fn of_device(number: DeviceNumber) -> Self {
        let mut info = Self::default();
        if let Some(device) = BlockDevice::by_number(number) {
            info.counters = CounterSource::of_device(&device);
            info.add_device(&device);
        }
        info
    }

    /// Says where a path leads, when that is not where it seems to.
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

    /// Says that files are written in place where the file system writes others elsewhere.
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

/// Words by which the models of virtual disks are known.
const VIRTUAL_MODELS: [&str; 8] =
    ["QEMU", "VBOX", "VMware", "Virtual", "Elastic Block Store", "PersistentDisk", "BlockVolume", "LIO-ORG"];

/// What presents a virtual disk: the bus of the hypervisor, or the words of its model.
pub(crate) fn virtual_by(model: Option<&str>, hypervisor: Option<&str>) -> Option<String> {
    let of_model = || model.filter(|model| VIRTUAL_MODELS.iter().any(|word| model.contains(word)));
    hypervisor.or_else(of_model).map(crate::standards::bytes::clean)
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
}
