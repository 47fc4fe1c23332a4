//! A medium that never answers a read, and what becomes of a lane that is dropped while it waits.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use likenew_core::access::Access;
use likenew_core::drive::{Lane, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Outcome, Slot};
use likenew_core::lab_error::LabError;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::Nanos;

use crate::clock::Monotonic;
use crate::engine::{Carrier, Engine};
use crate::health::HealthSource;
use crate::medium::{Medium, Spot};

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

    fn prepare_access(&self, _access: Access) -> Result<(), LabError> {
        Ok(())
    }

    fn make_cold(&self) -> Result<(), LabError> {
        Ok(())
    }
}

/// A lane of depth two over a silent medium, and the end of the pipe that would make it speak.
fn silent_lane(engine: Engine) -> (Lane<'static>, Monotonic, OwnedFd) {
    let (reader, writer) = std::io::pipe().unwrap();
    let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
    let geometry = Geometry {
        capacity: 1 << 20,
        block: 512,
        boundary: None,
        writable: false,
        trims: false,
        carries_data: true,
        clock: Clock::Wall,
    };
    let medium = Arc::new(SilentMedium { reader, geometry });
    let clock = Monotonic::start();
    let need = LaneRequirements { lanes: 1, depth: 2, length_max: 4096 };
    let mut carrier = Carrier::choose(engine).unwrap();
    let mut lanes = carrier.lanes(&medium, clock, &HealthSource::default(), &need).unwrap();
    (lanes.remove(0), clock, writer)
}

#[test]
fn a_lane_is_dropped_in_time_while_its_drive_hangs() {
    // Where io_uring is refused, threads carry both.
    for engine in [Engine::Auto, Engine::Posix] {
        let (mut lane, clock, writer) = silent_lane(engine);
        let io = |slot: u32| Io {
            slot: Slot(slot),
            op: Op::Read,
            offset: u64::from(slot) * 4096,
            length: 4096,
            data: DataClass::Zero,
        };
        lane.submit(&[io(0), io(1)]).unwrap();
        let mut done = Vec::new();
        lane.wait(clock.now() + Nanos::from_millis(20), &mut done).unwrap();
        assert!(done.is_empty(), "{engine:?}");
        let (dropped, ended) = std::sync::mpsc::channel();
        // A lane that waits for ever fails the test, and does not hang it.
        let started_at = clock.now();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                drop(lane);
                dropped.send(()).unwrap();
            });
            let ended = ended.recv_timeout(std::time::Duration::from_secs(20));
            // Whatever still waits is let go.
            drop(writer);
            ended.unwrap_or_else(|_| panic!("{engine:?} waits for a drive that hangs"));
        });
        assert!(
            clock.now().since(started_at) >= Nanos::from_millis(900),
            "{engine:?} has waited for a while"
        );
    }
}
