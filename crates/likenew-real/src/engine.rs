//! The I/O engine of a real drive, io_uring or threads, and the drive that joins it with a medium.

use std::io;
use std::path::Path;
use std::sync::Arc;

use likenew_core::counters::Counters;
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::Geometry;
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;

use crate::clock::{Monotonic, wall_seconds};
use crate::identify::{DeviceInfo, HealthSource};
use crate::medium::{LANES_MAX, Medium};
use crate::nop;
use crate::old_files::{OldFiles, OpenOldFiles};
use crate::posix::{PosixLane, THREADS_MAX};
use crate::uring::{Ring, UringLane};
use crate::wording::target as wording;

/// The I/O engine that was requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// io_uring, or blocking calls on threads if io_uring is refused.
    #[default]
    Auto,
    /// io_uring, or an error if it is refused.
    Uring,
    /// Blocking calls on threads.
    Posix,
}

/// The engine of one open drive.
#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    uring: bool,
    /// Why threads are used instead of io_uring, for the report.
    pub(crate) caveat: Option<String>,
    /// Whether all lanes opened last registered their buffers; `None` before the first lane.
    fixed_buffers: Option<bool>,
}

impl Carrier {
    /// Chooses the engine, once, when a drive is opened.
    ///
    /// # Errors
    /// io_uring was requested and is not available.
    pub(crate) fn choose(engine: Engine) -> Result<Self, TargetError> {
        Self::choose_by(engine, || Ring::open(1).map(drop))
    }

    fn choose_by(engine: Engine, probe: impl FnOnce() -> io::Result<()>) -> Result<Self, TargetError> {
        let carrier = |uring, caveat| Ok(Self { uring, caveat, fixed_buffers: None });
        if engine == Engine::Posix {
            return carrier(false, None);
        }
        match probe() {
            Ok(()) => carrier(true, None),
            Err(error) if engine == Engine::Uring => {
                Err(TargetError::Unsuitable(wording::no_io_uring(&error, remedy(&error))))
            }
            Err(error) => carrier(false, Some(wording::threads_instead(&error, remedy(&error)))),
        }
    }

    /// The engine's name in reports.
    pub(crate) fn name(&self) -> &'static str {
        if self.uring { "io_uring" } else { "posix" }
    }

    /// A fact about the engine for a report: whether buffers are registered.
    fn facts(&self) -> Option<(String, String)> {
        let yes_or_no = if self.fixed_buffers? { "yes" } else { "no" };
        Some(("registered buffers".to_owned(), yes_or_no.to_owned()))
    }

    /// Opens the lanes that a workload needs.
    ///
    /// # Errors
    /// The system cannot provide so many lanes or such a depth, or the medium is gone.
    pub(crate) fn lanes<'a, M: Medium>(
        &mut self,
        medium: &Arc<M>,
        clock: Monotonic,
        health: &HealthSource,
        need: &LaneRequirements,
    ) -> Result<Vec<Lane<'a>>, TargetError> {
        medium.check_present()?;
        let LaneRequirements { lanes, depth, length_max } = *need;
        assert!((1..=LANES_MAX).contains(&lanes), "{lanes} lanes of a drive that has {LANES_MAX}");
        if !self.uring && depth.saturating_mul(lanes) > THREADS_MAX {
            return Err(TargetError::Unsuitable(wording::too_many_threads(lanes, depth, THREADS_MAX)));
        }
        if depth == 0 {
            return Ok(nop::lanes(medium.geometry(), clock, health, need));
        }
        let mut opened: Vec<Lane<'a>> = Vec::with_capacity(lanes as usize);
        for _ in 0..lanes {
            let health = health.clone();
            opened.push(if self.uring {
                let lane = UringLane::open(medium, clock, health, depth, length_max)?;
                let so_far = self.fixed_buffers.filter(|_| !opened.is_empty()).unwrap_or(true);
                self.fixed_buffers = Some(so_far && lane.fixed_buffers);
                Box::new(lane)
            } else {
                Box::new(PosixLane::open(medium, clock, health, depth, length_max)?)
            });
        }
        Ok(opened)
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.raw_os_error() {
        Some(libc::ENOSYS) => wording::NO_SYSTEM_CALL,
        Some(libc::EPERM | libc::EACCES) => wording::IO_URING_FORBIDDEN,
        Some(libc::ENOMEM) => wording::LOCKED_MEMORY,
        Some(libc::EMFILE | libc::ENFILE) => wording::TOO_MANY_FILES,
        _ => wording::OLD_KERNEL,
    }
}

// A real drive: a medium, its I/O engine, and its facts.

/// A medium that can be measured. Lanes share the medium, which is released when the drive and all lanes are
/// gone.
pub(crate) struct RealDrive<M> {
    name: String,
    kind: TargetKind,
    medium: Arc<M>,
    carrier: Carrier,
    clock: Monotonic,
    info: DeviceInfo,
    access: Access,
    /// The owner's old files; `None` before the first search.
    old: Option<OldFiles>,
    /// The old files, open while they are what is measured.
    open_old: Option<Arc<OpenOldFiles>>,
    /// The calendar in seconds since 1970, which tells the age of files.
    wall: fn() -> u64,
}

impl<M: Medium> RealDrive<M> {
    pub(crate) fn new(
        path: &Path,
        kind: TargetKind,
        medium: M,
        carrier: Carrier,
        mut info: DeviceInfo,
    ) -> Self {
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

    /// Searches for the owner's old files beside our own.
    fn find_old(&mut self) -> Result<&OldFiles, String> {
        if self.kind != TargetKind::Folder {
            return Err(wording::OLD_FILES_ONLY_IN_FOLDERS.to_owned());
        }
        let old = OldFiles::find(Path::new(&self.name), &self.clock, (self.wall)())?;
        Ok(self.old.insert(old))
    }

    /// Opens the old files that were found; if one has disappeared, searches again.
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
        let (info, name, engine) = (self.info.clone(), self.name.clone(), self.carrier.name());
        let mut identity = info.identity(name, self.kind, engine, geometry.capacity, geometry.block);
        identity.facts.extend(self.carrier.facts());
        identity
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

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
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

    fn use_old_files(&mut self, turn: bool) -> Result<(), TargetError> {
        if !turn {
            self.open_old = None;
        } else if self.open_old.is_none() {
            let old = self.open_old().map_err(TargetError::Unsuitable)?;
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

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        if *probe == Probe::OldFiles {
            return Ok(self
                .find_old()
                .map_or_else(ProbeResult::Unknown, |old| ProbeResult::OldFiles(old.pieces.clone())));
        }
        self.medium.probe(probe, &self.clock)
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        if self.access == Access::Null {
            return Ok(nop::lanes(self.medium.geometry(), self.clock, &HealthSource::default(), need));
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
    use std::os::fd::{AsFd as _, OwnedFd};

    use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
    use likenew_core::procedure::Layout;

    use super::*;
    use crate::file_store::FileStore;
    use crate::folder;
    use crate::medium::{Spot, geometry};

    #[test]
    fn a_refused_ring_is_replaced_and_reported() {
        for errno in [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::EINVAL, libc::ENOMEM] {
            let refuse = || Err(io::Error::from_raw_os_error(errno));
            let carrier = Carrier::choose_by(Engine::Auto, refuse).unwrap();
            assert_eq!(carrier.name(), "posix");
            assert!(carrier.caveat.unwrap().contains("blocking calls"));
            let target_error = Carrier::choose_by(Engine::Uring, refuse).unwrap_err();
            assert!(target_error.to_string().contains("--engine posix"), "{target_error}");
        }
        let carrier = Carrier::choose_by(Engine::Auto, || Ok(())).unwrap();
        assert_eq!((carrier.name(), carrier.caveat), ("io_uring", None));
        let carrier = Carrier::choose_by(Engine::Posix, || unreachable!("nobody asked for a ring")).unwrap();
        assert_eq!((carrier.name(), carrier.caveat), ("posix", None));
    }

    #[test]
    fn old_files_are_open_only_while_they_are_measured() {
        let place = tempfile::tempdir().unwrap();
        let film = place.path().join("film");
        fs::write(&film, vec![7; 9 << 20]).unwrap();
        fs::File::open(&film).unwrap().sync_all().unwrap();
        if let Err(target_error) = FileStore::take(&film) {
            return eprintln!("SKIPPED: {target_error}");
        }
        let layout = Layout { files: 1, file_bytes: 1 << 20 };
        let mut drive = folder::open(place.path(), layout, Some(0), Engine::Posix).unwrap();
        drive.wall = || wall_seconds() + 40 * 86_400;
        let result = drive.probe(&Probe::OldFiles).unwrap();
        assert!(matches!(&result, ProbeResult::OldFiles(old_files) if old_files.files == 1), "{result:?}");
        // A search keeps no file open, a measurement does. Afterward each file can be rewritten, and measured
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

    /// An empty pipe: a read of it ends when its other end is written or closed.
    struct SilentMedium {
        reader: OwnedFd,
        geometry: Geometry,
    }

    impl Medium for SilentMedium {
        fn geometry(&self) -> &Geometry {
            &self.geometry
        }

        fn spot(&self, io: &Io) -> Option<Spot<'_>> {
            Some(Spot { fd: self.reader.as_fd(), offset: io.offset })
        }

        fn perform(&self, _io: &Io, buffer: &mut [u8]) -> Outcome {
            let moved = rustix::io::read(&self.reader, buffer).unwrap_or_default();
            Outcome::Short(moved as u32)
        }

        fn prepare_access(&self, _access: Access) -> Result<(), TargetError> {
            Ok(())
        }

        fn make_cold(&self) -> Result<(), TargetError> {
            Ok(())
        }
    }

    /// A lane of depth two over a silent medium, and the end of the pipe that would make it speak.
    fn silent_lane(engine: Engine) -> (Lane<'static>, Monotonic, OwnedFd) {
        let (reader, writer) = std::io::pipe().unwrap();
        let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
        let medium = Arc::new(SilentMedium { reader, geometry: geometry(1 << 20, 512, false) });
        let clock = Monotonic::start();
        let need = LaneRequirements { lanes: 1, depth: 2, length_max: 4096 };
        let mut carrier = Carrier::choose(engine).unwrap();
        let mut lanes = carrier.lanes(&medium, clock, &HealthSource::default(), &need).unwrap();
        (lanes.remove(0), clock, writer)
    }

    #[test]
    fn a_lane_is_dropped_in_time_while_its_drive_hangs() {
        // If io_uring is refused, threads carry both.
        for engine in [Engine::Auto, Engine::Posix] {
            let (mut lane, clock, writer) = silent_lane(engine);
            let io = |slot: u32| Io {
                slot: Slot(slot),
                op: Op::Read,
                offset: u64::from(slot) * 4096,
                length: 4096,
                data: DataClass::Zero,
                sync: None,
            };
            lane.submit(&[io(0), io(1)]).unwrap();
            let mut done = Vec::new();
            lane.wait(clock.now() + Nanos::from_millis(20), &mut done).unwrap();
            assert!(done.is_empty(), "{engine:?}");
            let (dropped, ended) = std::sync::mpsc::channel();
            // A lane that waits forever fails the test instead of hanging it.
            let started_at = clock.now();
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    drop(lane);
                    dropped.send(()).unwrap();
                });
                let ended = ended.recv_timeout(std::time::Duration::from_secs(20));
                // Lets go of whatever still waits.
                drop(writer);
                ended.unwrap_or_else(|_| panic!("{engine:?} waits for a drive that hangs"));
            });
            assert!(
                clock.now().since(started_at) >= Nanos::from_millis(900),
                "{engine:?} has waited for a while"
            );
        }
    }
}
