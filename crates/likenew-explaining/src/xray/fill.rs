//! Fills an empty drive sequentially: how much it takes faster than the rest, and how much of that a rest
//! restores.
//!
//! The fill also prepares experiments that need a full drive.

mod cache;

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::Rate;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, InterArrival, Mix, Stream, Until, Workload};
use likenew_stats::summary::median;

use super::experiment::{
    Experiment, ExperimentContext, Finding, SIMULATED_MAX, latencies, own_name, random_reads,
};
use super::idle::Idle;
use super::property::{Key, Property, Reason, State};
use super::wording;
use super::writing::WriteProgress;
pub(super) use cache::Cache;
use cache::Recovery;
use likenew_procedure_support::series::{axis, speed};

pub(super) const NAME: &str = "fill";
const TRIM: &str = "trim";
const REST: &str = "idle after TRIM";
const READ_BEFORE: &str = "reads before fill";
const FULL: &str = "reads after fill";
const PIECE: &str = "piece";
const PAUSE: &str = "rest";
const BURST: &str = "burst after rest";
const MORE: &str = "more to fold";
const FLUSH: &str = "flush";
const BURST_AFTER_FLUSH: &str = "burst after flush";

/// The span is written in this many pieces, each with this many windows.
const PIECES: u64 = 32;
const WINDOWS: u64 = 32;
const BLOCK: u32 = 64 << 10;
const DEPTH: u32 = 8;
const LOOKS: u32 = 256;
/// Rate of reads that check whether the drive is empty, in IOPS. Chosen: slow for any drive, and still no
/// rest.
const LOOKS_PER_S: f64 = 100.0;
/// Latency of reads that skip the flash over that of others, as a ratio, at most. Chosen: reading flash adds
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
pub(super) struct FillExperiment;

impl Experiment for FillExperiment {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if obstacle(context).is_some() || context.segments.iter().any(|segment| segment.errors() > 0) {
            return None;
        }
        if let Some(workload) = empty(context) {
            return Some(workload);
        }
        let (at, end) = (filled_bytes(&context.segments), end(context));
        if at >= end {
            return context.segment(FULL).is_none().then(|| read_old_data(context, FULL));
        }
        let is_end = |cache: &Cache| cache.is_strong() || at as f64 > WAIT_FOR_STRONGER * end as f64;
        let cache = Cache::find(&before_rests(&context.segments))
            .filter(|cache| cache.is_seen_after() && is_end(cache));
        if let Some(cache) = cache {
            if let Some(workload) = flush_workload(context, &cache, at..end) {
                return Some(workload);
            }
            let recovery = Recovery::from_rests(&cache, &context.segments);
            let idle = Idle::from_segments(&context.segments);
            let more = || {
                let length = in_blocks(MORE_SHARE * cache.bytes);
                let fits = length > 0 && length <= end - at && context.may_write(length);
                fits.then(|| write(MORE, at, length))
            };
            let folding = MORE_SHARE * cache.bytes * cache.after;
            let next = recovery.next(context, at..end);
            if let Some(workload) = next.or_else(|| idle.next(0..at, Some(folding), more)) {
                return Some(workload);
            }
        }
        let length = (end / PIECES).next_multiple_of(BLOCK.into()).min(end - at);
        let count = context.segments.iter().filter(|segment| is_piece(segment)).count();
        context.may_write(length).then(|| write(&format!("{PIECE} {}", count + 1), at, length))
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        if let Some(reason) = obstacle(context).filter(|_| context.segments.is_empty()) {
            return Finding { properties: undecided_properties(&reason), ..Finding::default() };
        }
        let before = before_rests(&context.segments);
        let cache = Cache::find(&before);
        let properties = match (&cache, was_empty(context)) {
            _ if before.bytes() == 0.0 => return Finding::default(),
            _ if !context.inferences.is("flash") => undecided_properties(&wording::medium_unknown()),
            (_, None) => undecided_properties(&wording::fill_unfinished()),
            _ if context.has_others() => undecided_properties(&wording::shared_drive()),
            (_, Some(false)) => undecided_properties(&wording::could_not_be_emptied()),
            (None, Some(true)) => absent_properties(&before),
            (Some(cache), Some(true)) => {
                let recovery = Recovery::from_rests(cache, &context.segments);
                let idle = Idle::from_segments(&context.segments).property(context);
                let size = cache.size(context, bytes_before(context));
                let rest = match size.state {
                    State::Number { .. } => [cache.speed_after(context), recovery.property(context)],
                    _ => [Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs]
                        .map(|key| Property::undecided(key, wording::cache_size_unknown())),
                };
                std::iter::once(size).chain(rest).chain(idle).collect()
            }
        };
        let mut picture = picture(&before);
        picture.marks = cache.iter().map(Cache::mark).collect::<Vec<Mark>>();
        Finding { properties, pictures: vec![("speed_of_first_fill", picture)], ..Finding::default() }
    }
}

/// Why the drive cannot be filled here.
fn obstacle(context: &ExperimentContext<'_>) -> Option<Reason> {
    let simulated = context.evidence.identity.kind == Kind::Simulated;
    if context.inferences.word(Key::Medium).is_some_and(|medium| medium != "flash") {
        return Some(wording::only_flash());
    }
    // What a full drive shows of a block map shows on some clusters as well.
    if context.inferences.is_block_map() && !context.is_named {
        return Some(wording::block_map_not_filled());
    }
    if !context.is_whole() {
        return Some(context.part_refusal());
    }
    if simulated && context.span > SIMULATED_MAX {
        return Some(wording::fill_too_long());
    }
    let begun = context.segments.iter().any(|segment| is_piece(segment));
    (!begun && !context.may_write(context.span)).then(|| context.fill_refusal())
}

/// The next step of emptying the drive, and of checking the latency of reads then.
fn empty(context: &ExperimentContext<'_>) -> Option<Workload> {
    if context.loses_writes() && context.segment(TRIM).is_none() {
        return Some(context.trim(TRIM));
    }
    if context.segment(REST).is_none() {
        return Some(Workload { name: REST.into(), ..Workload::rest(FORGETTING) });
    }
    context.segment(READ_BEFORE).is_none().then(|| read_old_data(context, READ_BEFORE))
}

/// Slow random reads that keep the drive from resting.
fn read_old_data(context: &ExperimentContext<'_>, name: &str) -> Workload {
    let stream = random_reads(0..context.span, context.block().max(4096), 1);
    let arrival = Arrival::Open { per_second: LOOKS_PER_S, inter_arrival: InterArrival::Even, depth_max: 4 };
    let streams = vec![Stream { arrival, ..stream }];
    Workload { samples: LOOKS, ..Workload::new(name, Until::ops(LOOKS.into()), streams) }
}

/// Writes this many bytes sequentially from an address on.
fn write(name: &str, at: u64, length: u64) -> Workload {
    let place = AccessPattern::Sequential(Region::bytes(at..at + length));
    let stream = Stream::closed(Mix::Only(Op::Write), BLOCK, place, DEPTH, DataClass::Random);
    let window = (length / WINDOWS).max(1).next_multiple_of(BLOCK.into());
    Workload { window: Some(window), ..Workload::new(name, Until::bytes(length), vec![stream]) }
}

/// Rounded down to whole blocks.
fn in_blocks(bytes: f64) -> u64 {
    bytes as u64 / u64::from(BLOCK) * u64::from(BLOCK)
}

/// Bytes to fill.
fn end(context: &ExperimentContext<'_>) -> u64 {
    context.span - context.span % u64::from(BLOCK)
}

fn is_piece(segment: &Segment) -> bool {
    [PIECE, BURST, MORE, BURST_AFTER_FLUSH].iter().any(|name| own_name(segment).starts_with(name))
}

/// Where the fill continues.
fn filled_bytes(segments: &[&Segment]) -> u64 {
    segments
        .iter()
        .filter(|segment| is_piece(segment))
        .filter_map(|segment| segment.workload.until.bytes)
        .sum()
}

/// Bytes that were written before the fill.
fn bytes_before(context: &ExperimentContext<'_>) -> f64 {
    let piece = format!("{NAME}: {PIECE}");
    let earlier =
        context.evidence.segments.iter().take_while(|segment| !segment.workload.name.starts_with(&piece));
    earlier.map(super::experiment::bytes_written).sum::<u64>() as f64
}

/// The part of the fill before any rest or flush. If a flush showed a write buffer, the fill continues past
/// it, corrected for the buffer.
fn before_rests(segments: &[&Segment]) -> WriteProgress {
    let fill = segments.iter().copied().skip_while(|segment| !is_piece(segment));
    let Some((buffer, flushed)) = buffer(segments) else {
        return WriteProgress::from_segments(fill.take_while(|segment| is_piece(segment)));
    };
    let fill = fill.take_while(|segment| is_piece(segment) || own_name(segment) == FLUSH);
    buffer.without_buffer(&WriteProgress::from_segments(fill.filter(|segment| is_piece(segment))), flushed)
}

/// A write buffer that the flush revealed, and the bytes filled before the flush: it empties a buffer, but no
/// cache in flash.
fn buffer(segments: &[&Segment]) -> Option<(Cache, f64)> {
    let at = segments.iter().position(|segment| own_name(segment) == BURST_AFTER_FLUSH)?;
    let before =
        WriteProgress::from_segments(segments[..at].iter().copied().filter(|segment| is_piece(segment)));
    let (buffer, burst) = (Cache::find(&before)?, WriteProgress::from_segments([segments[at]]));
    (buffer.fast_share(&burst) >= BUFFERED_SHARE).then(|| (buffer, before.bytes()))
}

/// A flush and a burst after it, if the fast part is small enough for a write buffer.
fn flush_workload(context: &ExperimentContext<'_>, cache: &Cache, room: Range<u64>) -> Option<Workload> {
    let length = in_blocks(FLUSHED_SHARE * cache.bytes);
    let fits = length > 0 && length <= room.end - room.start && context.may_write(length);
    if !fits || cache.bytes > BUFFER_MAX * context.span as f64 || context.segment(BURST_AFTER_FLUSH).is_some()
    {
        return None;
    }
    if context.segment(FLUSH).is_some() {
        return Some(write(BURST_AFTER_FLUSH, room.start, length));
    }
    let place = AccessPattern::Sequential(Region::WHOLE);
    let stream = Stream::closed(Mix::Only(Op::Flush), context.block(), place, 1, DataClass::Random);
    Some(Workload::new(FLUSH, Until::ops(1), vec![stream]))
}

/// Whether reads before the fill met no flash: they took less time than the same reads after it, once the
/// work that the fill left was done. `None` until both were measured.
fn was_empty(context: &ExperimentContext<'_>) -> Option<bool> {
    let late = |segment: &Segment| {
        let all = latencies(segment);
        median(&all[all.len() / 2..])
    };
    Some(late(context.segment(READ_BEFORE)?)? < EMPTY * late(context.segment(FULL)?)?)
}

/// Whether the experiment has filled an empty drive, as far as that can be told.
pub(super) fn is_filled_whole(context: &ExperimentContext<'_>) -> bool {
    context.segment_of_any(&format!("{NAME}: {FULL}")).is_some()
}

/// The pseudo-SLC cache that the fill found, if any.
pub(super) fn cache_of(context: &ExperimentContext<'_>) -> Option<Cache> {
    let is_claimed = matches!(context.inferences.property(Key::SlcCacheBytes).state, State::Number { .. });
    cliff_in(context).filter(|_| is_claimed)
}

/// What looked like a cache in the fill, even if it is not claimed to be one.
pub(super) fn cliff_in(context: &ExperimentContext<'_>) -> Option<Cache> {
    Cache::find(&before_rests(&super::segments_of(NAME, &context.evidence.segments)))
}

/// Progress of the pieces that were written without a rest before them.
pub(super) fn pieces<'a>(context: &ExperimentContext<'a>) -> Vec<&'a Segment> {
    let name = format!("{NAME}: {PIECE}");
    context.evidence.segments.iter().filter(|segment| segment.workload.name.starts_with(&name)).collect()
}

const KEYS: [Key; 3] = [Key::SlcCacheBytes, Key::SlcSpeedAfterBytesPerS, Key::SlcRecoveryNs];

fn undecided_properties(reason: &Reason) -> Vec<Property> {
    KEYS.into_iter().map(|key| Property::undecided(key, reason.clone())).collect()
}

fn absent_properties(progress: &WriteProgress) -> Vec<Property> {
    let reason = wording::filled_evenly(Rate(1e9 * progress.bytes() / progress.ns()));
    KEYS.into_iter().map(|key| Property::absent(key, 0.97, reason.clone())).collect()
}

fn picture(progress: &WriteProgress) -> Series {
    Series::new(wording::FIRST_FILL, Shape::Line, axis("written", "bytes"), speed())
        .lines([Line::new("fill", progress.speeds(512))])
}
