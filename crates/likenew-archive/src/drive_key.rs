//! Decides which runs are of the same drive. Checks find their baseline by this rule alone, and the history its drives.
//!
//! A drive is identified by its serial number's hash, its capacity, and what was measured of it. A partition, a file and each
//! layer above the drive have speeds of their own. Where a run could not read a serial number, the path, USB port, model and
//! capacity identify the drive. If all other runs there read the same number, it is that drive; otherwise it is a drive of its
//! own. A target in memory has no drive below it: its path, layers and size identify it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use likenew_core::drive::{Identity, TargetKind};
use likenew_core::facts::{Facts, Identity as DriveIdentity, Layer, LayerKind};
use likenew_core::probe::Observation;
use sha2::{Digest as _, Sha256};

use crate::error::ArchiveError;
use crate::folder;
use crate::folder::Machine;
use crate::run::{OBSERVATIONS, Record};

/// How a drive is reached. Metrics of one class are no baseline for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum AccessClass {
    /// Temporary files in a folder.
    Folder,
    /// A device, or an existing file, which is read in the same way.
    Device,
    /// A simulated drive.
    Simulated,
}

impl AccessClass {
    /// The class of this kind of target; `None` for one that holds nothing.
    pub fn of(kind: TargetKind) -> Option<Self> {
        match kind {
            TargetKind::Folder => Some(Self::Folder),
            TargetKind::File | TargetKind::Device => Some(Self::Device),
            TargetKind::Simulated => Some(Self::Simulated),
            TargetKind::Nop => None,
        }
    }

    /// Its name in the history.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What a run knows of the one drive that it measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveSignature {
    /// How it was reached.
    pub access: AccessClass,
    /// The layers between the target and the drive, from the top; empty for a whole drive.
    pub layers: Vec<String>,
    /// The hash of its serial number, if that could be read.
    pub serial: Option<String>,
    /// The target as it was named.
    pub name: String,
    /// The USB port that it was plugged into.
    pub port: Option<String>,
    /// The drive's maker and model.
    pub model: Option<String>,
    /// The drive's capacity in bytes, as it reports it.
    pub capacity_bytes: Option<u64>,
    /// Whether a hypervisor provides the drive.
    pub is_virtual: bool,
}

impl DriveSignature {
    /// Derives it from the target and the facts of a run; `None` if the drive is unknown, as below an array
    /// or without facts. A simulated drive needs no facts.
    pub fn new(identity: &Identity, facts: Option<&Facts>) -> Option<Self> {
        let access = AccessClass::of(identity.kind)?;
        let signature = Self {
            access,
            layers: Vec::new(),
            serial: None,
            name: identity.name.clone(),
            port: None,
            model: identity.model.clone(),
            capacity_bytes: Some(identity.capacity_bytes),
            is_virtual: false,
        };
        if access == AccessClass::Simulated {
            return Some(signature);
        }
        // A drive of another machine is no drive of this one, whatever measured it there.
        let facts = facts.filter(|facts| facts.reported.is_none())?;
        let none = DriveIdentity::default();
        let drive = match facts.drives.as_slice() {
            [drive] => &drive.identity,
            [] if facts.is_memory() => &none,
            _ => return None,
        };
        let size = facts.stack.first().and_then(|layer| layer.capacity_bytes.get());
        let file = (identity.kind == TargetKind::File).then(|| identity.name.clone());
        Some(Self {
            layers: file
                .into_iter()
                .chain(facts.stack.iter().filter_map(|layer| layer_name(layer, facts)))
                .chain(drive.namespace.value().map(|number| format!("namespace {number}")))
                .collect(),
            serial: drive.serial.value().map(|serial| serial.hash.clone()),
            port: drive.port.value().cloned(),
            model: drive.model.value().cloned(),
            capacity_bytes: drive.capacity_bytes.get().or_else(|| size.filter(|_| facts.drives.is_empty())),
            is_virtual: drive.virtual_by.value().is_some_and(Option::is_some),
            ..signature
        })
    }

    /// Derives it from a run that was read.
    pub fn of(record: &Record) -> Option<Self> {
        Self::observed(&record.header.machine.identity, &record.observations)
    }

    /// Derives it from the target and what a run's probes found.
    pub fn observed(identity: &Identity, observations: &[Observation]) -> Option<Self> {
        Self::new(identity, facts(observations))
    }

    /// Derives it from a run folder, of which only the observations are read.
    ///
    /// # Errors
    /// The run's observations are damaged.
    pub fn read(folder: &Path, machine: &Machine) -> Result<Option<Self>, ArchiveError> {
        let observations = folder::read(&folder.join(OBSERVATIONS), &mut Vec::new())?.unwrap_or_default();
        Ok(Self::new(&machine.identity, facts(&observations)))
    }

    /// Where a drive without a serial number was seen: equal for equal paths, ports, layers, models and capacities.
    pub fn place(&self) -> String {
        let drive = (&self.port, &self.model, self.capacity_bytes);
        digest(&format!("{:?}", (self.access, &self.layers, &self.name, drive)))
    }

    /// Equal for runs of the same layers of the same drive by serial number; `None` if none was read.
    pub fn serial_key(&self) -> Option<String> {
        let serial = self.serial.as_ref()?;
        Some(digest(&format!("{:?}", (self.access, &self.layers, serial, self.capacity_bytes))))
    }

    /// Equal for runs of the same drive. `keys` are the serial keys that were read at its [`place`](Self::place).
    pub fn key(&self, keys: &BTreeSet<String>) -> String {
        self.serial_key().unwrap_or_else(|| place_key(&self.place(), keys))
    }
}

/// The key of a drive whose serial number was not read, at a place where other runs have these serial keys.
pub fn place_key(place: &str, keys: &BTreeSet<String>) -> String {
    keys.first().filter(|_| keys.len() == 1).map_or_else(|| place.to_owned(), Clone::clone)
}

/// The serial keys that were read at each place.
pub fn keys_by_place<'a>(
    signatures: impl IntoIterator<Item = &'a DriveSignature>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut keys: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for signature in signatures {
        keys.entry(signature.place()).or_default().extend(signature.serial_key());
    }
    keys
}

/// What identifies a layer, whatever the kernel calls it today; `None` for the drive itself.
fn layer_name(layer: &Layer, facts: &Facts) -> Option<String> {
    let what = match layer.kind {
        kind if kind.is_bottom() => return None,
        LayerKind::FileSystem => {
            facts.file_system.as_ref().and_then(|file_system| file_system.kind.value().cloned())
        }
        LayerKind::Partition => layer.start_bytes.value().map(u64::to_string),
        LayerKind::Loop if layer.start_bytes.value().is_some() => {
            let file = layer.label.value().map_or("", String::as_str);
            Some(format!("{file} {:?}", (layer.start_bytes.get(), layer.capacity_bytes.get())))
        }
        _ => layer.label.value().cloned(),
    };
    Some(format!("{} {}", layer.kind.words(), what.unwrap_or_default()))
}

/// The first facts that a run collected.
fn facts(observations: &[Observation]) -> Option<&Facts> {
    observations.iter().find_map(|observation| observation.result.facts())
}

/// Bytes of a key: enough that no two drives share one, and few enough to type its beginning.
const KEY_BYTES: usize = 16;

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Drive, Fact, Serial};

    use super::*;

    fn identity(name: &str, kind: TargetKind) -> Identity {
        Identity {
            name: name.into(),
            kind,
            model: None,
            engine: "posix".into(),
            capacity_bytes: 1 << 30,
            block_bytes: 4096,
            facts: Vec::new(),
            caveats: Vec::new(),
            accounting: None,
        }
    }

    fn signature(name: &str, kind: TargetKind, serial: Option<&str>) -> DriveSignature {
        let mut drive_identity = DriveIdentity {
            model: Fact::new("X".to_owned(), ""),
            capacity_bytes: Fact::new(1 << 40, ""),
            ..DriveIdentity::default()
        };
        if let Some(serial) = serial {
            drive_identity.serial = Fact::new(Serial { hash: serial.into(), plain: None }, "");
        }
        let facts = Facts {
            drives: vec![Drive { identity: drive_identity, ..Drive::default() }],
            ..Facts::default()
        };
        DriveSignature::new(&identity(name, kind), Some(&facts)).unwrap()
    }

    fn key(signature: &DriveSignature, others: &[&DriveSignature]) -> String {
        signature.key(&others.iter().filter_map(|other| other.serial_key()).collect())
    }

    #[test]
    fn a_serial_number_decides_before_the_path_does() {
        let (original, moved) = (
            signature("/dev/sda", TargetKind::Device, Some("a")),
            signature("/dev/sdb", TargetKind::Device, Some("a")),
        );
        assert_eq!(key(&original, &[]), key(&moved, &[]));
        let other = signature("/dev/sda", TargetKind::Device, Some("b"));
        assert_ne!(key(&original, &[]), key(&other, &[]));
        let folder = signature("/dev/sda", TargetKind::Folder, Some("a"));
        assert_ne!(key(&original, &[]), key(&folder, &[]), "a folder has temporary files");
        let file = signature("photo.raw", TargetKind::File, Some("a"));
        assert_ne!(key(&original, &[]), key(&file, &[]), "a file lies somewhere");
        assert_ne!(key(&file, &[]), key(&signature("other.raw", TargetKind::File, Some("a")), &[]));
        let namespace = DriveSignature { layers: vec!["namespace 2".into()], ..original.clone() };
        assert_ne!(key(&original, &[]), key(&namespace, &[]), "it is a drive of its own");
    }

    #[test]
    fn each_layer_makes_another_target_of_the_same_drive_whatever_it_is_called() {
        let layer = |name: &str, kind, label: &str, start: u64| Layer {
            name: name.into(),
            kind,
            label: Fact::new(label.to_owned(), ""),
            start_bytes: Fact::new(start, ""),
            ..Layer::default()
        };
        let signature_of = |layers: &[Layer]| {
            let identity = DriveIdentity {
                serial: Fact::new(Serial { hash: "a".into(), plain: None }, ""),
                ..DriveIdentity::default()
            };
            let facts = Facts {
                stack: layers.to_vec(),
                drives: vec![Drive { identity, ..Drive::default() }],
                ..Facts::default()
            };
            DriveSignature::new(&self::identity("/mnt", TargetKind::Folder), Some(&facts)).unwrap()
        };
        let disk = layer("sda", LayerKind::Disk, "", 0);
        let partition = |name, start| layer(name, LayerKind::Partition, "", start);
        let file_system = layer("/mnt", LayerKind::FileSystem, "", 0);
        let (first, second) = (partition("sda1", 1 << 20), partition("sda2", 1 << 30));
        let looped =
            |file| Layer { start_bytes: Fact::NotQueried, ..layer("loop3", LayerKind::Loop, file, 0) };
        let window = |start, bytes| Layer {
            start_bytes: Fact::new(start, ""),
            capacity_bytes: Fact::new(bytes, ""),
            ..looped("/a.img")
        };
        let crypt = layer("dm-0", LayerKind::Crypt, "home", 0);
        let targets = [
            signature_of(std::slice::from_ref(&disk)),
            signature_of(&[file_system.clone(), disk.clone()]),
            signature_of(&[file_system.clone(), first.clone(), disk.clone()]),
            signature_of(&[file_system.clone(), second.clone(), disk.clone()]),
            signature_of(&[file_system.clone(), crypt, first.clone(), disk.clone()]),
            signature_of(&[
                file_system.clone(),
                looped("/a.img"),
                file_system.clone(),
                first.clone(),
                disk.clone(),
            ]),
            signature_of(&[file_system.clone(), looped("/b.img"), file_system.clone(), first, disk.clone()]),
            signature_of(&[file_system.clone(), window(0, 1 << 20), disk.clone()]),
            signature_of(&[file_system.clone(), window(0, 1 << 21), disk.clone()]),
            signature_of(&[file_system.clone(), window(1 << 20, 1 << 21), disk.clone()]),
        ];
        let keys: BTreeSet<String> = targets.iter().map(|target| key(target, &[])).collect();
        assert_eq!(keys.len(), targets.len());
        assert!(targets[5].layers[1].ends_with(" /a.img"), "a whole file is known by its name alone");
        // The kernel numbers disks anew at each start.
        let renamed =
            signature_of(&[file_system, partition("sdb2", 1 << 30), Layer { name: "sdb".into(), ..disk }]);
        assert_eq!(key(&renamed, &[]), key(&targets[3], &[]));
    }

    #[test]
    fn without_a_number_it_is_the_only_drive_of_its_place() {
        let (named, unnamed) = (
            signature("/dev/sda", TargetKind::Device, Some("a")),
            signature("/dev/sda", TargetKind::Device, None),
        );
        let other = signature("/dev/sda", TargetKind::Device, Some("b"));
        assert_eq!(named.place(), unnamed.place());
        assert_eq!(key(&named, &[]), key(&unnamed, &[&named]));
        assert_eq!(key(&unnamed, &[]), unnamed.place());
        assert_eq!(key(&unnamed, &[&named, &other]), unnamed.place(), "either drive could have been there");
        assert_ne!(unnamed.place(), signature("/dev/sdb", TargetKind::Device, None).place());
    }

    #[test]
    fn drives_of_one_dock_are_two() {
        let bay = |serial: Option<&str>, port: &str, bytes: u64| {
            let port = Some(port.to_owned());
            DriveSignature {
                port,
                capacity_bytes: Some(bytes),
                ..signature("/dev/sda", TargetKind::Device, serial)
            }
        };
        let first = bay(None, "usb-2-1-lun0", 1 << 40);
        assert_ne!(first.place(), bay(None, "usb-2-1-lun1", 1 << 40).place());
        let named = bay(Some("a"), "usb-2-1-lun0", 1 << 40);
        assert_eq!(named.serial_key(), bay(Some("a"), "usb-3-1-lun0", 1 << 40).serial_key(), "it was moved");
        assert_ne!(named.serial_key(), bay(Some("a"), "usb-2-1-lun0", 1 << 39).serial_key());
    }

    #[test]
    fn what_lies_in_memory_is_known_by_its_path_its_layers_and_its_size() {
        let signature_of = |name: &str, file: &str, bytes: u64, file_system: &str| {
            let layer = |kind, label: &str| Layer {
                kind,
                label: Fact::new(label.to_owned(), ""),
                capacity_bytes: Fact::new(bytes, ""),
                ..Layer::default()
            };
            let stack = vec![layer(LayerKind::Loop, file), layer(LayerKind::FileSystem, file_system)];
            DriveSignature::new(
                &identity(name, TargetKind::Device),
                Some(&Facts { stack, ..Facts::default() }),
            )
        };
        let place =
            |name, file, bytes| signature_of(name, file, bytes, "tmpfs").map(|signature| signature.place());
        let signature = signature_of("/dev/loop0", "/dev/shm/a.img", 1 << 27, "tmpfs").unwrap();
        assert_eq!((signature.capacity_bytes, signature.serial_key()), (Some(1 << 27), None));
        assert_eq!(Some(signature.place()), place("/dev/loop0", "/dev/shm/a.img", 1 << 27));
        assert_ne!(Some(signature.place()), place("/dev/loop1", "/dev/shm/a.img", 1 << 27));
        assert_ne!(Some(signature.place()), place("/dev/loop0", "/dev/shm/b.img", 1 << 27));
        assert_ne!(Some(signature.place()), place("/dev/loop0", "/dev/shm/a.img", 1 << 28));
        assert_eq!(
            signature_of("/dev/loop0", "/mnt/a.img", 1 << 27, "nfs4"),
            None,
            "any server may be there tomorrow"
        );
    }

    #[test]
    fn only_one_drive_is_a_drive() {
        let real = identity("/mnt", TargetKind::Folder);
        assert_eq!(DriveSignature::new(&real, None), None);
        let array = Facts { drives: vec![Drive::default(), Drive::default()], ..Facts::default() };
        assert_eq!(DriveSignature::new(&real, Some(&array)), None);
        assert_eq!(DriveSignature::new(&identity("nop:", TargetKind::Nop), None), None);
        assert!(DriveSignature::new(&identity("sim:x", TargetKind::Simulated), None).is_some());
    }
}
