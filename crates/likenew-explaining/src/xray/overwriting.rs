//! Overwrites a full drive: finds its over-provisioning by what it takes before garbage collection, when idle
//! collection starts, and its erase unit by the distance of pauses.

mod spare;

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{Op, Sample};
use likenew_core::procedure::Ended;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::period::{Period, period};
use likenew_stats::recurrence::{Recurrence, recurrence};
use likenew_stats::summary::mean;

use super::experiment::{Context, Finding, Steps, random, sequential_writes};
use super::idle::Idle;
use super::property::{Key, Property, Reason};
use super::wording;
use spare::Spare;

/// What overwriting shows.
pub(super) const KEYS: [Key; 2] = [Key::OverProvisioningPercent, Key::EraseUnitBytes];

const SCATTER: &str = "scatter";
const IN_PLACE: &str = "in place";
const ORDER: &str = "order";
const TRIM: &str = "trim";

/// Block size of overwrites, in bytes: no page map has to read the rest of a mapping unit.
const BLOCK: u32 = 16 << 10;
const DEPTH: u32 = 32;
/// The span in chunks, each with this many windows.
const CHUNKS: u64 = 64;
const WINDOWS: u64 = 16;
/// Rest in which the firmware folds what is left in a cache. Chosen: longer than folding after a fill takes.
const SETTLING: Nanos = Nanos::from_secs(120);
/// Rest after a trim. Chosen: a firmware that erases in the background has started and finished by then.
const FORGETTING: Nanos = Nanos::from_secs(60);
/// Overwriting in place uses at most this share of the addresses that the mapping cache covers. Chosen: a
/// margin for the error of that range.
const MAPPED_SHARE: f64 = 0.6;

/// Overwrites a full drive.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    if has_other_mapping(context) {
        return Ok(Finding::default());
    }
    expect_full(context)?;
    steps.end_at_errors();
    let mut overwrites = Overwrites::default();
    let _ended = overwrites.measure(context, steps);
    if !context.is("flash") {
        return Ok(Finding::default());
    }
    Ok(steps.conclude(|| overwrites.finding(context)))
}

/// What has overwritten the drive, chunk by chunk.
#[derive(Default)]
struct Overwrites<'a> {
    scattered: Vec<&'a Segment>,
    in_place: Vec<&'a Segment>,
    /// Whether the drive was emptied again, and what was then written sequentially.
    was_emptied: bool,
    in_order: Vec<&'a Segment>,
    idle: Idle,
}

impl<'a> Overwrites<'a> {
    /// Without TRIM, in place comes first: scattered writes leave no whole blocks to erase.
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        settle(context, steps, "rest")?;
        if context.loses_writes() {
            self.scatter(context, steps)?;
            self.rest(context, steps)?;
            self.overwrite_in_place(context, steps)?;
            self.empty(context, steps)?;
            return self.overwrite_in_order(context, steps);
        }
        self.overwrite_in_place(context, steps)?;
        settle(context, steps, "second idle")?;
        self.scatter(context, steps)?;
        self.rest(context, steps)
    }

    /// Overwrites scattered addresses until collection begins.
    fn scatter(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let is_enough =
            |this: &Self| this.spare(context).is_settled() || total_bytes(&this.scattered) > context.span / 2;
        while (self.scattered.is_empty() || steps.goes_on(SCATTER, || !is_enough(self)))
            && steps.may_write(scattered_bytes(context))
        {
            let name = format!("{SCATTER} {}", self.scattered.len() + 1);
            self.scattered.push(steps.run(scattered_writes(context, name))?);
        }
        Ok(())
    }

    /// Rests until collection starts by itself. The fill of a drive with a cache has shown that already.
    fn rest(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if context.slc_cache().is_some() || !self.spare(context).has_begun() {
            return Ok(());
        }
        // One pass for each time that collection has started.
        self.idle.measure(steps, 0..context.span, None, |steps| {
            if steps.may_write(scattered_bytes(context)) {
                steps.run(scattered_writes(context, "more scattered writes".into()))?;
            }
            Ok(Some(0..context.span))
        })
    }

    /// Overwrites the same addresses sequentially again and again. They are few enough for the mapping cache,
    /// and their blocks hold nothing else when they are erased. Addresses that went to a cache are passed
    /// over: they stay in it, so it takes no other writes.
    fn overwrite_in_place(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let most = if context.loses_writes() { context.span / 10 } else { context.span / 2 };
        let length = order_length(context);
        let mapped = context.number(Key::MapCacheBytes);
        let mapped = mapped.map_or(length, |bytes| (MAPPED_SHARE * bytes) as u64);
        while total_bytes(&self.in_place) < most {
            let cached = cached_chunks(context, &self.in_place);
            let start = cached as u64 * length;
            let is_cached = cached == self.in_place.len() && context.cliff().is_some();
            let window = if is_cached { length } else { mapped.min(length).next_multiple_of(BLOCK.into()) };
            if start + length > context.span || !self.goes_on(context, steps, IN_PLACE) {
                break;
            }
            let workload = next_chunk(IN_PLACE, self.in_place.len(), start..start + window, length);
            self.in_place.push(steps.run(workload)?);
        }
        Ok(())
    }

    /// Empties the drive again if overwriting in place has not shown enough.
    fn empty(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if steps.goes_on(TRIM, || !self.order(context).is_settled()) {
            steps.run(context.trim(TRIM))?;
            self.was_emptied = true;
            if context.word(Key::Trim) != Some("immediate") {
                steps.rest("rest of trim", FORGETTING)?;
            }
        }
        Ok(())
    }

    /// Overwrites an empty drive sequentially until pauses come at equal distances.
    fn overwrite_in_order(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let length = order_length(context);
        // Bytes that go to a cache do not count.
        let cached = context.cliff().map_or(0, |cache| cache.bytes as u64);
        let end = context.span.min(cached + context.span / 32 * 7);
        while self.was_emptied
            && total_bytes(&self.in_order) + length <= end
            && self.goes_on(context, steps, ORDER)
        {
            let at = total_bytes(&self.in_order);
            let workload = next_chunk(ORDER, self.in_order.len(), at..at + length, length);
            self.in_order.push(steps.run(workload)?);
        }
        Ok(())
    }

    /// Whether sequential overwrites go on: not if enough was seen or the budget is used up. A drive that
    /// cannot be emptied always goes on, because it erases nothing before its spare is used up.
    fn goes_on(&self, context: &Context<'_>, steps: &Steps<'_>, series: &str) -> bool {
        steps.may_write(order_length(context))
            && steps.goes_on(series, || !(context.loses_writes() && self.order(context).is_settled()))
    }

    fn order(&self, context: &Context<'_>) -> Order {
        Order::new(context, &self.in_place, self.was_emptied.then_some(&self.in_order))
    }

    fn finding(self, context: &Context<'_>) -> Finding {
        let (order, spare) = (self.order(context), self.spare(context));
        let unit = order.property(context);
        let share = if context.has_others() {
            Property::undecided(Key::OverProvisioningPercent, wording::shared_drive())
        } else {
            spare.property(context, &unit)
        };
        let mut finding = Finding::of([share, unit]);
        finding.properties.extend(self.idle.rests().property(context));
        finding.pictures.extend(spare.picture().map(|picture| ("cost_of_overwriting", picture)));
        finding.pictures.extend(order.picture().map(|picture| ("pauses_of_erasing", picture)));
        finding.pictures.extend(self.idle.rests().picture().map(|picture| ("reads_after_rest", picture)));
        finding
    }

    fn spare(&self, context: &Context<'_>) -> Spare {
        Spare::new(context, &self.scattered, native(context, &self.in_place))
    }
}

fn has_other_mapping(context: &Context<'_>) -> bool {
    matches!(context.word(Key::Mapping), Some("hybrid" | "block"))
}

/// Why no idle time was tried.
pub(super) fn idle_refusal(context: &Context<'_>) -> Reason {
    expect_full(context).err().unwrap_or_else(wording::never_collected)
}

/// Whether it is a full drive that may collect garbage.
fn expect_full(context: &Context<'_>) -> Result<(), Reason> {
    if has_other_mapping(context) {
        Err(wording::other_mapping())
    } else if !context.may_be("flash") {
        Err(wording::only_flash())
    } else if !context.is_filled_whole() {
        Err(context.fill_refusal())
    } else {
        Ok(())
    }
}

fn total_bytes(chunks: &[&Segment]) -> u64 {
    chunks.iter().filter_map(|segment| segment.workload.until.bytes).sum()
}

fn scattered_bytes(context: &Context<'_>) -> u64 {
    (context.span / CHUNKS).next_multiple_of(BLOCK.into())
}

fn scattered_writes(context: &Context<'_>, name: String) -> Workload {
    let length = scattered_bytes(context);
    let writes = random(Op::Write, 0..context.span, BLOCK, DEPTH);
    let window = Some((length / WINDOWS).next_multiple_of(BLOCK.into()));
    Workload { window, ..Workload::new(name, Until::bytes(length), vec![writes]) }
}

/// Gives a cache time to empty.
fn settle(context: &Context<'_>, steps: &mut Steps<'_>, name: &str) -> Result<(), Ended> {
    match context.cliff() {
        Some(_) => steps.rest(name, SETTLING).map(drop),
        None => Ok(()),
    }
}

fn order_length(context: &Context<'_>) -> u64 {
    (context.span / 32).min(1 << 30).next_multiple_of(BLOCK.into())
}

/// The next chunk of a series: `length` bytes within a range.
fn next_chunk(series: &str, before: usize, range: Range<u64>, length: u64) -> Workload {
    let workload = sequential_writes(format!("{series} {}", before + 1), range, BLOCK, DEPTH);
    Workload { samples: (length / u64::from(BLOCK)) as u32, until: Until::bytes(length), ..workload }
}

// The erase unit from the pauses of sequential overwrites: all dies fill and erase their blocks in step, so the
// latencies of I/Os repeat after one block of every die.

/// Chunks that are analyzed together.
const ANALYZED: usize = 4;
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
struct Order {
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
    fn new(context: &Context<'_>, in_place: &[&Segment], emptied: Option<&Vec<&Segment>>) -> Self {
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
    fn is_settled(&self) -> bool {
        self.rhythm().is_some_and(|rhythm| {
            let is_seen = self.times.len() as f64 > ENOUGH * rhythm.length;
            is_seen && rhythm.strength >= WEAK && (rhythm.is_confirmed || self.chunks >= ANALYZED)
        })
    }

    /// A recurrence over many widths counts before the period of one series.
    fn rhythm(&self) -> Option<Periodicity> {
        let is_confirmed = !self.is_earlier
            && self
                .recurrence
                .zip(self.period)
                .is_some_and(|(first, other)| is_same(first.length, other.length));
        let (length, high, strength) = match (self.recurrence, self.period) {
            (Some(Recurrence { length, interval, strength, .. }), _) => (length, interval.high, strength),
            (None, Some(Period { length, interval, strength, .. })) => (length, interval.high, strength),
            (None, None) => return None,
        };
        Some(Periodicity { length, half: high - length, strength, is_confirmed })
    }

    fn property(&self, context: &Context<'_>) -> Property {
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
            return Property::undecided(key, reason.but(wording::WEAK_RHYTHM));
        }
        let value = bytes(length);
        let half = bytes(half).max(LENGTH_ERROR_MIN * value);
        // Blocks of a cache that is folded at once hold less than others, so they end more often. With a
        // wrong guess of what all dies write together, the search would miss the period and find a multiple.
        let unaided = || period(&self.times, 0.0).is_some_and(|period| is_same(period.length, length));
        let certain = strength > STRONG && context.cliff().is_none() && least(context) > 0.0 && unaided();
        let confidence = if certain { 0.95 } else { 0.85 };
        Property::number(key, value, (value - half, value + half), confidence, reason)
    }

    fn picture(&self) -> Option<Series> {
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
fn native(context: &Context<'_>, in_place: &[&Segment]) -> Option<f64> {
    let is_known = context.slc_cache().is_some() || context.cliff().is_none();
    if is_known || context.loses_writes() {
        return None;
    }
    in_place.last().map(|chunk| cost(chunk))
}

/// Chunks that may have gone to a cache when the same addresses were overwritten in place.
fn cached_chunks(context: &Context<'_>, in_place: &[&Segment]) -> usize {
    let most = if context.slc_cache().is_some() { usize::MAX } else { MAYBE_CACHED_MAX };
    in_place.iter().filter(|chunk| may_be_cached(context, chunk)).count().min(most)
}

/// Nanoseconds that each I/O of the last chunks added, for chunks that no cache took.
fn stretches(context: &Context<'_>, chunks: &[&Segment]) -> Vec<Vec<f64>> {
    let is_claimed = context.slc_cache().is_some();
    let slowest = chunks.iter().map(|chunk| cost(chunk)).fold(0.0, f64::max);
    let is_native = |chunk: &&&Segment| {
        if is_claimed { !may_be_cached(context, chunk) } else { cost(chunk) > LIKE_SLOWEST * slowest }
    };
    let chunks: Vec<&&Segment> = chunks.iter().filter(is_native).collect();
    chunks[chunks.len().saturating_sub(ANALYZED)..].iter().map(|chunk| times(chunk)).collect()
}

/// Nanoseconds per byte.
fn cost(chunk: &Segment) -> f64 {
    chunk.elapsed().0 as f64 / chunk.bytes(Op::Write) as f64
}

/// Whether a cache may have taken the chunk, so that other blocks end in it. A drive that could not be
/// emptied may have slowed down because of collection instead.
fn may_be_cached(context: &Context<'_>, chunk: &Segment) -> bool {
    let native = match (context.slc_cache(), context.cliff()) {
        (Some(cache), _) => NATIVE * cache.after,
        (None, Some(drop)) => (drop.before + drop.after) / 2.0,
        (None, None) => 0.0,
    };
    cost(chunk) < native
}

/// Fewest I/Os between two erases, as far as it is known what all dies write together.
fn least(context: &Context<'_>) -> f64 {
    let (dies, stripe) = (context.number(Key::Parallelism), context.number(Key::StripeBytes));
    dies.zip(stripe).map_or(0.0, |(dies, stripe)| BLOCK_UNITS * dies * stripe / f64::from(BLOCK))
}

/// I/Os at the start of a chunk that find the write buffer empty.
fn lead(context: &Context<'_>) -> usize {
    let buffer = context.number(Key::WriteBufferBytes).unwrap_or(BUFFER_USUAL);
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
