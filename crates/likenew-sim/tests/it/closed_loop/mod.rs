//! A small closed loop over one drive: as much of the real loop as measuring the simulator needs.

use std::path::Path;

use likenew_core::drive::{Drive as _, LaneRequirements};
use likenew_core::io::{DataClass, Io, Op, Slot};
use likenew_core::units::Nanos;
use likenew_sim::{SimDrive, Spec};
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The result of one workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Rates {
    pub(crate) bytes_per_s: f64,
    pub(crate) iops: f64,
    pub(crate) latency_max: Nanos,
    /// Mean latency.
    pub(crate) latency_ns_mean: f64,
}

/// I/Os of one length at queue depth `depth` (which also seeds their addresses), over the first `span` bytes
/// from `start`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    pub(crate) op: Op,
    pub(crate) random: bool,
    pub(crate) length: u32,
    pub(crate) depth: u32,
    pub(crate) start: u64,
    pub(crate) span: u64,
    pub(crate) ios: u64,
}

pub(crate) fn open(spec: &str) -> SimDrive {
    let no_files = |_: &Path| unreachable!("drives of the catalog need no file");
    Spec::parse(spec).expect("a good spec").open(no_files).expect("a good drive")
}

/// Runs a load with incompressible data.
pub(crate) fn run(drive: &mut SimDrive, load: Load) -> Rates {
    run_with(drive, load, DataClass::Random)
}

/// Runs a load that writes data of a class.
pub(crate) fn run_with(drive: &mut SimDrive, load: Load, data: DataClass) -> Rates {
    let need = LaneRequirements { lanes: 1, depth: load.depth, length_max: load.length };
    let mut lane = drive.lanes(&need).expect("one lane").pop().expect("one lane");
    let mut random = Xoshiro256PlusPlus::seed_from_u64(u64::from(load.depth));
    let places = load.span / u64::from(load.length);
    let mut sent = vec![Nanos::ZERO; load.depth as usize];
    let (mut issued, mut ended, mut done) = (0u64, 0u64, Vec::new());
    let (mut latency_max, mut latency_sum) = (Nanos::ZERO, 0u64);
    let started_at = lane.now();
    let mut free: Vec<u32> = (0..load.depth).collect();
    while ended < load.ios {
        while let Some(slot) = free.pop_if(|_| issued < load.ios) {
            let place = if load.random { random.random_range(0..places) } else { issued % places };
            let offset = load.start + place * u64::from(load.length);
            let io = Io { slot: Slot(slot), op: load.op, offset, length: load.length, data, sync: None };
            sent[slot as usize] = lane.submit(&[io]).expect("accepted");
            issued += 1;
        }
        lane.wait(Nanos::NEVER, &mut done).expect("waited");
        for completion in done.drain(..) {
            let latency = completion.at - sent[completion.slot.index()];
            latency_max = latency_max.max(latency);
            latency_sum += latency.0;
            ended += 1;
            free.push(completion.slot.0);
        }
    }
    let seconds = (lane.now() - started_at).as_secs_f64();
    Rates {
        bytes_per_s: (load.ios * u64::from(load.length)) as f64 / seconds,
        iops: load.ios as f64 / seconds,
        latency_max,
        latency_ns_mean: latency_sum as f64 / load.ios as f64,
    }
}
