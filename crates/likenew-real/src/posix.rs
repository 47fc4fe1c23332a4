//! A lane that does its I/O with blocking calls on threads: for machines where io_uring is refused.

use std::sync::Arc;

use likenew_core::io::{Completion, Io, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::units::Nanos;

use crate::buffers::Buffers;
use crate::clock::{Monotonic, sharpen_timers};
use crate::flights::Flights;
use crate::health::HealthSource;
use crate::medium::Medium;
use crate::workers::Workers;

/// More I/Os in flight over all lanes of a drive would need more threads than is sensible.
pub(crate) const THREADS_MAX: u32 = 1024;

/// How long a lane that is dropped waits for what is still in flight. Chosen: the loop has already waited for
/// what ends at all.
pub(crate) const LAST_WAIT: Nanos = Nanos::from_secs(1);

/// One thread for each slot; an I/O leaves when it is handed to a thread and ends when that thread's call returns.
pub(crate) struct PosixLane<M: Medium> {
    workers: Workers,
    buffers: Buffers,
    flights: Flights,
    medium: Arc<M>,
    clock: Monotonic,
    health: HealthSource,
    /// No completion is reported earlier than one that was reported before it.
    last: Nanos,
    sharp: bool,
}

impl<M: Medium> PosixLane<M> {
    /// A lane of `depth` threads.
    ///
    /// # Errors
    /// There are too little memory or too few threads for this depth.
    pub(crate) fn open(
        medium: &Arc<M>,
        clock: Monotonic,
        health: HealthSource,
        depth: u32,
        length_max: u32,
    ) -> Result<Self, LabError> {
        Ok(Self {
            workers: Workers::start(depth, depth, medium, clock, None)?,
            buffers: Buffers::map(depth, length_max)?,
            flights: Flights::new(medium.geometry(), depth, length_max),
            medium: Arc::clone(medium),
            clock,
            health,
            last: Nanos::ZERO,
            sharp: false,
        })
    }

    fn end(&mut self, mut completion: Completion, done: &mut Vec<Completion>) {
        self.flights.free(completion.slot);
        completion.at = completion.at.max(self.last);
        done.push(completion);
    }
}

impl<M: Medium> Drop for PosixLane<M> {
    fn drop(&mut self) {
        if !self.workers.end(self.clock, self.clock.now() + LAST_WAIT) {
            // A call that does not return still uses its buffer, which is therefore leaked.
            self.buffers.leak();
        }
    }
}

impl<M: Medium> Target for PosixLane<M> {
    fn geometry(&self) -> &Geometry {
        self.medium.geometry()
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        assert!(!self.flights.is_in_flight(slot), "{slot:?} is in flight: its buffer is the kernel's");
        self.buffers.slot_mut(slot)
    }

    #[allow(unsafe_code, reason = "buffers go to the workers by address")]
    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, LabError> {
        let sent = self.clock.now();
        for io in batch {
            self.flights.leave(io)?;
            // SAFETY: `leave` has checked that the I/O fits the slot's buffer, which is never handed out
            // while the slot is in flight, and which outlives the workers.
            unsafe { self.workers.hand_over(io, self.buffers.address(io.slot)) };
        }
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), LabError> {
        if !self.sharp {
            sharpen_timers();
            self.sharp = true;
        }
        if self.flights.count() == 0 {
            self.clock.rest(until);
            return Ok(());
        }
        let first = done.len();
        while done.len() == first {
            match self.workers.wait(self.clock, until) {
                Some(completion) => self.end(completion, done),
                None if self.clock.now() >= until => return Ok(()),
                None => {}
            }
        }
        while let Some(completion) = self.workers.poll() {
            self.end(completion, done);
        }
        let ended = &mut done[first..];
        ended.sort_by_key(|completion| completion.at);
        self.last = ended.last().map_or(self.last, |completion| completion.at);
        if ended.iter().any(|completion| matches!(completion.outcome, likenew_core::io::Outcome::Error(_))) {
            self.medium.check_present()?;
        }
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.health.read()
    }
}
