//! The I/O engine and its lanes.

use std::io;
use std::sync::Arc;

use likenew_core::drive::{Lane, LaneRequirements};
use likenew_core::lab_error::LabError;

use crate::clock::Monotonic;
use crate::health::HealthSource;
use crate::idle_lane::IdleLane;
use crate::medium::Medium;
use crate::posix::{PosixLane, THREADS_MAX};
use crate::ring::Ring;
use crate::uring::UringLane;
use crate::wording::target as wording;

/// Lanes that a real drive has at once, at most.
pub(crate) const LANES_MAX: u32 = 256;

/// The requested engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Engine {
    /// io_uring, or blocking calls on threads where it is refused.
    #[default]
    Auto,
    /// io_uring or nothing.
    Uring,
    /// Blocking calls on threads.
    Posix,
}

/// The engine of one open drive.
#[derive(Clone, Debug)]
pub(crate) struct Carrier {
    uring: bool,
    /// Why it is not the best one.
    pub(crate) caveat: Option<String>,
    /// Whether all lanes opened last had their buffers registered; nothing before the first.
    fixed_buffers: Option<bool>,
}

impl Carrier {
    /// Decides once, when a drive is opened.
    ///
    /// # Errors
    /// io_uring was requested and is not available.
    pub(crate) fn choose(engine: Engine) -> Result<Self, LabError> {
        Self::choose_by(engine, || Ring::open(1).map(drop))
    }

    fn choose_by(engine: Engine, probe: impl FnOnce() -> io::Result<()>) -> Result<Self, LabError> {
        let carrier = |uring, caveat| Ok(Self { uring, caveat, fixed_buffers: None });
        if engine == Engine::Posix {
            return carrier(false, None);
        }
        match probe() {
            Ok(()) => carrier(true, None),
            Err(error) if engine == Engine::Uring => {
                Err(LabError::Unsuitable(wording::no_io_uring(&error, remedy(&error))))
            }
            Err(error) => carrier(false, Some(wording::threads_instead(&error, remedy(&error)))),
        }
    }

    /// Its name in reports.
    pub(crate) fn name(&self) -> &'static str {
        if self.uring { "io_uring" } else { "posix" }
    }

    /// Facts about it for a report.
    pub(crate) fn facts(&self) -> impl Iterator<Item = (String, String)> {
        self.fixed_buffers
            .map(|fixed| ("registered buffers".to_owned(), if fixed { "yes" } else { "no" }.to_owned()))
            .into_iter()
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
    ) -> Result<Vec<Lane<'a>>, LabError> {
        medium.check_present()?;
        let LaneRequirements { lanes, depth, length_max } = *need;
        assert!((1..=LANES_MAX).contains(&lanes), "{lanes} lanes of a drive that has {LANES_MAX}");
        if !self.uring && depth.saturating_mul(lanes) > THREADS_MAX {
            return Err(LabError::Unsuitable(wording::too_many_threads(lanes, depth, THREADS_MAX)));
        }
        let mut opened: Vec<Lane<'a>> = Vec::with_capacity(lanes as usize);
        for _ in 0..lanes {
            let health = health.clone();
            opened.push(if depth == 0 {
                Box::new(IdleLane { geometry: medium.geometry().clone(), clock, health })
            } else if self.uring {
                let lane = UringLane::open(medium, clock, health, depth, length_max)?;
                let so_far = self.fixed_buffers.filter(|_| !opened.is_empty()).unwrap_or(true);
                self.fixed_buffers = Some(so_far && lane.has_fixed_buffers());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_ring_is_replaced_and_reported() {
        for errno in [libc::EPERM, libc::ENOSYS, libc::EACCES, libc::EINVAL, libc::ENOMEM] {
            let refuse = || Err(io::Error::from_raw_os_error(errno));
            let carrier = Carrier::choose_by(Engine::Auto, refuse).unwrap();
            assert_eq!(carrier.name(), "posix");
            assert!(carrier.caveat.unwrap().contains("blocking calls"));
            let lab_error = Carrier::choose_by(Engine::Uring, refuse).unwrap_err();
            assert!(lab_error.to_string().contains("--engine posix"), "{lab_error}");
        }
        let carrier = Carrier::choose_by(Engine::Auto, || Ok(())).unwrap();
        assert_eq!((carrier.name(), carrier.caveat), ("io_uring", None));
        let carrier = Carrier::choose_by(Engine::Posix, || unreachable!("nobody asked for a ring")).unwrap();
        assert_eq!((carrier.name(), carrier.caveat), ("posix", None));
    }
}
