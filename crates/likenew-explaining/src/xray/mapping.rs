//! The family of the translation layer, and the cluster of those that map whole blocks.
//!
//! A block map has to merge a cluster when writes leave it incomplete; a page map merges nothing. So the
//! first pages of one cluster after another are written and flushed: a merge takes as long as copying a
//! cluster. Where clusters begin shows in the pauses of sequential writes, when the old block of each
//! complete cluster is erased. Random writes within one cluster then tell maps with log blocks from those
//! without.
//!
//! A block map treats each cluster alike, so some dozens of clusters that hold data show it, and it need not
//! be filled. They are looked for on the drive as it is found; on a stretch of it, if it is found empty; and
//! again once it is full. Only where single writes are merged, sequential writes search for clusters.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::quantity::Latency;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, Mix, SAMPLES_MAX, Stream, Until, Workload};
use likenew_stats::stalls::{Spikes, spikes};
use likenew_stats::summary::median;

use super::comparison::{MedianComparison, reads_of_both};
use super::experiment::{Experiment, ExperimentContext, Finding, bytes_written};
use super::property::{Key, Property};
use super::wording::{self, MergeTimes};
use super::writing::{synced_times, synced_writes};
use super::{fill, old_data};
use likenew_procedure_support::series::axis;

const NAME: &str = "mapping";
/// Sequential writes that search for pauses: I/O length and bytes written, one attempt after the other.
const TRIES: [(u32, u64); 4] =
    [(16 << 10, 16 << 20), (64 << 10, 64 << 20), (16 << 10, 64 << 20), (64 << 10, 192 << 20)];
/// One more of them on a full drive.
const TRY_WHEN_FULL: (u32, u64) = TRIES[TRIES.len() - 1];
/// Rounds of single writes: as found, on a stretch of an empty drive, and when it is full.
const ROUNDS: [&str; 3] = ["", ON_STRETCH, WHEN_FULL];
const ON_STRETCH: &str = " on a stretch";
const WHEN_FULL: &str = " when full";
/// Reads that tell whether the drive is empty, of what this run wrote and of what it found.
const READS: &str = "reads";
const READS_EACH: u32 = 64;
const READ: u32 = 4096;
/// Share by which reads that skip the flash are faster, at least. Chosen: reading flash adds more than that.
const EMPTY: f64 = 0.07;
/// The stretch of an empty drive that is written, as a share of the span, and at most in bytes. Chosen: it
/// holds more clusters than most maps have log blocks.
const STRETCH: &str = "stretch";
const STRETCH_SHARE: u64 = 16;
const STRETCH_MOST: u64 = 1 << 30;
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
/// Name of the sequential writes that search for pauses, and of those that complete the clusters.
const TRY: &str = "in order ";
const CLUSTERS: &str = "clusters";
/// Bytes before the addresses that were read as found: as much as the largest cluster, so that whole clusters
/// cover them.
const BEFORE: u64 = 16 << 20;
/// Bytes of the stretch in which writes follow each other.
const FOLLOWED: u64 = 8 << 20;

/// Searches for merges.
pub(super) struct MappingExperiment;

impl Experiment for MappingExperiment {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        if refusal(context).is_some() {
            return None;
        }
        let merges = Times::of_last(context).is_some_and(|times| times.merge() > 0.0);
        let search = || if merges { clusters_workload(context) } else { None };
        search().or_else(|| round_workload(context))
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        if let Some(property) = refusal(context) {
            return Finding::single(property, None);
        }
        let Some(times) = Times::of_last(context) else { return Finding::default() };
        let cluster = cluster(context);
        let is_full = context.segment(&format!("wide{WHEN_FULL}")).is_some();
        // Collection on a page map may look like merges, but not of clusters.
        let is_sure = is_full || times.merge() == 0.0 || cluster.is_some();
        let mapping = infer_property(&times, is_full);
        let mapping = if is_sure { mapping } else { mapping.at_most(UNLOCATED) };
        let is_known = mapping.is_known();
        let mut pictures = vec![("writes_in_places", places(context, &times))];
        let mut properties = vec![mapping];
        if let Some(cluster) = cluster.filter(|_| is_known && times.merge() > 0.0) {
            properties.push(erase_unit(&cluster, f64::from(page(context))));
            let last = tries(context).last();
            pictures.extend(last.map(|segment| ("pauses_in_order", pauses(segment, &cluster))));
        }
        Finding { properties, pictures, ..Finding::default() }
    }
}

/// The next single writes of a round: sequential ones, the first page of the first cluster again and again,
/// and random ones over what holds data.
fn round_workload(context: &ExperimentContext<'_>) -> Option<Workload> {
    if is_located(context) {
        return None;
    }
    if context.segment("wide").is_some() && context.segment(READS).is_none() {
        let found = old_data::window(context.span);
        let start = followed_from(context.span);
        let written = start..start + u64::from(FEW * 2 * page(context));
        return Some(reads_of_both(READS, [found, written], READ.max(context.block()), READS_EACH));
    }
    if let Some(stretch) = stretch_of_empty(context).filter(|_| context.segment(STRETCH).is_none()) {
        return Some(in_order(STRETCH, 128 << 10, 0..stretch, 0));
    }
    let (round, filled) = round(context);
    let page = page(context);
    let (follow, first, wide) = (format!("follow{round}"), format!("first{round}"), format!("wide{round}"));
    if context.segment(&follow).is_none() {
        let start = followed_from(filled);
        let place = AccessPattern::Sequential(Region::bytes(start..start + FOLLOWED.min(filled - start)));
        return Some(synced_writes(follow, 2 * page, place, FEW));
    }
    if context.segment(&first).is_none() {
        let place = AccessPattern::Sequential(Region::bytes(0..u64::from(2 * page)));
        return Some(synced_writes(first, 2 * page, place, FEW));
    }
    let place = AccessPattern::Random(Region::bytes(0..filled));
    context.segment(&wide).is_none().then(|| synced_writes(wide, page, place, HEADS))
}

/// Where sequential single writes begin: in the middle of what holds data.
fn followed_from(filled: u64) -> u64 {
    filled / 2 / (1 << 20) * (1 << 20)
}

/// Bytes to write on a drive that was found empty and will be emptied before it is filled.
fn stretch_of_empty(context: &ExperimentContext<'_>) -> Option<u64> {
    let reads = MedianComparison::in_segment(context.segment(READS)?)?;
    let bytes = (context.span / STRETCH_SHARE).min(STRETCH_MOST) / (1 << 20) * (1 << 20);
    let is_wanted = reads.is_less(EMPTY) && context.loses_writes() && context.is_whole();
    (is_wanted && bytes > 0 && context.may_write(bytes)).then_some(bytes)
}

/// Whether merges were found, and what they merge.
fn is_located(context: &ExperimentContext<'_>) -> bool {
    Times::of_last(context).is_some_and(|times| times.merge() > 0.0) && cluster(context).is_some()
}

/// The round that the drive is ready for, and the bytes from the first address on that may hold data.
fn round(context: &ExperimentContext<'_>) -> (&'static str, u64) {
    // A fill that is going on must not be interrupted.
    let is_filling = !fill::pieces(context).is_empty() && !fill::is_filled_whole(context);
    // One that a failing drive did not take holds nothing.
    let stretch = context.segment(STRETCH).map(bytes_written).filter(|bytes| *bytes >= 1 << 20);
    match stretch {
        _ if is_full(context) && !is_filling => (WHEN_FULL, context.span),
        Some(bytes) => (ON_STRETCH, bytes),
        None => ("", context.span),
    }
}

/// The next workload of the search for clusters, once single writes were merged.
fn clusters_workload(context: &ExperimentContext<'_>) -> Option<Workload> {
    let page = page(context);
    let attempts = tries(context).count();
    let Some(cluster) = cluster(context) else {
        let attempt = match context.segment(&format!("wide{WHEN_FULL}")) {
            Some(_) if attempts == TRIES.len() => Some(&TRY_WHEN_FULL),
            _ => TRIES.get(attempts),
        };
        let (block, bytes) = *attempt?;
        let start = start(context);
        let bytes = bytes.min(context.span - start).min(context.span / 2);
        let name = format!("{TRY}{}", attempts + 1);
        return context.may_write(bytes).then(|| in_order(&name, block, start..start + bytes, SAMPLES_MAX));
    };
    let step = step(&cluster, page);
    let first = start(context).next_multiple_of(step);
    let count = (context.span / CLUSTERS_SHARE / step).clamp(CLUSTERS_LEAST, CLUSTERS_MOST);
    let stretch = first..first + step * count.min((context.span - first) / step);
    if let Some(rest) = unwritten(context, &stretch)
        && context.segment(CLUSTERS).is_none()
        && context.may_write(rest.end - rest.start)
    {
        return Some(in_order(CLUSTERS, 128 << 10, rest, 0));
    }
    if context.segment("heads").is_none() {
        let place = AccessPattern::Strided { region: Region::bytes(stretch), step };
        return Some(synced_writes("heads", 2 * page, place, HEADS));
    }
    let pages = (step / u64::from(page) * 7 / 8).clamp(2, 64);
    let place = AccessPattern::Random(Region::bytes(first..first + pages * u64::from(page)));
    context.segment("narrow").is_none().then(|| synced_writes("narrow", page, place, 2 * FEW))
}

/// Where the search for clusters begins: on the stretch of an empty drive, or around the addresses that were
/// read as they were found, so that old data can be compared with new.
fn start(context: &ExperimentContext<'_>) -> u64 {
    match context.segment_of_any(&format!("{NAME}: {STRETCH}")) {
        Some(_) => 0,
        None => old_data::window(context.span).start.saturating_sub(BEFORE) / (1 << 20) * (1 << 20),
    }
}

fn step(cluster: &Spikes, page: u32) -> u64 {
    (cluster.period / f64::from(page)).round() as u64 * u64::from(page)
}

/// The part of some clusters that was not written sequentially.
fn unwritten(context: &ExperimentContext<'_>, clusters: &Range<u64>) -> Option<Range<u64>> {
    let block = 128 << 10;
    let from = (written_end(context)? / block * block).max(clusters.start);
    let to = clusters.end.next_multiple_of(block).min(context.span / block * block);
    (from < to).then_some(from..to)
}

/// The end of what this test wrote sequentially.
fn written_end(context: &ExperimentContext<'_>) -> Option<u64> {
    let is_written = |segment: &&Segment| {
        let name = segment.workload.name.strip_prefix(NAME).and_then(|name| name.strip_prefix(": "));
        name.is_some_and(|name| name.starts_with(TRY) || [STRETCH, CLUSTERS].contains(&name))
    };
    let end = |segment: &Segment| {
        let region = segment.workload.streams.first()?.pattern.region();
        let region = region.resolve(context.evidence.geometry.capacity, context.block()).ok()?;
        Some(region.end)
    };
    context.evidence.segments.iter().filter(is_written).filter_map(end).max()
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
    let end = written_end(context)?;
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

/// Whether other tests of this run wrote the whole span sequentially.
fn is_full(context: &ExperimentContext<'_>) -> bool {
    let others = context.evidence.segments.iter().filter(|segment| !is_own(segment));
    let in_order = others.filter(|segment| {
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

fn is_own(segment: &Segment) -> bool {
    segment.workload.name.strip_prefix(NAME).is_some_and(|rest| rest.starts_with(": "))
}

fn is_try(segment: &Segment) -> bool {
    segment.workload.name.strip_prefix(NAME).is_some_and(|name| name.starts_with(": in order "))
}

fn tries<'a>(context: &ExperimentContext<'a>) -> impl Iterator<Item = &'a Segment> + use<'a> {
    context.evidence.segments.iter().filter(|segment| is_try(segment))
}

/// Bytes written, and the latency of the last I/O of each step.
fn waits(segment: &Segment) -> (Vec<f64>, Vec<f64>) {
    let mut written = 0.0;
    let step = |pair: &[likenew_core::io::Sample]| {
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
    /// At the first page of the first cluster, again and again.
    first: f64,
    /// At random over what holds data.
    wide: f64,
    /// At the first pages of clusters.
    heads: Option<f64>,
    /// At random within a cluster.
    narrow: Option<f64>,
}

impl Times {
    /// Of the last round that is complete.
    fn of_last(context: &ExperimentContext<'_>) -> Option<Self> {
        let of = |name: &str| {
            let times = synced_times(context.segment(name)?);
            median(times.get(times.len().saturating_sub(LAST)..)?).filter(|time| *time > 0.0)
        };
        let round = ROUNDS.iter().rfind(|round| context.segment(&format!("wide{round}")).is_some())?;
        let in_round = |name: &str| of(&format!("{name}{round}"));
        Some(Self {
            follow: in_round("follow")?,
            first: in_round("first")?,
            wide: in_round("wide")?,
            heads: of("heads"),
            narrow: of("narrow"),
        })
    }

    /// The longest of those that take as long as a merge; zero if none does.
    fn merge(&self) -> f64 {
        let all = [Some(self.first), Some(self.wide), self.heads];
        let merges = all.into_iter().flatten().filter(|time| *time > MERGE * self.follow);
        merges.fold(0.0, f64::max)
    }
}

fn infer_property(times: &Times, is_full: bool) -> Property {
    let (sequential, random) = (Latency(times.follow), Latency(times.wide));
    if times.merge() == 0.0 {
        let reason = wording::nothing_merged(sequential, Latency(times.first), random);
        let confidence = if is_full { 0.97 } else { 0.85 };
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
    let all = [Some(times.follow), Some(times.first), Some(times.wide), times.heads, times.narrow];
    let points = all.into_iter().enumerate().filter_map(of).collect();
    let title = wording::synced_writes_title(page(context).into());
    Series::new(title, Shape::Bars, axis("pattern", ""), axis("median", "ns"))
        .categories(["sequential", "first address", "random", "where pauses begin", "within one cluster"])
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
