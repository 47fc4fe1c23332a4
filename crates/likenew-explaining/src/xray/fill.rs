//! Fills an empty drive sequentially: finds how much it takes fast (the SLC cache), and how much of that idle
//! time restores.
//!
//! The fill also prepares experiments that need a full drive.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Rate;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_procedure_support::series::{axis, speed};
use likenew_stats::change_points::{Knee, knees};
use likenew_stats::summary::median;

use super::experiment::{
    Cliff, Context, Finding, FirstFill, Shared, Steps, bytes_written, flush, latencies, paced, random_reads,
    sampled, sequential_writes,
};
use super::idle::Idle;
use super::property::{Key, Property, Reason};
use super::wording;
use super::writing::WriteProgress;

pub(super) const NAME: &str = "fill";
const FULL: &str = "reads after fill";
const PIECE: &str = "piece";
const BURST: &str = "burst after rest";

/// The span is written in this many pieces, each with this many windows.
const PIECES: u64 = 32;
const WINDOWS: u64 = 32;
const BLOCK: u32 = 64 << 10;
const DEPTH: u32 = 8;
const PAUSED_READS: u32 = 256;
/// Rate of reads that check whether the drive is empty, in IOPS. Chosen: slow for any drive, and still no
/// rest.
const LOOKS_PER_S: f64 = 100.0;
/// Most that reads which skip the flash take, as a share of the latency of others. Chosen: reading flash adds
/// more than that.
const EMPTY: f64 = 0.93;
/// Rest after a trim. Chosen: a firmware that erases in the background has started and finished by then.
const FORGETTING: Nanos = Nanos::from_secs(60);
/// A fast part larger than this share of the span is no write buffer. Chosen: an eighth is far more memory
/// than drives have.
const BUFFER_MAX: f64 = 0.125;
/// Part of the fast bytes, as a share, that is written again after a flush. Chosen: half, so that it fits for
/// certain.
const FLUSHED_SHARE: f64 = 0.5;
/// Share of those bytes that must be fast again for a write buffer. Chosen: a cache in flash, which a flush
/// does not empty, has none.
const BUFFERED_SHARE: f64 = 0.7;
/// Part of the cache, as a share, that is written again each time it was folded. Chosen: enough to keep it
/// folding.
const MORE_SHARE: f64 = 0.3;
/// Share of the span after which a weak drop counts as the end of the cache if no stronger one has come: TLC
/// cells used with one bit hold at most a third of the span. Chosen: a margin above that third.
const WAIT_FOR_STRONGER: f64 = 0.45;

/// Empties the drive if possible, and fills it once sequentially.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    if context.segments.is_empty() {
        expect_possible(context)?;
    }
    steps.end_at_errors();
    let mut fill = Fill::default();
    let _ended = fill.measure(context, steps);
    Ok(steps.conclude(|| fill.finding(context)))
}

/// A fill as far as it has come.
#[derive(Default)]
struct Fill<'a> {
    /// All that was written: pieces, bursts after rests and after a flush, and what is folded.
    written: Vec<&'a Segment>,
    /// Number of these writes before the drive rested or was flushed.
    before_rests: usize,
    /// The writes that are pieces of the span.
    pieces: Vec<&'a Segment>,
    was_flushed: bool,
    /// A write buffer that the flush showed, and the bytes filled before it: a flush empties a buffer, but no cache in flash.
    buffer: Option<(Cliff, f64)>,
    /// Bytes before the first piece.
    bytes_before: f64,
    read_before: Option<&'a Segment>,
    read_after: Option<&'a Segment>,
    /// Length of the rest in nanoseconds, and bytes that were fast again.
    recoveries: Vec<[f64; 2]>,
    idle: Idle,
}

impl<'a> Fill<'a> {
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if context.loses_writes() {
            steps.run(context.trim("trim"))?;
        }
        steps.rest("idle after TRIM", FORGETTING)?;
        self.read_before = Some(steps.run(slow_reads(context, "reads before fill"))?);
        self.bytes_before = steps.before().iter().map(bytes_written).sum::<u64>() as f64;
        let end = end(context);
        if let Some(cache) = self.fill_cache(context, steps, end)? {
            self.recover(steps, &cache, end)?;
            self.fold(steps, &cache, end)?;
        }
        while self.bytes() < end {
            self.write_piece(steps, end)?;
        }
        self.read_after = Some(steps.run(slow_reads(context, FULL))?);
        Ok(())
    }

    /// Where the fill continues.
    fn bytes(&self) -> u64 {
        self.written.iter().filter_map(|segment| segment.workload.until.bytes).sum()
    }

    /// Writes this many bytes sequentially.
    fn write(&mut self, steps: &mut Steps<'a>, name: &str, length: u64) -> Result<&'a Segment, Ended> {
        if !steps.may_write(length) {
            return Err(Ended);
        }
        let at = self.bytes();
        let window = Some((length / WINDOWS).max(1).next_multiple_of(BLOCK.into()));
        let workload = sequential_writes(name, at..at + length, BLOCK, DEPTH);
        let written = steps.run(Workload { window, ..workload })?;
        self.written.push(written);
        Ok(written)
    }

    fn write_piece(&mut self, steps: &mut Steps<'a>, end: u64) -> Result<(), Ended> {
        let length = (end / PIECES).next_multiple_of(BLOCK.into()).min(end - self.bytes());
        let number = self.written.len() + 1;
        let piece = self.write(steps, &format!("{PIECE} {number}"), length)?;
        self.pieces.push(piece);
        Ok(())
    }

    /// Whether this many bytes can be written before the end.
    fn fits(&self, steps: &Steps<'_>, length: u64, end: u64) -> bool {
        length > 0 && length <= end - self.bytes() && steps.may_write(length)
    }

    /// The part of the fill before any rest or flush. If a flush showed a write buffer, the fill continues past
    /// it, corrected for the buffer.
    fn progress(&self) -> WriteProgress {
        let progress = WriteProgress::from_segments(self.written[..self.before_rests].iter().copied());
        match &self.buffer {
            Some((buffer, flushed)) => buffer.without_buffer(&progress, *flushed),
            None => progress,
        }
    }

    /// The faster part, once it has ended for certain.
    fn ended_cache(&self, end: u64) -> Option<Cliff> {
        let is_late = self.bytes() as f64 > WAIT_FOR_STRONGER * end as f64;
        Cliff::find(&self.progress()).filter(|cache| cache.is_seen_after() && (cache.is_strong() || is_late))
    }

    /// Fills until a faster part that is no write buffer has ended.
    fn fill_cache(
        &mut self,
        context: &Context<'a>,
        steps: &mut Steps<'a>,
        end: u64,
    ) -> Result<Option<Cliff>, Ended> {
        loop {
            while self.bytes() < end && steps.goes_on(PIECE, || self.ended_cache(end).is_none()) {
                self.write_piece(steps, end)?;
                self.before_rests = self.written.len();
            }
            let Some(cache) = self.ended_cache(end).filter(|_| self.bytes() < end) else { return Ok(None) };
            let length = in_blocks(FLUSHED_SHARE * cache.bytes);
            let is_small = cache.bytes <= BUFFER_MAX * context.span as f64;
            if self.was_flushed || !is_small || !self.fits(steps, length, end) {
                return Ok(Some(cache));
            }
            steps.run(flush(context.block()))?;
            self.was_flushed = true;
            let flushed = self.progress().bytes();
            let burst = self.write(steps, "burst after flush", length)?;
            if cache.fast_share(&WriteProgress::from_segments([burst])) >= BUFFERED_SHARE {
                self.buffer = Some((cache, flushed));
                self.before_rests = self.written.len();
            }
        }
    }

    /// Rests several times, each time with the cache full, and measures how much of it is fast again.
    fn recover(&mut self, steps: &mut Steps<'a>, cache: &Cliff, end: u64) -> Result<(), Ended> {
        let length = in_blocks(BURST_SHARE * cache.bytes);
        while self.recoveries.len() < RESTS_MAX && self.fits(steps, length, end) {
            let Some(rest) = Recovery::new(cache, &self.recoveries).rest() else { break };
            let number = self.recoveries.len() + 1;
            let rest = steps.rest(format!("rest {number}"), Nanos(rest as u64))?;
            let burst = self.write(steps, &format!("{BURST} {number}"), length)?;
            let burst = WriteProgress::from_segments([burst]);
            self.recoveries.push([rest.elapsed().0 as f64, cache.fast_share(&burst) * burst.bytes()]);
        }
        Ok(())
    }

    /// Rests until the drive folds the cache by itself, and fills a part of it again after each time.
    fn fold(&mut self, steps: &mut Steps<'a>, cache: &Cliff, end: u64) -> Result<(), Ended> {
        if self.bytes() >= end {
            return Ok(());
        }
        let length = in_blocks(MORE_SHARE * cache.bytes);
        let lasts = MORE_SHARE * cache.bytes * cache.after;
        let mut idle = Idle::default();
        let ended = idle.measure(steps, 0..self.bytes(), Some(lasts), |steps| {
            if self.fits(steps, length, end) {
                self.write(steps, "more to fold", length)?;
            }
            Ok(Some(0..self.bytes()).filter(|filled| filled.end < end))
        });
        self.idle = idle;
        ended
    }

    /// Whether reads before the fill met no flash: they took less time than the same reads after it, once the
    /// work that the fill left was done. `None` until both were measured.
    fn was_empty(&self) -> Option<bool> {
        let late = |segment: &Segment| {
            let latencies = latencies(segment);
            median(&latencies[latencies.len() / 2..])
        };
        Some(late(self.read_before?)? < EMPTY * late(self.read_after?)?)
    }

    fn finding(&self, context: &Context<'_>) -> Finding {
        let progress = self.progress();
        let cache = Cliff::find(&progress);
        let undecided = |reason: Reason| KEYS.map(|key| Property::undecided(key, reason.clone())).to_vec();
        let properties = match (&cache, self.was_empty()) {
            _ if progress.bytes() == 0.0 => return Finding::default(),
            _ if !context.is("flash") => undecided(wording::medium_unknown()),
            (_, None) => undecided(wording::fill_unfinished()),
            _ if context.has_others() => undecided(wording::shared_drive()),
            (_, Some(false)) => undecided(wording::could_not_be_emptied()),
            (None, Some(true)) => {
                let reason = wording::filled_evenly(Rate(1e9 * progress.bytes() / progress.ns()));
                KEYS.map(|key| Property::absent(key, 0.97, reason.clone())).to_vec()
            }
            (Some(cache), Some(true)) => {
                let recovery = Recovery::new(cache, &self.recoveries);
                let size = cache.size(context, self.bytes_before);
                let speed_and_recovery = match size.value() {
                    Some(_) => [cache.speed_after(context), recovery.property(context)],
                    None => [Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs]
                        .map(|key| Property::undecided(key, wording::cache_size_unknown())),
                };
                std::iter::once(size)
                    .chain(speed_and_recovery)
                    .chain(self.idle.rests().property(context))
                    .collect()
            }
        };
        let pieces = WriteProgress::from_segments(self.pieces.iter().copied());
        let fill = FirstFill {
            is_whole: self.read_after.is_some(),
            cliff: cache,
            last_cost: pieces.cost_between(0.8 * pieces.bytes(), pieces.bytes()).unwrap_or(0.0),
        };
        let picture = picture(&progress).marks(cache.as_ref().map(Cliff::mark));
        let shared = Shared { fill: Some(fill), ..Shared::default() };
        Finding { properties, pictures: vec![("speed_of_first_fill", picture)], shared }
    }
}

/// Whether the drive can be filled, and shows more then.
fn expect_possible(context: &Context<'_>) -> Result<(), Reason> {
    if !context.may_be("flash") {
        return Err(wording::only_flash());
    }
    // Some clusters show as much of a block map as a full drive does.
    if context.is_block_map() && !context.is_named {
        return Err(wording::block_map_not_filled());
    }
    context.expect_fill()
}

/// Slow random reads that keep the drive from resting.
fn slow_reads(context: &Context<'_>, name: &str) -> Workload {
    let reads = random_reads(0..context.span, context.block().max(4096), 1);
    sampled(name, vec![paced(reads, LOOKS_PER_S, 4)], PAUSED_READS, None)
}

/// Rounded down to whole blocks.
fn in_blocks(bytes: f64) -> u64 {
    bytes as u64 / u64::from(BLOCK) * u64::from(BLOCK)
}

/// Bytes to fill.
fn end(context: &Context<'_>) -> u64 {
    context.span - context.span % u64::from(BLOCK)
}

/// Whether the experiment has begun to fill the drive, and has not come to its end.
pub(super) fn is_going_on(segments: &[Segment]) -> bool {
    let has = |name: &str| {
        let name = format!("{NAME}: {name}");
        segments.iter().any(|segment| segment.workload.name.starts_with(&name))
    };
    has(PIECE) && !has(FULL)
}

/// What a fill shows.
pub(super) const KEYS: [Key; 3] = [Key::SlcCacheBytes, Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs];

fn picture(progress: &WriteProgress) -> Series {
    Series::new(wording::FIRST_FILL, Shape::Line, axis("written", "bytes"), speed())
        .lines([Line::new("fill", progress.speeds(512))])
}

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
/// Most that open blocks of a cache held before, as a share of it, in nine of ten drives; fitted.
const OPEN: f64 = 0.03;
/// Most of the writing time that erasing takes on a used drive as a rule, as a share; fitted.
const ERASING: f64 = 0.02;
/// Number of pieces of the fill in which change points are searched.
const SEARCHED: usize = 256;
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

impl Cliff {
    /// Finds the strongest lasting drop of an uninterrupted fill; `None` without one.
    fn find(progress: &WriteProgress) -> Option<Self> {
        let speeds = progress.speeds(SEARCHED);
        let values: Vec<f64> = speeds.iter().map(|[_, speed]| *speed).collect();
        // The write buffer fills at the speed of the link, and is not the cache.
        let skipped = 2.min(values.len());
        let knees = knees(&values[skipped..]);
        let from = |at: usize| speeds.get(at + skipped).or(speeds.last()).map_or(0.0, |[bytes, _]| *bytes);
        let drops = drops(&knees, from);
        let strongest =
            drops.iter().min_by(|first, other| ratio(&knees, first).total_cmp(&ratio(&knees, other)))?;
        let (begins, ends) = (from(knees[strongest.start].at), from(knees[strongest.end - 1].at));
        let next = knees.get(strongest.end).map(|next| from(next.at));
        let before = strongest.start.checked_sub(1).map_or(0.0, |last| from(knees[last].at));
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
    fn is_strong(&self) -> bool {
        self.before < STRONG * self.after
    }

    /// The fill corrected for a write buffer that took its first bytes, and as many from `flushed` on.
    fn without_buffer(&self, progress: &WriteProgress, flushed: f64) -> WriteProgress {
        let taken = ABOUT * self.bytes;
        progress.without_trend(0.0..taken, self.after).without_trend(flushed..flushed + taken, self.after)
    }

    /// The share of a burst that was taken fast; each of these bytes saved the difference between the two
    /// speeds.
    fn fast_share(&self, burst: &WriteProgress) -> f64 {
        let saved = burst.bytes() * self.after - burst.ns();
        (saved / (self.after - self.before) / burst.bytes()).clamp(0.0, 1.0)
    }

    /// Whether the fill continued long enough to call the drop lasting.
    fn is_seen_after(&self) -> bool {
        self.seen_after > (self.fill / 16.0).min(0.5 * self.bytes).max(1.0)
    }

    /// The size of the cache. Blocks open when the fill began hold less, by a part of `earlier` writes.
    fn size(&self, context: &Context<'_>, earlier: f64) -> Property {
        let lost = self.after - self.before;
        let error = self.error + self.bytes * (0.003 + context.spread() * self.before.max(lost) / lost);
        let reason = wording::write_cliff(self.bytes, Rate(1e9 / self.before), Rate(1e9 / self.after));
        if error > 0.2 * self.bytes {
            return Property::undecided(Key::SlcCacheBytes, reason.but(wording::VAGUE_CLIFF));
        }
        Property::number(
            Key::SlcCacheBytes,
            self.bytes,
            (self.bytes - error, self.bytes + error + earlier.min(OPEN * self.bytes)),
            0.97,
            reason,
        )
    }

    fn speed_after(&self, context: &Context<'_>) -> Property {
        let (value, share) = (1e9 / self.after, 0.01 + context.spread());
        Property::number(
            Key::SlcSpeedAfterBytesPerS,
            value,
            (value * (1.0 - share), value * (1.0 + share + ERASING)),
            0.95,
            wording::speed_after_cliff(self.bytes),
        )
    }

    fn mark(&self) -> Mark {
        let label = wording::speed_drop(Rate(1e9 / self.before), Rate(1e9 / self.after));
        Mark { x: self.bytes, label }
    }
}

/// Lasting drops among the knees. Those close together, from dies that run out one after the other, count as
/// one.
fn drops(knees: &[Knee], from: impl Fn(usize) -> f64) -> Vec<Range<usize>> {
    let mut drops: Vec<Range<usize>> = Vec::new();
    for (index, knee) in knees.iter().enumerate().filter(|(_, knee)| knee.after < knee.before) {
        match drops.last_mut() {
            Some(last)
                if last.end == index
                    && from(knee.at) - from(knees[index - 1].at) < MERGE_SHARE * from(knee.at) =>
            {
                last.end = index + 1;
            }
            _ => drops.push(index..index + 1),
        }
    }
    drops.retain(|drop| ratio(knees, drop) < DROP);
    drops
}

/// The speed after a group of knees over that before it.
fn ratio(knees: &[Knee], drop: &Range<usize>) -> f64 {
    knees[drop.end - 1].after / knees[drop.start].before
}

/// What rests restored, with the cache full before each.
struct Recovery<'a> {
    cache: &'a Cliff,
    /// Length of the rest in nanoseconds, and bytes that were fast again, by length of the rest.
    recoveries: Vec<[f64; 2]>,
}

impl<'a> Recovery<'a> {
    fn new(cache: &'a Cliff, recoveries: &[[f64; 2]]) -> Self {
        let mut recoveries = recoveries.to_vec();
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

    /// The next rest to try: first the time of writing half the cache at the slow speed, then longer or
    /// shorter until the two bounds are close.
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

    fn property(&self, context: &Context<'_>) -> Property {
        let key = Key::SlcRecoveryNs;
        let Some(longest) = self.recoveries.last() else {
            return Property::undecided(key, wording::no_room_to_recover());
        };
        let reason = wording::recoveries(&self.recoveries);
        let Some((short, enough)) = self.bracket() else {
            return if longest[1] < CACHE_SHARE_MIN * self.cache.bytes && self.recoveries.len() >= RESTS_MAX {
                Property::absent(key, 0.9, reason)
            } else {
                Property::undecided(key, reason.how(wording::RECOVERY_UNCLEAR))
            };
        };
        if short[1] < CACHE_SHARE_MIN * self.cache.bytes && short[0] < 0.8 * enough[0] {
            return Property::undecided(key, reason.how(wording::RECOVERY_UNCLEAR));
        }
        let share = (self.half() - short[1]) / (enough[1] - short[1]);
        let value = short[0] + share * (enough[0] - short[0]);
        let error = value * (FOLDING + context.spread()) + 0.1 * (enough[0] - short[0]);
        Property::number(key, value, (value - error, value + error), 0.8, reason)
    }
}

#[cfg(test)]
mod tests {
    use super::super::writing;
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
            let cache = Cliff::find(&progress((0..1024).map(cost))).unwrap();
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
        let short = Cliff::find(&progress((0..300).map(cost))).unwrap();
        assert!(!short.is_strong() && (short.bytes / 1048576.0 - 60.0).abs() < 3.0, "{short:?}");
        let cache = Cliff::find(&progress((0..1024).map(cost))).unwrap();
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
        let buffer = Cliff::find(&before).unwrap();
        let burst = progress((100..115).map(cost));
        assert!(buffer.fast_share(&burst) > 0.95);
        assert!(buffer.fast_share(&progress((30..45).map(cost))) < 0.05);
        let filled = buffer.without_buffer(&progress((0..600).map(cost)), before.bytes());
        let cache = Cliff::find(&filled).unwrap();
        assert!((cache.bytes / 1048576.0 - 300.0).abs() < 9.0, "{cache:?}");
        assert!((cache.before / 4.0 - 1.0).abs() < 0.05, "{cache:?}");
    }

    #[test]
    fn an_even_fill_and_one_along_zones_have_none() {
        let noisy = |index: u32| 3.0 + 0.4 * f64::from(index * 7919 % 101) / 101.0;
        assert_eq!(Cliff::find(&progress((0..1024).map(noisy))), None);
        assert_eq!(Cliff::find(&WriteProgress::default()), None);
    }
}
