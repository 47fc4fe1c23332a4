//! What is read in a check: a map of places, small reads in four ways, and reads in order for long.

use std::ops::Range;

use likenew_core::io::Op;
use likenew_core::old_files::OLD_PIECE_BYTES;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrivals, Pace, Workload};
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::course::{
    AGAIN, BLOCK, COOL, Course, DEEP_READS, LOAD, LOAD_RESTED, NEAR_READS, OLD, PAUSED_READS, PLACE,
    PLACE_AGAIN, PLACE_TIME, PLACES, SMALL_READS, SMALL_TIME, SMALLS, in_order, places_of,
};
use super::measured::Measured;

const DEEP: u32 = 32;
const DEEP_TIME: Nanos = Nanos::from_secs(4);
/// Small reads near each other stay within this.
const NEAR_BYTES: u64 = 8 << 20;
/// Reads after pauses: drives and links fall asleep within some tens of milliseconds.
const PAUSED: u64 = 24;
const PAUSED_PER_S: f64 = 12.0;
const PAUSED_TIME: Nanos = Nanos::from_secs(3);
/// Reads that warm it, and their time in a thorough check.
const LOAD_TIME: Nanos = Nanos::from_secs(6);
const LOAD_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// Until it is cool again.
const COOL_TIME: Nanos = Nanos::from_secs(4);
const COOL_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
const RESTED_TIME: Nanos = Nanos::from_secs(1);

impl Course<'_> {
    /// The map, its slowest places again, and small reads.
    pub(super) fn reads(&self) -> Option<Workload> {
        let whole = self.readable()?;
        let mut places: Vec<usize> = (0..PLACES).collect();
        places.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.evidence.plan.seed_of(0)));
        let starts = places_of(&whole, self.evidence.geometry.block);
        let place = |name: &str, index: usize| {
            self.once(&format!("{name} {}", index + 1), || {
                in_order(Op::Read, self.place(starts[index]), PLACE_TIME)
            })
        };
        let map = places.iter().find_map(|index| place(PLACE, *index));
        map.or_else(|| {
            let measured = Measured::new(self.evidence);
            measured.slowest_places(AGAIN).into_iter().find_map(|index| place(PLACE_AGAIN, index))
        })
        .or_else(|| self.old_files())
        .or_else(|| self.small_reads(&whole))
    }

    /// Pieces of the owner's old files, in random order.
    fn old_files(&self) -> Option<Workload> {
        let mut pieces: Vec<usize> = (0..self.old_pieces()).collect();
        pieces.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(self.evidence.plan.seed_of(1)));
        pieces.into_iter().find_map(|index| {
            self.once(&format!("{OLD} {}", index + 1), || {
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
        self.once(SMALL_READS, || small(whole, 1, one))
            .or_else(|| self.once(NEAR_READS, || small(&near, 1, one)))
            .or_else(|| self.once(DEEP_READS, || small(whole, DEEP, Until::elapsed(DEEP_TIME))))
            .or_else(|| {
                self.once(PAUSED_READS, || {
                    let until = Until { elapsed: Some(PAUSED_TIME), ..Until::ops(PAUSED) };
                    let mut workload = small(whole, 1, until);
                    workload.streams[0].pace =
                        Pace::Open { per_second: PAUSED_PER_S, arrivals: Arrivals::Even, depth_max: 1 };
                    workload
                })
            })
    }

    /// Reads for long, and again after a rest.
    pub(super) fn load(&self) -> Option<Workload> {
        let whole = self.readable()?;
        let (time, cool) = if self.options.thorough {
            (LOAD_TIME_THOROUGH, COOL_TIME_THOROUGH)
        } else {
            (LOAD_TIME, COOL_TIME)
        };
        let end = whole.end - whole.end % u64::from(BLOCK);
        // Around and around, where there is not enough for the time.
        let read = |time| Workload { until: Until::elapsed(time), ..in_order(Op::Read, 0..end, time) };
        self.once(LOAD, || read(time))
            .or_else(|| self.once(COOL, || Workload::rest(cool)))
            .or_else(|| self.once(LOAD_RESTED, || read(RESTED_TIME)))
    }
}
