//! What a verification does: tasks, their order, and the workload of each. Where something was wrong in a few places, rounds narrow
//! that down to the drive's real capacity: the size at which its addresses wrap around, and where they end.

use std::ops::Range;

use likenew_core::damage::{Damage, DamagedRange, Kind};
use likenew_core::drive::Kind as DriveKind;
use likenew_core::io::{DataClass, Op, Sample};
use likenew_core::probe::{ExtentMap, Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, Plan, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::{VerifyOptions, wording};

/// The tasks done.
pub(super) struct WorkloadPlan<'a> {
    pub(super) layout: VerifyLayout,
    pub(super) history: Vec<(Task, &'a Segment)>,
    /// Whether no task is left.
    pub(super) is_complete: bool,
}

/// Whether any data read back wrong.
pub(super) fn is_damaged(segment: &Segment) -> bool {
    segment.damage.as_ref().is_some_and(|damage| damage.bytes() > 0)
}

impl<'a> WorkloadPlan<'a> {
    /// All tasks, as far as they go.
    pub(super) fn follow(options: &VerifyOptions, span: u64, steps: &mut Steps<'a>) -> Self {
        let Evidence { geometry, identity, plan, .. } = steps.evidence();
        let step = if geometry.boundary.is_some() { options.block } else { geometry.block.max(512).into() };
        let places = boundary_offsets(span, options.block, step);
        let is_folder = identity.kind == DriveKind::Folder;
        let layout = VerifyLayout { options: options.clone(), span, key: plan.seed, step, is_folder, places };
        let mut followed = Self { layout, history: Vec::new(), is_complete: false };
        followed.is_complete = followed.verify_all(steps).is_ok();
        if followed.is_complete && followed.needs_extents(steps.evidence()) {
            let _is_recorded = steps.probe(|| Probe::Extents);
        }
        followed
    }

    /// Whether it helps to know where the file system put the files. Not after an interruption, because new
    /// files are in other places.
    fn needs_extents(&self, evidence: &Evidence) -> bool {
        let has_file_system = matches!(evidence.identity.kind, DriveKind::Folder | DriveKind::File);
        let wrapped = self.last_read().iter().any(|(_, damage)| damage.wrapped_bytes > 0);
        let same_files = !evidence.segments.iter().any(|segment| segment.after_interruption);
        has_file_system && wrapped && same_files
    }

    /// Where the file system put the files, if it says so.
    pub(super) fn extents(evidence: &Evidence) -> Option<&ExtentMap> {
        evidence.observations.iter().find_map(|observation| match &observation.result {
            ProbeResult::Extents(map) => Some(map),
            _ => None,
        })
    }

    /// The ranges of the last pass that was read, and the damage there; of the probes if no pass was read.
    pub(super) fn last_read(&self) -> Vec<(Vec<Range<u64>>, &'a Damage)> {
        let last = self.reads().map(|(pass, ..)| pass).max();
        let passes = self
            .reads()
            .filter(|(pass, ..)| Some(*pass) == last)
            .map(|(_, part, segment)| (vec![self.layout.part(part)], segment));
        let probes = self.history.iter().filter(|(task, _)| task.is_probe() && last.is_none());
        let probes = probes.map(|(_, segment)| {
            let range = |sample: &Sample| sample.offset..sample.offset + sample.bytes();
            (segment.samples.iter().map(range).collect(), *segment)
        });
        passes
            .chain(probes)
            .filter_map(|(ranges, segment)| Some((ranges, segment.damage.as_ref()?)))
            .collect()
    }

    /// The last part that was read back.
    pub(super) fn last_part_read(&self) -> Option<u32> {
        self.reads().map(|(_, part, _)| part).last()
    }

    /// Reads of the passes.
    pub(super) fn reads(&self) -> impl Iterator<Item = (u32, u32, &'a Segment)> {
        self.parts_of(Op::Read)
    }

    /// Pass, part and record of everything that the passes wrote or read.
    pub(super) fn parts_of(&self, which: Op) -> impl Iterator<Item = (u32, u32, &'a Segment)> {
        self.history.iter().filter_map(move |(task, segment)| match task {
            Task::Part { op, pass, part } if *op == which => Some((*pass, *part, *segment)),
            _ => None,
        })
    }

    /// The record of this task.
    fn take(&mut self, steps: &mut Steps<'a>, task: Task) -> Result<&'a Segment, Ended> {
        let seed = task.seed(&steps.evidence().plan).unwrap_or_else(|| steps.seed(0));
        let segment = steps.run(|| Workload { seed, ..self.layout.workload(&task) })?;
        self.history.push((task, segment));
        Ok(segment)
    }

    fn verify_all(&mut self, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let options = self.layout.options.clone();
        if options.probes > 0 && !options.read_only && self.probes(steps)? && !options.full {
            return Ok(());
        }
        if options.quick {
            return Ok(());
        }
        let first = if options.read_only { options.passes } else { 1 };
        for pass in first..=options.passes {
            let parts = if options.read_only { self.layout.parts() } else { self.write(steps, pass)? };
            for part in 0..parts {
                self.take(steps, Task::Part { op: Op::Read, pass, part })?;
            }
            if parts < self.layout.parts() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether the probes found damage.
    fn probes(&mut self, steps: &mut Steps<'a>) -> Result<bool, Ended> {
        for op in [Op::Write, Op::Read] {
            for task in [Task::Boundaries(op), Task::Scattered(op)] {
                self.take(steps, task)?;
            }
            if op == Op::Write {
                self.take(steps, Task::Flush)?;
            }
        }
        if !self.history.iter().any(|(_, segment)| is_damaged(segment)) {
            return Ok(false);
        }
        // Rounds need addresses of the drive, which a folder's are not.
        while let Some(round) = next_round(&self.layout, &self.history).filter(|_| !self.layout.is_folder) {
            for step in round.steps() {
                self.take(steps, Task::NarrowStep(round.clone(), *step))?;
            }
        }
        Ok(true)
    }

    /// The number of parts to read back: all of them, unless a spot check found damage. Then a folder's
    /// written parts are read, and a drive has shown enough.
    fn write(&mut self, steps: &mut Steps<'a>, pass: u32) -> Result<u32, Ended> {
        for part in 0..self.layout.parts() {
            self.take(steps, Task::Part { op: Op::Write, pass, part })?;
            let written = part + 1;
            if pass == 1 && written.is_power_of_two() && written < self.layout.parts() {
                let found = is_damaged(self.take(steps, Task::ReadBack { parts: written })?);
                if found && !self.layout.options.full {
                    if !self.layout.is_folder {
                        return Ok(0);
                    }
                    self.take(steps, Task::Flush)?;
                    return Ok(written);
                }
            }
        }
        self.take(steps, Task::Flush)?;
        if self.layout.options.idle.0 > 0 {
            self.take(steps, Task::Idle)?;
        }
        Ok(self.layout.parts())
    }
}

/// Random reads of a spot check.
const SPOT_CHECK_READS: u64 = 32;
/// Writes that push out a small cache's content.
const CACHE_FILL_WRITES: u64 = 64;
/// Stamps of probes have pass 0, those of rounds a pass above this.
const ROUNDS: u32 = 1 << 16;

impl VerifyLayout {
    /// The stamp of a pass.
    fn stamp_class(&self, pass: u32) -> DataClass {
        DataClass::Stamped(Stamp { key: self.key, pass })
    }

    fn stream(&self, op: Op, place: AccessPattern, depth: u32, pass: u32) -> Stream {
        Stream::closed(Mix::Only(op), self.options.block as u32, place, depth, self.stamp_class(pass))
    }

    /// All blocks at these addresses at once, with a sample of each.
    fn at(&self, name: String, op: Op, places: &[u64], pass: u32) -> Workload {
        let block =
            |place: &u64| AccessPattern::Sequential(Region::bytes(*place..place + self.options.block));
        let streams: Vec<Stream> =
            places.iter().map(|place| self.stream(op, block(place), 1, pass)).collect();
        let samples = streams.len() as u32;
        Workload { samples, ..Workload::new(name, Until::ops(samples.into()), streams) }
    }

    fn flush(&self) -> Workload {
        let stream = self.stream(Op::Flush, AccessPattern::Sequential(Region::WHOLE), 1, 0);
        let stream = Stream { data: DataClass::Random, ..stream };
        Workload::new("flush", Until::ops(1), vec![stream])
    }

    /// The workload of a task.
    pub(super) fn workload(&self, task: &Task) -> Workload {
        let VerifyOptions { depth, probes, idle, .. } = self.options;
        let within = |end| AccessPattern::Random(Region::bytes(0..end));
        match task {
            Task::Boundaries(op) => self.at(wording::boundary_probes(*op), *op, &self.places, 0),
            Task::Scattered(op) => {
                let stream = self.stream(*op, within(self.span), depth, 0);
                let workload =
                    Workload::new(wording::random_probes(*op), Until::ops(probes.into()), vec![stream]);
                Workload { samples: probes, ..workload }
            }
            Task::NarrowStep(round, step) => {
                let pass = ROUNDS + round.number;
                let name = |step| wording::narrowing(round.number, step);
                match step {
                    NarrowStep::Write => self.at(name("write"), Op::Write, &round.writes, pass),
                    NarrowStep::Read => self.at(name("read"), Op::Read, &round.read, pass),
                    NarrowStep::Flush => self.flush(),
                    NarrowStep::FillCache => {
                        let end = round.flushed_below;
                        let stream = self.stream(Op::Write, within(end), depth, 0);
                        Workload::new(name("fill cache"), Until::ops(CACHE_FILL_WRITES), vec![stream])
                    }
                }
            }
            Task::Flush => self.flush(),
            Task::Part { op, pass, part } => {
                let range = self.part(*part);
                let bytes = range.end - range.start;
                let name = wording::part(*pass, self.options.passes, part + 1, *op);
                let place = AccessPattern::Sequential(Region::bytes(range));
                Workload::new(name, Until::bytes(bytes), vec![self.stream(*op, place, depth, *pass)])
            }
            Task::ReadBack { parts } => {
                let end = self.part(parts - 1).end;
                let name = wording::spot_check(end);
                Workload::new(
                    name,
                    Until::ops(SPOT_CHECK_READS),
                    vec![self.stream(Op::Read, within(end), depth, 1)],
                )
            }
            Task::Idle => Workload::rest(idle),
        }
    }
}

/// The result of single blocks.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeSummary {
    /// The greatest common divisor of the distances between a block's address and where it was found:
    /// addresses wrap around there, or at a part of it.
    pub(super) wraps_at: Option<u64>,
    /// End of the last block that was there before the first one that was not, before any wrap.
    pub(super) present_until: u64,
    /// Address from which no block was there, if the drive ends somewhere.
    pub(super) absent_from: Option<u64>,
}

/// This many blocks have to be missing at the end of a drive before it counts as its end.
const MISSING_LEAST: usize = 3;
/// One in this many blocks beyond the end may still be there: a cache may have answered.
const THERE_SHARE: usize = 20;
/// Places tried at once, so that each round leaves a sixteenth.
const PLACES: u64 = 15;
const ROUNDS_MAX: u32 = 16;
/// A drive that wraps around at `n` bytes and is found to do so at a multiple of it is tested for these
/// parts.
const PARTS: [u64; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

impl ProbeSummary {
    /// From every single block that was read.
    pub(super) fn from_probes(layout: &VerifyLayout, history: &[(Task, &Segment)]) -> Self {
        let reads: Vec<&(Task, &Segment)> = history
            .iter()
            .filter(|(task, _)| task.is_probe() || matches!(task, Task::NarrowStep(_, NarrowStep::Read)))
            .filter(|(_, segment)| segment.damage.is_some())
            .collect();
        let wraps_at = wraps_at(reads.iter().map(|(_, segment)| *segment));
        let round = wraps_at.unwrap_or(layout.span);
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        // Places read to find the first block there were never written, so nothing can be missing from them.
        let asked_back =
            |task: &Task| !matches!(task, Task::NarrowStep(round, _) if round.writes != round.read);
        for (_, segment) in reads.iter().filter(|(task, _)| asked_back(task)) {
            for sample in &segment.samples {
                let end = sample.offset + sample.bytes();
                let found = ranges(segment).find(|range| range.from < end && sample.offset < range.to);
                match found {
                    None => there.push(sample.offset % round + sample.bytes()),
                    Some(range) if range.kind != Kind::Wrapped => gone.push(range.from % round),
                    // This run wrote what is there, so the place exists.
                    Some(_) => {}
                }
            }
        }
        gone.sort_unstable();
        let absent_from = gone.first().copied().filter(|first| {
            let beyond = there.iter().filter(|end| **end > *first).count();
            gone.len() >= MISSING_LEAST && beyond * THERE_SHARE <= gone.len()
        });
        let limit = absent_from.unwrap_or(round);
        let present_until = there.into_iter().filter(|end| *end <= limit).max().unwrap_or(0);
        Self { wraps_at, present_until, absent_from }
    }
}

/// The size at which addresses wrap around, from all sectors found elsewhere; a multiple of it if there were
/// few.
pub(super) fn wraps_at<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<u64> {
    segments.flat_map(ranges).filter_map(displacement).reduce(divisor)
}

fn ranges(segment: &Segment) -> impl Iterator<Item = &DamagedRange> {
    let all = segment.damage.iter().flat_map(|damage| &damage.ranges);
    all.filter(|range| range.kind != Kind::Unreadable)
}

/// Distance of a sector from the address it was written for.
fn displacement(range: &DamagedRange) -> Option<u64> {
    let address = range.content.address.filter(|_| range.kind == Kind::Wrapped)?;
    Some(range.from.abs_diff(address))
}

/// The greatest common divisor, by Euclid.
pub(super) fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The next round, if it would show more.
pub(super) fn next_round(layout: &VerifyLayout, history: &[(Task, &Segment)]) -> Option<Round> {
    let rounds: Vec<&Round> = history
        .iter()
        .filter_map(|(task, _)| match task {
            Task::NarrowStep(round, NarrowStep::Read) => Some(round),
            _ => None,
        })
        .collect();
    let number = rounds.len() as u32 + 1;
    if number > ROUNDS_MAX {
        return None;
    }
    let now = ProbeSummary::from_probes(layout, history);
    // The parts of a size found last time have been tested, unless the last round found it.
    let asked = |wrap: u64| {
        rounds.iter().any(|round| round.flushed_below == 0 && round.read == parts_of(wrap, layout))
    };
    let wrap = now.wraps_at.map(|wrap| (wrap, parts_of(wrap, layout)));
    if let Some((wrap, read)) = wrap
        && !read.is_empty()
        && !asked(wrap)
    {
        return Some(Round { number, writes: vec![0], read, flushed_below: 0 });
    }
    let places = offsets_between(now.present_until, now.absent_from?, layout);
    (!places.is_empty()).then(|| Round {
        number,
        writes: places.clone(),
        read: places,
        flushed_below: (now.present_until - now.present_until % layout.options.block)
            .max(layout.options.block),
    })
}

/// Where the first block would be found again if the drive wrapped around at a part of this size.
fn parts_of(wrap: u64, layout: &VerifyLayout) -> Vec<u64> {
    let block = layout.options.block;
    let fits =
        |place: &u64| *place >= block && place.is_multiple_of(layout.step) && place + block <= layout.span;
    let exact = PARTS.iter().filter(|part| wrap.is_multiple_of(**part)).map(|part| wrap / part);
    exact.filter(fits).collect()
}

/// Evenly spaced places between what is there and what is not; none if one block fills the gap.
fn offsets_between(present_until: u64, absent_from: u64, layout: &VerifyLayout) -> Vec<u64> {
    let block = layout.options.block;
    let room = absent_from.saturating_sub(present_until);
    if room <= block {
        return Vec::new();
    }
    let count = PLACES.min(room / block);
    let mut places: Vec<u64> = (1..=count)
        .map(|index| present_until + (room - block) * index / (count + 1))
        .map(|place| place - place % layout.step)
        .filter(|place| *place >= present_until)
        .collect();
    if count == 1 {
        places = vec![present_until - present_until % layout.step];
    }
    let mut end = 0;
    places.retain(|place| {
        let apart = *place >= end;
        if apart {
            end = place + block;
        }
        apart
    });
    places
}

/// One task, which is one workload.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Task {
    /// The first address, the last, and one at each usual size of drives.
    Boundaries(Op),
    /// Random addresses.
    Scattered(Op),
    /// A round that narrows down the result of the probes.
    NarrowStep(Round, NarrowStep),
    /// Makes all writes durable.
    Flush,
    /// One part of a pass.
    Part { op: Op, pass: u32, part: u32 },
    /// Reads some of what was written, at random, up to this part.
    ReadBack { parts: u32 },
    /// Leaves the drive idle.
    Idle,
}

/// The steps of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NarrowStep {
    Write,
    /// Writes enough elsewhere to push the last writes out of a small cache.
    FillCache,
    Flush,
    Read,
}

/// A round of writing and reading a few blocks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Round {
    /// From 1.
    pub(super) number: u32,
    pub(super) writes: Vec<u64>,
    pub(super) read: Vec<u64>,
    /// Blocks are written below this address to push earlier writes out of a cache; 0 for none.
    pub(super) flushed_below: u64,
}

impl Round {
    /// Its steps.
    pub(super) fn steps(&self) -> &'static [NarrowStep] {
        if self.flushed_below == 0 {
            &[NarrowStep::Write, NarrowStep::Flush, NarrowStep::Read]
        } else {
            &[NarrowStep::Write, NarrowStep::FillCache, NarrowStep::Flush, NarrowStep::Read]
        }
    }
}

/// The addresses that a verification uses.
#[derive(Clone, Debug)]
pub(super) struct VerifyLayout {
    pub(super) options: VerifyOptions,
    /// Bytes to verify.
    pub(super) span: u64,
    /// The run's key.
    pub(super) key: u64,
    /// Addresses are multiples of this; in a folder, of the block, because no I/O may cross the end of a
    /// file.
    pub(super) step: u64,
    /// Whether addresses are those of files in the free space of a folder.
    pub(super) is_folder: bool,
    pub(super) places: Vec<u64>,
}

/// Random addresses are the same for writing and reading.
const SCATTERED_SEED: usize = 1;

impl Task {
    /// The seed, if it is not the workload's own number.
    pub(super) fn seed(&self, plan: &Plan) -> Option<u64> {
        matches!(self, Self::Scattered(_)).then(|| plan.seed_of(SCATTERED_SEED))
    }

    /// Whether it is part of the search before everything is written.
    pub(super) fn is_probe(&self) -> bool {
        matches!(self, Self::Boundaries(_) | Self::Scattered(_))
    }
}

impl VerifyLayout {
    /// Parts of a pass: the number asked for, each of one block at least.
    pub(super) fn parts(&self) -> u32 {
        (self.span / self.options.block).min(u64::from(self.options.parts)) as u32
    }

    /// The addresses of a part: whole blocks, except at the end of the last one.
    pub(super) fn part(&self, part: u32) -> Range<u64> {
        let (blocks, parts) = (self.span / self.options.block, u64::from(self.parts()));
        let start = |part: u64| blocks * part / parts * self.options.block;
        let next = u64::from(part) + 1;
        start(part.into())..if next == parts { self.span } else { start(next) }
    }
}

/// Addresses of probes at 0, at every usual size of drives (powers of two and decimal sizes), and at the end.
/// If addresses wrap around at such a size, the probe there meets the first one. Ascending, multiples of
/// `step`, without overlaps.
pub(super) fn boundary_offsets(span: u64, block: u64, step: u64) -> Vec<u64> {
    let last = (span - block) - (span - block) % step;
    let binary = (0..64).map_while(|doublings| 1u64.checked_shl(doublings));
    let decimal = (0..36).map(|doublings| 1_000_000_000u64.saturating_mul(1 << doublings));
    let mut places: Vec<u64> =
        binary.chain(decimal).filter(|place| *place < last).map(|place| place - place % step).collect();
    places.extend([0, last]);
    places.sort_unstable();
    let mut apart: Vec<u64> = Vec::with_capacity(places.len());
    for place in places {
        if apart.last().is_none_or(|before| before + block <= place) {
            apart.push(place);
        }
    }
    apart
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distances_have_a_greatest_common_divisor() {
        assert_eq!([30u64 << 20, 45 << 20, 75 << 20].into_iter().reduce(divisor), Some(15 << 20));
        assert_eq!(divisor(7, 7), 7);
    }

    #[test]
    fn every_size_that_drives_are_made_in_is_a_place() {
        let places = boundary_offsets(512_000_000_000, 1 << 20, 512);
        for size in [
            0,
            1 << 20,
            1 << 34,
            16_000_000_000,
            64_000_000_000,
            256_000_000_000,
            512_000_000_000 - (1 << 20),
        ] {
            assert!(places.contains(&size), "{size}");
        }
        assert!(places.len() < 64, "{} places", places.len());
    }

    proptest! {
        #[test]
        fn places_lie_within_the_span_and_apart(blocks in 1u64..1 << 30, more in 0u64..2000, files in any::<bool>()) {
            let (block, step) = (1 << 20, if files { 1 << 20 } else { 512 });
            let span = blocks * block + if files { 0 } else { more * 512 };
            let places = boundary_offsets(span, block, step);
            prop_assert_eq!(places[0], 0);
            prop_assert!(places.iter().all(|place| place + block <= span && place % step == 0));
            prop_assert!(places.windows(2).all(|pair| pair[0] + block <= pair[1]));
        }
    }
}
