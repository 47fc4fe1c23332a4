//! A lane without slots: it can only rest.

use likenew_core::io::{Completion, Io, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::units::Nanos;

use crate::clock::Monotonic;
use crate::health::HealthSource;

/// Lets time pass on a drive's clock. Any I/O on it is a mistake, because it has no slots.
pub(crate) struct IdleLane {
    pub(crate) geometry: Geometry,
    pub(crate) clock: Monotonic,
    pub(crate) health: HealthSource,
}

impl Target for IdleLane {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        panic!("{slot:?} of a lane that was opened for a rest, without slots")
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, LabError> {
        assert!(batch.is_empty(), "{} I/Os on a lane that was opened for a rest, without slots", batch.len());
        Ok(self.clock.now())
    }

    fn wait(&mut self, until: Nanos, _done: &mut Vec<Completion>) -> Result<(), LabError> {
        self.clock.rest(until);
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.health.read()
    }
}
