//! A real drive: a medium, what carries its I/O, and what is known of it.

use std::path::Path;
use std::sync::Arc;

use likenew_core::access::Access;
use likenew_core::counters::Counters;
use likenew_core::drive::{Drive, Identity, Kind, Lane, Need};
use likenew_core::fault::Fault;
use likenew_core::look::{Look, Seen};
use likenew_core::target::Geometry;
use likenew_core::units::Nanos;

use crate::clock::{Monotonic, wall_seconds};
use crate::engine::{Carrier, LANES_MAX};
use crate::identify::About;
use crate::medium::Medium;
use crate::nop;
use crate::old_files::OldFiles;

/// A medium that can be measured. Lanes share the medium, so what it holds is given up when the drive and all lanes are
/// gone.
pub(crate) struct RealDrive<M> {
    name: String,
    kind: Kind,
    medium: Arc<M>,
    carrier: Carrier,
    clock: Monotonic,
    about: About,
    access: Access,
    /// The owner's old files, once they were looked for, and whether they are what is measured.
    old: Option<Arc<OldFiles>>,
    is_old: bool,
}

impl<M: Medium> RealDrive<M> {
    pub(crate) fn new(path: &Path, kind: Kind, medium: M, carrier: Carrier, mut about: About) -> Self {
        about.caveats.extend(carrier.caveat.clone());
        let name = path.display().to_string();
        Self {
            name,
            kind,
            medium: Arc::new(medium),
            carrier,
            clock: Monotonic::start(),
            about,
            access: Access::Direct,
            old: None,
            is_old: false,
        }
    }

    /// What was found of old files beside our own.
    fn find_old(&mut self) -> Result<Arc<OldFiles>, String> {
        if self.kind != Kind::Folder {
            return Err("a file or a device is read as it is".to_owned());
        }
        let old = Arc::new(OldFiles::find(Path::new(&self.name), &self.clock, wall_seconds())?);
        self.old = Some(old.clone());
        Ok(old)
    }
}

impl<M: Medium> Drive for RealDrive<M> {
    fn identity(&self) -> Identity {
        let geometry = self.medium.geometry();
        Identity {
            name: self.name.clone(),
            kind: self.kind,
            model: self.about.model.clone(),
            engine: self.carrier.name().to_owned(),
            capacity_bytes: geometry.capacity,
            block_bytes: geometry.block,
            facts: self.about.facts.iter().cloned().chain(self.carrier.facts()).collect(),
            caveats: self.about.caveats.clone(),
            accounting: None,
        }
    }

    fn geometry(&self) -> Geometry {
        match &self.old {
            Some(old) if self.is_old => old.geometry().clone(),
            _ => self.medium.geometry().clone(),
        }
    }

    fn lanes_max(&self) -> u32 {
        LANES_MAX
    }

    fn reach(&mut self, access: Access, cold: bool) -> Result<(), Fault> {
        if cold {
            self.medium.make_cold()?;
        }
        if access != self.access && access != Access::Null {
            self.medium.reach(access)?;
            self.old.as_ref().map_or(Ok(()), |old| old.reach(access))?;
        }
        self.access = access;
        Ok(())
    }

    fn turn_to_old_files(&mut self, turn: bool) -> Result<(), Fault> {
        self.is_old = false;
        if turn && self.old.is_none() {
            self.find_old().map_err(Fault::Unsuitable)?;
        }
        self.is_old = turn;
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        self.about.counters.read()
    }

    fn go_on_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
    }

    fn look(&mut self, look: &Look) -> Result<Seen, Fault> {
        if *look == Look::OldFiles {
            return Ok(self.find_old().map_or_else(Seen::Unknown, |old| Seen::OldFiles(old.found.clone())));
        }
        self.medium.look(look, &self.clock)
    }

    fn lanes<'a>(&'a mut self, need: &Need) -> Result<Vec<Lane<'a>>, Fault> {
        if self.access == Access::Null {
            return Ok(nop::lanes(self.medium.geometry(), self.clock, need));
        }
        match &self.old {
            Some(old) if self.is_old => self.carrier.lanes(old, self.clock, &self.about.health, need),
            _ => self.carrier.lanes(&self.medium, self.clock, &self.about.health, need),
        }
    }
}
