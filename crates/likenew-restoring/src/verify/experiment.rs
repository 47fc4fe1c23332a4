//! The experiment of a verification: single blocks first, then everything in parts. If single blocks were wrong, rounds
//! narrow that down to the drive's real capacity: the size at which its addresses wrap around, and where they end.

use std::ops::Range;

use likenew_core::damage::{Damage, DamageKind, DamagedRange};
use likenew_core::drive::TargetKind;
use likenew_core::io::{DataClass, Op, Sample};
use likenew_core::probe::{ExtentMap, Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::stamp::Stamp;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};

use super::{VerifyOptions, wording};

/// What a verification has done.
pub(super) struct Verification<'a> {
    pub(super) layout: VerifyLayout,
    /// Single blocks that are written and read back before everything else.
    pub(super) probes: Vec<&'a Segment>,
    /// Rounds that narrowed down the result of the probes, with what each read back.
    rounds: Vec<(Round, &'a Segment)>,
    /// Operation, pass, part and record of everything that the passes wrote or read, in order.
    pub(super) parts: Vec<(Op, u32, u32, &'a Segment)>,
    /// Random reads of what the first pass had written until then.
    pub(super) spot_checks: Vec<&'a Segment>,
    /// Whether nothing is left to do.
    pub(super) is_complete: bool,
}

/// Whether any data read back wrong.
fn is_damaged(segment: &Segment) -> bool {
    segment.damage.as_ref().is_some_and(|damage| damage.bytes() > 0)
}

/// Seed of random addresses, the same for writing and reading.
const SCATTERED_SEED: usize = 1;

impl<'a> Verification<'a> {
    /// Follows a verification as far as it goes.
    pub(super) fn follow(options: &VerifyOptions, span: u64, steps: &mut Steps<'a>) -> Self {
        let Evidence { geometry, identity, plan, .. } = steps.evidence();
        let step = if geometry.boundary.is_some() { options.block } else { geometry.block.max(512).into() };
        let places = boundary_offsets(span, options.block, step);
        let is_folder = identity.kind == TargetKind::Folder;
        let layout = VerifyLayout { options: options.clone(), span, key: plan.seed, step, is_folder, places };
        let mut followed = Self {
            layout,
            probes: Vec::new(),
            rounds: Vec::new(),
            parts: Vec::new(),
            spot_checks: Vec::new(),
            is_complete: false,
        };
        followed.is_complete = followed.verify_all(steps).is_ok();
        if followed.is_complete && followed.needs_extents(steps.evidence()) {
            let _is_recorded = steps.probe(|| Probe::Extents);
        }
        followed
    }

    /// Whether it helps to know where the file system put the files. Not after an interruption, because new
    /// files are in other places.
    fn needs_extents(&self, evidence: &Evidence) -> bool {
        let has_file_system = matches!(evidence.identity.kind, TargetKind::Folder | TargetKind::File);
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
        let probes = self.probes.iter().filter(|_| last.is_none()).map(|segment| {
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
        let parts = self.parts.iter().filter(move |(op, ..)| *op == which);
        parts.map(|(_, pass, part, segment)| (*pass, *part, *segment))
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
                self.part(steps, Op::Read, pass, part)?;
            }
            if parts < self.layout.parts() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Writes and reads the probes; true if they found damage.
    fn probes(&mut self, steps: &mut Steps<'a>) -> Result<bool, Ended> {
        let layout = &self.layout;
        let seed = steps.evidence().plan.seed_of(SCATTERED_SEED);
        for op in [Op::Write, Op::Read] {
            let boundaries = || layout.at(wording::boundary_probes(op), op, &layout.places, 0);
            self.probes.push(steps.run_seeded(boundaries)?);
            self.probes.push(steps.run(|| Workload { seed, ..layout.scattered(op) })?);
            if op == Op::Write {
                steps.run_seeded(|| layout.flush())?;
            }
        }
        if !self.probes.iter().any(|segment| is_damaged(segment)) {
            return Ok(false);
        }
        // Rounds need addresses of the drive, which a folder's are not.
        while let Some(round) = self.next_round().filter(|_| !self.layout.is_folder) {
            self.narrow(steps, round)?;
        }
        Ok(true)
    }

    /// A round of writing and reading a few blocks.
    fn narrow(&mut self, steps: &mut Steps<'a>, round: Round) -> Result<(), Ended> {
        let layout = &self.layout;
        let number = self.rounds.len() as u32 + 1;
        let pass = ROUNDS + number;
        let name = |step| wording::narrowing(number, step);
        steps.run_seeded(|| layout.at(name("write"), Op::Write, &round.writes, pass))?;
        if round.flushed_below > 0 {
            steps.run_seeded(|| {
                let stream = layout.random(Op::Write, round.flushed_below, 0);
                Workload::new(name("fill cache"), Until::ops(CACHE_FILL_WRITES), vec![stream])
            })?;
        }
        steps.run_seeded(|| layout.flush())?;
        let read = steps.run_seeded(|| layout.at(name("read"), Op::Read, &round.read, pass))?;
        self.rounds.push((round, read));
        Ok(())
    }

    fn part(&mut self, steps: &mut Steps<'a>, op: Op, pass: u32, part: u32) -> Result<(), Ended> {
        let segment = steps.run_seeded(|| self.layout.part_of_pass(op, pass, part))?;
        self.parts.push((op, pass, part, segment));
        Ok(())
    }

    /// Writes a pass, and returns how many parts to read back: all, unless a spot check found damage. Then
    /// only a folder's written parts are read, because a drive has shown enough.
    fn write(&mut self, steps: &mut Steps<'a>, pass: u32) -> Result<u32, Ended> {
        let parts = self.layout.parts();
        for part in 0..parts {
            self.part(steps, Op::Write, pass, part)?;
            let written = part + 1;
            if pass == 1 && written.is_power_of_two() && written < parts {
                let spot_check = steps.run_seeded(|| self.layout.spot_check(written))?;
                self.spot_checks.push(spot_check);
                if is_damaged(spot_check) && !self.layout.options.full {
                    if !self.layout.is_folder {
                        return Ok(0);
                    }
                    steps.run_seeded(|| self.layout.flush())?;
                    return Ok(written);
                }
            }
        }
        steps.run_seeded(|| self.layout.flush())?;
        steps.rest(self.layout.options.idle)?;
        Ok(parts)
    }

    /// The next round, if it would show more.
    fn next_round(&self) -> Option<Round> {
        if self.rounds.len() >= ROUNDS_MAX {
            return None;
        }
        let (layout, now) = (&self.layout, ProbeSummary::from_probes(self));
        // The parts of one size are tested only once.
        let is_tested = |parts: &Vec<u64>| {
            self.rounds.iter().any(|(round, _)| round.flushed_below == 0 && round.read == *parts)
        };
        let parts = now.wraps_at.map(|wrap| parts_of(wrap, layout));
        if let Some(read) = parts.filter(|parts| !parts.is_empty() && !is_tested(parts)) {
            return Some(Round { writes: vec![0], read, flushed_below: 0 });
        }
        let places = offsets_between(now.present_until, now.absent_from?, layout);
        let block = layout.options.block;
        (!places.is_empty()).then(|| Round {
            writes: places.clone(),
            read: places,
            flushed_below: (now.present_until - now.present_until % block).max(block),
        })
    }
}

/// What a round writes and reads.
struct Round {
    writes: Vec<u64>,
    read: Vec<u64>,
    /// Blocks are written below this address to push earlier writes out of a cache; 0 for none.
    flushed_below: u64,
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

/// Random reads of a spot check.
const SPOT_CHECK_READS: u64 = 32;
/// Writes that push earlier data out of a small cache.
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

    /// Random addresses below an end.
    fn random(&self, op: Op, end: u64, pass: u32) -> Stream {
        let place = AccessPattern::Random(Region::bytes(0..end));
        self.stream(op, place, self.options.depth, pass)
    }

    fn scattered(&self, op: Op) -> Workload {
        let samples = self.options.probes;
        let stream = self.random(op, self.span, 0);
        Workload {
            samples,
            ..Workload::new(wording::random_probes(op), Until::ops(samples.into()), vec![stream])
        }
    }

    fn part_of_pass(&self, op: Op, pass: u32, part: u32) -> Workload {
        let range = self.part(part);
        let bytes = range.end - range.start;
        let name = wording::part(pass, self.options.passes, part + 1, op);
        let place = AccessPattern::Sequential(Region::bytes(range));
        Workload::new(name, Until::bytes(bytes), vec![self.stream(op, place, self.options.depth, pass)])
    }

    /// Reads some of what was written, at random, up to this part.
    fn spot_check(&self, parts: u32) -> Workload {
        let end = self.part(parts - 1).end;
        let stream = self.random(Op::Read, end, 1);
        Workload::new(wording::spot_check(end), Until::ops(SPOT_CHECK_READS), vec![stream])
    }

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

/// What reads of single blocks show.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeSummary {
    /// The greatest common divisor of the distances between a block's address and where it was found:
    /// addresses wrap around there, or at a part of it.
    pub(super) wraps_at: Option<u64>,
    /// End of the last block that was present before the first absent one, before any wrap.
    pub(super) present_until: u64,
    /// Address from which no block was there, if the drive ends somewhere.
    pub(super) absent_from: Option<u64>,
}

/// This many blocks have to be missing at the end of a drive before it counts as its end.
const MISSING_LEAST: usize = 3;
/// One in this many blocks beyond the end may still be there: a cache may have answered.
const THERE_SHARE: usize = 20;
/// Addresses tried at once, so that each round leaves a sixteenth of the gap.
const PLACES: u64 = 15;
const ROUNDS_MAX: usize = 16;
/// A size at which addresses were found to wrap around may be a multiple of the real one, so its quotients by
/// these are tested.
const PARTS: [u64; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

impl ProbeSummary {
    /// From every single block that was read.
    pub(super) fn from_probes(verification: &Verification<'_>) -> Self {
        let Verification { layout, probes, rounds, .. } = verification;
        let wraps_at = wraps_at(probes.iter().chain(rounds.iter().map(|(_, read)| read)).copied());
        let round = wraps_at.unwrap_or(layout.span);
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        // Addresses that a round reads and did not write say nothing of missing blocks.
        let written = rounds.iter().filter(|(round, _)| round.writes == round.read).map(|(_, read)| read);
        for segment in probes.iter().chain(written).filter(|segment| segment.damage.is_some()) {
            for sample in &segment.samples {
                let end = sample.offset + sample.bytes();
                let damaged = ranges(segment).find(|range| range.from < end && sample.offset < range.to);
                match damaged {
                    None => there.push(sample.offset % round + sample.bytes()),
                    Some(range) if range.kind != DamageKind::Wrapped => gone.push(range.from % round),
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
    let ranges = segment.damage.iter().flat_map(|damage| &damage.ranges);
    ranges.filter(|range| range.kind != DamageKind::Unreadable)
}

/// Distance of a sector from the address it was written for.
fn displacement(range: &DamagedRange) -> Option<u64> {
    let address = range.content.address.filter(|_| range.kind == DamageKind::Wrapped)?;
    Some(range.from.abs_diff(address))
}

/// The greatest common divisor, by Euclid.
pub(super) fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Where the first block would be found again if the drive wrapped around at a part of this size.
fn parts_of(wrap: u64, layout: &VerifyLayout) -> Vec<u64> {
    let block = layout.options.block;
    let fits =
        |place: &u64| *place >= block && place.is_multiple_of(layout.step) && place + block <= layout.span;
    let exact = PARTS.iter().filter(|part| wrap.is_multiple_of(**part)).map(|part| wrap / part);
    exact.filter(fits).collect()
}

/// Evenly spaced addresses between the last present and the first absent block; none if one block fills the gap.
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
    apart(places, block)
}

/// Ascending addresses without those whose block would overlap an earlier one.
fn apart(mut places: Vec<u64>, block: u64) -> Vec<u64> {
    let mut end = 0;
    places.retain(|place| {
        let is_apart = *place >= end;
        if is_apart {
            end = place + block;
        }
        is_apart
    });
    places
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
    apart(places, block)
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
