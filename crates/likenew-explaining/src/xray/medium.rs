//! Finds the medium from random reads at QD1 and what their latency depends on.
//!
//! A hard disk takes longer for a longer seek, and a shingled one is slow to read sequentially what was
//! overwritten in pieces. A network's latencies vary at random, or follow a rate limit. Flash does neither.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::{Op, Sample};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::summary::{median, quantile};
use likenew_stats::trend::rank_correlation;

use super::experiment::{
    Context, Finding, Steps, latencies, paced, random, random_reads, sampled, sequential,
};
use super::noise::spreads;
use super::property::{Key, Property, Reason, Remedy};
use super::wording;

const READS: u32 = 1024;
/// Time limit of the reads. Chosen: twice what 1,024 reads of a slow hard disk take.
const TIME: Nanos = Nanos::from_secs(30);
pub(super) const NAME: &str = "medium";
const ALL_ADDRESSES: &str = "random reads";
/// Reads at a fifth of the rate that the drive showed.
const UNHURRIED_READS: u32 = 256;
/// Share of that rate at which they are sent. Chosen: a fifth leaves a rate limit no reason to delay.
const UNHURRIED_SHARE: f64 = 0.2;

/// Random reads of small blocks all over the drive at QD1. On a disk, also overwrites a few blocks, to see
/// whether they stay in place.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let stream = random_reads(0..context.span, context.block().max(4096), 1);
    let workload = sampled(ALL_ADDRESSES, vec![stream], READS, Some(TIME));
    let Ok(reads) = steps.run(workload) else { return Ok(Finding::default()) };
    let model = ReadModel::from_reads(reads, context);
    let (mut pieces, mut spaced_reads) = (None, None);
    match &model {
        Some(ReadModel::HardDisk(_)) => pieces = Pieces::measure(context, steps).unwrap_or(None),
        Some(ReadModel::Steady { .. }) => {
            spaced_reads =
                paced_ns(context).and_then(|typical_ns| steps.run(unhurried_reads(context, typical_ns)).ok());
        }
        _ => {}
    }
    if context.evidence.identity.is_memory() {
        return Ok(Finding::of([Property::word(Key::Medium, "memory", 1.0, wording::lies_in_memory())]));
    }
    let Some(model) = model.map(|model| model.with_spaced_reads(context, spaced_reads)) else {
        return Ok(Finding::default());
    };
    let property = match &model {
        ReadModel::HardDisk(reason) => disk(reason, pieces.as_ref()),
        ReadModel::Network(reason) => {
            Property::word(Key::Medium, "virtual", confidence(context, 0.98), reason.clone())
        }
        ReadModel::Steady { typical_ns } => flash(*typical_ns, context),
    };
    let mut finding = Finding::single(property, ("reads_by_distance", picture(reads)));
    finding.pictures.extend(pieces.map(|pieces| ("reads_in_order", pieces.picture())));
    Ok(finding)
}

/// Reads one address, slowly. Others may be on flash of another age, or not on flash at all.
fn unhurried_reads(context: &Context<'_>, typical_ns: f64) -> Workload {
    let block = context.block().max(4096);
    let reads = random_reads(0..u64::from(block), block, 1);
    let reads = paced(reads, UNHURRIED_SHARE * 1e9 / typical_ns, 1);
    sampled("paced reads", vec![reads], UNHURRIED_READS, Some(TIME))
}

/// Random reads at QD1 over the whole span, which other tests use too; `None` if they were not run.
pub(super) fn reads_alone<'a>(context: &Context<'a>) -> Option<&'a Segment> {
    context.evidence.segment_named(&format!("{NAME}: {ALL_ADDRESSES}"))
}

/// Lowers a confidence for a drive that is not quite steady.
fn confidence(context: &Context<'_>, quiet: f64) -> f64 {
    if context.is_busy() { quiet.min(0.85) } else { quiet }
}

/// Only in a folder did this run write what it reads; elsewhere data is read as it was found.
fn flash(typical_ns: f64, context: &Context<'_>) -> Property {
    let reason = wording::equal_reads(Latency(typical_ns));
    let property = Property::word(Key::Medium, "flash", confidence(context, 0.98), reason);
    match context.evidence.identity.kind {
        TargetKind::Folder => property,
        _ => property.caveat(wording::PERHAPS_EMPTY),
    }
}

fn disk(seeks: &Reason, pieces: Option<&Pieces>) -> Property {
    let seeks = seeks.clone();
    match pieces {
        None => Property::word(Key::Medium, "disk", 0.85, seeks).caveat(wording::SHINGLES_UNTESTED),
        Some(pieces) if pieces.has_moved() => {
            let reason = pieces.add_to(seeks).how(wording::BLOCKS_MOVED);
            Property::word(Key::Medium, "shingled_disk", 0.99, reason)
        }
        Some(pieces) if pieces.has_stayed() => {
            Property::word(Key::Medium, "disk", 0.99, pieces.add_to(seeks))
        }
        Some(pieces) => {
            let reason = pieces.add_to(seeks).how(wording::SHINGLES_UNCLEAR).decided_by(Remedy::Quiet);
            Property::undecided(Key::Medium, reason)
        }
    }
}

/// `[distance in bytes, latency in ns]` of each read after the first.
fn by_distance(reads: &Segment) -> Vec<[f64; 2]> {
    let ways = reads.samples.windows(2).map(|pair| pair[1].offset.abs_diff(pair[0].offset) as f64);
    ways.zip(latencies(reads).into_iter().skip(1)).map(|(way, latency)| [way, latency]).collect()
}

fn picture(reads: &Segment) -> Series {
    let (distance, latency) = (axis("seek distance", "bytes"), axis("latency", "ns"));
    Series::new(wording::READS_BY_DISTANCE, Shape::Scatter, distance, latency)
        .lines([Line::new("reads", by_distance(reads))])
}

/// Fewest reads that show anything.
const READS_MIN: usize = 32;
/// Rank correlation of latency and seek distance, in 0..1, from which it is a hard disk. Chosen: a lower one
/// explains next to nothing.
const MATTERS: f64 = 0.2;
/// Shortest mean latency of random reads on anything that turns, in nanoseconds: a fifth of half a revolution
/// at 15,000 rpm.
const ARM_NS_LEAST: f64 = 400_000.0;
/// Shortest mean latency, in nanoseconds, at which revolutions alone identify a disk. Within a short span
/// seeks hardly differ, and reads spread over most of a revolution. Chosen: half a revolution at 10,000 rpm.
const TURN_NS_LEAST: f64 = 3e6;
/// Least ratio of the latency of random reads to that of one address, which the disk's memory answers.
/// Chosen: memory is far faster than a revolution.
const FROM_MEMORY: f64 = 5.0;
/// Least spread of those latencies, as a share of the mean one. Chosen: waits for a revolution spread evenly
/// from none to a whole one, which is far more.
const REVOLUTION_SPREAD: f64 = 0.4;
/// Standard deviation of the logarithm of a network's latencies: flash varies less from read to read, and a
/// drive that is busy only at times varies more. The lower and the upper half of a network's latencies give
/// about the same.
const NETWORK: Range<f64> = 0.08..1.0;
/// Ratio of the spreads of the upper and the lower half of a network's latencies. Chosen: one-sided noise is
/// beyond it.
const SKEW: Range<f64> = 0.3..4.0;
/// Shortest time between reads under a rate limit, in nanoseconds. Chosen: 4,000 IOPS is more than volumes
/// with such limits grant at QD1.
const PACE_NS_LEAST: f64 = 250_000.0;

/// What the latency of reads depends on.
enum ReadModel {
    /// Seek distance.
    HardDisk(Reason),
    /// Each read varies by itself, wherever it goes, or is delayed by a rate limit.
    Network(Reason),
    /// Nothing.
    Steady { typical_ns: f64 },
}

/// Latency of reads of one address, if it is long enough to be the delay of a rate limit.
fn paced_ns(context: &Context<'_>) -> Option<f64> {
    context.shared.noise.map(|noise| noise.typical_ns).filter(|typical_ns| *typical_ns > PACE_NS_LEAST)
}

/// Whether the lower and upper half of latencies spread as those of a network do.
fn is_network((lower, upper): (f64, f64)) -> bool {
    NETWORK.contains(&lower) && SKEW.contains(&(upper / lower))
}

impl ReadModel {
    /// Finds the model from random reads all over the drive and reads of one address; `None` if too few.
    fn from_reads(reads: &Segment, context: &Context<'_>) -> Option<Self> {
        let points = by_distance(reads);
        if points.len() < READS_MIN {
            return None;
        }
        let (distances, latencies): (Vec<f64>, Vec<f64>) = points.iter().map(|[x, y]| (*x, *y)).unzip();
        let typical_ns = median(&latencies).filter(|median| *median > 0.0)?;
        let (low, high) = (quantile(&latencies, 0.1)?, quantile(&latencies, 0.9)?);
        let (middle, spread) = (Latency(typical_ns), Latency(high - low));
        let way = rank_correlation(&distances, &latencies).filter(|way| way.interval.low > MATTERS);
        if let Some(way) = way.filter(|_| typical_ns > ARM_NS_LEAST) {
            return Some(Self::HardDisk(wording::longer_seeks(middle, spread, way.value)));
        }
        let noise = context.shared.noise;
        let is_turn = typical_ns > TURN_NS_LEAST && high - low > REVOLUTION_SPREAD * typical_ns;
        if let Some(noise) = noise.filter(|noise| is_turn && typical_ns > FROM_MEMORY * noise.typical_ns) {
            let reason = wording::platter_turns(middle, spread, Latency(noise.typical_ns));
            return Some(Self::HardDisk(reason));
        }
        // One address only: others may be on flash of another age, or not on flash at all.
        let log_deviation = noise
            .filter(|noise| is_network((noise.log_deviation, noise.upper)))
            .map(|noise| noise.log_deviation);
        if let Some(log_deviation) = log_deviation {
            return Some(Self::Network(wording::network_reads(middle, spread, log_deviation)));
        }
        Some(Self::Steady { typical_ns })
    }

    /// Becomes a network if slow reads of one address vary like one: a rate limit had delayed the fast ones.
    fn with_spaced_reads(self, context: &Context<'_>, reads: Option<&Segment>) -> Self {
        let (Self::Steady { .. }, Some(typical_ns)) = (&self, paced_ns(context)) else { return self };
        // Other programs may have delayed either kind of read.
        if context.is_busy() {
            return self;
        }
        let latencies = reads.map(latencies).unwrap_or_default();
        let alone_ns = median(&latencies).filter(|_| latencies.len() >= READS_MIN);
        let Some(alone_ns) = alone_ns.filter(|_| spreads(&latencies).is_some_and(is_network)) else {
            return self;
        };
        Self::Network(wording::rate_limited_reads(Latency(typical_ns), Latency(alone_ns)))
    }
}

/// Bytes read sequentially, the length of those reads, and how many blocks among them are overwritten.
const STRETCH: u64 = 8 << 20;
const LENGTH: u32 = 64 << 10;
const PIECES: u64 = 32;
/// Ratio of the sequential read's time to that before, from which blocks have moved. Chosen: each moved block
/// costs two seeks.
const MOVED_FACTOR: f64 = 2.5;
/// Ratio of these times up to which blocks are in place. Chosen: head changes and retries.
const IN_PLACE_FACTOR: f64 = 1.4;

/// A region read sequentially before and after some of its blocks were overwritten.
struct Pieces<'a> {
    before: &'a Segment,
    after: &'a Segment,
}

impl<'a> Pieces<'a> {
    /// The result, once all of it ran; none where the writes are not allowed.
    fn measure(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Option<Self>, Ended> {
        let block = context.block().max(4096);
        let may_write = |steps: &Steps<'_>| steps.may_write(PIECES * u64::from(block));
        if context.span < 2 * STRETCH || !may_write(steps) {
            return Ok(None);
        }
        let region = stretch(context.span);
        let in_order = |name: &str| {
            let reads = sequential(Op::Read, region.clone(), LENGTH, 1);
            let workload = Workload::new(name, Until::bytes(STRETCH), vec![reads]);
            Workload { samples: (STRETCH / u64::from(LENGTH)) as u32, ..workload }
        };
        let before = steps.run(in_order("sequential before"))?;
        let writes = random(Op::Write, region.clone(), block, 1);
        let overwrite = Workload::new("overwrite pieces", Until::ops(PIECES), vec![writes]);
        steps.run(Workload { flush: true, ..overwrite })?;
        if !may_write(steps) {
            return Ok(None);
        }
        let pieces = Self { before, after: steps.run(in_order("sequential after"))? };
        let is_measured = !before.samples.is_empty() && !pieces.after.samples.is_empty();
        Ok(Some(pieces).filter(|pieces| is_measured && pieces.times().0 > 0.0))
    }

    /// Nanoseconds to read the region sequentially, before and after.
    fn times(&self) -> (f64, f64) {
        (self.before.elapsed().0 as f64, self.after.elapsed().0 as f64)
    }

    /// Whether the blocks have moved.
    fn has_moved(&self) -> bool {
        self.times().1 > MOVED_FACTOR * self.times().0
    }

    /// Whether the blocks are in place.
    fn has_stayed(&self) -> bool {
        self.times().1 < IN_PLACE_FACTOR * self.times().0
    }

    /// Adds what this test shows to the reason from seek times.
    fn add_to(&self, seeks: Reason) -> Reason {
        let (before, after) = self.times();
        seeks.and(wording::rewritten_blocks(Latency(before), Latency(after), PIECES))
    }

    /// Latency along the region, before and after.
    fn picture(&self) -> Series {
        let line = |name: &str, segment: &Segment| {
            let start = segment.samples.iter().map(|sample| sample.offset).min().unwrap_or(0);
            let point = |sample: &Sample| [(sample.offset - start) as f64, sample.latency().0 as f64];
            Line::new(name, segment.samples.iter().map(point).collect())
        };
        let (offset, latency) = (axis("offset", "bytes"), axis("latency", "ns").logarithmic());
        Series::new(wording::READS_IN_ORDER, Shape::Line, offset, latency)
            .lines([line("before", self.before), line("after", self.after)])
    }
}

/// The region, in the middle of the span, far from a log at either end.
fn stretch(span: u64) -> Range<u64> {
    let start = span / 2 - span / 2 % STRETCH;
    start..start + STRETCH
}
