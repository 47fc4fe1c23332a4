//! The faster part of a first fill: its size, the speed after it, and how long a rest takes to restore it.

use std::ops::Range;

use likenew_core::findings::Mark;
use likenew_core::quantity::Rate;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_stats::change_points::{Knee, knees};

use super::super::experiment::{ExperimentContext, own_name};
use super::super::property::{Key, Property};
use super::super::wording;
use super::super::writing::WriteProgress;
use super::{BURST, PAUSE, in_blocks, write};

/// A drop is to less than this share of the speed before it. Chosen: above the spread of single pieces.
const DROP: f64 = 0.8;
/// Speed after a drop over that before it, as a ratio, below which the drop is strong. Chosen: erasing alone
/// costs less.
const STRONG: f64 = 0.6;
/// Bytes that a buffer may take, as a multiple of those before the drop. Chosen: what is programmed while it
/// fills.
const ABOUT: f64 = 1.15;
/// Drops within this share of the bytes before them are one. Chosen: dies run out one after the other.
const MERGE_SHARE: f64 = 0.1;
/// Share of a cache that its open blocks held before, at most, in nine of ten drives; fitted.
const OPEN: f64 = 0.03;
/// Share of the time of writing that erasing blocks takes on a used drive, at most as a rule; fitted.
const ERASING: f64 = 0.02;
/// Number of pieces of the fill in which change points are searched.
const PIECES: usize = 256;
/// Most rests tried.
const RESTS_MAX: usize = 5;
/// Part of the cache, as a share, that is written after a rest. Chosen: less than the cache, so that it fits
/// if all is free.
const BURST_SHARE: f64 = 0.75;
/// Error of the rest, as a share, from dies that still fold when the burst comes; fitted.
const FOLDING: f64 = 0.12;
/// Part of the cache, as a share, below which nothing was restored. Chosen: more than the write buffer takes
/// of a burst.
const CACHE_SHARE_MIN: f64 = 0.04;

/// The part of a fill before the strongest lasting drop in speed.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Cache {
    /// Bytes before the drop.
    pub(in super::super) bytes: f64,
    /// Uncertainty of those bytes, to either side.
    pub(super) error: f64,
    /// Nanoseconds per byte before and after the drop.
    pub(in super::super) before: f64,
    pub(in super::super) after: f64,
    /// Bytes seen after the drop.
    seen_after: f64,
    /// Bytes between two levels that both lasted.
    fill: f64,
}

impl Cache {
    /// From an uninterrupted fill; `None` without a lasting drop.
    pub(super) fn find(progress: &WriteProgress) -> Option<Self> {
        let speeds = progress.speeds(PIECES);
        let values: Vec<f64> = speeds.iter().map(|[_, speed]| *speed).collect();
        // The write buffer fills at the speed of the link, and is not the cache.
        let skipped = 2.min(values.len());
        let found = knees(&values[skipped..]);
        let from = |at: usize| speeds.get(at + skipped).or(speeds.last()).map_or(0.0, |[bytes, _]| *bytes);
        let drops = drops(&found, from);
        let strongest =
            drops.iter().min_by(|first, other| ratio(&found, first).total_cmp(&ratio(&found, other)))?;
        let (begins, ends) = (from(found[strongest.start].at), from(found[strongest.end - 1].at));
        let next = found.get(strongest.end).map(|next| from(next.at));
        let before = strongest.start.checked_sub(1).map_or(0.0, |last| from(found[last].at));
        let before = before.max(0.2 * begins);
        let cell = progress.bytes() / progress.marks.len() as f64;
        let piece = progress.bytes() / speeds.len() as f64;
        let (end_before, start_after) = (begins - 2.0 * piece, ends + 2.0 * piece);
        let end_after = next.unwrap_or(progress.bytes()).min(ends + 0.1 * progress.bytes().max(ends)) - piece;
        let fast = progress.cost_between(before.min(0.7 * end_before), end_before)?;
        let slow = progress.cost_between(start_after, end_after)?;
        let (first, other) = (progress.mark_at(end_before)?, progress.mark_at(start_after)?);
        // The intersection of the lines of the fast and the slow part.
        let overshoot = (other.ns - first.ns - fast * (other.bytes - first.bytes)) / (slow - fast);
        let bytes = (other.bytes - overshoot).clamp(first.bytes, other.bytes);
        Some(Self {
            bytes,
            error: cell,
            before: fast,
            after: slow,
            seen_after: progress.bytes() - bytes,
            fill: progress.bytes(),
        })
    }

    /// Whether erasing alone does not explain it: a drive without erased blocks erases one for each that it
    /// writes, which takes less time than filling it.
    pub(super) fn is_strong(&self) -> bool {
        self.before < STRONG * self.after
    }

    /// The fill corrected for a write buffer that took its first bytes, and as many from `flushed` on.
    pub(super) fn without_buffer(&self, progress: &WriteProgress, flushed: f64) -> WriteProgress {
        let taken = ABOUT * self.bytes;
        progress.without_trend(0.0..taken, self.after).without_trend(flushed..flushed + taken, self.after)
    }

    /// The share of a burst that was taken fast; each of these bytes saved the difference between the two
    /// speeds.
    pub(super) fn fast_share(&self, burst: &WriteProgress) -> f64 {
        let saved = burst.bytes() * self.after - burst.ns();
        (saved / (self.after - self.before) / burst.bytes()).clamp(0.0, 1.0)
    }

    /// Whether the fill continued long enough to call the drop lasting.
    pub(super) fn is_seen_after(&self) -> bool {
        self.seen_after > (self.fill / 16.0).min(0.5 * self.bytes).max(1.0)
    }

    fn error_with(&self, context: &ExperimentContext<'_>) -> f64 {
        let noise = context.inferences.noise().map_or(0.0, |noise| noise.spread);
        self.error
            + self.bytes
                * (0.003 + noise * self.before.max(self.after - self.before) / (self.after - self.before))
    }

    /// Its size. The blocks open when the fill began hold less, by a part of what was written `earlier`.
    pub(super) fn size(&self, context: &ExperimentContext<'_>, earlier: f64) -> Property {
        let error = self.error_with(context);
        let reason = wording::write_cliff(self.bytes, Rate(1e9 / self.before), Rate(1e9 / self.after));
        if error > 0.2 * self.bytes {
            return Property::undecided(Key::SlcCacheBytes, wording::vague_cliff(reason));
        }
        Property::number(
            Key::SlcCacheBytes,
            self.bytes,
            (self.bytes - error, self.bytes + error + earlier.min(OPEN * self.bytes)),
            0.97,
            reason,
        )
    }

    pub(super) fn speed_after(&self, context: &ExperimentContext<'_>) -> Property {
        let noise = context.inferences.noise().map_or(0.0, |noise| noise.spread);
        let (value, share) = (1e9 / self.after, 0.01 + noise);
        Property::number(
            Key::SlcSpeedAfterBytesPerS,
            value,
            (value * (1.0 - share), value * (1.0 + share + ERASING)),
            0.95,
            wording::speed_after_cliff(self.bytes),
        )
    }

    pub(super) fn mark(&self) -> Mark {
        let label = wording::speed_drop(Rate(1e9 / self.before), Rate(1e9 / self.after));
        Mark { x: self.bytes, label }
    }
}

/// Lasting drops among the knees: those close together, from dies that run out one after the other, count as
/// one.
fn drops(found: &[Knee], from: impl Fn(usize) -> f64) -> Vec<Range<usize>> {
    let mut drops: Vec<Range<usize>> = Vec::new();
    for (index, knee) in found.iter().enumerate().filter(|(_, knee)| knee.after < knee.before) {
        match drops.last_mut() {
            Some(last)
                if last.end == index
                    && from(knee.at) - from(found[index - 1].at) < MERGE_SHARE * from(knee.at) =>
            {
                last.end = index + 1;
            }
            _ => drops.push(index..index + 1),
        }
    }
    drops.retain(|drop| ratio(found, drop) < DROP);
    drops
}

/// The speed after a group of knees over that before it.
fn ratio(found: &[Knee], drop: &Range<usize>) -> f64 {
    found[drop.end - 1].after / found[drop.start].before
}

/// What rests restored, with the cache full before each.
pub(super) struct Recovery<'a> {
    cache: &'a Cache,
    /// Length of the rest in nanoseconds, and bytes that were fast again, by length of the rest.
    recoveries: Vec<[f64; 2]>,
}

impl<'a> Recovery<'a> {
    /// From the rests up to now.
    pub(super) fn from_rests(cache: &'a Cache, segments: &[&Segment]) -> Self {
        let mut recoveries = Vec::new();
        for pair in segments.windows(2) {
            if !own_name(pair[0]).starts_with(PAUSE) || !own_name(pair[1]).starts_with(BURST) {
                continue;
            }
            let burst = WriteProgress::from_segments([pair[1]]);
            recoveries.push([pair[0].elapsed().0 as f64, cache.fast_share(&burst) * burst.bytes()]);
        }
        recoveries.sort_by(|first, other| first[0].total_cmp(&other[0]));
        Self { cache, recoveries }
    }

    fn half(&self) -> f64 {
        self.cache.bytes / 2.0
    }

    /// The longest rest that was too short, and the shortest that was enough.
    fn bracket(&self) -> Option<([f64; 2], [f64; 2])> {
        let enough = self.recoveries.iter().position(|[_, bytes]| *bytes >= self.half())?;
        let short = enough.checked_sub(1).map_or([0.0, 0.0], |index| self.recoveries[index]);
        Some((short, self.recoveries[enough]))
    }

    /// The next rest, or the burst after it.
    pub(super) fn next(&self, context: &ExperimentContext<'_>, room: Range<u64>) -> Option<Workload> {
        let length = in_blocks(BURST_SHARE * self.cache.bytes);
        let fits = length > 0 && length <= room.end - room.start && context.may_write(length);
        let last = context.segments.last()?;
        if own_name(last).starts_with(PAUSE) && fits {
            return Some(write(&format!("{BURST} {}", self.recoveries.len() + 1), room.start, length));
        }
        if !fits || self.recoveries.len() >= RESTS_MAX {
            return None;
        }
        let rest = self.rest()?;
        let name = format!("{PAUSE} {}", self.recoveries.len() + 1);
        Some(Workload { name, ..Workload::rest(Nanos(rest as u64)) })
    }

    /// The next rest to try: half the time of writing at the slow speed, then longer or shorter until the two
    /// bounds are close.
    fn rest(&self) -> Option<f64> {
        let Some(longest) = self.recoveries.last() else { return Some(1.2 * self.half() * self.cache.after) };
        match self.bracket() {
            None if longest[1] < CACHE_SHARE_MIN * self.cache.bytes => Some(3.0 * longest[0]),
            None => Some(longest[0] * (1.1 * self.half() / longest[1]).clamp(1.2, 3.0)),
            Some((short, enough)) if short[0] < 0.6 * enough[0] => {
                let ideal = 0.95 * enough[0] * self.half() / enough[1];
                Some(ideal.clamp(short[0].max(0.25 * enough[0]), 0.8 * enough[0]))
            }
            Some(_) => None,
        }
    }

    pub(super) fn property(&self, context: &ExperimentContext<'_>) -> Property {
        let key = Key::SlcRecoveryNs;
        let Some(longest) = self.recoveries.last() else {
            return Property::undecided(key, wording::no_room_to_recover());
        };
        let reason = wording::recoveries(&self.recoveries);
        let Some((short, enough)) = self.bracket() else {
            return match longest[1] < CACHE_SHARE_MIN * self.cache.bytes && self.recoveries.len() >= RESTS_MAX
            {
                true => Property::absent(key, 0.9, reason),
                false => Property::undecided(key, wording::unclear_recovery(reason)),
            };
        };
        if short[1] < CACHE_SHARE_MIN * self.cache.bytes && short[0] < 0.8 * enough[0] {
            return Property::undecided(key, wording::unclear_recovery(reason));
        }
        let share = (self.half() - short[1]) / (enough[1] - short[1]);
        let value = short[0] + share * (enough[0] - short[0]);
        let noise = context.inferences.noise().map_or(0.0, |noise| noise.spread);
        let error = value * (FOLDING + noise) + 0.1 * (enough[0] - short[0]);
        Property::number(key, value, (value - error, value + error), 0.8, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::writing;
    use super::*;

    /// Windows of 1 MiB at these costs, in nanoseconds per byte.
    fn progress(costs: impl Iterator<Item = f64>) -> WriteProgress {
        let (mut bytes, mut ns) = (0.0, 0.0);
        let marks = costs.map(|cost| {
            (bytes, ns) = (bytes + 1048576.0, ns + 1048576.0 * cost);
            writing::Mark { bytes, ns }
        });
        WriteProgress { marks: marks.collect() }
    }

    #[test]
    fn a_cache_is_as_large_as_it_was_made() {
        for size in [40.4, 111.0, 300.7] {
            let cost = |index: u32| {
                let fast = (size - f64::from(index)).clamp(0.0, 1.0);
                let hiccup = if index % 97 == 5 { 1.8 } else { 1.0 };
                hiccup
                    * (fast * 2.0 + (1.0 - fast) * 9.0)
                    * (1.0 + 0.02 * f64::from(index * 7919 % 13) / 13.0)
            };
            let cache = Cache::find(&progress((0..1024).map(cost))).unwrap();
            assert!((cache.bytes / 1048576.0 - size).abs() < 0.03 * size + 1.0, "{size}: {cache:?}");
            assert!((cache.after / 9.0 - 1.0).abs() < 0.05, "{cache:?}");
            assert!(cache.is_seen_after());
        }
    }

    #[test]
    fn erased_blocks_that_run_out_are_no_cache() {
        let cost = |index: u32| match index {
            ..60 => 4.0,
            60..400 => 5.5,
            400..408 => 20.0,
            _ => 40.0,
        };
        let short = Cache::find(&progress((0..300).map(cost))).unwrap();
        assert!(!short.is_strong() && (short.bytes / 1048576.0 - 60.0).abs() < 3.0, "{short:?}");
        let cache = Cache::find(&progress((0..1024).map(cost))).unwrap();
        assert!(cache.is_strong() && (400.0..409.0).contains(&(cache.bytes / 1048576.0)), "{cache:?}");
        assert!(
            (cache.before / 5.5 - 1.0).abs() < 0.05 && (cache.after / 40.0 - 1.0).abs() < 0.05,
            "{cache:?}"
        );
    }

    #[test]
    fn behind_a_write_buffer_the_cache_is_found() {
        // A buffer takes 30 windows, and as many after a flush at 100; a cache is full after 300.
        let cost = |index: u32| match index {
            ..30 | 100..130 => 1.0,
            130..300 | 30..100 => 4.0,
            _ => 30.0,
        };
        let before = progress((0..100).map(cost));
        let buffer = Cache::find(&before).unwrap();
        let burst = progress((100..115).map(cost));
        assert!(buffer.fast_share(&burst) > 0.95);
        assert!(buffer.fast_share(&progress((30..45).map(cost))) < 0.05);
        let filled = buffer.without_buffer(&progress((0..600).map(cost)), before.bytes());
        let cache = Cache::find(&filled).unwrap();
        assert!((cache.bytes / 1048576.0 - 300.0).abs() < 9.0, "{cache:?}");
        assert!((cache.before / 4.0 - 1.0).abs() < 0.05, "{cache:?}");
    }

    #[test]
    fn an_even_fill_and_one_along_zones_have_none() {
        let noisy = |index: u32| 3.0 + 0.4 * f64::from(index * 7919 % 101) / 101.0;
        assert_eq!(Cache::find(&progress((0..1024).map(noisy))), None);
        assert_eq!(Cache::find(&WriteProgress::default()), None);
    }
}
