//! Finds how many dies serve reads at once, and how many consecutive addresses one of them holds. One reader
//! stays on a single page and keeps its die busy, while another reads all over data that was written
//! sequentially.
//!
//! The second reader waits only where it meets the die of the first, so the slow addresses are those of one
//! die. They repeat with the period of the stripe over all dies, and each run of them is as long as what one
//! die holds (after Chen, Lee and Zhang, "Essential roles of exploiting internal parallelism of flash memory
//! based solid state drives in high-speed data processing", HPCA 2011). If a link, a channel or firmware is
//! the bottleneck, or there is one die, the second reader waits everywhere. Reads of trimmed addresses, which
//! need no die, tell which it is.

use std::ops::Range;

use likenew_core::findings::{Line, Series, Shape};
use likenew_core::io::Sample;
use likenew_core::procedure::Ended;
use likenew_core::quantity::{Factor, Share};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount};
use likenew_core::workload::{AccessPattern, Arrival, Stream, Until, Workload};
use likenew_procedure_support::series::axis;
use likenew_stats::interval::{CONFIDENCE_90, share_interval};
use likenew_stats::summary::{mean, median, quantile};

use super::experiment::{
    Context, DeepReads, Finding, Shared, Steps, is_of, latencies, random_reads, sampled, sequential_writes,
};
use super::medium::reads_alone;
use super::property::{Key, Property, Reason};
use super::writing::written_in_order;
use super::{trim, wording};

/// An area that is read, the grain of its addresses, and how many reads of both readers that takes.
struct Stage {
    bytes: u64,
    grain: u64,
    reads: u32,
}

/// Stages from the smallest area that must be written to what the widest stripes need.
const STAGES: [Stage; 4] = [
    Stage { bytes: 4 << 20, grain: 4 << 10, reads: 32_768 },
    Stage { bytes: 16 << 20, grain: 4 << 10, reads: 65_536 },
    Stage { bytes: 64 << 20, grain: 16 << 10, reads: 65_536 },
    Stage { bytes: 256 << 20, grain: 64 << 10, reads: 65_536 },
];
/// Rate of reads that need no flash over that of others, as a ratio, from which the flash is what limits them.
/// Chosen: well above what rates repeat to.
const FLASH_LIMITS: f64 = 1.2;
const SINGLE_READER_READS: u32 = 256;
/// Longest time of reads, and of two readers.
const READ_TIME: Nanos = Nanos::from_secs(10);
const WALK_TIME: Nanos = Nanos::from_secs(60);
const DEEP_READS: u64 = 2048;
/// Confidence in a single die, in 0..1. Chosen: no claim, because it rests on what does not happen.
const SINGLE_DIE_CONFIDENCE: f64 = 0.85;
/// An area is at most one part in this many of all addresses, and smaller if the run has to write it.
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

/// What two readers show.
pub(super) const KEYS: [Key; 2] = [Key::Parallelism, Key::StripeBytes];

/// Two readers that meet on one die.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let mut walks = Walks::default();
    if context.may_be("flash") {
        let _ended = walks.measure(context, steps);
    }
    Ok(steps.conclude(|| walks.finding(context)))
}

/// Results of two readers.
#[derive(Default)]
struct Walks<'a> {
    /// Latency of the second reader without the first. Reads right after a write may have waited for it; the
    /// fastest tenth has not.
    alone_ns: Option<f64>,
    /// Results over areas that grow.
    areas: Vec<(Range<u64>, Option<Conflicts>)>,
    everywhere: Option<&'a Segment>,
    deep: Option<&'a Segment>,
}

impl<'a> Walks<'a> {
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        for stage in usable(context) {
            let Some(area) = self.area(context, steps, stage)? else { return Ok(()) };
            if self.alone_ns.is_none() {
                let stream = random_reads(area.clone(), context.block(), 1);
                let alone =
                    steps.run(sampled("alone", vec![stream], SINGLE_READER_READS, Some(READ_TIME)))?;
                self.alone_ns = Some(quantile(&latencies(alone), 0.1).unwrap_or(0.0));
            }
            let walk = steps.run(walking(context, stage, area.clone()))?;
            let conflicts = Conflicts::from_walk(walk, self.single_reader_ns());
            let pattern = conflicts.as_ref().map(Conflicts::pattern);
            self.areas.push((area, conflicts));
            if !matches!(pattern, None | Some(Pattern::Unclear { .. })) {
                return self.read_deep(context, steps);
            }
        }
        self.read_without_period(context, steps)
    }

    /// An area for a stage that this run wrote sequentially; existing data is not known to be.
    fn area(
        &mut self,
        context: &Context<'a>,
        steps: &mut Steps<'a>,
        stage: &Stage,
    ) -> Result<Option<Range<u64>>, Ended> {
        let bytes = stage.bytes;
        if let Some(area) = area(context, steps, bytes) {
            return Ok(Some(area));
        }
        if bytes <= WRITE_MAX.min(context.span / WRITE_SHARE) && steps.may_write(bytes) {
            let start = context.span / 2 - context.span / 2 % bytes;
            let name = format!("write {} in order", amount(bytes));
            let writes = sequential_writes(name, start..start + bytes, 1 << 17, 1);
            steps.run(Workload { flush: true, ..writes })?;
            if let Some(area) = area(context, steps, bytes) {
                return Ok(Some(area));
            }
        }
        self.read_without_period(context, steps)?;
        // Other experiments may have written one since.
        Ok(area(context, steps, bytes))
    }

    /// Without a period, the share of slow addresses tells as much.
    fn read_without_period(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        if self.everywhere.is_none() && self.is_even(context) {
            self.everywhere = Some(steps.run(walk_all(context))?);
        }
        self.read_deep(context, steps)
    }

    /// Reads the last area at a deep queue. The gain over one reader is the answer if dies do not show.
    fn read_deep(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let Some((area, _)) = self.areas.last().filter(|_| self.deep.is_none()) else { return Ok(()) };
        self.deep = Some(steps.run(reads_in_flight("32 in flight", area.clone(), context))?);
        Ok(())
    }

    fn single_reader_ns(&self) -> f64 {
        self.alone_ns.unwrap_or(0.0)
    }

    /// Whether random reads all over the drive met flash of one kind and age. A read that skips the flash
    /// meets no die.
    fn is_even(&self, context: &Context<'_>) -> bool {
        let is_flash = |typical_ns: f64| typical_ns >= (1.0 - EVEN) * self.single_reader_ns();
        typical_ns(context).is_some_and(is_flash)
            && reads_alone(context).is_some_and(|reads| are_even(&latencies(reads)))
    }

    fn finding(&self, context: &Context<'_>) -> Finding {
        let conflicts = || self.areas.iter().filter_map(|(_, conflicts)| conflicts.as_ref());
        let is_clear = |conflicts: &&Conflicts| matches!(conflicts.pattern(), Pattern::Clear { .. });
        let Some(best) = conflicts().find(is_clear).or_else(|| conflicts().next_back()) else {
            return Finding::default();
        };
        let best_pattern = best.pattern();
        let everywhere = self.everywhere.and_then(|walk| Conflicts::from_walk(walk, typical_ns(context)?));
        let by_share = everywhere.filter(|_| matches!(best_pattern, Pattern::Unclear { .. }));
        let by_share = by_share.map(|conflicts| conflicts.by_share());
        let by_share = by_share.filter(|pattern| matches!(pattern, Pattern::Clear { .. }));
        let pattern = by_share.unwrap_or(best_pattern);
        let iops = self.deep.and_then(Segment::iops);
        let alone_ns = self.single_reader_ns();
        let gain = iops.filter(|_| alone_ns > 0.0).map(|iops| Factor(iops * alone_ns / 1e9));
        let last = self.areas.last().and_then(|(_, conflicts)| conflicts.as_ref());
        let wait_everywhere = last.is_some_and(|conflicts| conflicts.pattern() == Pattern::Everywhere);
        let deep_reads = Some(DeepReads { wait_everywhere, iops });
        Finding {
            properties: properties(&pattern, context.is_busy(), gain).into(),
            pictures: vec![("conflicts_by_place", picture(best))],
            shared: Shared { deep_reads, ..Shared::default() },
        }
    }
}

/// Reads trimmed addresses, which need no flash, if all reads waited for the pinned reader.
pub(super) fn read_trimmed<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let is_trimmed = matches!(context.word(Key::Trim), Some("immediate" | "idle"));
    // Later tests write the trimmed addresses.
    let is_last = steps.before().last().is_some_and(|last| is_of(trim::NAME, last));
    let deep_reads = context.shared.deep_reads.filter(|reads| reads.wait_everywhere);
    let Some(deep_reads) = deep_reads.filter(|_| is_trimmed && is_last) else {
        return Ok(Finding::default());
    };
    let trimmed = steps.run(reads_in_flight("32 in flight, trimmed", 0..trim::AREA, context));
    let rates = trimmed.ok().and_then(Segment::iops).zip(deep_reads.iops);
    let faster = rates.map(|(trimmed, others)| Factor(trimmed / others));
    let faster = faster.filter(|faster| faster.0 >= FLASH_LIMITS && !context.is_busy());
    Ok(faster.map(single_die).map(Finding::of).unwrap_or_default())
}

/// Counts the dies of a filled drive by the share of all addresses at which reads wait for the pinned reader.
/// A period may miss dies: one that was busy while a small area was written holds nothing of it.
pub(super) fn count_dies<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let is_wanted =
        context.is_filled_whole() && context.is("flash") && context.word(Key::Mapping) == Some("page");
    let conflicts = if is_wanted { walk_full_drive(context, steps) } else { None };
    let Some(Pattern::Clear { share, dies: (dies, low, high), .. }) =
        conflicts.map(|conflicts| conflicts.by_share())
    else {
        return Ok(Finding::default());
    };
    let before = context.number(Key::Parallelism);
    if before.is_some_and(|before| (low / SAME_DIES..high * SAME_DIES).contains(&before)) {
        return Ok(Finding::default());
    }
    // A period has shown another number, or there is none.
    let stripe = Property::undecided(Key::StripeBytes, wording::irregular_collisions(Share(share)));
    let reason = wording::collisions_when_full(Share(share));
    let dies = Property::number(Key::Parallelism, dies, (low, high), DIE_SHARE_CONFIDENCE, reason);
    Ok(Finding::of([dies, stripe]))
}

fn walk_full_drive<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Option<Conflicts> {
    let stream = random_reads(0..all_addresses(context).bytes, context.block(), 1);
    let workload = sampled(wording::FULL_DRIVE_READS, vec![stream], FULL_DRIVE_READS, Some(READ_TIME));
    let reads = latencies(steps.run(workload).ok()?);
    if !are_even(&reads) {
        return None;
    }
    Conflicts::from_walk(steps.run(walk_all(context)).ok()?, median(&reads)?)
}

/// One die and no stripe: all reads wait for the die of one page, though neither link nor firmware holds them
/// up. Dies that share a channel would not wait: a channel is free while its die reads.
fn single_die(faster: Factor) -> [Property; 2] {
    let reason = wording::single_die(faster);
    let stripe = Property::absent(Key::StripeBytes, SINGLE_DIE_CONFIDENCE, reason.clone());
    [Property::number(Key::Parallelism, 1.0, (1.0, 1.0), SINGLE_DIE_CONFIDENCE, reason), stripe]
}

/// Stages within the mapping cache: a miss reads from dies, too, which looks like meeting them.
fn usable(context: &Context<'_>) -> impl Iterator<Item = &'static Stage> + use<> {
    let covered = context.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let most = context.span / SHARE_MAX;
    STAGES.iter().filter(move |stage| stage.bytes <= most && stage.bytes as f64 <= covered)
}

/// Where this many bytes were written sequentially, beyond the part that a pseudo-SLC cache may hold in other
/// stripes.
fn area(context: &Context<'_>, steps: &Steps<'_>, bytes: u64) -> Option<Range<u64>> {
    let ground = written_in_order(context, steps.before())?;
    let room = (ground.end - ground.start).checked_sub(bytes)?;
    let start = ground.start + room / 5 * 3;
    let start = start - (start - ground.start) % (1 << 20);
    Some(start..start + bytes)
}

fn reads_in_flight(name: &str, area: Range<u64>, context: &Context<'_>) -> Workload {
    let until = Until { elapsed: Some(READ_TIME), ..Until::ops(DEEP_READS) };
    Workload::new(name, until, vec![random_reads(area, context.block(), 32)])
}

fn walking(context: &Context<'_>, stage: &Stage, area: Range<u64>) -> Workload {
    let block = context.block();
    let pinned = random_reads(area.start..area.start + u64::from(block), block, PINNED_DEPTH);
    let place =
        AccessPattern::RandomAligned { region: Region::bytes(area), align: stage.grain.max(block.into()) };
    let other = Stream { pattern: place, arrival: Arrival::Closed { depth: 1 }, ..pinned.clone() };
    let name = format!("two readers over {}", amount(stage.bytes));
    sampled(name, vec![pinned, other], stage.reads, Some(WALK_TIME))
}

/// All addresses in the mapping cache, whatever wrote them.
fn all_addresses(context: &Context<'_>) -> Stage {
    let covered = context.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let end = context.span.min(covered as u64);
    let grain = u64::from(4096.max(context.block()));
    Stage { bytes: end - end % grain, grain, reads: EVERYWHERE_READS }
}

fn walk_all(context: &Context<'_>) -> Workload {
    let stage = all_addresses(context);
    Workload { name: wording::ALL_ADDRESSES.into(), ..walking(context, &stage, 0..stage.bytes) }
}

/// Latency of random reads all over the drive.
fn typical_ns(context: &Context<'_>) -> Option<f64> {
    median(&latencies(reads_alone(context)?))
}

fn are_even(reads: &[f64]) -> bool {
    let (low, high) = (quantile(reads, 0.05), quantile(reads, 0.95));
    low.zip(high).is_some_and(|(low, high)| low > 0.0 && high < (1.0 + EVEN) * low)
}

fn properties(pattern: &Pattern, busy: bool, gain: Option<Factor>) -> [Property; 2] {
    let with_gain = |reason: Reason| gain.map(wording::depth_gain).into_iter().fold(reason, Reason::and);
    let undecided = |reason: Reason| KEYS.map(|key| Property::undecided(key, with_gain(reason.clone())));
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
        .lines([Line::new("reads", conflicts.points.clone())])
}

/// Queue depth of the reader that stays on one page; a read that meets its die waits for nearly all of them.
const PINNED_DEPTH: u32 = 8;
/// A read that waits as long as this many reads has met the pinned die. Sharing a channel or a busy firmware
/// costs less than two. Chosen: half of the pinned reader's queue.
const WAITED_READS: f64 = 4.0;
/// Fewest runs of slow addresses that make a pattern.
const RUNS_MIN: usize = 8;
/// Fewest reads of the second reader that show anything.
const READS_MIN: usize = 256;
/// Share of slow addresses above which the readers meet everywhere. Chosen: one die of two would be half.
const EVERYWHERE_SHARE: f64 = 0.9;
/// Share of the runs, and of their distances, that must be equal. Chosen: a majority.
const ALIKE: f64 = 0.6;
/// Share of the runs that must be equal if two neighboring lengths count as one. Chosen: higher, because
/// chance meets two lengths more often than one.
const NEIGHBORS: f64 = 0.85;
/// Difference between the number of dies from the share and from the period, in dies, up to which they agree;
/// half a run at either end comes on top. Chosen: nearly exact, because both count the same runs.
const AGREE: f64 = 0.04;
/// Ratio of the ends of the interval of the number of dies above which no number is named. Chosen: 8 dies are
/// still told from 10.
const UNSURE_MAX: f64 = 1.2;
/// Fewest consecutive bytes on one die: the smallest mapping unit. If addresses are larger than this, a run
/// of one address may be shorter than it, and the period that of addresses that skip others.
const STRIPE_MIN: f64 = 4096.0;
/// Above this many addresses, they are not told apart.
const PLACES_MAX: usize = 1 << 16;
/// Addresses shown in a chart.
const POINTS_MAX: usize = 2048;

/// The waits of the second reader, by address.
struct Conflicts {
    grain: f64,
    /// For each address the share of its reads that waited, if there were any; empty if there are too many
    /// addresses.
    wait_share: Vec<Option<f64>>,
    /// Reads that waited, and all reads.
    slow: u64,
    all: u64,
    /// `[address in bytes, latency in ns]` of the first reads.
    points: Vec<[f64; 2]>,
}

/// The pattern of the slow addresses.
#[derive(Clone, Debug, PartialEq)]
enum Pattern {
    /// The readers never meet.
    Nowhere,
    /// The readers meet everywhere.
    Everywhere,
    /// Too few runs, or irregular ones.
    Unclear {
        /// Share of slow addresses.
        share: f64,
    },
    /// One of several dies.
    Clear {
        /// Share of slow addresses.
        share: f64,
        /// Number of dies, and the ends of the 90% interval.
        dies: (f64, f64, f64),
        /// Consecutive bytes on one die, and the ends of the 90% interval, if there is a period.
        stripe: Option<(f64, f64, f64)>,
    },
}

impl Conflicts {
    /// Reads the waits of two readers, the first of which stays on one page. `alone_ns` is the latency of the
    /// second without the first.
    fn from_walk(walk: &Segment, alone_ns: f64) -> Option<Self> {
        let grain = walk.workload.streams.get(1)?.pattern.grain()?;
        let moving_reads: Vec<&Sample> = walk.samples.iter().filter(|sample| sample.stream == 1).collect();
        let pinned = walk.samples.len() - moving_reads.len();
        let span = walk.samples.last()?.done.since(walk.started_at).0 as f64;
        if moving_reads.len() < READS_MIN || pinned == 0 || span <= 0.0 || alone_ns <= 0.0 {
            return None;
        }
        let limit = alone_ns + WAITED_READS * span / pinned as f64;
        let has_waited = |sample: &Sample| sample.latency().0 as f64 > limit;
        let start = moving_reads.iter().map(|sample| sample.offset).min()?;
        let place_of = |sample: &Sample| ((sample.offset - start) / grain) as usize;
        let places = moving_reads.iter().map(|sample| place_of(sample)).max()? + 1;
        let mut counts = vec![(0u32, 0u32); if places > PLACES_MAX { 0 } else { places }];
        for sample in moving_reads.iter().filter(|_| places <= PLACES_MAX) {
            let (waits, reads) = &mut counts[place_of(sample)];
            *waits += u32::from(has_waited(sample));
            *reads += 1;
        }
        let share = |(waits, reads): (u32, u32)| (reads > 0).then(|| f64::from(waits) / f64::from(reads));
        let point = |sample: &&Sample| [(sample.offset - start) as f64, sample.latency().0 as f64];
        Some(Self {
            grain: grain as f64,
            wait_share: counts.into_iter().map(share).collect(),
            slow: moving_reads.iter().filter(|sample| has_waited(sample)).count() as u64,
            all: moving_reads.len() as u64,
            points: moving_reads.iter().take(POINTS_MAX).map(point).collect(),
        })
    }

    /// The pattern of the slow addresses.
    fn pattern(&self) -> Pattern {
        let shares: Vec<f64> = self.wait_share.iter().filter_map(|wait_share| *wait_share).collect();
        let share = if shares.is_empty() {
            self.slow as f64 / self.all as f64
        } else {
            shares.iter().filter(|wait_share| **wait_share > 0.5).count() as f64 / shares.len() as f64
        };
        if share == 0.0 {
            Pattern::Nowhere
        } else if share > EVERYWHERE_SHARE {
            Pattern::Everywhere
        } else {
            self.by_period(share)
        }
    }

    /// The number of dies from the share of slow addresses alone, which may have no period. The reads of one
    /// stripe count as one case; if addresses are not told apart, each read does.
    fn by_share(&self) -> Pattern {
        let share = match self.pattern() {
            Pattern::Unclear { share } => share,
            clear => return clear,
        };
        let (hits, cases) = if self.wait_share.is_empty() {
            (self.slow, self.all)
        } else {
            (self.runs().len() as u64, (self.runs().len() as f64 / share) as u64)
        };
        let Some(interval) = share_interval(hits, cases, CONFIDENCE_90).filter(|_| hits > 0) else {
            return Pattern::Unclear { share };
        };
        let (low, high) = (1.0 / interval.high, 1.0 / interval.low);
        let whole = high.floor();
        if whole < low || high / low > UNSURE_MAX {
            return Pattern::Unclear { share };
        }
        let is_only_one = whole - 1.0 < low;
        let dies = if is_only_one { whole } else { 1.0 / share };
        Pattern::Clear { share, dies: (dies, low, high), stripe: None }
    }

    fn by_period(&self, share: f64) -> Pattern {
        let runs = self.runs();
        if runs.len() < RUNS_MIN {
            return Pattern::Unclear { share };
        }
        let lengths: Vec<f64> = runs.iter().map(|(start, end)| end - start).collect();
        let distances: Vec<f64> = runs.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let (length, distance) = (TypicalValue::from_values(&lengths), TypicalValue::from_values(&distances));
        let dies = distance.value / length.value;
        let whole = dies.round();
        let is_whole = (dies - whole).abs() < 0.25_f64.max(0.03 * dies);
        let agrees = (share * whole - 1.0).abs() < AGREE + 0.5 / runs.len() as f64;
        let is_fine = length.value > 1.0 || self.grain <= STRIPE_MIN;
        if !(length.is_alike && distance.is_alike && is_whole && agrees && is_fine) {
            return Pattern::Unclear { share };
        }
        let stripe = length.value * self.grain;
        let unsure = self.grain * 0.25_f64.max(length.error);
        Pattern::Clear {
            share,
            dies: (whole, 0.97 * whole, 1.03 * whole),
            stripe: Some((stripe, stripe - unsure, stripe + unsure)),
        }
    }

    /// Runs of neighboring slow addresses, without those at either end of the area. An address without reads
    /// counts like the one before.
    fn runs(&self) -> Vec<(f64, f64)> {
        let mut runs = Vec::new();
        let (mut begun, mut is_slow) = (None, false);
        let mut first = true;
        for (place, wait_share) in self.wait_share.iter().enumerate() {
            let Some(wait_share) = wait_share else { continue };
            let now = *wait_share > 0.5;
            if now && !is_slow && !first {
                begun = Some(place as f64);
            }
            if !now
                && is_slow
                && let Some(start) = begun.take()
            {
                runs.push((start, place as f64));
            }
            (is_slow, first) = (now, false);
        }
        runs
    }
}

/// The most common length: exact, or as one of two neighboring ones.
struct TypicalValue {
    value: f64,
    error: f64,
    is_alike: bool,
}

impl TypicalValue {
    fn from_values(values: &[f64]) -> Self {
        let middle = median(values).expect("there are several");
        let count = values.len() as f64;
        let exact = values.iter().filter(|value| **value == middle).count() as f64;
        if exact >= ALIKE * count {
            return Self { value: middle, error: 0.0, is_alike: true };
        }
        let near = |value: &&f64| (**value - middle).abs() <= 1.0;
        let alike: Vec<f64> = values.iter().filter(near).copied().collect();
        Self {
            value: mean(&alike).unwrap_or(middle),
            error: 1.0 / (alike.len() as f64).sqrt(),
            is_alike: alike.len() as f64 >= NEIGHBORS * count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(is_slow: impl Fn(usize) -> bool, places: usize) -> Pattern {
        pattern_at(4096, is_slow, places)
    }

    /// The pattern of places of `grain` bytes each.
    fn pattern_at(grain: usize, is_slow: impl Fn(usize) -> bool, places: usize) -> Pattern {
        let wait_share = (0..places).map(|place| Some(if is_slow(place) { 1.0 } else { 0.0 })).collect();
        Conflicts { grain: grain as f64, wait_share, slow: 0, all: 0, points: Vec::new() }.pattern()
    }

    #[test]
    fn a_period_and_a_length_are_dies_and_a_stripe() {
        let pattern = pattern(|place| place % 96 / 6 == 2, 1024);
        let Pattern::Clear { dies, stripe: Some(stripe), .. } = pattern else { panic!("{pattern:?}") };
        assert_eq!((dies.0, stripe.0), (16.0, 24576.0));
        assert!(dies.1 < 16.0 && 16.0 < dies.2 && stripe.1 > 0.9 * 24576.0);
    }

    #[test]
    fn parity_in_between_hides_no_die() {
        // Units of two addresses on five dies in turn; one in sixteen is parity, which has no address.
        let units = (0..4096).filter(|unit| unit % 16 != 15);
        let places: Vec<bool> = units.flat_map(|unit| [unit % 5 == 3; 2]).collect();
        let pattern = pattern(|place| places[place], places.len());
        let Pattern::Clear { dies, stripe: Some(stripe), .. } = pattern else { panic!("{pattern:?}") };
        assert_eq!((dies.0, stripe.0), (5.0, 8192.0));
    }

    #[test]
    fn a_die_that_is_passed_over_makes_no_smaller_drive() {
        // Four dies, one of which was busy most of the time: most periods are those of three.
        let unit = |place: usize| if place / 3 % 26 < 20 { place / 3 % 26 % 3 } else { place / 3 % 26 % 2 };
        assert!(matches!(pattern(|place| unit(place) == 1, 8192), Pattern::Unclear { .. }));
    }

    #[test]
    fn addresses_that_skip_dies_have_no_period() {
        // Stripes of 24 KiB on 24 dies: of every 64 KiB, the first page is on one of 9 dies.
        let is_on_die = |grain: usize| move |place: usize| (place * grain / (24 << 10)).is_multiple_of(24);
        let coarse = pattern_at(64 << 10, is_on_die(64 << 10), 4096);
        assert!(matches!(coarse, Pattern::Unclear { .. }), "{coarse:?}");
        let fine = pattern_at(4 << 10, is_on_die(4 << 10), 4096);
        assert!(matches!(fine, Pattern::Clear { dies: (24.0, ..), .. }), "{fine:?}");
    }

    #[test]
    fn places_without_order_have_no_period() {
        let hash = |place: usize| (place as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        assert!(matches!(pattern(|place| hash(place).is_multiple_of(10), 8192), Pattern::Unclear { .. }));
    }

    #[test]
    fn a_share_of_all_places_is_one_of_the_dies() {
        let conflicts =
            |slow, all| Conflicts { grain: 4096.0, wait_share: Vec::new(), slow, all, points: Vec::new() };
        let Pattern::Clear { dies, stripe: None, .. } = conflicts(3_800, 15_000).by_share() else { panic!() };
        assert_eq!(dies.0, 4.0);
        assert!(matches!(conflicts(38, 150).by_share(), Pattern::Unclear { .. }));
        // No whole number of dies has this share.
        assert!(matches!(conflicts(5_260, 15_000).by_share(), Pattern::Unclear { .. }));
        assert!(matches!(conflicts(3_800, 15_000).pattern(), Pattern::Unclear { .. }));
    }

    #[test]
    fn waiting_everywhere_or_nowhere_is_no_pattern() {
        assert_eq!(pattern(|_| true, 1024), Pattern::Everywhere);
        assert_eq!(pattern(|_| false, 1024), Pattern::Nowhere);
        assert_eq!(pattern(|place| place < 64, 1024), Pattern::Unclear { share: 0.0625 });
    }
}
