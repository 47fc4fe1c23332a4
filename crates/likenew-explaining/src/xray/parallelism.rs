//! How many dies serve reads at once, and how many consecutive addresses one of them holds. One reader stays
//! on a single page and keeps its die busy, while the other reads all over data that was written
//! sequentially.
//!
//! The second reader waits only where it meets the die of the first, so the slow addresses are those of one
//! die. They repeat with the period of the stripe over all dies, and each run of them is as long as what one
//! die holds (after Chen, Lee and Zhang, "Essential roles of exploiting internal parallelism of flash memory
//! based solid state drives in high-speed data processing", HPCA 2011). If a link, a channel or firmware is
//! the bottleneck, or there is one die, the second reader waits everywhere. Reads of trimmed addresses, which
//! need no die, tell which it is.

mod conflicts;

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Arrival, Mix, Stream, Until, Workload};
use likenew_stats::summary::{median, quantile};

use super::experiment::{Experiment, ExperimentContext, Finding, latencies, random_reads};
use super::medium::reads_alone;
use super::property::{Key, Property, Reason};
use super::writing::written_in_order;
use super::{fill, trim, wording};
use conflicts::{Conflicts, PINNED_DEPTH, Pattern};
use likenew_core::quantity::{Factor, Share};
use likenew_procedure_support::series::axis;

/// An area that is read, the grain of its addresses, and how many reads of both readers that takes.
struct Stage {
    bytes: u64,
    grain: u64,
    reads: u32,
}

/// From the smallest area that must be written to what the widest stripes need.
const STAGES: [Stage; 4] = [
    Stage { bytes: 4 << 20, grain: 4 << 10, reads: 32_768 },
    Stage { bytes: 16 << 20, grain: 4 << 10, reads: 65_536 },
    Stage { bytes: 64 << 20, grain: 16 << 10, reads: 65_536 },
    Stage { bytes: 256 << 20, grain: 64 << 10, reads: 65_536 },
];
const NAME: &str = "parallelism";
const SINGLE_READER: &str = "alone";
const DEEP: &str = "32 in flight";
const TRIMMED: &str = "32 in flight, trimmed";
/// Rate of reads that need no flash over that of others, as a ratio, from which the flash is what limits them.
/// Chosen: well above what rates repeat to.
const FLASH_LIMITS: f64 = 1.2;
const SINGLE_READER_READS: u32 = 256;
const DEEP_READS: u64 = 2048;
/// Confidence in a single die, in 0..1. Chosen: no claim, because it rests on what does not happen.
const SINGLE_DIE_CONFIDENCE: f64 = 0.85;
/// An area is at most this fraction of all addresses, and smaller if the run has to write it itself.
const SHARE_MAX: u64 = 4;
const WRITE_MAX: u64 = 64 << 20;
const WRITE_SHARE: u64 = 32;
const EVERYWHERE_READS: u32 = 65_536;
/// Reads that show whether all of a full drive answers alike. Chosen: enough for its slowest twentieth.
const FULL_DRIVE_READS: u32 = 1024;
/// Confidence in a number of dies from their share, in 0..1. Chosen: as that from a period.
const DIE_SHARE_CONFIDENCE: f64 = 0.95;
/// Ratio of a number of dies to an end of the interval of another, up to which both are the same. Chosen: a drive does
/// not fill all dies exactly alike.
const SAME_DIES: f64 = 1.05;
/// Spread of reads all over the drive, as a share of their median, up to which they are on flash of one kind
/// and age. Chosen: retries of old data add more.
const EVEN: f64 = 0.25;

/// Two readers that meet on one die.
pub(super) struct Parallelism;

impl Experiment for Parallelism {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if context.inferences.word(Key::Medium).is_some_and(|medium| medium != "flash") {
            return None;
        }
        for stage in usable(context) {
            if let Some(walk) = segment(context, &walk_name(stage.bytes)) {
                match Conflicts::from_walk(walk, single_reader_ns(context))
                    .map(|conflicts| conflicts.pattern())
                {
                    None | Some(Pattern::Unclear { .. }) => continue,
                    Some(_) => return deep(context, walk),
                }
            }
            let name = write_name(stage.bytes);
            let Some(area) = area(context, stage.bytes) else {
                // Existing data was not written sequentially, or not known to be.
                let start = context.span / 2 - context.span / 2 % stage.bytes;
                let is_little = stage.bytes <= WRITE_MAX.min(context.span / WRITE_SHARE);
                let may = is_little && context.may_write(stage.bytes);
                if may && segment(context, &name).is_none() {
                    return Some(writing(name, start..start + stage.bytes));
                }
                break;
            };
            if segment(context, SINGLE_READER).is_none() {
                let until =
                    Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(SINGLE_READER_READS.into()) };
                let stream = random_reads(area, context.block(), 1);
                return Some(Workload {
                    samples: SINGLE_READER_READS,
                    ..Workload::new(SINGLE_READER, until, vec![stream])
                });
            }
            return Some(walking(context, stage, area));
        }
        // Without a period, the share of slow addresses tells as much.
        if segment(context, wording::ALL_ADDRESSES).is_none() && is_even(context) {
            return Some(walk_all(context));
        }
        let last = usable(context).filter_map(|stage| segment(context, &walk_name(stage.bytes))).last()?;
        deep(context, last)
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        let alone_ns = single_reader_ns(context);
        let walks = STAGES.iter().filter_map(|stage| segment(context, &walk_name(stage.bytes)));
        let conflicts: Vec<Conflicts> =
            walks.filter_map(|walk| Conflicts::from_walk(walk, alone_ns)).collect();
        let is_clear = |conflicts: &&Conflicts| matches!(conflicts.pattern(), Pattern::Clear { .. });
        let Some(best) = conflicts.iter().find(is_clear).or(conflicts.last()) else {
            return Finding::default();
        };
        let everywhere = context
            .segment(wording::ALL_ADDRESSES)
            .and_then(|walk| Conflicts::from_walk(walk, typical_ns(context)?));
        let by_share = everywhere.filter(|_| matches!(best.pattern(), Pattern::Unclear { .. }));
        let by_share = by_share.map(|conflicts| conflicts.by_share());
        let by_share = by_share.filter(|pattern| matches!(pattern, Pattern::Clear { .. }));
        let pattern = by_share.unwrap_or_else(|| best.pattern());
        let busy = context.is_busy();
        let [dies, stripe] = properties(&pattern, busy, depth_gain(context, alone_ns));
        let picture = ("conflicts_by_place", picture(best));
        Finding { properties: vec![dies, stripe], pictures: vec![picture], ..Finding::default() }
    }
}

/// Reads where nothing comes from flash, if all reads waited for the pinned reader.
pub(super) struct SingleDie;

impl Experiment for SingleDie {
    fn name(&self) -> &'static str {
        "single-die"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let is_trimmed = matches!(context.inferences.word(Key::Trim), Some("immediate" | "idle"));
        // Later tests write the trimmed addresses.
        let is_last = context.evidence.segments.last().is_some_and(trim::is_own);
        let stream = random_reads(0..trim::AREA, context.block(), 32);
        let until = Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(DEEP_READS) };
        let is_wanted = is_trimmed && is_last && waits_everywhere(context);
        is_wanted.then(|| Workload::new(TRIMMED, until, vec![stream]))
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        let rate = |segment: Option<&Segment>| segment.and_then(Segment::iops);
        let rates = rate(context.segment(TRIMMED)).zip(rate(segment(context, DEEP)));
        let faster = rates.map(|(trimmed, others)| Factor(trimmed / others));
        match faster.filter(|faster| faster.0 >= FLASH_LIMITS && !context.is_busy()) {
            Some(faster) if waits_everywhere(context) => {
                Finding { properties: single_die(faster).into(), ..Finding::default() }
            }
            _ => Finding::default(),
        }
    }
}

/// Dies of a drive that was filled, from the share of all addresses at which reads wait for the pinned reader. A period
/// may show some of the dies only: one that was busy while a small area was written holds nothing of it.
pub(super) struct DieShare;

impl Experiment for DieShare {
    fn name(&self) -> &'static str {
        "die-share"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let is_wanted = fill::is_filled_whole(context)
            && context.inferences.is("flash")
            && context.inferences.word(Key::Mapping) == Some("page");
        if !is_wanted {
            return None;
        }
        let Some(reads) = context.segment(wording::FULL_DRIVE_READS) else {
            let until = Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(FULL_DRIVE_READS.into()) };
            let stream = random_reads(0..all_addresses(context).bytes, context.block(), 1);
            let workload = Workload::new(wording::FULL_DRIVE_READS, until, vec![stream]);
            return Some(Workload { samples: FULL_DRIVE_READS, ..workload });
        };
        let may_walk = are_even(&latencies(reads)) && context.segment(wording::ALL_ADDRESSES).is_none();
        may_walk.then(|| walk_all(context))
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        let walk = context.segment(wording::FULL_DRIVE_READS).zip(context.segment(wording::ALL_ADDRESSES));
        let conflicts = walk.and_then(|(reads, walk)| Conflicts::from_walk(walk, median(&latencies(reads))?));
        let Some(Pattern::Clear { share, dies: (dies, low, high), .. }) =
            conflicts.map(|conflicts| conflicts.by_share())
        else {
            return Finding::default();
        };
        let before = context.inferences.number(Key::Parallelism);
        if before.is_some_and(|before| (low / SAME_DIES..high * SAME_DIES).contains(&before)) {
            return Finding::default();
        }
        // A period has shown another number, or there is none.
        let stripe = Property::undecided(Key::StripeBytes, wording::irregular_collisions(Share(share)));
        let reason = wording::collisions_when_full(Share(share));
        let dies = Property::number(Key::Parallelism, dies, (low, high), DIE_SHARE_CONFIDENCE, reason);
        Finding { properties: vec![dies, stripe], ..Finding::default() }
    }
}

/// Whether all reads waited for the pinned reader.
fn waits_everywhere(context: &ExperimentContext<'_>) -> bool {
    let mut walks = STAGES.iter().filter_map(|stage| segment(context, &walk_name(stage.bytes)));
    let last = walks.next_back().and_then(|walk| Conflicts::from_walk(walk, single_reader_ns(context)));
    last.is_some_and(|conflicts| conflicts.pattern() == Pattern::Everywhere)
}

/// All reads wait for the die of one page, though neither link nor firmware holds them up. Dies that share a
/// channel would not wait: a channel is free while its die reads.
fn single_die(faster: Factor) -> [Property; 2] {
    let reason = wording::single_die(faster);
    let stripe = Property::absent(Key::StripeBytes, SINGLE_DIE_CONFIDENCE, reason.clone());
    [Property::number(Key::Parallelism, 1.0, (1.0, 1.0), SINGLE_DIE_CONFIDENCE, reason), stripe]
}

/// A segment of the two readers' test.
fn segment<'a>(context: &ExperimentContext<'a>, name: &str) -> Option<&'a Segment> {
    context.segment_of_any(&format!("{NAME}: {name}"))
}

fn walk_name(bytes: u64) -> String {
    format!("two readers over {}", likenew_core::units::amount(bytes))
}

fn write_name(bytes: u64) -> String {
    format!("write {} in order", likenew_core::units::amount(bytes))
}

/// A mapping cache that misses within an area reads from dies, too, which looks like meeting them.
fn usable(context: &ExperimentContext<'_>) -> impl Iterator<Item = &'static Stage> + use<> {
    let covered = context.inferences.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let most = context.span / SHARE_MAX;
    STAGES.iter().filter(move |stage| stage.bytes <= most && stage.bytes as f64 <= covered)
}

/// Where this many bytes were written sequentially, beyond the part that a pseudo-SLC cache may hold in other
/// stripes.
fn area(context: &ExperimentContext<'_>, bytes: u64) -> Option<Range<u64>> {
    let ground = written_in_order(context)?;
    let room = (ground.end - ground.start).checked_sub(bytes)?;
    let start = ground.start + room / 5 * 3;
    let start = start - (start - ground.start) % (1 << 20);
    Some(start..start + bytes)
}

fn writing(name: String, range: Range<u64>) -> Workload {
    let bytes = range.end - range.start;
    let place = AccessPattern::Sequential(Region::bytes(range));
    let stream = Stream::closed(Mix::Only(Op::Write), 1 << 17, place, 1, DataClass::Random);
    Workload { flush: true, ..Workload::new(name, Until::bytes(bytes), vec![stream]) }
}

fn walking(context: &ExperimentContext<'_>, stage: &Stage, area: Range<u64>) -> Workload {
    let block = context.block();
    let pinned = random_reads(area.start..area.start + u64::from(block), block, PINNED_DEPTH);
    let place =
        AccessPattern::RandomAligned { region: Region::bytes(area), align: stage.grain.max(block.into()) };
    let other = Stream { pattern: place, arrival: Arrival::Closed { depth: 1 }, ..pinned.clone() };
    let until = Until { elapsed: Some(Nanos::from_secs(60)), ..Until::ops(stage.reads.into()) };
    let workload = Workload::new(walk_name(stage.bytes), until, vec![pinned, other]);
    Workload { samples: stage.reads, ..workload }
}

/// All addresses in the mapping cache, whatever wrote them.
fn all_addresses(context: &ExperimentContext<'_>) -> Stage {
    let covered = context.inferences.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let end = context.span.min(covered as u64);
    let grain = u64::from(4096.max(context.block()));
    Stage { bytes: end - end % grain, grain, reads: EVERYWHERE_READS }
}

fn walk_all(context: &ExperimentContext<'_>) -> Workload {
    let stage = all_addresses(context);
    Workload { name: wording::ALL_ADDRESSES.into(), ..walking(context, &stage, 0..stage.bytes) }
}

/// Latency of random reads all over the drive.
fn typical_ns(context: &ExperimentContext<'_>) -> Option<f64> {
    median(&latencies(reads_alone(context)?))
}

/// Whether those are on flash of one kind and age, and on flash at all: a read that skips the flash meets no
/// die.
fn is_even(context: &ExperimentContext<'_>) -> bool {
    if typical_ns(context).is_none_or(|typical_ns| typical_ns < (1.0 - EVEN) * single_reader_ns(context)) {
        return false;
    }
    are_even(&reads_alone(context).map(latencies).unwrap_or_default())
}

fn are_even(reads: &[f64]) -> bool {
    let (low, high) = (quantile(reads, 0.05), quantile(reads, 0.95));
    low.zip(high).is_some_and(|(low, high)| low > 0.0 && high < (1.0 + EVEN) * low)
}

/// How much faster reads are in parallel: the answer if dies do not show.
fn deep(context: &ExperimentContext<'_>, walk: &Segment) -> Option<Workload> {
    let region = walk.workload.streams.get(1)?.pattern.region();
    let range = region.resolve(context.evidence.geometry.capacity, context.block()).ok()?;
    let stream = random_reads(range, context.block(), 32);
    let until = Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(DEEP_READS) };
    segment(context, DEEP).is_none().then(|| Workload::new(DEEP, until, vec![stream]))
}

/// Reads right after a write may have waited for its leftovers; the fastest tenth has not.
fn single_reader_ns(context: &ExperimentContext<'_>) -> f64 {
    segment(context, SINGLE_READER).and_then(|alone| quantile(&latencies(alone), 0.1)).unwrap_or(0.0)
}

fn depth_gain(context: &ExperimentContext<'_>, alone_ns: f64) -> Option<Factor> {
    let rate = segment(context, DEEP).and_then(Segment::iops).filter(|_| alone_ns > 0.0)?;
    Some(Factor(rate * alone_ns / 1e9))
}

fn properties(pattern: &Pattern, busy: bool, gain: Option<Factor>) -> [Property; 2] {
    let with_gain = |reason: Reason| gain.into_iter().fold(reason, wording::depth_gain);
    let undecided = |reason: Reason| {
        [Key::Parallelism, Key::StripeBytes].map(|key| Property::undecided(key, with_gain(reason.clone())))
    };
    match pattern {
        Pattern::Nowhere => undecided(wording::no_collisions()),
        Pattern::Everywhere => undecided(wording::collisions_everywhere()),
        Pattern::Unclear { share } => undecided(wording::irregular_collisions(Share(*share))),
        Pattern::Clear { share, dies, stripe } => {
            let reason = with_gain(wording::collisions(Share(*share)));
            let confidence = if busy { 0.8 } else { 0.95 };
            let number = |key, (value, low, high)| {
                Property::number(key, value, (low, high), confidence, reason.clone())
            };
            let no_period =
                || Property::undecided(Key::StripeBytes, wording::irregular_collisions(Share(*share)));
            let stripe = stripe.map_or_else(no_period, |stripe| number(Key::StripeBytes, stripe));
            [number(Key::Parallelism, *dies), stripe]
        }
    }
}

fn picture(conflicts: &Conflicts) -> Series {
    let (offset, latency) = (axis("offset", "bytes"), axis("latency", "ns"));
    Series::new(wording::CONFLICTS_BY_PLACE, Shape::Scatter, offset, latency)
        .lines([Line::new("reads", conflicts.points())])
}
