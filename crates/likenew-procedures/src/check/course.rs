//! What is done in a check, in order: what is cheap and safe first. Whether a step is taken depends on the drive and on what came before it, so
//! that a run that goes on takes the same steps.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::look::Look;
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrivals, Pace, Stream, Workload};
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::check_options::CheckOptions;
use super::measured::{Measured, speed};

/// Places of the map, and what is read at each.
pub(super) const PLACES: usize = 24;
const PLACE_BYTES: u64 = 8 << 20;
const PLACE_TIME: Nanos = Nanos::from_millis(400);
const BLOCK: u32 = 512 << 10;
const DEPTH: u32 = 4;
/// So many of the slowest places are read again.
const AGAIN: usize = 4;
/// A small I/O, how many there are, and how long they may take.
const SMALL: u32 = 4096;
const SMALLS: u64 = 1024;
const SMALL_TIME: Nanos = Nanos::from_millis(1500);
const SMALL_SAMPLES: u32 = 4096;
const DEEP: u32 = 32;
const DEEP_TIME: Nanos = Nanos::from_secs(6);
/// Small reads near each other stay within this.
const NEAR_BYTES: u64 = 8 << 20;
/// Reads after pauses: drives and links fall asleep within some tens of milliseconds.
const PAUSED: u64 = 24;
const PAUSED_PER_S: f64 = 12.0;
/// Reads that warm it, and their time in a thorough check.
const LOAD_TIME: Nanos = Nanos::from_secs(8);
const LOAD_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// After writes, and after TRIM.
const REST: Nanos = Nanos::from_secs(4);
const REST_LONG: Nanos = Nanos::from_secs(8);
const REST_THOROUGH: Nanos = Nanos::from_secs(120);
/// How long a file system may take to pass on what was deleted.
const RELEASE_WAIT: Nanos = Nanos::from_secs(6);
/// The windows along the writes, of which there are about so many.
const WINDOWS: u64 = 128;
/// Of the area, what is written again is this part.
const PART: u64 = 4;
/// Writes in order take no longer than this, so that a slow drive is not written to for minutes.
const WRITE_TIME: Nanos = Nanos::from_secs(12);
const WRITE_TIME_THOROUGH: Nanos = Nanos::from_secs(600);

/// Names of its workloads.
pub(super) const PLACE: &str = "place";
pub(super) const PLACE_AGAIN: &str = "place again";
pub(super) const SMALL_READS: &str = "small reads";
pub(super) const NEAR_READS: &str = "small reads near each other";
pub(super) const DEEP_READS: &str = "small reads 32 at a time";
pub(super) const PAUSED_READS: &str = "small reads with pauses";
pub(super) const LOAD: &str = "reads in order for long";
pub(super) const LOAD_RESTED: &str = "reads in order after a rest";
pub(super) const WRITES: &str = "writes in order";
pub(super) const FRESH: &str = "what was written";
pub(super) const SMALL_WRITES: &str = "small writes";
pub(super) const SHIFTED_WRITES: &str = "small writes beside multiples of 4 KiB";
pub(super) const RESTED_WRITES: &str = "writes after a rest";
pub(super) const TRIMMED_WRITES: &str = "writes after TRIM";
pub(super) const ZEROS: &str = "zeros";
pub(super) const SLOW_WRITES: &str = "writes at half the rate";
const COOL: &str = "rest after reads";
const SETTLED: &str = "rest before reading what was written";
const RESTED: &str = "rest after writes";
const TOLD: &str = "rest after TRIM";

/// The course of one plan on one drive.
pub(super) struct Course<'a> {
    options: &'a CheckOptions,
    evidence: &'a Evidence,
    /// What may be written, if anything.
    pub(super) area: Option<Range<u64>>,
}

impl<'a> Course<'a> {
    pub(super) fn new(options: &'a CheckOptions, evidence: &'a Evidence) -> Self {
        let geometry = &evidence.geometry;
        let area = options.obstacle(geometry).is_none().then(|| {
            let length = options.area(geometry.capacity);
            // What lies at the end of a drive is written last, so that it is free more often than not.
            let end = geometry.capacity - geometry.capacity % CheckOptions::AREA_STEP;
            if evidence.identity.kind == Kind::Folder { 0..length.min(end) } else { end - length..end }
        });
        Self { options, evidence, area }
    }

    /// The next step.
    pub(super) fn next(&self) -> Step {
        let looks = self.evidence.sights.iter().filter(|sight| sight.look == Look::Facts).count();
        if looks == 0 {
            return Step::Look(Look::Facts);
        }
        if let Some(workload) = self.reads().or_else(|| self.load()) {
            return Step::Run(workload);
        }
        if let Some(step) = self.area.clone().and_then(|area| self.writes(&area)) {
            return step;
        }
        if looks == 1 { Step::Look(Look::Facts) } else { Step::Enough }
    }

    fn ran(&self, name: &str) -> Option<&'a Segment> {
        self.evidence.segments.iter().find(|segment| segment.workload.name == name)
    }

    /// This workload, unless it was run.
    fn once(&self, name: &str, make: impl FnOnce() -> Workload) -> Option<Workload> {
        self.ran(name).is_none().then(|| Workload { name: name.to_owned(), ..make() })
    }

    /// What is there to be read: nothing of a folder but what was written into it.
    fn readable(&self) -> Option<Range<u64>> {
        let capacity = self.evidence.geometry.capacity;
        (self.evidence.identity.kind != Kind::Folder).then_some(0..capacity)
    }

    fn reads(&self) -> Option<Workload> {
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
        .or_else(|| self.small_reads(&whole))
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
                    let until = Until { elapsed: Some(Nanos::from_secs(3)), ..Until::ops(PAUSED) };
                    let mut workload = small(whole, 1, until);
                    workload.streams[0].pace =
                        Pace::Open { per_second: PAUSED_PER_S, arrivals: Arrivals::Even, depth_max: 1 };
                    workload
                })
            })
    }

    /// Reads for long, and again after a rest.
    fn load(&self) -> Option<Workload> {
        let whole = self.readable()?;
        let time = if self.options.thorough { LOAD_TIME_THOROUGH } else { LOAD_TIME };
        let end = whole.end - whole.end % u64::from(BLOCK);
        let read = |time| in_order(Op::Read, 0..end, time);
        self.once(LOAD, || read(time))
            .or_else(|| self.once(COOL, || Workload::rest(self.rest(REST))))
            .or_else(|| self.once(LOAD_RESTED, || read(Nanos::from_secs(1))))
    }

    fn writes(&self, area: &Range<u64>) -> Option<Step> {
        let length = area.end - area.start;
        let part = area.start..area.start + (length / PART).next_multiple_of(u64::from(BLOCK)).min(length);
        let write =
            |region: Range<u64>| Workload { flush: true, ..in_order(Op::Write, region, self.write_time()) };
        let one = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
        let small = |region: Range<u64>| Workload { flush: true, ..self.small(Op::Write, region, 1, one) };
        let half = u64::from(SMALL) / 2;
        let can_shift = u64::from(self.evidence.geometry.block) <= half;
        let fresh = places_of(area, self.evidence.geometry.block);
        let step = self
            .once(WRITES, || Workload {
                window: Some((length / WINDOWS).max(BLOCK.into())),
                ..write(area.clone())
            })
            .or_else(|| self.once(SETTLED, || Workload::rest(self.rest(REST))))
            .or_else(|| {
                (0..AGAIN).find_map(|index| {
                    let start = fresh[index * (PLACES - 1) / (AGAIN - 1)];
                    let place = start..(start + PLACE_BYTES).min(area.end);
                    self.once(&format!("{FRESH} {}", index + 1), || in_order(Op::Read, place, PLACE_TIME))
                })
            })
            .or_else(|| self.once(SMALL_WRITES, || small(part.clone())))
            .or_else(|| {
                // The start of the zone shifts every address.
                let shifted = part.start + half..part.end - half;
                can_shift.then(|| self.once(SHIFTED_WRITES, || small(shifted))).flatten()
            })
            .or_else(|| self.once(RESTED, || Workload::rest(self.rest(REST_LONG))))
            .or_else(|| self.once(RESTED_WRITES, || self.windowed(write(part.clone()), length)));
        if let Some(workload) = step {
            return Some(Step::Run(workload));
        }
        if self.evidence.geometry.trims && !self.is_released() {
            let Range { start: offset, end } = *area;
            return Some(Step::Look(Look::Release { offset, bytes: end - offset, wait: RELEASE_WAIT }));
        }
        let step = self
            .once(TOLD, || Workload::rest(self.rest(REST_LONG)))
            .or_else(|| self.once(TRIMMED_WRITES, || self.windowed(write(part.clone()), length)))
            .or_else(|| {
                self.once(ZEROS, || {
                    let mut workload = self.windowed(write(part.clone()), length);
                    workload.streams[0].data = DataClass::Zero;
                    workload
                })
            })
            .or_else(|| self.at_half_rate(area));
        step.map(Step::Run)
    }

    /// Only a drop is worth the bytes.
    fn at_half_rate(&self, area: &Range<u64>) -> Option<Workload> {
        let first = self.ran(WRITES)?;
        Measured::new(self.evidence).drop_of(WRITES)?;
        let rate = speed(first)? / 2.0;
        self.once(SLOW_WRITES, || {
            let mut workload =
                Workload { flush: true, ..in_order(Op::Write, area.clone(), self.write_time()) };
            let per_second = (rate / f64::from(BLOCK)).max(0.5);
            workload.streams[0].pace = Pace::Open { per_second, arrivals: Arrivals::Even, depth_max: DEPTH };
            self.windowed(workload, area.end - area.start)
        })
    }

    fn windowed(&self, workload: Workload, length: u64) -> Workload {
        Workload { window: Some((length / WINDOWS).max(BLOCK.into())), ..workload }
    }

    fn is_released(&self) -> bool {
        self.evidence.sights.iter().any(|sight| matches!(sight.look, Look::Release { .. }))
    }

    fn rest(&self, span: Nanos) -> Nanos {
        if self.options.thorough { REST_THOROUGH } else { span }
    }

    fn write_time(&self) -> Nanos {
        if self.options.thorough { WRITE_TIME_THOROUGH } else { WRITE_TIME }
    }

    fn place(&self, start: u64) -> Range<u64> {
        start..(start + PLACE_BYTES).min(self.evidence.geometry.capacity)
    }

    fn small(&self, op: Op, region: Range<u64>, depth: u32, until: Until) -> Workload {
        let block = SMALL.max(self.evidence.geometry.block);
        let place = Place::Uniform(Region::bytes(region));
        let stream = Stream::closed(Mix::Only(op), block, place, depth, DataClass::Random);
        Workload { samples: SMALL_SAMPLES, ..Workload::new("", until, vec![stream]) }
    }
}

/// A region read or written once in order, or for a time.
fn in_order(op: Op, region: Range<u64>, time: Nanos) -> Workload {
    let bytes = region.end - region.start;
    let block = BLOCK.min(1 << bytes.trailing_zeros().min(31));
    let stream =
        Stream::closed(Mix::Only(op), block, Place::Forward(Region::bytes(region)), DEPTH, DataClass::Random);
    Workload::new("", Until { elapsed: Some(time), ..Until::bytes(bytes) }, vec![stream])
}

/// Starts of places at even distances.
pub(super) fn places_of(region: &Range<u64>, block: u32) -> Vec<u64> {
    let last = (region.end - region.start).saturating_sub(PLACE_BYTES);
    let grain = u64::from(BLOCK.max(block));
    (0..PLACES)
        .map(|index| {
            let offset = (last as f64 * index as f64 / (PLACES - 1) as f64) as u64;
            region.start + offset - offset % grain
        })
        .collect()
}
