//! A target that is only examined: nothing of it is opened for I/O and nothing is made in it, so it may
//! belong to anyone.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use likenew_core::drive::{Drive, Identity, Kind, Lane, LaneRequirements};
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::{Clock, Geometry};
use rustix::fs::{FileType, Mode, OFlags, fstat, open, statvfs};

use crate::clock::Monotonic;
use crate::device_number::DeviceNumber;
use crate::facts::{all_drives, collect};
use crate::identify::{DeviceInfo, resolve};
use crate::lab_error::not_possible;
use crate::nop;
use crate::wording::action;
use crate::wording::facts as wording;

/// What is examined.
pub struct FactsDrive {
    /// Opened as a path alone, which takes no right to read it; nothing for all drives of the machine.
    at: Option<(OwnedFd, PathBuf, Kind)>,
    identity: Identity,
    geometry: Geometry,
    clock: Monotonic,
}

impl FactsDrive {
    /// At a folder, a file, or a block device.
    ///
    /// # Errors
    /// There is no such thing, or it is of another kind.
    pub fn at(path: &Path) -> Result<Self, LabError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let refused = |errno| not_possible(action::LOOK_AT, path, errno);
        let fd = open(path, flags, Mode::empty()).map_err(refused)?;
        let stat = fstat(&fd).map_err(refused)?;
        let number = DeviceNumber::from_raw(stat.st_rdev);
        let (kind, mut about) = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => (Kind::Folder, DeviceInfo::of_mount(&fd)),
            FileType::RegularFile => (Kind::File, DeviceInfo::of_mount(&fd)),
            FileType::BlockDevice => (Kind::Device, DeviceInfo::of_device(number)),
            _ => {
                return Err(LabError::Unsuitable(wording::not_a_target(path.display())));
            }
        };
        about.add_resolution(path, &resolve(path));
        let capacity_bytes = match kind {
            Kind::File => stat.st_size.cast_unsigned(),
            Kind::Folder => statvfs(path).map_or(0, |of| of.f_blocks.saturating_mul(of.f_frsize)),
            _ => device_bytes(number),
        };
        let identity = identity(path.display().to_string(), kind, capacity_bytes, about);
        Ok(Self::new(Some((fd, path.to_owned(), kind)), identity))
    }

    /// At every drive of this machine.
    pub fn at_all() -> Self {
        let name = wording::ALL_DRIVES.to_owned();
        let identity = identity(name, Kind::Device, 0, DeviceInfo::default());
        Self::new(None, identity)
    }

    fn new(at: Option<(OwnedFd, PathBuf, Kind)>, identity: Identity) -> Self {
        let geometry = Geometry {
            // There is nothing to do I/O to: no workload fits this.
            capacity: 0,
            block: identity.block_bytes,
            boundary: None,
            writable: false,
            trims: false,
            carries_data: true,
            clock: Clock::Wall,
        };
        Self { at, identity, geometry, clock: Monotonic::start() }
    }
}

fn device_bytes(number: DeviceNumber) -> u64 {
    let device = crate::block::BlockDevice::by_number(number);
    let sectors = device.and_then(|device| device.attribute("size")?.parse::<u64>().ok());
    sectors.unwrap_or(0).saturating_mul(512)
}

fn identity(name: String, kind: Kind, capacity_bytes: u64, about: DeviceInfo) -> Identity {
    Identity {
        name,
        kind,
        model: about.model,
        engine: "none".to_owned(),
        capacity_bytes,
        block_bytes: 512,
        facts: about.facts,
        caveats: about.caveats,
        accounting: None,
    }
}

impl Drive for FactsDrive {
    fn identity(&self) -> Identity {
        self.identity.clone()
    }

    fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    fn lanes_max(&self) -> u32 {
        1
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, LabError> {
        // A lane tells the time. It holds nothing that an I/O could be for.
        Ok(nop::lanes(&self.geometry, self.clock, need))
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, LabError> {
        match (probe, &self.at) {
            (Probe::Facts, None) => Ok(ProbeResult::Facts(Box::new(all_drives()?))),
            (Probe::Facts, Some((fd, path, kind))) => {
                Ok(collect(fd, (*kind != Kind::Device).then_some(path.as_path())))
            }
            (Probe::Feasibility, Some((fd, ..))) => Ok(crate::erase::feasibility::check(fd)),
            _ => Ok(ProbeResult::Unknown(wording::FACTS_ONLY.to_owned())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_inspected_and_nothing_is_made_in_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut glance = FactsDrive::at(folder.path()).unwrap();
        let ProbeResult::Facts(facts) = glance.probe(&Probe::Facts).unwrap() else { panic!("facts") };
        assert!(facts.file_system.is_some() && facts.files.is_some());
        assert!(!facts.rows().is_empty());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let need = LaneRequirements { lanes: 1, depth: 1, length_max: 512 };
        assert_eq!(glance.lanes(&need).unwrap()[0].geometry().capacity, 0, "no I/O fits");
        assert!(matches!(glance.probe(&Probe::TrimPath).unwrap(), ProbeResult::Unknown(_)));
        assert!(
            FactsDrive::at(Path::new("/dev/null")).is_err() && FactsDrive::at(Path::new("/nowhere")).is_err()
        );
    }
}
