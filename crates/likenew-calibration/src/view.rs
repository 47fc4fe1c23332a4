//! Gives a simulated drive the address range of the real target: a run in a folder only had the addresses of its files.

use likenew_core::counters::{Counters, FlashCounters};
use likenew_core::drive::{Drive, Identity, Lane, LaneRequirements};
use likenew_core::io::{Completion, Io, Slot};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::target::{Geometry, Health, Target};
use likenew_core::target_error::TargetError;
use likenew_core::units::Nanos;
use likenew_core::workload::Access;
use likenew_sim::SimDrive;

/// The beginning of a simulated drive.
pub(crate) struct View {
    drive: SimDrive,
    geometry: Geometry,
}

impl View {
    /// Takes the capacity and block size of `measured`; `None` if the drive is smaller or has larger blocks.
    pub(crate) fn new(drive: SimDrive, measured: &Geometry) -> Option<Self> {
        let own = drive.geometry();
        let fits = measured.capacity <= own.capacity && measured.block.is_multiple_of(own.block);
        let geometry = Geometry {
            capacity: measured.capacity,
            block: measured.block,
            boundary: measured.boundary,
            ..own
        };
        fits.then_some(Self { drive, geometry })
    }
}

impl Drive for View {
    fn identity(&self) -> Identity {
        self.drive.identity()
    }

    fn geometry(&self) -> Geometry {
        self.geometry.clone()
    }

    fn lanes_max(&self) -> u32 {
        self.drive.lanes_max()
    }

    fn lanes<'a>(&'a mut self, need: &LaneRequirements) -> Result<Vec<Lane<'a>>, TargetError> {
        let geometry = &self.geometry;
        let lanes = self.drive.lanes(need)?.into_iter();
        Ok(lanes.map(|lane| Box::new(ViewLane { lane, geometry }) as Lane<'a>).collect())
    }

    fn prepare_access(&mut self, access: Access, cold: bool) -> Result<(), TargetError> {
        self.drive.prepare_access(access, cold)
    }

    fn counters(&mut self) -> Option<Counters> {
        self.drive.counters()
    }

    fn probe(&mut self, probe: &Probe) -> Result<ProbeResult, TargetError> {
        self.drive.probe(probe)
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        Drive::flash_counters(&self.drive)
    }
}

struct ViewLane<'a> {
    lane: Lane<'a>,
    geometry: &'a Geometry,
}

impl Target for ViewLane<'_> {
    fn geometry(&self) -> &Geometry {
        self.geometry
    }

    fn now(&self) -> Nanos {
        self.lane.now()
    }

    fn buffer(&mut self, slot: Slot) -> &mut [u8] {
        self.lane.buffer(slot)
    }

    fn submit(&mut self, batch: &[Io]) -> Result<Nanos, TargetError> {
        self.lane.submit(batch)
    }

    fn wait(&mut self, until: Nanos, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.lane.wait(until, done)
    }

    fn health(&mut self) -> Health {
        self.lane.health()
    }

    fn next_at(&self) -> Option<Nanos> {
        self.lane.next_at()
    }

    fn flash_counters(&self) -> Option<FlashCounters> {
        self.lane.flash_counters()
    }
}
