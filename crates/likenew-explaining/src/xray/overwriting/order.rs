//! Finds the erase unit from the pauses of sequential overwrites: all dies fill and erase their blocks in
//! step, so the latencies of I/Os repeat after one block of every die.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{Op, Sample};
use likenew_core::segment::Segment;
use likenew_stats::period::{Period, period};
use likenew_stats::recurrence::{Recurrence, recurrence};
use likenew_stats::summary::mean;

use super::super::experiment::Context;
use super::super::property::{Key, Property};
use super::super::wording;
use super::{BLOCK, DEPTH};
use likenew_procedure_support::series::axis;

/// Chunks that are analyzed together.
const CHUNKS: usize = 4;
/// Repetitions of a period after which no more are needed. Chosen: five leave no doubt about their number.
const ENOUGH: f64 = 5.0;
/// Least ratio of the cost of writing without a cache to the cost after the cache was full. Chosen: a margin
/// for noise.
const NATIVE: f64 = 0.9;
/// Most that a chunk costs that went to a cache, as a share of the cost without one. If no cache is certain,
/// at most [`MAYBE_CACHED_MAX`] chunks may have gone to one: 19% of the span. Chosen: a cache that helps less
/// does not hide the pauses.
const LIKE_SLOWEST: f64 = 0.6;
const MAYBE_CACHED_MAX: usize = 6;
/// Fewest program units of an erase block: 64 in any NAND, one in eight of which may be parity. Chosen:
/// slightly fewer than 56, for rounding.
const BLOCK_UNITS: f64 = 54.0;
/// Write buffer in bytes if none was found. Chosen: 1 MiB.
const BUFFER_USUAL: f64 = 1048576.0;
/// Nanoseconds that all dies together lose to one erase each: the time of one erase, 10 ms at most, and less
/// if something other than programs limits the dies. Chosen: both ends with a margin.
const ERASURE: Range<f64> = 2.5e5..1.2e7;
/// Longest period, as a share of the bytes written in one chunk. Chosen: a longer period may be the chunk
/// itself.
const PASS: f64 = 0.75;
/// Smallest error of a length, as a share: 92% of the intervals of 600 generated drives hold the truth with
/// it.
const LENGTH_ERROR_MIN: f64 = 0.0003;
/// Difference of two lengths, as a share, up to which they are the same. Chosen: wider than both errors, and
/// less than one unit of program.
const SAME: f64 = 0.03;
/// Strength of a rhythm, in 0..1, below which none is claimed. Chosen: below it, chance repeats as well.
const WEAK: f64 = 0.7;
/// Strength from which a rhythm is certain. Chosen: halfway between `WEAK` and perfect.
const STRONG: f64 = 0.85;

/// The last sequential overwrites.
pub(super) struct Order {
    /// Nanoseconds that each I/O added.
    times: Vec<f64>,
    period: Option<Period>,
    recurrence: Option<Recurrence>,
    /// Number of chunks analyzed.
    chunks: usize,
    /// Whether the recurrence comes from overwriting in place, and the last overwrites were not in place.
    is_earlier: bool,
}

/// A distance that repeats, in I/Os.
struct Periodicity {
    length: f64,
    /// Uncertainty of the length to either side, in I/Os.
    half: f64,
    strength: f64,
    /// Whether both methods have found it.
    is_confirmed: bool,
}

impl Order {
    /// Analyzes overwrites in place, and those after the drive was emptied, if it was.
    pub(super) fn new(context: &Context<'_>, in_place: &[&Segment], emptied: Option<&Vec<&Segment>>) -> Self {
        let was_emptied = emptied.is_some();
        let in_order = stretches(context, emptied.map_or(in_place, Vec::as_slice));
        let lead = lead(context);
        let times: Vec<f64> = in_order.iter().flat_map(|stretch| without_trend(stretch, lead)).collect();
        let recurs = |stretches: &[Vec<f64>]| {
            let behind = stretches.iter().map(|stretch| stretch[lead.min(stretch.len() / 2)..].to_vec());
            recurrence(&behind.collect::<Vec<_>>(), ERASURE)
        };
        let last = recurs(&in_order);
        let is_earlier = was_emptied && last.is_none();
        let recurrence = if is_earlier { recurs(&stretches(context, in_place)) } else { last };
        let chunk = in_order.iter().map(Vec::len).max().unwrap_or(0);
        // A period as long as a pass over the same addresses may be the pass.
        let period = period(&times, least(context)).filter(|period| period.length < PASS * chunk as f64);
        Self { times, period, recurrence, chunks: in_order.len(), is_earlier }
    }

    /// Whether more chunks would add little.
    pub(super) fn is_settled(&self) -> bool {
        self.rhythm().is_some_and(|rhythm| {
            let is_seen = self.times.len() as f64 > ENOUGH * rhythm.length;
            is_seen && rhythm.strength >= WEAK && (rhythm.is_confirmed || self.chunks >= CHUNKS)
        })
    }

    /// A recurrence over many widths counts before the period of one series.
    fn rhythm(&self) -> Option<Periodicity> {
        let is_confirmed = !self.is_earlier
            && self
                .recurrence
                .zip(self.period)
                .is_some_and(|(first, other)| is_same(first.length, other.length));
        let rhythm = |length: f64, high: f64, strength: f64| Periodicity {
            length,
            half: high - length,
            strength,
            is_confirmed,
        };
        let of_period = |period: Period| rhythm(period.length, period.interval.high, period.strength);
        let of_recurrence =
            |recurrence: Recurrence| rhythm(recurrence.length, recurrence.interval.high, recurrence.strength);
        self.recurrence.map(of_recurrence).or_else(|| self.period.map(of_period))
    }

    pub(super) fn property(&self, context: &Context<'_>) -> Property {
        let key = Key::EraseUnitBytes;
        let Some(Periodicity { length, half, strength, .. }) = self.rhythm() else {
            return Property::undecided(key, wording::no_rhythm());
        };
        let bytes = |values: f64| values * f64::from(BLOCK);
        let reason = wording::rhythm(bytes(length), strength);
        // A recurrence over many widths needs no strength if nothing disturbs it.
        let weakest = match self.recurrence {
            _ if context.is_busy() => STRONG,
            Some(_) => 0.0,
            None => WEAK,
        };
        if bytes(length) > context.span as f64 / 20.0 || strength < weakest {
            return Property::undecided(key, wording::weak_rhythm(reason));
        }
        let value = bytes(length);
        let half = bytes(half).max(LENGTH_ERROR_MIN * value);
        // Blocks of a cache that is folded at once hold less than others, so they end more often. With a
        // wrong guess of what all dies write together, the search would miss the period and find a multiple.
        let unaided = || {
            likenew_stats::period::period(&self.times, 0.0)
                .is_some_and(|period| is_same(period.length, length))
        };
        let certain =
            strength > STRONG && context.inferences.cliff().is_none() && least(context) > 0.0 && unaided();
        let confidence = if certain { 0.95 } else { 0.85 };
        Property::number(key, value, (value - half, value + half), confidence, reason)
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let Periodicity { length, .. } = self.rhythm()?;
        let phases = 128;
        let mut folded = vec![(0.0, 0u32); phases];
        for (index, time) in self.times.iter().enumerate() {
            let phase = (index as f64 / length).fract() * phases as f64;
            let place = &mut folded[(phase as usize).min(phases - 1)];
            *place = (place.0 + time, place.1 + 1);
        }
        let each = length * f64::from(BLOCK) / phases as f64;
        let points = folded.iter().enumerate().filter(|(_, bin)| bin.1 > 0);
        let points = points.map(|(phase, (sum, count))| [phase as f64 * each, sum / f64::from(*count)]);
        let (written, time) = (axis("written since", "bytes"), axis("time of an I/O", "ns"));
        let series = Series::new(wording::PAUSES_OF_ERASING, Shape::Line, written, time);
        Some(series.lines([Line::new(wording::MEAN_PERIOD, points.collect())]))
    }
}

fn is_same(length: f64, other: f64) -> bool {
    (length / other - 1.0).abs() < SAME
}

/// Nanoseconds per byte of overwriting in place, if the drive could not be emptied and became slower as it
/// was filled. Its cache, if it has one, takes none of that, because data in it is still valid.
pub(super) fn native(context: &Context<'_>, in_place: &[&Segment]) -> Option<f64> {
    let is_known = context.inferences.slc_cache().is_some() || context.inferences.cliff().is_none();
    if is_known || context.loses_writes() {
        return None;
    }
    in_place.last().map(|chunk| cost(chunk))
}

/// Chunks that may have gone to a cache when the same addresses were overwritten in place.
pub(super) fn cached_chunks(context: &Context<'_>, in_place: &[&Segment]) -> usize {
    let most = if context.inferences.slc_cache().is_some() { usize::MAX } else { MAYBE_CACHED_MAX };
    in_place.iter().filter(|chunk| may_be_cached(context, chunk)).count().min(most)
}

/// Nanoseconds that each I/O of the last chunks added, for chunks that no cache took.
fn stretches(context: &Context<'_>, chunks: &[&Segment]) -> Vec<Vec<f64>> {
    let is_claimed = context.inferences.slc_cache().is_some();
    let slowest = chunks.iter().map(|chunk| cost(chunk)).fold(0.0, f64::max);
    let is_native = |chunk: &&&Segment| {
        if is_claimed { !may_be_cached(context, chunk) } else { cost(chunk) > LIKE_SLOWEST * slowest }
    };
    let chunks: Vec<&&Segment> = chunks.iter().filter(is_native).collect();
    chunks[chunks.len().saturating_sub(CHUNKS)..].iter().map(|chunk| times(chunk)).collect()
}

/// Nanoseconds per byte.
fn cost(chunk: &Segment) -> f64 {
    chunk.elapsed().0 as f64 / chunk.bytes(Op::Write) as f64
}

/// Whether a cache may have taken the chunk, so that other blocks end in it. A drive that could not be
/// emptied may have slowed down because of collection instead.
fn may_be_cached(context: &Context<'_>, chunk: &Segment) -> bool {
    let native = match (context.inferences.slc_cache(), context.inferences.cliff()) {
        (Some(cache), _) => NATIVE * cache.after,
        (None, Some(drop)) => (drop.before + drop.after) / 2.0,
        (None, None) => 0.0,
    };
    cost(chunk) < native
}

/// Fewest I/Os between two erases, as far as it is known what all dies write together.
fn least(context: &Context<'_>) -> f64 {
    let (dies, stripe) =
        (context.inferences.number(Key::Parallelism), context.inferences.number(Key::StripeBytes));
    dies.zip(stripe).map_or(0.0, |(dies, stripe)| BLOCK_UNITS * dies * stripe / f64::from(BLOCK))
}

/// I/Os at the start of a chunk that find the write buffer empty.
fn lead(context: &Context<'_>) -> usize {
    let buffer = context.inferences.number(Key::WriteBufferBytes).unwrap_or(BUFFER_USUAL);
    DEPTH as usize + (1.5 * buffer / f64::from(BLOCK)).ceil() as usize
}

/// Nanoseconds that each I/O of a chunk added.
fn times(chunk: &Segment) -> Vec<f64> {
    let mut before = chunk.started_at;
    let step = |sample: &Sample| {
        let time = sample.done.since(before.min(sample.done)).0 as f64;
        before = before.max(sample.done);
        time
    };
    chunk.samples.iter().map(step).collect()
}

/// Gives the first I/Os of a chunk, which show the speed of the buffer, the mean time of later ones. So
/// positions do not move.
fn without_trend(times: &[f64], lead: usize) -> Vec<f64> {
    let lead = lead.min(times.len());
    let mean_time = mean(&times[lead..]).unwrap_or(0.0);
    std::iter::repeat_n(mean_time, lead).chain(times[lead..].iter().copied()).collect()
}
