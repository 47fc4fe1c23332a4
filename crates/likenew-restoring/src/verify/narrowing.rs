//! From the few places where something was wrong to what the drive really has: at how many bytes its addresses go round,
//! and where they end.

use likenew_core::damage::{DamagedRange, Kind};
use likenew_core::segment::Segment;

use super::task::{NarrowStep, Round, Task, VerifyLayout};

/// What single blocks have shown.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeSummary {
    /// The distances between the address that a block was written for and the one where it was found have this as their
    /// greatest common divisor: addresses go round there, or at a part of it.
    pub(super) wraps_at: Option<u64>,
    /// Blocks that were there, up to the end of the furthest one before the first that was not, on the first round of the
    /// addresses.
    pub(super) present_until: u64,
    /// From here on no block was there, if the drive ends somewhere.
    pub(super) absent_from: Option<u64>,
}

/// So many blocks have to be missing at the end of a drive before it is said to end.
const MISSING_LEAST: usize = 3;
/// Where a drive seems to end, one in so many blocks beyond may still be there: a cache may have answered.
const THERE_SHARE: usize = 20;
/// Places that are tried at once, so that each round leaves a sixteenth.
const PLACES: u64 = 15;
const ROUNDS_MAX: u32 = 16;
/// A drive that goes round at `n` bytes and is found to go round at a multiple of it is asked for these parts of that.
const PARTS: [u64; 8] = [2, 3, 5, 7, 11, 13, 17, 19];

impl ProbeSummary {
    /// Out of everything that single blocks were read for.
    pub(super) fn from_probes(layout: &VerifyLayout, history: &[(Task, &Segment)]) -> Self {
        let reads: Vec<&(Task, &Segment)> = history
            .iter()
            .filter(|(task, _)| task.is_probe() || matches!(task, Task::NarrowStep(_, NarrowStep::Read)))
            .filter(|(_, segment)| segment.damage.is_some())
            .collect();
        let wraps_at = wraps_at(reads.iter().map(|(_, segment)| *segment));
        let round = wraps_at.unwrap_or(layout.span);
        let (mut there, mut gone) = (Vec::new(), Vec::new());
        // Places that were read to find the first block there were never written, so that nothing can be missing from them.
        let asked_back =
            |task: &Task| !matches!(task, Task::NarrowStep(round, _) if round.writes != round.read);
        for (_, segment) in reads.iter().filter(|(task, _)| asked_back(task)) {
            for sample in &segment.samples {
                let end = sample.offset + sample.bytes();
                let found = ranges(segment).find(|range| range.from < end && sample.offset < range.to);
                match found {
                    None => there.push(sample.offset % round + sample.bytes()),
                    Some(range) if range.kind != Kind::Wrapped => gone.push(range.from % round),
                    // What lies there was written by this run, so there is something.
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

/// At how many bytes the addresses go round, by all sectors that were found elsewhere; a multiple of it where few were.
pub(super) fn wraps_at<'a>(segments: impl Iterator<Item = &'a Segment>) -> Option<u64> {
    segments.flat_map(ranges).filter_map(displacement).reduce(divisor)
}

fn ranges(segment: &Segment) -> impl Iterator<Item = &DamagedRange> {
    segment.damage.iter().flat_map(|damage| &damage.ranges)
}

/// How far the sector lies from where it was written for.
fn displacement(range: &DamagedRange) -> Option<u64> {
    let address = range.content.address.filter(|_| range.kind == Kind::Wrapped)?;
    Some(range.from.abs_diff(address))
}

/// The greatest common divisor, by Euclid.
pub(super) fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// The next round, if one would still tell something.
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
    // A part of what was known last time has been asked for, unless the last round was the one that found it.
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

/// Where the first block would be found again if the drive went round at a part of this.
fn parts_of(wrap: u64, layout: &VerifyLayout) -> Vec<u64> {
    let block = layout.options.block;
    let fits =
        |place: &u64| *place >= block && place.is_multiple_of(layout.step) && place + block <= layout.span;
    let exact = PARTS.iter().filter(|part| wrap.is_multiple_of(**part)).map(|part| wrap / part);
    exact.filter(fits).collect()
}

/// Places evenly between what is there and what is not; none where a block fills it.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_have_a_greatest_common_divisor() {
        assert_eq!([30u64 << 20, 45 << 20, 75 << 20].into_iter().reduce(divisor), Some(15 << 20));
        assert_eq!(divisor(7, 7), 7);
    }
}
