//! Which runs are of the same drive. This is the only rule: by it a check finds its baseline, and the history its drives.
//!
//! A drive is known by its serial number, which is stored as a hash. Where a run could not read that, the drive is known by the
//! path that was measured, its model and its capacity: if all runs that could read a number there read the same one, it is that
//! drive, and otherwise one of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use likenew_core::drive::{Identity, Kind};
use likenew_core::facts::{Drive, Facts};
use likenew_core::probe::{Observation, ProbeResult};
use sha2::{Digest as _, Sha256};

use crate::error::ArchiveError;
use crate::lines;
use crate::machine::Machine;
use crate::record::Record;
use crate::run::OBSERVATIONS;

/// How a drive is reached. Metrics of one way are no baseline of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AccessClass {
    /// Temporary files in a folder.
    Folder,
    /// A device, or an existing file, which is read in the same way.
    Device,
    /// A simulated drive.
    Simulated,
}

impl AccessClass {
    /// The class of this kind of target; `None` of one that holds nothing.
    pub fn of(kind: Kind) -> Option<Self> {
        match kind {
            Kind::Folder => Some(Self::Folder),
            Kind::File | Kind::Device => Some(Self::Device),
            Kind::Simulated => Some(Self::Simulated),
            Kind::Nop => None,
        }
    }

    /// All of them.
    pub const ALL: [Self; 3] = [Self::Folder, Self::Device, Self::Simulated];

    /// Its name in the history.
    pub fn name(self) -> &'static str {
        match self {
            Self::Folder => "folder",
            Self::Device => "device",
            Self::Simulated => "simulated",
        }
    }
}

/// What a run knows of the one drive that it measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriveSignature {
    /// How it was reached.
    pub access: AccessClass,
    /// The hash of its serial number, if that could be read.
    pub serial: Option<String>,
    /// The target as it was named.
    pub name: String,
    /// Maker and model.
    pub model: Option<String>,
    /// Bytes that the drive reports to hold.
    pub capacity_bytes: Option<u64>,
    /// Whether a hypervisor provides it.
    pub is_virtual: bool,
}

impl DriveSignature {
    /// From the target and the facts of a run; `None` where it is not known which drive that is, as below an array or without
    /// facts. A simulated drive is known without facts.
    pub fn new(identity: &Identity, facts: Option<&Facts>) -> Option<Self> {
        let access = AccessClass::of(identity.kind)?;
        let signature = Self {
            access,
            serial: None,
            name: identity.name.clone(),
            model: identity.model.clone(),
            capacity_bytes: Some(identity.capacity_bytes),
            is_virtual: false,
        };
        if access == AccessClass::Simulated {
            return Some(signature);
        }
        let drive = &only_drive(facts?)?.identity;
        Some(Self {
            serial: drive.serial.value().map(|serial| serial.hash.clone()),
            model: drive.model.value().cloned(),
            capacity_bytes: drive.capacity_bytes.get(),
            is_virtual: drive.virtual_by.value().is_some_and(Option::is_some),
            ..signature
        })
    }

    /// Of a run that was read.
    pub fn of(record: &Record) -> Option<Self> {
        Self::observed(&record.header.machine.identity, &record.observations)
    }

    /// From the target and what the probes of a run found.
    pub fn observed(identity: &Identity, observations: &[Observation]) -> Option<Self> {
        Self::new(identity, facts(observations))
    }

    /// Of a run folder, of which nothing else is read.
    ///
    /// # Errors
    /// Its observations are damaged.
    pub fn read(folder: &Path, machine: &Machine) -> Result<Option<Self>, ArchiveError> {
        let observations = lines::read(&folder.join(OBSERVATIONS), &mut Vec::new())?.unwrap_or_default();
        Ok(Self::new(&machine.identity, facts(&observations)))
    }

    /// Where the drive was seen, for drives without a serial number: equal for equal paths, models and capacities.
    pub fn place(&self) -> String {
        digest(&format!("{:?}", (self.access, &self.name, &self.model, self.capacity_bytes)))
    }

    /// Equal for runs of the same drive. `serials` are all that were read at its [`place`](Self::place).
    pub fn key(&self, serials: &BTreeSet<String>) -> String {
        match &self.serial {
            Some(serial) => serial_key(self.access, serial),
            None => place_key(self.access, &self.place(), serials),
        }
    }
}

/// The key of a drive with this serial number.
pub fn serial_key(access: AccessClass, serial: &str) -> String {
    digest(&format!("{:?}", (access, serial)))
}

/// The key of the drive of runs that read no serial number at this place, where others read these.
pub fn place_key(access: AccessClass, place: &str, serials: &BTreeSet<String>) -> String {
    let only = serials.first().filter(|_| serials.len() == 1);
    only.map_or_else(|| place.to_owned(), |serial| serial_key(access, serial))
}

/// The serial numbers that were read at each place.
pub fn serials_by_place<'a>(
    signatures: impl IntoIterator<Item = &'a DriveSignature>,
) -> BTreeMap<String, BTreeSet<String>> {
    let mut serials: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for signature in signatures {
        serials.entry(signature.place()).or_default().extend(signature.serial.clone());
    }
    serials
}

/// The first facts that a run collected.
fn facts(observations: &[Observation]) -> Option<&Facts> {
    observations.iter().find_map(|observation| match &observation.result {
        ProbeResult::Facts(facts) => Some(&**facts),
        _ => None,
    })
}

/// The drive at the bottom, if it is a single one.
fn only_drive(facts: &Facts) -> Option<&Drive> {
    match facts.drives.as_slice() {
        [drive] => Some(drive),
        _ => None,
    }
}

/// Bytes of a key: enough that no two drives share one, and short enough to type its beginning.
const KEY_BYTES: usize = 16;

fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(KEY_BYTES).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use likenew_core::facts::{Fact, Identity as DriveIdentity, Serial};

    use super::*;

    fn identity(name: &str, kind: Kind) -> Identity {
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

    fn signature(name: &str, kind: Kind, serial: Option<&str>) -> DriveSignature {
        let mut of = DriveIdentity {
            model: Fact::new("X".to_owned(), ""),
            capacity_bytes: Fact::new(1 << 40, ""),
            ..DriveIdentity::default()
        };
        if let Some(serial) = serial {
            of.serial = Fact::new(Serial { hash: serial.into(), plain: None }, "");
        }
        let facts = Facts { drives: vec![Drive { identity: of, ..Drive::default() }], ..Facts::default() };
        DriveSignature::new(&identity(name, kind), Some(&facts)).unwrap()
    }

    fn key(signature: &DriveSignature, serials: &[&str]) -> String {
        signature.key(&serials.iter().map(|&serial| serial.to_owned()).collect())
    }

    #[test]
    fn a_serial_number_decides_before_the_path_does() {
        let (one, moved) =
            (signature("/dev/sda", Kind::Device, Some("a")), signature("/dev/sdb", Kind::File, Some("a")));
        assert_eq!(key(&one, &["a"]), key(&moved, &["a"]), "files and devices are read alike");
        let other = signature("/dev/sda", Kind::Device, Some("b"));
        assert_ne!(key(&one, &["a", "b"]), key(&other, &["a", "b"]));
        let folder = signature("/dev/sda", Kind::Folder, Some("a"));
        assert_ne!(key(&one, &["a"]), key(&folder, &["a"]), "a folder has temporary files");
    }

    #[test]
    fn without_a_number_it_is_the_only_drive_of_its_place() {
        let (named, unnamed) =
            (signature("/dev/sda", Kind::Device, Some("a")), signature("/dev/sda", Kind::Device, None));
        assert_eq!(named.place(), unnamed.place());
        assert_eq!(key(&named, &["a"]), key(&unnamed, &["a"]));
        assert_eq!(key(&unnamed, &[]), unnamed.place());
        assert_eq!(key(&unnamed, &["a", "b"]), unnamed.place(), "either drive could have been there");
        assert_ne!(unnamed.place(), signature("/dev/sdb", Kind::Device, None).place());
    }

    #[test]
    fn only_one_drive_is_a_drive() {
        let real = identity("/mnt", Kind::Folder);
        assert_eq!(DriveSignature::new(&real, None), None);
        let array = Facts { drives: vec![Drive::default(), Drive::default()], ..Facts::default() };
        assert_eq!(DriveSignature::new(&real, Some(&array)), None);
        assert_eq!(DriveSignature::new(&identity("nop:", Kind::Nop), None), None);
        assert!(DriveSignature::new(&identity("sim:x", Kind::Simulated), None).is_some());
    }
}
