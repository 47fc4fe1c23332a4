//! A null drive, in wall time: measuring it measures this program.

use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements, TargetKind};
use likenew_core::io::{Completion, Io, Outcome, Slot};
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;

use crate::clock::{Monotonic, sharpen_timers};
use crate::identify::{DeviceInfo, HealthSource};
use crate::medium::{LANES_MAX, geometry};
use crate::wording::target as wording;

/// The capacity in bytes, so large that offsets are as long as a real drive's.
const CAPACITY: u64 = 1 << 40;
const BLOCK: u32 = 512;

/// A null drive: it completes every I/O at once and moves no byte.
pub struct Nop {
    geometry: Geometry,
    clock: Monotonic,
}

impl Nop {
    /// A drive of 1 TiB whose clock starts now.
    pub fn new() -> Self {
        let geometry = Geometry { carries_data: false, ..geometry(CAPACITY, BLOCK, true) };
        Self { geometry, clock: Monotonic::start() }
    }
}

impl Default for Nop {
    fn default() -> Self {
        Self::new()
    }
}

impl Drive for Nop {
    fn identity(&self) -> Identity {
        let info = DeviceInfo { caveats: vec![wording::NO_IO.into()], ..DeviceInfo::default() };
        info.identity("nop".to_owned(), TargetKind::Nop, "nop", CAPACITY, BLOCK)
    }

    fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    fn lanes_max(&self) -> u32 {
        LANES_MAX
    }

    fn resume_clock_at(&mut self, now: Nanos) {
        self.clock = Monotonic::reading(now.max(self.clock.now()));
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        Ok(lanes(&self.geometry, self.clock, &HealthSource::default(), need))
    }
}

/// Lanes that complete every I/O at once, whatever drive they belong to; a lane without slots only tells the time.
pub(crate) fn lanes<'a>(
    geometry: &Geometry,
    clock: Monotonic,
    health: &HealthSource,
    need: &LaneRequirements,
) -> Vec<Lane<'a>> {
    let lane = |_| -> Lane<'a> {
        Box::new(NopLane {
            geometry: geometry.clone(),
            clock,
            health: health.clone(),
            depth: need.depth as usize,
            buffers: vec![0; need.depth as usize * need.length_max as usize],
            length_max: need.length_max as usize,
            completions: Vec::with_capacity(need.depth as usize),
        })
    };
    (0..need.lanes).map(lane).collect()
}

struct NopLane {
    geometry: Geometry,
    clock: Monotonic,
    health: HealthSource,
    depth: usize,
    buffers: Vec<u8>,
    length_max: usize,
    completions: Vec<Slot>,
}

impl Target for NopLane {
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    fn now(&self) -> Nanos {
        self.clock.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        &mut self.buffers[slot.index() * self.length_max..][..self.length_max]
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        let sent = self.clock.now();
        let in_flight = self.completions.len() + batch.len();
        assert!(in_flight <= self.depth, "{in_flight} I/Os on a lane of {} slots", self.depth);
        self.completions.extend(batch.iter().map(|io| io.slot));
        Ok(sent)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.completions.is_empty() {
            sharpen_timers();
            self.clock.rest(until);
            return Ok(());
        }
        let at = self.clock.now();
        done.extend(self.completions.drain(..).map(|slot| Completion { slot, at, outcome: Outcome::Done }));
        Ok(())
    }

    fn health(&mut self) -> Health {
        self.health.read()
    }
}
