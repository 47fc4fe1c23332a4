//! The family of the translation layer, and the cluster of those that map whole blocks.
//!
//! A block map has to merge a cluster when writes leave it incomplete; a page map merges nothing. So the
//! first pages of one cluster after another are written and flushed: a merge takes as long as copying a
//! cluster. Where clusters begin shows in the pauses of sequential writes, when the old block of each
//! complete cluster is erased. Random writes within one cluster then tell maps with log blocks from those
//! without.
//!
//! A block map treats each cluster alike, so some dozens of written clusters show it. They come before the
//! fill, which a block map then does not need. What looked like a page map on those is tested again once the
//! drive is full.

use std::ops::Range;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::quantity::Latency;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::until::Until;
use likenew_core::workload::{SAMPLES_MAX, Stream, Workload};
use likenew_stats::spikes::{Spikes, spikes};
use likenew_stats::summary::median;

use super::context::{ExperimentContext, bytes_written};
use super::experiment::Experiment;
use super::finding::Finding;
use super::old_data;
use super::property::{Key, Property};
use super::synced_writes::{synced_times, synced_writes};
use super::wording::{self, MergeTimes};
use likenew_procedure_support::series::axis;

/// Sequential writes that search for pauses: I/O length and bytes written, one attempt after the other. What
/// has never been written has no old block, so each stretch comes twice or was written before.
const TRIES: [(u32, u64); 4] =
    [(16 << 10, 16 << 20), (64 << 10, 64 << 20), (16 << 10, 64 << 20), (64 << 10, 192 << 20)];
const DEPTH: u32 = 4;
/// First pages of clusters that are written, and how many of the last of them count: logs have to be full.
const HEADS: u32 = 48;
const LAST: usize = 12;
/// Random writes within one cluster, and sequential ones.
const FEW: u32 = 16;
/// Latency of a merge over that of the same write in sequence, as a ratio, at least. Chosen: a merge copies
/// dozens of pages.
const MERGE: f64 = 8.0;
/// Latency of random writes within a cluster over that of a merge, as a ratio, below which log blocks take
/// them without one. Chosen: well above one page's share of a merge.
const UNMERGED_SHARE: f64 = 0.25;
/// Fewest pages of an erase block. Chosen: NAND has 64 or more; slightly fewer for rounding.
const BLOCK_PAGES: f64 = 60.0;
/// Bytes that the search for clusters writes at least.
const WRITTEN: u64 = 128 << 20;
/// Mapping unit in bytes if it is unknown.
const PAGE: u32 = 16 << 10;
/// Clusters to write before merges are searched among them: at least more than there are log blocks, at most
/// what a burst into the write buffer has use for, and in between this share of the span. Chosen: published
/// maps with log blocks have up to a few dozen of them.
const CLUSTERS_LEAST: u64 = 40;
const CLUSTERS_MOST: u64 = 256;
const CLUSTERS_SHARE: u64 = 16;
/// Confidence in merges of unknown clusters before the drive was full, in 0..1. Chosen: no claim.
const UNLOCATED: f64 = 0.8;
/// Names under which pauses are searched.
const TRY_NAMES: [&str; 2] = ["mapping: in order ", "mapping-full: in order "];
/// Bytes of the stretch in which writes follow each other.
const FOLLOWED: u64 = 8 << 20;

/// Searches for merges on some clusters.
pub(super) struct MappingExperiment;

impl Experiment for MappingExperiment {
    fn name(&self) -> &'static str {
        "mapping"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if refusal(context).is_some() {
            return None;
        }
        let cluster = cluster(context);
        let attempts = tries(context).count();
        let times = Times::from_context(context);
        // A drive that merges is worth a longer search.
        let merges = times.as_ref().is_some_and(|times| times.merge() > 0.0);
        let most = if merges { TRIES.len() } else { TRIES.len() - 1 };
        if cluster.is_none() && attempts < most {
            let (block, bytes) = TRIES[attempts];
            let start = start(context);
            let bytes = bytes.min(context.span - start).min(context.span / 2);
            let name = format!("in order {}", attempts + 1);
            return context.may_write(bytes).then(|| in_order(&name, block, start..start + bytes, SAMPLES_MAX));
        }
        let stretch = stretch(context, cluster.as_ref());
        if let Some(rest) = unwritten(context, &stretch) {
            let name = "clusters";
            let may = context.segment(name).is_none() && context.may_write(rest.end - rest.start);
            if may {
                return Some(in_order(name, 128 << 10, rest, 0));
            }
        }
        single_writes(context, &Names::ON_CLUSTERS, &stretch, cluster.as_ref(), times.as_ref())
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        if let Some(property) = refusal(context) {
            return Finding::single(property, None);
        }
        let Some(times) = Times::from_context(context) else { return Finding::default() };
        let cluster = cluster(context);
        // Collection on a page map may look like merges, but not of clusters.
        let is_sure = times.merge() == 0.0 || cluster.is_some();
        let mapping = infer_property(&times, false);
        let mapping = if is_sure { mapping } else { mapping.at_most(UNLOCATED) };
        finding(context, &times, mapping, cluster.as_ref())
    }
}

/// Repeats the single writes once the drive is full, unless it maps blocks.
pub(super) struct FullMapping;

impl Experiment for FullMapping {
    fn name(&self) -> &'static str {
        "mapping-full"
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if refusal(context).is_some() || !is_full(context) || is_block_map(context) {
            return None;
        }
        let cluster = cluster(context);
        let times = Times::with_names(context, &Names::ON_FULL);
        let merges = times.as_ref().is_some_and(|times| times.merge() > 0.0);
        let attempts = tries(context).count();
        if merges && cluster.is_none() && attempts <= TRIES.len() {
            let (block, bytes) = TRIES[TRIES.len() - 1];
            let bytes = bytes.min(context.span / 2);
            let name = format!("in order {}", attempts + 1);
            return context.may_write(bytes).then(|| in_order(&name, block, 0..bytes, SAMPLES_MAX));
        }
        let whole = 0..context.span;
        single_writes(context, &Names::ON_FULL, &whole, cluster.as_ref(), times.as_ref())
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        if refusal(context).is_some() || is_block_map(context) {
            return Finding::default();
        }
        let Some(times) = Times::with_names(context, &Names::ON_FULL) else { return Finding::default() };
        let mapping = infer_property(&times, is_full(context));
        finding(context, &times, mapping, cluster(context).as_ref())
    }
}

/// Whether the drive is known to map whole blocks, and which.
pub(super) fn is_block_map(context: &ExperimentContext<'_>) -> bool {
    matches!(context.inferences.word(Key::Mapping), Some("hybrid" | "block"))
        && context.inferences.number(Key::EraseUnitBytes).is_some()
}

/// Names of the single writes.
struct Names {
    follow: &'static str,
    wide: &'static str,
    heads: &'static str,
    narrow: &'static str,
}

impl Names {
    const ON_CLUSTERS: Self = Self { follow: "follow", wide: "wide", heads: "heads", narrow: "narrow" };
    const ON_FULL: Self = Self {
        follow: "follow when full",
        wide: "wide when full",
        heads: "heads when full",
        narrow: "narrow when full",
    };
}

/// The next of the single writes within `stretch`.
fn single_writes(
    context: &ExperimentContext<'_>,
    names: &Names,
    stretch: &Range<u64>,
    cluster: Option<&Spikes>,
    times: Option<&Times>,
) -> Option<Workload> {
    let page = page(context);
    if context.segment(names.follow).is_none() {
        let middle = stretch.start.midpoint(stretch.end) / (1 << 20) * (1 << 20);
        let start = middle.min(context.span - FOLLOWED.min(context.span));
        let place = AccessPattern::Sequential(Region::bytes(start..start + FOLLOWED));
        return Some(synced_writes(names.follow, 2 * page, place, FEW));
    }
    if context.segment(names.wide).is_none() {
        let place = AccessPattern::Random(Region::bytes(stretch.clone()));
        return Some(synced_writes(names.wide, page, place, HEADS));
    }
    let step = cluster.map(|cluster| step(cluster, page));
    if let Some(step) = step.filter(|_| context.segment(names.heads).is_none()) {
        let place = AccessPattern::Strided { region: Region::bytes(stretch.clone()), step };
        return Some(synced_writes(names.heads, 2 * page, place, HEADS));
    }
    if times.is_some_and(|times| times.merge() > 0.0) && context.segment(names.narrow).is_none() {
        let pages = step.map_or(64, |step| step / u64::from(page) * 7 / 8).clamp(2, 64);
        let first = stretch.start;
        let place = AccessPattern::Random(Region::bytes(first..first + pages * u64::from(page)));
        return Some(synced_writes(names.narrow, page, place, 2 * FEW));
    }
    None
}

fn finding(
    context: &ExperimentContext<'_>,
    times: &Times,
    mapping: Property,
    cluster: Option<&Spikes>,
) -> Finding {
    let mut pictures = vec![("writes_in_places", places(context, times))];
    let is_known = mapping.is_known();
    let mut properties = vec![mapping];
    if let Some(cluster) = cluster.filter(|_| is_known && times.merge() > 0.0) {
        properties.push(erase_unit(cluster, f64::from(page(context))));
        pictures.extend(tries(context).last().map(|segment| ("pauses_in_order", pauses(segment, cluster))));
    }
    Finding { properties, pictures, ..Finding::default() }
}

/// Where the search begins: at addresses that were read as they were found, so that they can be compared.
fn start(context: &ExperimentContext<'_>) -> u64 {
    old_data::window(context.span).start
}

fn step(cluster: &Spikes, page: u32) -> u64 {
    (cluster.period / f64::from(page)).round() as u64 * u64::from(page)
}

/// The addresses to search for merges: clusters from the first whole one on, or what was written if there are
/// none.
fn stretch(context: &ExperimentContext<'_>, cluster: Option<&Spikes>) -> Range<u64> {
    let start = start(context);
    let Some(step) = cluster.map(|cluster| step(cluster, page(context))) else {
        let bytes = tries(context).map(bytes_written).max().unwrap_or(FOLLOWED);
        return start..start + bytes;
    };
    let first = start.next_multiple_of(step);
    let count = (context.span / CLUSTERS_SHARE / step).clamp(CLUSTERS_LEAST, CLUSTERS_MOST);
    first..first + step * count.min((context.span - first) / step)
}

/// The part of a stretch that the search for pauses has not written.
fn unwritten(context: &ExperimentContext<'_>, stretch: &Range<u64>) -> Option<Range<u64>> {
    let block = u64::from(TRIES[1].0) * 2;
    let written = start(context) + tries(context).map(bytes_written).max().unwrap_or(0);
    let from = (written / block * block).max(stretch.start);
    let to = stretch.end.next_multiple_of(block).min(context.span / block * block);
    (from < to).then_some(from..to)
}

/// Clusters that hold data: their first address, the length of one and how many.
pub(super) fn clusters(context: &ExperimentContext<'_>) -> Option<(u64, u64, u64)> {
    let unit = context.inferences.number(Key::EraseUnitBytes)?;
    let page = page(context);
    let step = ((unit / f64::from(page)).round() as u64 * u64::from(page)).max(1);
    if is_full(context) {
        return Some((0, step, context.span / step));
    }
    let first = start(context).next_multiple_of(step);
    let own = context.evidence.segments.iter().filter(|segment| segment.workload.name.starts_with("mapping: "));
    let ends = own.filter_map(|segment| match segment.workload.streams.first()?.pattern {
        AccessPattern::Sequential(region) => {
            region.resolve(context.evidence.geometry.capacity, context.block()).ok()
        }
        _ => None,
    });
    let end = ends.map(|region| region.end).max()?;
    Some((first, step, end.checked_sub(first)? / step))
}

/// Why the mapping cannot be tested here; `None` if it can.
fn refusal(context: &ExperimentContext<'_>) -> Option<Property> {
    let undecided = |reason| Some(Property::undecided(Key::Mapping, reason));
    match context.inferences.word(Key::Medium) {
        None => undecided(wording::medium_unknown()),
        Some(medium) if medium != "flash" => undecided(wording::only_flash()),
        _ if context.segments.is_empty() && !context.may_write(WRITTEN) => {
            undecided(context.write_refusal(WRITTEN))
        }
        _ => None,
    }
}

/// Whether this run wrote the whole span sequentially.
fn is_full(context: &ExperimentContext<'_>) -> bool {
    let in_order = context.evidence.segments.iter().filter(|segment| {
        let forward = |stream: &Stream| {
            matches!(stream.pattern, AccessPattern::Sequential(_)) && stream.op == Mix::Only(Op::Write)
        };
        segment.workload.streams.len() == 1 && segment.workload.streams.iter().all(forward)
    });
    in_order.map(bytes_written).sum::<u64>() >= context.span - context.span / 50
}

fn page(context: &ExperimentContext<'_>) -> u32 {
    context.inferences.number(Key::MapPageBytes).map_or(PAGE, |page| page as u32)
}

fn in_order(name: &str, block: u32, range: Range<u64>, samples: u32) -> Workload {
    let bytes = range.end - range.start;
    let place = AccessPattern::Sequential(Region::bytes(range));
    let stream = Stream::closed(Mix::Only(Op::Write), block, place, DEPTH, DataClass::Random);
    Workload { samples, ..Workload::new(name, Until::bytes(bytes), vec![stream]) }
}

fn tries<'a>(context: &ExperimentContext<'a>) -> impl Iterator<Item = &'a Segment> {
    let is_try = |segment: &&Segment| TRY_NAMES.iter().any(|name| segment.workload.name.starts_with(name));
    context.evidence.segments.iter().filter(is_try)
}

/// Bytes written, and the latency of the last I/O of each step.
fn waits(segment: &Segment) -> (Vec<f64>, Vec<f64>) {
    let mut written = 0.0;
    let step = |pair: &[likenew_core::sample::Sample]| {
        written += f64::from(pair[1].length);
        (written, pair[1].done.since(pair[0].done).0 as f64)
    };
    segment.samples.windows(2).map(step).unzip()
}

/// The pauses of the last sequential writes, if they are regular.
fn cluster(context: &ExperimentContext<'_>) -> Option<Spikes> {
    let (places, waits) = waits(tries(context).last()?);
    let page = f64::from(page(context));
    // The cluster is a whole number of pages. Shorter periods than the smallest erase block come from dies
    // that are full in turn.
    let pauses = spikes(&places, &waits, BLOCK_PAGES * page);
    pauses.filter(|cluster| cluster.error < page / 4.0)
}

/// Latencies of single writes, in nanoseconds.
struct Times {
    /// Sequential.
    follow: f64,
    /// At random over the span.
    wide: f64,
    /// At the first pages of clusters.
    heads: Option<f64>,
    /// At random within a cluster.
    narrow: Option<f64>,
}

impl Times {
    fn from_context(context: &ExperimentContext<'_>) -> Option<Self> {
        Self::with_names(context, &Names::ON_CLUSTERS)
    }

    fn with_names(context: &ExperimentContext<'_>, names: &Names) -> Option<Self> {
        let of = |name: &str| {
            let times = synced_times(context.segment(name)?);
            median(times.get(times.len().saturating_sub(LAST)..)?).filter(|time| *time > 0.0)
        };
        let (follow, wide) = (of(names.follow)?, of(names.wide)?);
        Some(Self { follow, wide, heads: of(names.heads), narrow: of(names.narrow) })
    }

    fn heads_merge(&self) -> bool {
        self.heads.is_some_and(|heads| heads > MERGE * self.follow)
    }

    fn wide_merges(&self) -> bool {
        self.wide > MERGE * self.follow
    }

    /// Time of a merge.
    fn merge(&self) -> f64 {
        let heads = self.heads.filter(|_| self.heads_merge()).unwrap_or(0.0);
        if self.wide_merges() { heads.max(self.wide) } else { heads }
    }
}

fn infer_property(times: &Times, is_full: bool) -> Property {
    let (sequential, random) = (Latency(times.follow), Latency(times.wide));
    if times.merge() == 0.0 {
        let reason = wording::nothing_merged(sequential, random, times.heads.map(Latency));
        let confidence = if is_full && times.heads.is_some() { 0.97 } else { 0.85 };
        let page = Property::word(Key::Mapping, "page", confidence, reason);
        return if is_full { page } else { page.caveat(wording::not_full_before()) };
    }
    let Some(narrow) = times.narrow else {
        return Property::undecided(Key::Mapping, wording::unlocated_merges(sequential, random));
    };
    let merge = Latency(times.merge());
    let measured = MergeTimes { sequential, random, within: Latency(narrow), merge };
    match narrow > UNMERGED_SHARE * times.merge() {
        true => Property::word(Key::Mapping, "block", 0.97, wording::every_write_merged(&measured)),
        false => Property::word(Key::Mapping, "hybrid", 0.97, wording::log_absorbs_writes(&measured)),
    }
}

fn erase_unit(cluster: &Spikes, page: f64) -> Property {
    let bytes = (cluster.period / page).round() * page;
    let margin = (2.0 * page).max(2.0 * cluster.error).max(0.006 * bytes);
    Property::number(
        Key::EraseUnitBytes,
        bytes,
        (bytes - margin, bytes + margin),
        0.97,
        wording::cluster_pauses(bytes, cluster.places.len()),
    )
}

fn places(context: &ExperimentContext<'_>, times: &Times) -> Series {
    let of = |(index, time): (usize, Option<f64>)| time.map(|time| [index as f64, time]);
    let all = [Some(times.follow), Some(times.wide), times.heads, times.narrow];
    let points = all.into_iter().enumerate().filter_map(of).collect();
    let title = wording::synced_writes_title(page(context).into());
    Series::new(title, Shape::Bars, axis("pattern", ""), axis("median", "ns"))
        .categories(["sequential", "random", "where pauses begin", "within one cluster"])
        .lines([Line::new("writes", points)])
}

fn pauses(segment: &Segment, cluster: &Spikes) -> Series {
    let (places, waits) = waits(segment);
    let shown = cluster.places[0] + 8.0 * cluster.period;
    let every = places.iter().filter(|place| **place <= shown).count().div_ceil(2048).max(1);
    // The longest of neighboring waits, so that no pause is left out.
    let points = places.chunks(every).zip(waits.chunks(every)).take_while(|(place, _)| place[0] <= shown);
    let longest = |waits: &[f64]| waits.iter().fold(0.0_f64, |longest, wait| longest.max(*wait));
    let points = points.map(|(place, waits)| [place[0], longest(waits)]).collect();
    let marks = cluster.places.iter().take(8).map(|place| Mark { x: *place, label: "erased".into() });
    Series::new(
        wording::PAUSES_IN_ORDER,
        Shape::Line,
        axis("written", "bytes"),
        axis(wording::SINCE_WRITE, "ns"),
    )
    .lines([Line::new("writes", points)])
    .marks(marks)
}
