//! The reads of a check: a map of regions, small reads in four patterns, and long sequential reads.

use std::ops::Range;

use likenew_core::io::Op;
use likenew_core::units::Nanos;
use likenew_core::workload::{Arrival, InterArrival, OLD_PIECE_BYTES, Until, Workload};
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::results::CheckResults;
use super::wording::workload_names::{
    COOL, DEEP_READS, LOAD, LOAD_AFTER_IDLE, NEAR_READS, OLD, PAUSED_READS, PLACE, PLACE_REPEAT, SMALL_READS,
};
use super::workload_plan::{
    BLOCK, PLACE_TIME, PLACES, REPEATS, SMALL_TIME, SMALLS, WorkloadPlan, in_order, places_of,
};

const DEEP: u32 = 32;
/// Time limit of reads at QD32. Chosen: enough for a level rate.
const DEEP_TIME: Nanos = Nanos::from_secs(4);
/// Small reads close together stay within this many bytes.
const NEAR_BYTES: u64 = 8 << 20;
/// Number of reads with pauses before them: drives and links fall asleep within some tens of milliseconds.
const PAUSED_READS_COUNT: u64 = 24;
/// Rate of those reads, in IOPS. Chosen: pauses of 83 ms are longer than that.
const PAUSED_PER_S: f64 = 12.0;
/// Time limit of those reads. Chosen: 24 reads at 12 IOPS take 2 s.
const PAUSED_TIME: Nanos = Nanos::from_secs(3);
/// Time of sequential reads that warm the drive up. Chosen: what a quick check can afford.
const LOAD_TIME: Nanos = Nanos::from_secs(6);
/// The same in a thorough check. Chosen: drives throttle after a minute or two of load.
const LOAD_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// Idle time in which it cools. Chosen: what a quick check can afford.
const COOL_TIME: Nanos = Nanos::from_secs(4);
/// The same in a thorough check. Chosen: as long as the load.
const COOL_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// Time of reads after the drive has cooled. Chosen: too short to warm it up again.
const RESTED_TIME: Nanos = Nanos::from_secs(1);

impl WorkloadPlan<'_> {
    /// The map, its slowest regions again, and small reads.
    pub(super) fn reads(&self) -> Option<Workload> {
        let whole = self.readable()?;
        let mut places: Vec<usize> = (0..PLACES).collect();
        places.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.evidence.plan.seed_of(0)));
        let starts = places_of(&whole, self.evidence.geometry.block);
        let place = |name: &str, index: usize| {
            self.unless_run(&format!("{name} {}", index + 1), || {
                in_order(Op::Read, self.place(starts[index]), PLACE_TIME)
            })
        };
        let map = places.iter().find_map(|index| place(PLACE, *index));
        map.or_else(|| {
            let measured = CheckResults::new(self.evidence);
            measured.slowest_places(REPEATS).into_iter().find_map(|index| place(PLACE_REPEAT, index))
        })
        .or_else(|| self.old_files())
        .or_else(|| self.small_reads(&whole))
    }

    /// Pieces of the owner's old files, in random order.
    fn old_files(&self) -> Option<Workload> {
        let mut pieces: Vec<usize> = (0..self.old_pieces()).collect();
        pieces.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.evidence.plan.seed_of(1)));
        pieces.into_iter().find_map(|index| {
            self.unless_run(&format!("{OLD} {}", index + 1), || {
                let start = index as u64 * OLD_PIECE_BYTES;
                Workload { old_files: true, ..in_order(Op::Read, start..start + OLD_PIECE_BYTES, PLACE_TIME) }
            })
        })
    }

    fn small_reads(&self, whole: &Range<u64>) -> Option<Workload> {
        let near = places_of(whole, self.evidence.geometry.block)[PLACES / 2];
        let near = near..(near + NEAR_BYTES).min(whole.end);
        let small = |region: &Range<u64>, depth: u32, until: Until| {
            self.small(Op::Read, region.clone(), depth, until)
        };
        let one = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
        self.unless_run(SMALL_READS, || small(whole, 1, one))
            .or_else(|| self.unless_run(NEAR_READS, || small(&near, 1, one)))
            .or_else(|| self.unless_run(DEEP_READS, || small(whole, DEEP, Until::elapsed(DEEP_TIME))))
            .or_else(|| {
                self.unless_run(PAUSED_READS, || {
                    let until = Until { elapsed: Some(PAUSED_TIME), ..Until::ops(PAUSED_READS_COUNT) };
                    let mut workload = small(whole, 1, until);
                    workload.streams[0].arrival = Arrival::Open {
                        per_second: PAUSED_PER_S,
                        inter_arrival: InterArrival::Even,
                        depth_max: 1,
                    };
                    workload
                })
            })
    }

    /// Sequential reads under load, and again after idle time.
    pub(super) fn load(&self) -> Option<Workload> {
        let whole = self.readable()?;
        let (time, cool) = if self.options.thorough {
            (LOAD_TIME_THOROUGH, COOL_TIME_THOROUGH)
        } else {
            (LOAD_TIME, COOL_TIME)
        };
        let end = whole.end - whole.end % u64::from(BLOCK);
        // Again from the start if there is not enough data for the time.
        let read = |time| Workload { until: Until::elapsed(time), ..in_order(Op::Read, 0..end, time) };
        self.unless_run(LOAD, || read(time))
            .or_else(|| self.unless_run(COOL, || Workload::rest(cool)))
            .or_else(|| self.unless_run(LOAD_AFTER_IDLE, || read(RESTED_TIME)))
    }
}
