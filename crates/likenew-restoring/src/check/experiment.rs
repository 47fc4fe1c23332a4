//! The steps of a check: cheap and safe ones first. Whether a step is taken depends on the drive and on earlier results.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, PastSteps, Place, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::units::Nanos;
use likenew_core::workload::{
    AccessPattern, Arrival, InterArrival, Mix, OLD_PIECE_BYTES, Stream, Until, Workload,
};
use likenew_diagnosis::ARM_NS;
use likenew_measuring::commits::{self, CommitBy, CommitTest, Commits};
use rand::{SeedableRng as _, seq::SliceRandom as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::results::{CheckResults, cliff_in, sound};
use super::wording::{is_wide, workload_names as names};
use super::{CheckOptions, ReferenceOption};

/// Number of evenly spaced regions whose reads show the speed along the drive.
pub(super) const PLACES: usize = 24;
const PLACE_BYTES: u64 = 8 << 20;
/// Time limit of one region. Chosen: 24 of them take 10 s, and a drive is at full speed after a tenth of the limit.
const PLACE_TIME: Nanos = Nanos::from_millis(400);
/// How many of the slowest regions are read again, and how many regions of new data are read.
const REPEATS: usize = 4;
/// Bytes of a sequential I/O; its queue depth is `DEPTH`.
const BLOCK: u32 = 512 << 10;
const DEPTH: u32 = 4;
/// Bytes of a small I/O; a workload has `SMALLS` of them.
const SMALL: u32 = 4096;
const SMALLS: u64 = 1024;
/// Time limit of small I/Os. Chosen: slow drives finish some hundreds of them.
const SMALL_TIME: Nanos = Nanos::from_millis(1500);
const SMALL_SAMPLES: u32 = 4096;
/// Time after which no step starts, unless the check is thorough. Chosen: a minute with the last step, which
/// may take some seconds; the most important steps come first.
const TIME: Nanos = Nanos::from_secs(46);
/// The same limit for writing again if writes have no reference. Chosen: half a minute more, for drives that are slow.
const TIME_DECIDING: Nanos = Nanos::from_secs(75);
/// Idle time before everything else, in which I/O of other programs is counted. Chosen: two seconds show
/// regular I/O.
const QUIET_TIME: Nanos = Nanos::from_secs(2);

/// Fewest pieces of old files that show anything.
const OLD_PIECES_LEAST: usize = 3;

const DEEP: u32 = 32;
/// Time limit of reads at QD32. Chosen: enough for a level rate.
const DEEP_TIME: Nanos = Nanos::from_secs(4);
/// Small reads close together stay within this many bytes.
const NEAR_BYTES: u64 = 8 << 20;
/// Number of reads that follow a pause: drives and links fall asleep within some tens of milliseconds.
const PAUSED_READS_COUNT: u64 = 24;
/// Rate of reads with pauses, in IOPS. Chosen: pauses of 83 ms are longer than that.
const PAUSED_PER_S: f64 = 12.0;
/// Time limit of reads with pauses. Chosen: 24 reads at 12 IOPS take 2 s.
const PAUSED_TIME: Nanos = Nanos::from_secs(3);
/// Time of sequential reads that warm the drive up. Chosen: what a quick check can afford.
const LOAD_TIME: Nanos = Nanos::from_secs(6);
/// The same in a thorough check. Chosen: drives throttle after a minute or two of load.
const LOAD_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// Idle time in which the drive cools. Chosen: what a quick check can afford.
const COOL_TIME: Nanos = Nanos::from_secs(4);
/// The same in a thorough check. Chosen: as long as the load.
const COOL_TIME_THOROUGH: Nanos = Nanos::from_secs(120);
/// Time of reads after the drive has cooled. Chosen: too short to warm it up again.
const RESTED_TIME: Nanos = Nanos::from_secs(1);

/// Idle time after writes. Chosen: what a quick check can afford.
const REST: Nanos = Nanos::from_secs(3);
/// Idle time after TRIM, which starts work in the drive. Chosen: longer than `REST` for that.
const REST_LONG: Nanos = Nanos::from_secs(5);
/// The same before and after TRIM where a repair depends on it, as nothing says how fast writes should be. Chosen: firmware that begins
/// to collect garbage after some seconds has freed what was trimmed by then.
const REST_DECIDING: Nanos = Nanos::from_secs(15);
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
/// How often sequential writes continue for as long. Chosen: half a minute more; at 10 MB/s a used drive has then written 350 MB.
const CONTINUATIONS_MAX: usize = 4;
/// Time limit of sequential writes in a thorough check. Chosen: fills a large pseudo-SLC cache.
const WRITE_TIME_THOROUGH: Nanos = Nanos::from_secs(600);
/// Step of the reads that search for written data elsewhere, as a share of its length. Chosen: just below 1
/// leaves no gap.
const ELSEWHERE_SHARE: f64 = 0.9;
/// Most reads of that search; nothing is searched if it would need more.
const ELSEWHERE_MAX: u64 = 1 << 14;
/// Time limit of that search. Chosen: what a quick check can afford.
const ELSEWHERE_TIME: Nanos = Nanos::from_secs(3);
/// Small writes at each shift; fewer than `SMALLS`, because there are several shifts.
const SHIFTED_WRITES_COUNT: u64 = 96;
/// Time limit of the writes of one shift. Chosen: nine of them take 4.5 s.
const SHIFTED_TIME: Nanos = Nanos::from_millis(500);
/// Small writes at each shift on a hard disk, which seeks for each write. A check has to fit nine times as
/// many, with flushes.
const SHIFTED_OF_ARM: u64 = 40;

/// Durable writes: of one program, and of several in a group commit.
const COMMIT_TESTS: [CommitTest; 2] = [commit_test(1), commit_test(commits::WRITERS)];
/// Most commits of each test. Chosen: enough for their p99.9.
const COMMITS: u64 = 1024;
/// Time limit of each test. Chosen: what a quick check can afford; a disk makes some 100 commits in it.
const DURABLE_TIME: Nanos = Nanos::from_millis(1500);
/// Fewest bytes of each test that show anything.
const DURABLE_BYTES_LEAST: u64 = 512 << 10;

const fn commit_test(writers: u32) -> CommitTest {
    CommitTest { by: CommitBy::Fdatasync, writers, block: commits::BLOCK }
}

/// Bytes of the budget that are left for durable writes.
fn durable_bytes(options: &CheckOptions, evidence: &Evidence) -> u64 {
    let area = options.area_of(evidence);
    let small =
        (SMALLS + shifts(evidence.geometry.block).count() as u64 * SHIFTED_WRITES_COUNT) * u64::from(SMALL);
    // Sequential writes cover the area, most of it again after a rest, a part three times, and all of it at half the rate.
    options.budget().saturating_sub(area / PART * 15 + small)
}

/// A check in progress.
pub(super) struct Experiment<'a, 's> {
    options: &'s CheckOptions,
    steps: &'s mut Steps<'a>,
    /// Where the check begins among the steps of the run.
    before: Place,
    /// Whether the check belongs to a repair.
    is_of_repair: bool,
    /// Time of continued writes, which does not count toward the time limit.
    continued_ns: u64,
    /// Time after which no step starts, unless the check is thorough.
    time: Nanos,
    results: CheckResults<'a>,
}

/// Why a check stops.
enum Halt {
    Ended(Ended),
    TimeIsUp,
}

impl From<Ended> for Halt {
    fn from(ended: Ended) -> Self {
        Self::Ended(ended)
    }
}

/// Ends a part of the check without error if its time is up.
fn as_time_allows(result: Result<(), Halt>) -> Result<(), Ended> {
    match result {
        Err(Halt::Ended(ended)) => Err(ended),
        Err(Halt::TimeIsUp) | Ok(()) => Ok(()),
    }
}

/// The region that may be written, if any.
fn area(options: &CheckOptions, evidence: &Evidence) -> Option<Range<u64>> {
    let capacity = evidence.geometry.capacity;
    options.obstacle(evidence).is_none().then(|| {
        let length = options.area_of(evidence);
        // The end of a drive is written last, so it is free more often than not.
        let end = capacity - capacity % CheckOptions::AREA_STEP;
        if evidence.identity.kind == TargetKind::Folder { 0..length.min(end) } else { end - length..end }
    })
}

impl<'a, 's> Experiment<'a, 's> {
    /// Follows a check from its first step; `before` is where it begins among the steps of the run.
    pub(super) fn follow(
        options: &'s CheckOptions,
        steps: &'s mut Steps<'a>,
        before: Place,
        is_of_repair: bool,
    ) -> (CheckResults<'a>, Result<(), Ended>) {
        let results = CheckResults::new(steps.evidence());
        let mut check = Self { options, steps, before, is_of_repair, continued_ns: 0, time: TIME, results };
        let end = check.take_steps();
        check.results.past = check.past();
        (check.results, end)
    }

    fn take_steps(&mut self) -> Result<(), Ended> {
        self.steps.probe(|| Probe::Facts)?;
        if self.options.from_outputs {
            return Ok(());
        }
        // Answers advise only steps that the state of the drive allows.
        if !self.past().observations.iter().any(|observation| observation.probe == Probe::Feasibility) {
            self.steps.probe_or_skip(Probe::Feasibility)?;
        }
        let area = area(self.options, self.steps.evidence());
        as_time_allows(self.measure(area.as_ref()))?;
        let (options, evidence) = (self.options, self.steps.evidence());
        let mix = options.upgrade.as_ref().and_then(|upgrade| upgrade.mix.as_ref());
        let start = area.as_ref().map_or(0, |area| area.start);
        for workload in mix.iter().flat_map(|mix| mix.workloads(start, &evidence.geometry)) {
            self.run(workload.name.clone(), workload)?;
            self.results.at_end += 1;
        }
        if let Some(area) = area.as_ref().filter(|_| !self.is_of_repair && self.results.ran.writes.is_some())
        {
            self.durable_writes(area)?;
        }
        self.steps.probe(|| Probe::Facts)?;
        Ok(())
    }

    fn measure(&mut self, area: Option<&Range<u64>>) -> Result<(), Halt> {
        self.results.ran.quiet = sound(self.timed(names::QUIET, Workload::rest(QUIET_TIME))?);
        let evidence = self.steps.evidence();
        if evidence.identity.kind != TargetKind::Folder {
            let whole = 0..evidence.geometry.capacity;
            self.reads(&whole, 0)?;
            self.load(&whole)?;
            let Some(area) = area else { return Ok(()) };
            let written = self.first_writes(area)?;
            return self.writes(area, written);
        }
        // A folder has nothing to read before something was written, and old files are compared with new data.
        let Some(area) = area else { return Ok(()) };
        let written = self.first_writes(area)?;
        if let Some(written) = &written {
            let old_pieces = match self.timed_probe(|| Probe::OldFiles)? {
                ProbeResult::OldFiles(old_files) if old_files.ages_s.len() >= OLD_PIECES_LEAST => {
                    old_files.ages_s.len()
                }
                _ => 0,
            };
            self.reads(written, old_pieces)?;
            self.load(written)?;
        }
        self.writes(area, written)
    }

    /// Reads regions along the drive, its slowest regions again, pieces of old files, and small blocks.
    fn reads(&mut self, whole: &Range<u64>, old_pieces: usize) -> Result<(), Halt> {
        let Evidence { plan, geometry, .. } = self.steps.evidence();
        let starts = places_of(whole, geometry.block);
        let place = |index: usize| {
            let end = (starts[index] + PLACE_BYTES).min(geometry.capacity);
            in_order(Op::Read, starts[index]..end, PLACE_TIME)
        };
        for index in shuffled(PLACES, plan.seed_of(0)) {
            let segment = self.timed(format!("{} {}", names::PLACE, index + 1), place(index))?;
            self.results.ran.places.extend(speed_of(index, segment));
        }
        for index in self.results.slowest_places(REPEATS) {
            let segment = self.timed(format!("{} {}", names::PLACE_REPEAT, index + 1), place(index))?;
            self.results.ran.places_again.extend(speed_of(index, segment));
        }
        for index in shuffled(old_pieces, plan.seed_of(1)) {
            let start = index as u64 * OLD_PIECE_BYTES;
            let piece = in_order(Op::Read, start..start + OLD_PIECE_BYTES, PLACE_TIME);
            let piece = Workload { old_files: true, ..piece };
            let segment = self.timed(format!("{} {}", names::OLD, index + 1), piece)?;
            self.results.ran.old_files.extend(speed_of(index, segment));
        }
        let near = starts[PLACES / 2];
        let near = near..(near + NEAR_BYTES).min(whole.end);
        let small_until = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
        let small = |region: &Range<u64>, depth: u32, until: Until| {
            small(geometry.block, Op::Read, region.clone(), depth, until)
        };
        self.results.ran.small_reads = sound(self.timed(names::SMALL_READS, small(whole, 1, small_until))?);
        self.results.ran.near_reads = sound(self.timed(names::NEAR_READS, small(&near, 1, small_until))?);
        let deep = small(whole, DEEP, Until::elapsed(DEEP_TIME));
        self.results.ran.deep_reads = sound(self.timed(names::DEEP_READS, deep)?);
        let until = Until { elapsed: Some(PAUSED_TIME), ..Until::ops(PAUSED_READS_COUNT) };
        let mut paused = small(whole, 1, until);
        paused.streams[0].arrival =
            Arrival::Open { per_second: PAUSED_PER_S, inter_arrival: InterArrival::Even, depth_max: 1 };
        self.results.ran.paused_reads = sound(self.timed(names::PAUSED_READS, paused)?);
        Ok(())
    }

    /// Sequential reads under load, and again after idle time.
    fn load(&mut self, whole: &Range<u64>) -> Result<(), Halt> {
        let (time, cool) = if self.options.thorough {
            (LOAD_TIME_THOROUGH, COOL_TIME_THOROUGH)
        } else {
            (LOAD_TIME, COOL_TIME)
        };
        let end = whole.end - whole.end % u64::from(BLOCK);
        // Reads start over if the data ends before the time.
        let read = |time| Workload { until: Until::elapsed(time), ..in_order(Op::Read, 0..end, time) };
        self.results.ran.load = sound(self.timed(names::LOAD, read(time))?);
        self.results.ran.cool = sound(self.timed(names::COOL, Workload::rest(cool))?);
        self.results.ran.load_after_idle = sound(self.timed(names::LOAD_AFTER_IDLE, read(RESTED_TIME))?);
        Ok(())
    }

    /// Writes the area once, sequentially, then continues while the speed of sustained writes is too
    /// uncertain. Returns the range of the first writes, in whole blocks.
    fn first_writes(&mut self, area: &Range<u64>) -> Result<Option<Range<u64>>, Halt> {
        let block = u64::from(BLOCK);
        let first = self.timed(names::WRITES, self.first_pass(area, area.start))?;
        self.results.ran.writes = sound(first);
        let bytes = first.bytes(Op::Write).min(area.end - area.start) / block * block;
        let written = area.start..area.start + bytes;
        if written.is_empty() {
            return Ok(None);
        }
        let mut continued = 0;
        for number in 1..=CONTINUATIONS_MAX {
            let is_open = !self.is_of_repair && self.results.final_write_rate().is_some_and(is_wide);
            let workload = self.first_pass(area, written.end + continued / block * block);
            if !is_open || workload.until.bytes == Some(0) {
                break;
            }
            let segment = self.run(format!("{} {number}", names::CONTINUED_WRITES), workload)?;
            self.continued_ns += segment.elapsed().0;
            if let Some(segment) = sound(segment) {
                continued += segment.bytes(Op::Write);
                self.results.ran.continued_writes.push(segment);
            }
        }
        Ok(Some(written))
    }

    /// Sequential writes of the area from an address on.
    fn first_pass(&self, area: &Range<u64>, start: u64) -> Workload {
        let end = self.new_places(area).map_or(area.end, |new| new.start);
        self.write(&(start.min(end)..end), area.end - area.start, self.stamp_class())
    }

    /// The last part of a real drive's area, which the first pass leaves unwritten. After a rest, its first
    /// writes show what was slow: the amount of data, as behind a full cache, or the addresses. Every check
    /// does so, because checks of a drive are compared.
    fn new_places(&self, area: &Range<u64>) -> Option<Range<u64>> {
        let start = area.end - (area.end - area.start) / PART / u64::from(BLOCK) * u64::from(BLOCK);
        (self.steps.evidence().identity.kind != TargetKind::Simulated).then_some(start..area.end)
    }

    /// One sequential pass with a flush at its end; `length` is that of a whole pass.
    fn write(&self, region: &Range<u64>, length: u64, data: DataClass) -> Workload {
        let time = if self.options.thorough { WRITE_TIME_THOROUGH } else { WRITE_TIME };
        let mut workload = in_order(Op::Write, region.clone(), time);
        workload.flush = true;
        workload.window = Some((length / WINDOWS).max(BLOCK.into()));
        workload.streams[0].data = data;
        workload
    }

    /// Reads what was written, makes small writes, aligned and shifted, and writes the same addresses again.
    fn writes(&mut self, area: &Range<u64>, written: Option<Range<u64>>) -> Result<(), Halt> {
        self.timed(names::IDLE_BEFORE_READS, Workload::rest(self.rest(REST)))?;
        if let Some(written) = written {
            self.new_data_reads(&written)?;
            self.unwritten_reads(area, &written)?;
        }
        let part = part(area);
        let small = self.timed(names::SMALL_WRITES, self.small_writes(part.clone(), SMALLS, SMALL_TIME))?;
        self.results.ran.small_writes = sound(small);
        // Without a reference for writes, writing again decides. It does not wait for small writes at every
        // shift on a drive that takes seconds for them.
        let decides = self.lacks_write_reference();
        if !(decides && small.elapsed() > SMALL_TIME + SMALL_TIME) {
            as_time_allows(self.shifted_writes(&part))?;
        }
        self.time = if decides { TIME_DECIDING } else { TIME };
        let rest = if decides && self.is_of_repair { REST_DECIDING } else { REST_LONG };
        // Longer rests take no time from what follows.
        let longer = rest.since(REST_LONG);
        self.time += longer + longer;
        self.writes_again(area, &part, rest)
    }

    /// Whether no reference says how fast writes should be, so they are compared with writing again. False
    /// for a simulated drive, which is compared with a new one that has no reference itself.
    fn lacks_write_reference(&self) -> bool {
        let is_real = self.steps.evidence().identity.kind != TargetKind::Simulated;
        let is_write = |reference: &ReferenceOption| reference.metric.op() == Op::Write;
        is_real && !self.options.references.iter().any(is_write)
    }

    /// Reads what was written sequentially.
    fn new_data_reads(&mut self, written: &Range<u64>) -> Result<(), Halt> {
        let block = self.steps.evidence().geometry.block;
        let places = places_of(written, block);
        for index in 0..REPEATS {
            let start = places[index * (PLACES - 1) / (REPEATS - 1)];
            let mut workload = in_order(Op::Read, start..(start + PLACE_BYTES).min(written.end), PLACE_TIME);
            workload.streams[0].data = self.stamp_class();
            let segment = self.timed(format!("{} {}", names::FRESH, index + 1), workload)?;
            self.results.ran.fresh.extend(speed_of(index, segment));
        }
        let until = Until { elapsed: Some(SMALL_TIME), ..Until::ops(SMALLS) };
        let small = small(block, Op::Read, written.clone(), 1, until);
        self.results.ran.fresh_small = sound(self.timed(names::FRESH_SMALL, small)?);
        Ok(())
    }

    /// Whether written data also appears at other addresses: a drive smaller than it reports wraps around, so
    /// two addresses share one place. This only reads. Hard disks are too slow for so many reads, and no
    /// counterfeit one is known.
    fn unwritten_reads(&mut self, area: &Range<u64>, written: &Range<u64>) -> Result<(), Halt> {
        let block = SMALL.max(self.steps.evidence().geometry.block);
        let grain = u64::from(block);
        let step = ((written.end - written.start) as f64 * ELSEWHERE_SHARE) as u64 / grain * grain;
        let count = area.start.checked_div(step).unwrap_or(0);
        if count == 0 || count > ELSEWHERE_MAX || self.is_disk() {
            return Ok(());
        }
        let place = AccessPattern::Strided { region: Region::bytes(0..area.start), step };
        let stream = Stream::closed(Mix::Only(Op::Read), block, place, DEPTH, self.stamp_class());
        let until = Until { elapsed: Some(ELSEWHERE_TIME), ..Until::ops(count) };
        let segment = self.timed(names::UNWRITTEN_READS, Workload::new("", until, vec![stream]))?;
        self.results.ran.unwritten_reads = Some(segment);
        Ok(())
    }

    /// Small writes at aligned addresses, and shifted by every number of sectors, because one of the shifts
    /// fits the drive's blocks.
    fn shifted_writes(&mut self, part: &Range<u64>) -> Result<(), Halt> {
        let block = self.steps.evidence().geometry.block;
        let count = if self.is_disk() { SHIFTED_OF_ARM } else { SHIFTED_WRITES_COUNT };
        // The start of the region shifts every address.
        let region = |shift: u64| part.start + shift..part.end - (u64::from(SMALL) - shift);
        for shift in shifts(block) {
            let workload = self.small_writes(region(shift), count, SHIFTED_TIME);
            let segment = self.timed(format!("{} {shift}", names::SHIFTED_WRITES), workload)?;
            self.results.ran.shifted_writes.extend(sound(segment).map(|segment| (shift, segment)));
        }
        // Aligned writes come again after all others, because a drive may wake up or slow down in between.
        if shifts(block).next().is_some() {
            let workload = self.small_writes(region(0), count, SHIFTED_TIME);
            let name = format!("{} {}", names::SHIFTED_WRITES, names::ALIGNED_REPEAT);
            self.results.ran.aligned_again = sound(self.timed(name, workload)?);
        }
        Ok(())
    }

    fn small_writes(&self, region: Range<u64>, ops: u64, time: Nanos) -> Workload {
        let until = Until { elapsed: Some(time), ..Until::ops(ops) };
        let block = self.steps.evidence().geometry.block;
        Workload { flush: true, ..small(block, Op::Write, region, 1, until) }
    }

    /// Writes the same addresses again: after a rest, after TRIM, with zeros, and at half the rate.
    fn writes_again(&mut self, area: &Range<u64>, part: &Range<u64>, rest: Nanos) -> Result<(), Halt> {
        let length = area.end - area.start;
        self.timed(names::IDLE_AFTER_WRITES, Workload::rest(self.rest(rest)))?;
        if let Some(region) = self.new_places(area) {
            let workload = self.write(&region, length, DataClass::Random);
            self.results.ran.new_places = sound(self.timed(names::NEW_PLACES, workload)?);
        }
        // Writes past a drop show whether the amount of data or the addresses are slow.
        let first = self.results.ran.writes;
        let drop_at = first.and_then(cliff_in).map(|(at, _)| at.value as u64);
        let bytes = drop_at.map_or(0, |at| (at + length / PART).next_multiple_of(u64::from(BLOCK)));
        let again = area.start..part.end.max(area.start + bytes.min(length));
        let workload = self.write(&again, length, DataClass::Random);
        self.results.ran.rested_writes = sound(self.timed(names::RESTED_WRITES, workload)?);
        if self.steps.evidence().geometry.trims {
            let offset = area.start;
            self.timed_probe(|| Probe::Release { offset, bytes: length, wait: RELEASE_WAIT })?;
        }
        self.timed(names::AFTER_TRIM, Workload::rest(self.rest(rest)))?;
        let random = self.write(part, length, DataClass::Random);
        self.results.ran.trimmed_writes = sound(self.timed(names::TRIMMED_WRITES, random.clone())?);
        // Zeros come between two equal writes, so drift is not taken for an effect of the data.
        if self.has_until(TIME) {
            let zeros = self.write(part, length, DataClass::Zero);
            self.results.ran.zeros = sound(self.timed(names::ZEROS, zeros)?);
        }
        self.results.ran.after_zeros = sound(self.timed(names::AFTER_ZEROS, random)?);
        // Only a drop is worth the bytes of writing at half the rate.
        if let Some(rate) =
            first.filter(|_| drop_at.is_some() && self.has_until(TIME)).and_then(Segment::bytes_per_s)
        {
            let mut workload = self.write(area, length, DataClass::Random);
            let per_second = (rate / 2.0 / f64::from(BLOCK)).max(0.5);
            workload.streams[0].arrival =
                Arrival::Open { per_second, inter_arrival: InterArrival::Even, depth_max: DEPTH };
            self.results.ran.slow_writes = sound(self.timed(names::SLOW_WRITES, workload)?);
        }
        Ok(())
    }

    /// Durable writes of one program, and of several. They come after all that shows why a drive is slow,
    /// because a drive writes more for them than they hold.
    fn durable_writes(&mut self, area: &Range<u64>) -> Result<(), Ended> {
        let evidence = self.steps.evidence();
        let bytes =
            durable_bytes(self.options, evidence).min(area.end - area.start) / COMMIT_TESTS.len() as u64;
        if bytes < DURABLE_BYTES_LEAST {
            return Ok(());
        }
        let until = Until { elapsed: Some(DURABLE_TIME), bytes: Some(bytes), ops: Some(COMMITS) };
        for test in COMMIT_TESTS {
            let workload = test.workload(String::new(), evidence.identity.kind, area.clone(), until);
            let segment = self.run(test.name(), workload)?;
            self.results.at_end += 1;
            self.results.commits.extend(Commits::new(test, &[segment]));
        }
        Ok(())
    }

    /// Runs a workload, with a seed from its position in the check.
    fn run(&mut self, name: impl Into<String>, workload: Workload) -> Result<&'a Segment, Ended> {
        let seed = self.steps.evidence().plan.seed_of(self.steps.place().segments - self.before.segments);
        self.steps.run(|| Workload { name: name.into(), seed, ..workload })
    }

    /// Runs a workload if there is time for it.
    fn timed(&mut self, name: impl Into<String>, workload: Workload) -> Result<&'a Segment, Halt> {
        if self.has_until(self.time) { Ok(self.run(name, workload)?) } else { Err(Halt::TimeIsUp) }
    }

    fn timed_probe(&mut self, probe: impl FnOnce() -> Probe) -> Result<&'a ProbeResult, Halt> {
        if self.has_until(self.time) { Ok(self.steps.probe(probe)?) } else { Err(Halt::TimeIsUp) }
    }

    /// Whether another step may start. Probes count toward the drive's time, because they may wait for it.
    fn has_until(&self, time: Nanos) -> bool {
        let past = self.past();
        let ran = past.segments.iter().map(|segment| segment.elapsed().0);
        let probed = past.observations.iter().map(|probed| probed.ended_at.since(probed.started_at).0);
        self.options.thorough || ran.chain(probed).sum::<u64>() - self.continued_ns < time.0
    }

    fn past(&self) -> PastSteps<'a> {
        self.steps.since(self.before)
    }

    /// Whether access time is that of a hard disk; true while it is unknown.
    fn is_disk(&self) -> bool {
        self.results.access().is_none_or(|access| access >= ARM_NS)
    }

    fn rest(&self, span: Nanos) -> Nanos {
        if self.options.thorough { REST_THOROUGH } else { span }
    }

    /// Content that can be identified when read back.
    fn stamp_class(&self) -> DataClass {
        DataClass::Stamped(Stamp { key: self.steps.evidence().plan.seed, pass: 1 })
    }
}

/// Most bytes that writes add to a dry run, which knows neither of a drop nor of a drive that does not seek:
/// three more quarters of the area, all of it at half the rate, and more shifted writes.
pub(super) fn bytes_beyond_dry_run(options: &CheckOptions, evidence: &Evidence) -> u64 {
    let area = area(options, evidence).map_or(0, |area| area.end - area.start);
    let shifted = (SHIFTED_WRITES_COUNT - SHIFTED_OF_ARM) * u64::from(SMALL);
    area / PART * 7 + shifts(evidence.geometry.block).count() as u64 * shifted
}

/// The speed of a region with its number, unless it failed.
fn speed_of(index: usize, segment: &Segment) -> Option<(usize, f64)> {
    Some((index, sound(segment)?.bytes_per_s()?))
}

fn shuffled(count: usize, seed: u64) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..count).collect();
    indices.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    indices
}

/// The first part of the area, which is written again.
fn part(area: &Range<u64>) -> Range<u64> {
    let length = area.end - area.start;
    area.start..area.start + (length / PART).next_multiple_of(u64::from(BLOCK)).min(length)
}

/// Random small I/Os in a region of a drive with this block; some are kept as samples.
fn small(block: u32, op: Op, region: Range<u64>, depth: u32, until: Until) -> Workload {
    let place = AccessPattern::Random(Region::bytes(region));
    let stream = Stream::closed(Mix::Only(op), SMALL.max(block), place, depth, DataClass::Random);
    Workload { samples: SMALL_SAMPLES, ..Workload::new("", until, vec![stream]) }
}

/// Reads or writes a region once, sequentially, until the time is over.
fn in_order(op: Op, region: Range<u64>, time: Nanos) -> Workload {
    let bytes = region.end - region.start;
    let block = BLOCK.min(1 << bytes.trailing_zeros().min(31));
    let stream = Stream::closed(
        Mix::Only(op),
        block,
        AccessPattern::Sequential(Region::bytes(region)),
        DEPTH,
        DataClass::Random,
    );
    Workload::new("", Until { elapsed: Some(time), ..Until::bytes(bytes) }, vec![stream])
}

/// Starts of evenly spaced regions.
fn places_of(region: &Range<u64>, block: u32) -> Vec<u64> {
    let last = (region.end - region.start).saturating_sub(PLACE_BYTES);
    let grain = u64::from(BLOCK.max(block));
    (0..PLACES)
        .map(|index| {
            let offset = (last as f64 * index as f64 / (PLACES - 1) as f64) as u64;
            region.start + offset - offset % grain
        })
        .collect()
}

/// Small writes are shifted by multiples of this many bytes, up to a small I/O.
const SECTOR: u64 = 512;

/// Shifts of small writes in bytes for a drive with this block; 0 is where they should be fastest.
pub(super) fn shifts(block: u32) -> impl Iterator<Item = u64> {
    let can = u64::from(block) <= SECTOR;
    (0..u64::from(SMALL)).step_by(SECTOR as usize).filter(move |_| can)
}
