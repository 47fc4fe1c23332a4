//! Finds how much the drive's memory takes before the medium sets the pace, by writes after idling until they
//! slow down for good.

use likenew_core::findings::{Answer, Row};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Factor;
use likenew_core::region::Region;
use likenew_core::row;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, exact_size};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::{Estimate, distinct};
use likenew_procedure_support::rows::Columns as _;
use likenew_stats::change_points::knees;

use super::ModelOptions;
use super::curve_fit::{between, join};
use super::wording::{self, CacheSize};

/// Bytes of one write in a burst.
const BLOCKS: [u64; 2] = [4 << 10, 64 << 10];
const REPEATS: u32 = 2;
const WRITES_MAX: u64 = 2048;
/// A burst writes at most one part in this many of the bytes allowed.
pub(super) const SHARE: u64 = 32;
/// Number of bursts.
pub(super) const COUNT: u32 = REPEATS * BLOCKS.len() as u32;
/// Ratio of latencies from which a slower level is the medium's. Chosen: above the steps of busy or noisy
/// targets.
const SLOWER: f64 = 1.3;
/// Most groups that the writes of a burst are averaged into.
const GROUPS_MAX: usize = 256;

/// Writes from idle, and where they slowed down.
pub(super) struct Burst<'a> {
    pub(super) block: u64,
    pub(super) segment: &'a Segment,
    full: Option<BufferLimit>,
}

/// Where memory was full.
#[derive(Clone, Copy, Debug)]
struct BufferLimit {
    /// Writes absorbed, less those that reached the medium meanwhile, with their interval.
    writes: Estimate,
    before_ns: f64,
    after_ns: f64,
}

/// The next burst over the addresses up to `end`, if one is still to be measured.
pub(super) fn next(options: &ModelOptions, evidence: &Evidence, end: u64) -> Option<Workload> {
    let runs = (1..=REPEATS)
        .flat_map(|repeat| BLOCKS.map(|block| (block.max(evidence.geometry.block.into()), repeat)));
    let open = runs.map(|(block, repeat)| (block, format!("burst {} #{repeat}", exact_size(block))));
    let missing =
        |(_, name): &(u64, String)| evidence.segments.iter().all(|segment| segment.workload.name != *name);
    let (block, name) = open.into_iter().find(missing)?;
    let most = (options.bytes_on(evidence) / SHARE).min(end / 2);
    let bytes = (WRITES_MAX * block).min(most - most % block).max(block);
    let place = AccessPattern::Random(Region::bytes(0..end));
    let stream = Stream::closed(Mix::Only(Op::Write), block as u32, place, 1, options.data);
    let until = Until { elapsed: Some(Nanos(2 * options.visit_on(evidence).0)), ..Until::bytes(bytes) };
    Some(Workload { window: Some(block), flush: true, ..Workload::new(name, until, vec![stream]) })
}

/// The bursts measured.
pub(super) fn bursts(evidence: &Evidence) -> Vec<Burst<'_>> {
    let bursts = evidence.segments.iter().filter(|segment| segment.workload.name.starts_with("burst "));
    let block_of =
        |segment: &'_ Segment| segment.workload.streams.first().map(|stream| u64::from(stream.size.max()));
    bursts
        .filter_map(|segment| Some(Burst { block: block_of(segment)?, segment, full: buffer_limit(segment) }))
        .collect()
}

/// The latencies of equal groups of writes, in the order of writing.
fn groups(segment: &Segment) -> (usize, Vec<f64>) {
    let cells: Vec<f64> = segment
        .gigabytes
        .cells
        .iter()
        .filter(|cell| cell.bytes > 0)
        .map(|cell| cell.latency_ns_sum as f64 / cell.ios as f64)
        .collect();
    let each = cells.len().div_ceil(GROUPS_MAX).max(1);
    (each, cells.chunks(each).map(|group| group.iter().sum::<f64>() / group.len() as f64).collect())
}

/// The first change to a slower level. While memory fills, the medium works, too: in the time of n writes it
/// has done n·before/after.
fn buffer_limit(segment: &Segment) -> Option<BufferLimit> {
    let (each, latencies) = groups(segment);
    let knee = knees(&latencies).into_iter().find(|knee| knee.after >= SLOWER * knee.before)?;
    let buffer_share = 1.0 - knee.before / knee.after;
    let writes = |at: usize| at as f64 * each as f64 * buffer_share;
    let writes = between(writes(knee.at), writes(knee.at_low.saturating_sub(1)), writes(knee.at_high + 1));
    Some(BufferLimit { writes, before_ns: knee.before, after_ns: knee.after })
}

impl Burst<'_> {
    pub(super) fn row(&self, pass: usize) -> Row {
        let block = self.block as f64;
        let writes = self.full.map(|full| full.writes);
        row! { block_bytes: self.block, pass, writes: self.segment.total_of(Op::Write).ios }
            .with("cached_writes", writes.map(|writes| writes.value))
            .with_estimate("cached_bytes", writes.map(|writes| writes.map(|writes| writes * block)))
            .with("before_ns", self.full.map(|full| full.before_ns))
            .with("after_ns", self.full.map(|full| full.after_ns))
    }

    /// `[bytes, ns]` of each group.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        let (each, latencies) = groups(self.segment);
        let at = |index: usize| ((index + 1) * each) as f64 * self.block as f64;
        latencies.into_iter().enumerate().map(|(index, ns)| [at(index), ns]).collect()
    }
}

/// What all bursts of one block size agree on; `None` if one of them never slowed down.
fn cache_size(bursts: &[Burst<'_>], block: u64) -> Option<CacheSize> {
    let of_block = bursts.iter().filter(|burst| burst.block == block);
    let full: Vec<BufferLimit> = of_block.map(|burst| burst.full).collect::<Option<_>>()?;
    let interval = full.iter().filter_map(|full| full.writes.interval).reduce(join)?;
    let value = full.iter().map(|full| full.writes.value).sum::<f64>() / full.len() as f64;
    let faster = full.iter().map(|full| full.after_ns / full.before_ns).reduce(f64::min)?;
    let writes = Estimate { value, interval: Some(interval) };
    Some(CacheSize { block, writes, faster: Factor(faster) })
}

/// How many writes the drive's cache takes, or that none was seen. A cache of n writes at QD1 looks like no
/// cache at QD n, so the answer also gives the gain by depth.
pub(super) fn answer(bursts: &[Burst<'_>], gain_by_depth: Option<f64>) -> Option<Answer> {
    let most = bursts.iter().map(|burst| burst.segment.bytes(Op::Write)).max()?;
    let blocks = distinct(bursts.iter().map(|burst| burst.block)).into_iter();
    let agreed: Vec<CacheSize> = blocks.filter_map(|block| cache_size(bursts, block)).collect();
    let Some(long) = agreed.last() else { return Some(wording::no_slowdown(most)) };
    let as_many = match &agreed[..] {
        [short, long] => overlap(short.writes, long.writes).then_some(short.block),
        _ => None,
    };
    Some(wording::write_burst(long, as_many, gain_by_depth.map(Factor)))
}

/// Whether both intervals hold some number of writes.
fn overlap(one: Estimate, other: Estimate) -> bool {
    one.low() <= other.high() && other.low() <= one.high()
}
