//! What is written in a check: on and on in order, read again; small ones, shifted and not; after a rest, after TRIM, and zeros.

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::look::Look;
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::Step;
use likenew_core::region::Region;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrivals, Pace, Stream, Workload};
use likenew_diagnosis::ARM_NS;

use super::course::{
    AFTER_ZEROS, AGAIN, BLOCK, Course, DEPTH, ELSEWHERE, FRESH, FRESH_SMALL, PLACE_TIME, PLACES, RESTED,
    RESTED_WRITES, SETTLED, SHIFTED_WRITES, SLOW_WRITES, SMALL, SMALL_TIME, SMALL_WRITES, SMALLS, TOLD,
    TRIMMED_WRITES, WRITES, ZEROS, in_order, places_of,
};
use super::measured::Measured;

/// After writes, and after TRIM.
const REST: Nanos = Nanos::from_secs(3);
const REST_LONG: Nanos = Nanos::from_secs(5);
const REST_THOROUGH: Nanos = Nanos::from_secs(120);
/// How long a file system may take to pass on what was deleted.
const RELEASE_WAIT: Nanos = Nanos::from_secs(6);
/// The windows along the writes, of which there are about so many.
const WINDOWS: u64 = 128;
/// Of the area, what is written again is this part.
const PART: u64 = 4;
/// Writes in order take no longer than this, so that a slow drive is not written to for minutes.
const WRITE_TIME: Nanos = Nanos::from_secs(7);
const WRITE_TIME_THOROUGH: Nanos = Nanos::from_secs(600);
/// What was written is looked for elsewhere by reads that lie closer than it is long, if there are no more of them than this.
const ELSEWHERE_SHARE: f64 = 0.9;
const ELSEWHERE_MAX: u64 = 1 << 14;
const ELSEWHERE_TIME: Nanos = Nanos::from_secs(3);
/// Small writes are shifted by multiples of a sector up to a small I/O; there are fewer of each, since there are several.
const SECTOR: u64 = 512;
pub(super) const NOT_SHIFTED_AGAIN: &str = "0 again";
const SHIFTED: u64 = 96;
const SHIFTED_TIME: Nanos = Nanos::from_millis(500);
/// Of an arm, which takes its time with each: nine times as many and their flushes have to fit.
const SHIFTED_OF_ARM: u64 = 40;

impl Course<'_> {
    pub(super) fn writes(&self, area: &Range<u64>) -> Option<Step> {
        let length = area.end - area.start;
        let part = area.start..area.start + (length / PART).next_multiple_of(u64::from(BLOCK)).min(length);
        let again = |name: &str, data: DataClass| self.once(name, || self.write(&part, length, data));
        let step = self
            .first_writes(area)
            .or_else(|| self.once(SETTLED, || Workload::rest(self.rest(REST))))
            .or_else(|| self.fresh())
            .or_else(|| self.elsewhere(area))
            .or_else(|| self.small_writes(&part))
            .or_else(|| self.once(RESTED, || Workload::rest(self.rest(REST_LONG))))
            .or_else(|| again(RESTED_WRITES, DataClass::Random));
        if let Some(workload) = step {
            return Some(Step::Run(workload));
        }
        if self.evidence.geometry.trims && !self.is_released() {
            let Range { start: offset, end } = *area;
            return Some(Step::Look(Look::Release { offset, bytes: end - offset, wait: RELEASE_WAIT }));
        }
        let step = self
            .once(TOLD, || Workload::rest(self.rest(REST_LONG)))
            .or_else(|| again(TRIMMED_WRITES, DataClass::Random))
            // Between two of the same, so that what has changed meanwhile is not taken for what data does.
            .or_else(|| again(ZEROS, DataClass::Zero))
            .or_else(|| again(AFTER_ZEROS, DataClass::Random))
            .or_else(|| self.at_half_rate(area));
        step.map(Step::Run)
    }

    /// The whole area once, in order.
    pub(super) fn first_writes(&self, area: &Range<u64>) -> Option<Workload> {
        self.once(WRITES, || self.write(area, area.end - area.start, self.stamped()))
    }

    /// One pass in order with a flush at its end; `length` is what a whole pass has.
    fn write(&self, region: &Range<u64>, length: u64, data: DataClass) -> Workload {
        let mut workload = in_order(Op::Write, region.clone(), self.write_time());
        workload.flush = true;
        workload.window = Some((length / WINDOWS).max(BLOCK.into()));
        workload.streams[0].data = data;
        workload
    }

    /// Reads what was written in order, as far as it got.
    fn fresh(&self) -> Option<Workload> {
        let written = self.written()?;
        let places = places_of(&written, self.evidence.geometry.block);
        (0..AGAIN)
            .find_map(|index| {
                let start = places[index * (PLACES - 1) / (AGAIN - 1)];
                self.once(&format!("{FRESH} {}", index + 1), || {
                    let mut workload =
                        in_order(Op::Read, start..self.place(start).end.min(written.end), PLACE_TIME);
                    workload.streams[0].data = self.stamped();
                    workload
                })
            })
            .or_else(|| {
                let until = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
                self.once(FRESH_SMALL, || self.small(Op::Read, written, 1, until))
            })
    }

    /// Whether what was written lies somewhere else as well: a drive that holds less than it says goes round, and one place then
    /// answers for two. Nothing but reads; a disk is too slow for so many of them, and no such disk was ever met.
    fn elsewhere(&self, area: &Range<u64>) -> Option<Workload> {
        let below = 0..area.start;
        let block = SMALL.max(self.evidence.geometry.block);
        let grain = u64::from(block);
        let written = self.written()?;
        let step = ((written.end - written.start) as f64 * ELSEWHERE_SHARE) as u64 / grain * grain;
        let count = (below.end - below.start).checked_div(step)?;
        if count == 0 || count > ELSEWHERE_MAX || self.has_arm() {
            return None;
        }
        self.once(ELSEWHERE, || {
            let place = Place::Strided { region: Region::bytes(below), step };
            let stream = Stream::closed(Mix::Only(Op::Read), block, place, DEPTH, self.stamped());
            let until = Until { elapsed: Some(ELSEWHERE_TIME), ..Until::ops(count) };
            Workload::new("", until, vec![stream])
        })
    }

    /// Small writes where they should be fastest, and shifted by every number of sectors, as one of them fits the drive's own blocks.
    fn small_writes(&self, part: &Range<u64>) -> Option<Workload> {
        let small = |region: Range<u64>, ops: u64, time: Nanos| {
            let until = Until { elapsed: Some(time), ..Until::ops(ops) };
            Workload { flush: true, ..self.small(Op::Write, region, 1, until) }
        };
        self.once(SMALL_WRITES, || small(part.clone(), SMALLS, SMALL_TIME)).or_else(|| {
            // Not shifted twice, before and after all others, as a drive may wake up or tire meanwhile.
            let all = shifts(self.evidence.geometry.block).map(|shift| (shift, shift.to_string()));
            let last = shifts(self.evidence.geometry.block)
                .take(1)
                .map(|shift| (shift, NOT_SHIFTED_AGAIN.to_owned()));
            all.chain(last).find_map(|(shift, name)| {
                self.once(&format!("{SHIFTED_WRITES} {name}"), || {
                    // The start of the zone shifts every address.
                    let region = part.start + shift..part.end - (u64::from(SMALL) - shift);
                    small(region, if self.has_arm() { SHIFTED_OF_ARM } else { SHIFTED }, SHIFTED_TIME)
                })
            })
        })
    }

    /// Only a drop is worth the bytes.
    fn at_half_rate(&self, area: &Range<u64>) -> Option<Workload> {
        let first = self.ran(WRITES)?;
        Measured::new(self.evidence).drop_of(WRITES)?;
        let rate = first.bytes_per_s()? / 2.0;
        self.once(SLOW_WRITES, || {
            let mut workload = self.write(area, area.end - area.start, DataClass::Random);
            let per_second = (rate / f64::from(BLOCK)).max(0.5);
            workload.streams[0].pace = Pace::Open { per_second, arrivals: Arrivals::Even, depth_max: DEPTH };
            workload
        })
    }

    /// By its access time; also while that is unknown.
    fn has_arm(&self) -> bool {
        Measured::new(self.evidence).access().is_none_or(|access| access >= ARM_NS)
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
}

/// By how many bytes small writes are shifted on a drive with such blocks; 0 is where they should be fastest.
pub(super) fn shifts(block: u32) -> impl Iterator<Item = u64> {
    let can = u64::from(block) <= SECTOR;
    (0..u64::from(SMALL)).step_by(SECTOR as usize).filter(move |_| can)
}
