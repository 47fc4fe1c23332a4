//! The writes of a check: long sequential ones, read again; small ones, aligned and shifted; after idle time,
//! after TRIM, and with zeros.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::Probe;
use likenew_core::procedure::Step;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, InterArrival, Mix, Stream, Until, Workload};
use likenew_diagnosis::ARM_NS;

use super::results::CheckResults;
use super::wording::is_wide;
use super::wording::workload_names::{
    AFTER_TRIM, AFTER_ZEROS, ALIGNED_REPEAT, CONTINUED_WRITES, FRESH, FRESH_SMALL, IDLE_AFTER_WRITES,
    IDLE_BEFORE_READS, NEW_PLACES, RESTED_WRITES, SHIFTED_WRITES, SLOW_WRITES, SMALL_WRITES, TRIMMED_WRITES,
    UNWRITTEN_READS, WRITES, ZEROS,
};
use super::workload_plan::{
    BLOCK, DEPTH, PLACE_TIME, PLACES, REPEATS, SMALL, SMALL_TIME, SMALLS, WorkloadPlan, in_order, places_of,
    shifts,
};

/// Idle time after writes. Chosen: what a quick check can afford.
const REST: Nanos = Nanos::from_secs(3);
/// Idle time after TRIM, which starts work in the drive. Chosen: longer than `REST` for that.
const REST_LONG: Nanos = Nanos::from_secs(5);
/// Idle time of a thorough check. Chosen: firmware starts idle garbage collection within it.
const REST_THOROUGH: Nanos = Nanos::from_secs(120);
/// Time limit for the file system to send TRIM for deleted files. Chosen: some send it seconds later.
const RELEASE_WAIT: Nanos = Nanos::from_secs(6);
/// Approximate number of windows along the writes.
const WINDOWS: u64 = 128;
/// One part in this many of the area is written again.
const PART: u64 = 4;
/// Time limit of sequential writes. Chosen: a quick check on a slow drive.
const WRITE_TIME: Nanos = Nanos::from_secs(7);
/// So often they continue for as long. Chosen: half a minute more, and a used drive that writes 10 MB/s has written 350 MB by then.
const CONTINUATIONS_MAX: usize = 4;
/// The same for a thorough check. Chosen: fills a large pseudo-SLC cache.
const WRITE_TIME_THOROUGH: Nanos = Nanos::from_secs(600);
/// Distance of the reads that search for written data elsewhere, as a share of its length; and the most
/// reads, beyond which it is not searched for. Chosen: just below 1, so that no gap is left.
const ELSEWHERE_SHARE: f64 = 0.9;
const ELSEWHERE_MAX: u64 = 1 << 14;
/// Time limit of those reads. Chosen: what a quick check can afford.
const ELSEWHERE_TIME: Nanos = Nanos::from_secs(3);
/// Of each shift there are fewer small writes, since there are several shifts.
const SHIFTED_WRITES_COUNT: u64 = 96;
/// Time limit of the writes of one shift. Chosen: nine of them take 4.5 s.
const SHIFTED_TIME: Nanos = Nanos::from_millis(500);
/// Writes of one shift on a hard disk, which seeks for each: nine times as many and their flushes have to
/// fit.
const SHIFTED_OF_ARM: u64 = 40;

impl WorkloadPlan<'_> {
    pub(super) fn writes(&self, area: &Range<u64>) -> Option<Step> {
        let workload = self
            .first_writes(area)
            .or_else(|| self.unless_run(IDLE_BEFORE_READS, || Workload::rest(self.rest(REST))))
            .or_else(|| self.new_data_reads())
            .or_else(|| self.unwritten_reads(area))
            .or_else(|| self.unless_run(SMALL_WRITES, || self.small_writes(part(area), SMALLS, SMALL_TIME)))
            .or_else(|| self.shifted_writes(&part(area)).filter(|_| self.has_time_for_shifts()));
        workload.map(Step::Run).or_else(|| self.writes_again(area))
    }

    /// Where nobody knows how fast writes should be, what is written again decides, and small writes that keep a drive busy for
    /// seconds are not repeated at every shift before that.
    fn has_time_for_shifts(&self) -> bool {
        let is_slow = |small: &Segment| small.elapsed() > SMALL_TIME + SMALL_TIME;
        !(self.lacks_write_reference() && self.segment(SMALL_WRITES).is_some_and(is_slow))
    }

    /// The same places again: after a rest, after TRIM, with zeros, and at half the rate.
    pub(super) fn writes_again(&self, area: &Range<u64>) -> Option<Step> {
        let length = area.end - area.start;
        let part = part(area);
        let again = |name: &str, data: DataClass| self.unless_run(name, || self.write(&part, length, data));
        let new_places = || {
            let region = self.new_places(area)?;
            self.unless_run(NEW_PLACES, || self.write(&region, length, DataClass::Random))
        };
        let workload = self
            .unless_run(IDLE_AFTER_WRITES, || Workload::rest(self.rest(REST_LONG)))
            .or_else(new_places)
            .or_else(|| {
                // What comes after a drop shows whether bytes or places are slow.
                let bytes =
                    self.drop_at().map_or(0, |at| (at + length / PART).next_multiple_of(u64::from(BLOCK)));
                let again = area.start..part.end.max(area.start + bytes.min(length));
                self.unless_run(RESTED_WRITES, || self.write(&again, length, DataClass::Random))
            });
        if let Some(workload) = workload {
            return Some(Step::Run(workload));
        }
        if self.evidence.geometry.trims && !self.is_released() {
            let Range { start: offset, end } = *area;
            return Some(Step::Probe(Probe::Release { offset, bytes: end - offset, wait: RELEASE_WAIT }));
        }
        let step = self
            .unless_run(AFTER_TRIM, || Workload::rest(self.rest(REST_LONG)))
            .or_else(|| again(TRIMMED_WRITES, DataClass::Random))
            // Between two writes of the same data, so that a drift is not taken for an effect of the data.
            .or_else(|| again(ZEROS, DataClass::Zero).filter(|_| self.has_time()))
            .or_else(|| again(AFTER_ZEROS, DataClass::Random))
            .or_else(|| self.at_half_rate(area).filter(|_| self.has_time()));
        step.map(Step::Run)
    }

    /// Writes the whole area once, sequentially.
    pub(super) fn first_writes(&self, area: &Range<u64>) -> Option<Workload> {
        self.unless_run(WRITES, || self.first_pass(area, area.start))
    }

    /// Goes on where the first writes ended, while how fast sustained writes are is known too poorly.
    pub(super) fn continued_writes(&self, area: &Range<u64>) -> Option<Workload> {
        let measured = CheckResults::new(self.evidence);
        let is_open = self.continues_writes && measured.final_write_rate().is_some_and(is_wide);
        let (count, bytes) = measured
            .continued_writes()
            .fold((0, 0), |(count, bytes), of| (count + 1, bytes + of.bytes(Op::Write)));
        let workload =
            self.first_pass(area, self.written_range()?.end + bytes / u64::from(BLOCK) * u64::from(BLOCK));
        let fits = workload.until.bytes.is_some_and(|bytes| bytes > 0);
        (is_open && fits && count < CONTINUATIONS_MAX)
            .then(|| Workload { name: format!("{CONTINUED_WRITES} {}", count + 1), ..workload })
    }

    /// Sequential writes of the area from an address on.
    fn first_pass(&self, area: &Range<u64>, start: u64) -> Workload {
        let end = self.new_places(area).map_or(area.end, |new| new.start);
        self.write(&(start.min(end)..end), area.end - area.start, self.stamp_class())
    }

    /// The last part of the area of a real drive, which is left alone at first: after a rest its first writes show whether it was the
    /// bytes that were slow, as behind a cache that has filled up, or the places. So it is in all checks of a drive, as they are
    /// compared with each other.
    fn new_places(&self, area: &Range<u64>) -> Option<Range<u64>> {
        let start = area.end - (area.end - area.start) / PART / u64::from(BLOCK) * u64::from(BLOCK);
        (self.evidence.identity.kind != Kind::Simulated).then_some(start..area.end)
    }

    /// One sequential pass with a flush at its end; `length` is that of a whole pass.
    fn write(&self, region: &Range<u64>, length: u64, data: DataClass) -> Workload {
        let mut workload = in_order(Op::Write, region.clone(), self.write_time());
        workload.flush = true;
        workload.window = Some((length / WINDOWS).max(BLOCK.into()));
        workload.streams[0].data = data;
        workload
    }

    /// Reads what was written sequentially.
    fn new_data_reads(&self) -> Option<Workload> {
        let written = self.written_range()?;
        let places = places_of(&written, self.evidence.geometry.block);
        (0..REPEATS)
            .find_map(|index| {
                let start = places[index * (PLACES - 1) / (REPEATS - 1)];
                self.unless_run(&format!("{FRESH} {}", index + 1), || {
                    let mut workload =
                        in_order(Op::Read, start..self.place(start).end.min(written.end), PLACE_TIME);
                    workload.streams[0].data = self.stamp_class();
                    workload
                })
            })
            .or_else(|| {
                let until = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
                self.unless_run(FRESH_SMALL, || self.small(Op::Read, written, 1, until))
            })
    }

    /// Whether written data also appears elsewhere: a drive that is smaller than it reports wraps around, and
    /// one place answers for two. Uses reads only. Disks are too slow for so many, and no counterfeit disk is
    /// known.
    fn unwritten_reads(&self, area: &Range<u64>) -> Option<Workload> {
        let below = 0..area.start;
        let block = SMALL.max(self.evidence.geometry.block);
        let grain = u64::from(block);
        let written = self.written_range()?;
        let step = ((written.end - written.start) as f64 * ELSEWHERE_SHARE) as u64 / grain * grain;
        let count = (below.end - below.start).checked_div(step)?;
        if count == 0 || count > ELSEWHERE_MAX || self.is_disk() {
            return None;
        }
        self.unless_run(UNWRITTEN_READS, || {
            let place = AccessPattern::Strided { region: Region::bytes(below), step };
            let stream = Stream::closed(Mix::Only(Op::Read), block, place, DEPTH, self.stamp_class());
            let until = Until { elapsed: Some(ELSEWHERE_TIME), ..Until::ops(count) };
            Workload::new("", until, vec![stream])
        })
    }

    /// Small writes at aligned addresses, and shifted by every number of sectors, because one of the shifts
    /// fits the drive's blocks.
    fn shifted_writes(&self, part: &Range<u64>) -> Option<Workload> {
        let count = if self.is_disk() { SHIFTED_OF_ARM } else { SHIFTED_WRITES_COUNT };
        // The aligned ones twice, before and after all others, because a drive may wake up or slow down in
        // between.
        let all = shifts(self.evidence.geometry.block).map(|shift| (shift, shift.to_string()));
        let last =
            shifts(self.evidence.geometry.block).take(1).map(|shift| (shift, ALIGNED_REPEAT.to_owned()));
        all.chain(last).find_map(|(shift, name)| {
            self.unless_run(&format!("{SHIFTED_WRITES} {name}"), || {
                // The start of the region shifts every address.
                let region = part.start + shift..part.end - (u64::from(SMALL) - shift);
                self.small_writes(region, count, SHIFTED_TIME)
            })
        })
    }

    fn small_writes(&self, region: Range<u64>, ops: u64, time: Nanos) -> Workload {
        let until = Until { elapsed: Some(time), ..Until::ops(ops) };
        Workload { flush: true, ..self.small(Op::Write, region, 1, until) }
    }

    /// Most bytes that are written beyond a dry run, which knows neither of a drop nor of a drive that does not seek: three
    /// more quarters of the area again, all of it at half the rate, and more shifted writes.
    pub(super) fn bytes_beyond_dry_run(&self) -> u64 {
        let area = self.area.as_ref().map_or(0, |area| area.end - area.start);
        let shifted = (SHIFTED_WRITES_COUNT - SHIFTED_OF_ARM) * u64::from(SMALL);
        area / PART * 7 + shifts(self.evidence.geometry.block).count() as u64 * shifted
    }

    /// Bytes written until writes became slower for good.
    fn drop_at(&self) -> Option<u64> {
        CheckResults::new(self.evidence).cliff_in(WRITES).map(|(at, _)| at.value as u64)
    }

    /// Only a drop is worth the bytes.
    fn at_half_rate(&self, area: &Range<u64>) -> Option<Workload> {
        let first = self.segment(WRITES)?;
        self.drop_at()?;
        let rate = first.bytes_per_s()? / 2.0;
        self.unless_run(SLOW_WRITES, || {
            let mut workload = self.write(area, area.end - area.start, DataClass::Random);
            let per_second = (rate / f64::from(BLOCK)).max(0.5);
            workload.streams[0].arrival =
                Arrival::Open { per_second, inter_arrival: InterArrival::Even, depth_max: DEPTH };
            workload
        })
    }

    /// From its access time; true while that is unknown.
    fn is_disk(&self) -> bool {
        CheckResults::new(self.evidence).access().is_none_or(|access| access >= ARM_NS)
    }

    fn is_released(&self) -> bool {
        self.evidence
            .observations
            .iter()
            .any(|observation| matches!(observation.probe, Probe::Release { .. }))
    }

    fn rest(&self, span: Nanos) -> Nanos {
        if self.options.thorough { REST_THOROUGH } else { span }
    }

    fn write_time(&self) -> Nanos {
        if self.options.thorough { WRITE_TIME_THOROUGH } else { WRITE_TIME }
    }
}

/// The first part of the area, which is written again.
fn part(area: &Range<u64>) -> Range<u64> {
    let length = area.end - area.start;
    area.start..area.start + (length / PART).next_multiple_of(u64::from(BLOCK)).min(length)
}
