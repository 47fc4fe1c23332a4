//! A real drive: a medium, its I/O engine, and its facts.

use std::path::Path;
use std::sync::Arc;

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::drive::{Drive, Identity, Kind, Lane, LaneRequirements};
use likenew_core::lab_error::LabError;
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;

use crate::clock::{Monotonic, wall_seconds};
use crate::engine::{Carrier, LANES_MAX};
use crate::identify::DeviceInfo;
use crate::medium::Medium;
use crate::nop;
use crate::old_files::{OldFiles, OpenOldFiles};
use crate::wording::target as wording;

/// A medium that can be measured. Lanes share the medium, so it is released when the drive and all lanes are
/// gone.
pub(crate) struct RealDrive<M> {
    name: String,
    kind: Kind,
    medium: Arc<M>,
    carrier: Carrier,
    clock: Monotonic,
    info: DeviceInfo,
    access: Access,
    /// The owner's old files, once they were searched for.
    old: Option<OldFiles>,
    /// The same, open for as long as they are what is measured.
    open_old: Option<Arc<OpenOldFiles>>,
    /// Seconds since 1970, by which files are old.
    wall: fn() -> u64,
}

impl<M: Medium> RealDrive<M> {
    pub(crate) fn new(path: &Path, kind: Kind, medium: M, carrier: Carrier, mut info: DeviceInfo) -> Self {
        info.caveats.extend(carrier.caveat.clone());
        let name = path.display().to_string();
        Self {
            name,
            kind,
            medium: Arc::new(medium),
            carrier,
            clock: Monotonic::start(),
            info,
            access: Access::Direct,
            old: None,
            open_old: None,
            wall: wall_seconds,
        }
    }

    /// What was found of old files beside our own.
    fn find_old(&mut self) -> Result<&OldFiles, String> {
        if self.kind != Kind::Folder {
            return Err(wording::OLD_FILES_ONLY_IN_FOLDERS.to_owned());
        }
        let old = OldFiles::find(Path::new(&self.name), &self.clock, (self.wall)())?;
        Ok(self.old.insert(old))
    }

    /// Opens the old files that were found, or searches for others if one of them has disappeared.
    fn open_old(&mut self) -> Result<OpenOldFiles, String> {
        match self.old.as_ref().map(OldFiles::open) {
            Some(Ok(open)) => Ok(open),
            Some(Err(_)) | None => self.find_old()?.open(),
        }
    }
}

impl<M: Medium> Drive for RealDrive<M> {
    fn identity(&self) -> Identity {
        let geometry = self.medium.geometry();
        Identity {
            name: self.name.clone(),
            kind: self.kind,
            model: self.info.model.clone(),
            engine: self.carrier.name().to_owned(),
            capacity_bytes: geometry.capacity,
            block_bytes: geometry.block,
            facts: self.info.facts.iter().cloned().chain(self.carrier.facts()).collect(),
            caveats: self.info.caveats.clone(),
            accounting: None,
        }
    }

    fn geometry(&self) -> Geometry {
        match &self.open_old {
            Some(old) => old.geometry().clone(),
            None => self.medium.geometry().clone(),
        }
    }

    fn lanes_max(&self) -> u32 {
        LANES_MAX
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), LabError> {
        if cold {
            self.medium.make_cold()?;
        }
        if access != self.access && access != Access::Null {
            self.medium.prepare_access(access)?;
            self.open_old.as_ref().map_or(Ok(()), |old| old.prepare_access(access))?;
        }
        self.access = access;
        Ok(())
    }

    fn use_old_files(&mut self, turn: bool) -> Result<(), LabError> {
        if !turn {
            self.open_old = None;
        } else if self.open_old.is_none() {
            let old = self.open_old().map_err(LabError::Unsuitable)?;
            if self.access != Access::Null {
                old.prepare_access(self.access)?;
            }
            self.open_old = Some(Arc::new(old));
        }
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        self.info.counters.read()
    }

    fn resume_clock_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, LabError> {
        if *probe == Probe::OldFiles {
            return Ok(self
                .find_old()
                .map_or_else(ProbeResult::Unknown, |old| ProbeResult::OldFiles(old.pieces.clone())));
        }
        self.medium.probe(probe, &self.clock)
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, LabError> {
        if self.access == Access::Null {
            return Ok(nop::lanes(self.medium.geometry(), self.clock, need));
        }
        match &self.open_old {
            Some(old) => self.carrier.lanes(old, self.clock, &self.info.health, need),
            None => self.carrier.lanes(&self.medium, self.clock, &self.info.health, need),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use likenew_core::procedure::Layout;

    use super::*;
    use crate::engine::Engine;
    use crate::file_store::FileStore;
    use crate::folder;

    #[test]
    fn old_files_are_open_only_while_they_are_measured() {
        let place = tempfile::tempdir().unwrap();
        let film = place.path().join("film");
        fs::write(&film, vec![7; 9 << 20]).unwrap();
        fs::File::open(&film).unwrap().sync_all().unwrap();
        if let Err(lab_error) = FileStore::take(&film) {
            return eprintln!("SKIPPED: {lab_error}");
        }
        let layout = Layout { files: 1, file_bytes: 1 << 20 };
        let mut drive = folder::open(place.path(), layout, Some(0), Engine::Posix).unwrap();
        drive.wall = || wall_seconds() + 40 * 86_400;
        let result = drive.probe(&Probe::OldFiles).unwrap();
        assert!(matches!(&result, ProbeResult::OldFiles(found) if found.files == 1), "{result:?}");
        // Searching keeps none of them open; measuring does; afterward each can be rewritten, and measured
        // again.
        for _ in 0..2 {
            FileStore::take(&film).unwrap().give_back().unwrap();
            drive.use_old_files(true).unwrap();
            assert_eq!(drive.geometry().capacity, 8 << 20);
            let held = FileStore::take(&film).unwrap_err().to_string();
            assert!(held.contains("has it open"), "{held}");
            drive.use_old_files(false).unwrap();
            assert_eq!(drive.geometry().capacity, 1 << 20);
        }
        FileStore::take(&film).unwrap().give_back().unwrap();
    }
}
