//! Finds the family of the translation layer, and the cluster of those that map whole blocks.
//!
//! A block map has to merge a cluster when writes leave it incomplete; a page map merges nothing. So the
//! first pages of one cluster after another are written and flushed: a merge takes as long as copying a
//! cluster. Where clusters begin shows in the pauses of sequential writes, when the old block of each
//! complete cluster is erased. Random writes within one cluster then tell maps with log blocks from those
//! without.
//!
//! A block map treats each cluster alike, so some dozens of clusters that hold data show it, and it need not
//! be filled. They are looked for on the drive as it is found; on a stretch of it, if it is found empty; and
//! again once it is full. Sequential writes search for clusters only if single writes are merged.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::procedure::Ended;
use likenew_core::quantity::Latency;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::workload::{AccessPattern, SAMPLES_MAX, Workload};
use likenew_stats::stalls::{Spikes, spikes};
use likenew_stats::summary::median;

use super::experiment::{Context, Finding, Shared, Steps, bytes_written, is_of, sequential_writes};
use super::property::{Key, Property, Reason};
use super::wording;
use super::writing::{MedianComparison, reads_of_both, synced_times, synced_writes, writes_in_order};
use super::{fill, old_data};
use likenew_procedure_support::series::axis;

pub(super) const NAME: &str = "mapping";
/// Sequential writes that search for pauses: I/O length and bytes written, one attempt after the other.
const TRIES: [(u32, u64); 4] =
    [(16 << 10, 16 << 20), (64 << 10, 64 << 20), (16 << 10, 64 << 20), (64 << 10, 192 << 20)];
/// One more attempt on a full drive.
const TRY_WHEN_FULL: (u32, u64) = TRIES[TRIES.len() - 1];
/// Suffixes of the names of rounds on a stretch of an empty drive and on a full one; others have none.
const ON_STRETCH: &str = " on a stretch";
const WHEN_FULL: &str = " when full";
/// Reads of what this run wrote, and as many of what it found, that tell whether the drive is empty.
const READS_EACH: u32 = 64;
const READ: u32 = 4096;
/// Least share by which reads that skip the flash are faster. Chosen: reading flash adds more than that.
const EMPTY: f64 = 0.07;
/// The stretch of an empty drive that is written, as a share of the span, and at most in bytes. Chosen: it
/// holds more clusters than most maps have log blocks.
const STRETCH_SHARE: u64 = 16;
const STRETCH_MOST: u64 = 1 << 30;
const DEPTH: u32 = 4;
/// First pages of clusters that are written, and how many of the last of them count: logs have to be full.
const HEADS: u32 = 48;
const LAST: usize = 12;
/// Random writes within one cluster, and sequential ones.
const FEW: u32 = 16;
/// Least ratio of the latency of a merge to that of the same write in sequence. Chosen: a merge copies dozens
/// of pages.
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
/// Clusters to write before merges are searched among them: more than there are log blocks, no more than a
/// burst into the write buffer has use for, and in between this share of the span. Chosen: published maps
/// with log blocks have up to a few dozen of them.
const CLUSTERS_LEAST: u64 = 40;
const CLUSTERS_MOST: u64 = 256;
const CLUSTERS_SHARE: u64 = 16;
/// Confidence in merges of unknown clusters before the drive was full, in 0..1. Chosen: no claim.
const UNLOCATED: f64 = 0.8;
/// Bytes before the addresses that were read as found: as much as the largest cluster, so that whole clusters
/// cover them.
const BEFORE: u64 = 16 << 20;
/// Bytes of the stretch in which writes follow each other.
const FOLLOWED: u64 = 8 << 20;

/// Searches for merges.
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    context.expect_flash(WRITTEN)?;
    let page = context.number(Key::MapPageBytes).map_or(PAGE, |page| page as u32);
    let mut search = Search { page, ..Search::default() };
    let _ended = search.measure(context, steps);
    Ok(search.finding(context))
}

/// The search for merges.
#[derive(Default)]
struct Search<'a> {
    page: u32,
    /// Rounds of single writes that were begun.
    rounds: Vec<Round<'a>>,
    /// Whether the drive was found empty.
    is_empty: bool,
    /// Bytes of the stretch that the drive took.
    stretch: Option<u64>,
    /// Sequential writes that search for pauses.
    tries: Vec<&'a Segment>,
    /// The end of what was written sequentially.
    written_end: Option<u64>,
    /// The pauses of the last sequential writes, if they are regular.
    cluster: Option<Spikes>,
    /// Writes at the first pages of clusters, and at random within a cluster.
    heads: Option<&'a Segment>,
    narrow: Option<&'a Segment>,
}

/// Single writes: sequential ones, the first page of the first cluster again and again, and random ones over what holds data.
struct Round<'a> {
    name: &'static str,
    follow: &'a Segment,
    first: &'a Segment,
    wide: &'a Segment,
}

impl<'a> Search<'a> {
    /// Goes through rounds until merges are found and located.
    fn measure(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let mut has_read = false;
        loop {
            if self.rounds.last().is_some_and(|round| round.name.is_empty()) && !has_read {
                self.is_empty = self.is_found_empty(context, steps)?;
                has_read = true;
            }
            if let Some(stretch) = self.stretch_of_empty(context, steps) {
                let written = self.write_in_order(steps, "stretch", 128 << 10, 0..stretch, 0)?;
                // A stretch that a failing drive did not take holds nothing.
                self.stretch = Some(bytes_written(written));
            }
            let (name, filled) = self.ready_round(context, steps);
            if self.rounds.iter().any(|round| round.name == name) {
                return Ok(());
            }
            let round = self.write_round(steps, name, filled)?;
            self.rounds.push(round);
            if self.has_merges() {
                self.search_clusters(context, steps)?;
                if self.cluster.is_some() && self.has_merges() {
                    return Ok(());
                }
            }
        }
    }

    fn write_round(
        &self,
        steps: &mut Steps<'a>,
        name: &'static str,
        filled: u64,
    ) -> Result<Round<'a>, Ended> {
        let page = self.page;
        let start = followed_from(filled);
        let place = AccessPattern::Sequential(Region::bytes(start..start + FOLLOWED.min(filled - start)));
        let follow = steps.run(synced_writes(format!("follow{name}"), 2 * page, place, FEW))?;
        let place = AccessPattern::Sequential(Region::bytes(0..u64::from(2 * page)));
        let first = steps.run(synced_writes(format!("first{name}"), 2 * page, place, FEW))?;
        let place = AccessPattern::Random(Region::bytes(0..filled));
        let wide = steps.run(synced_writes(format!("wide{name}"), page, place, HEADS))?;
        Ok(Round { name, follow, first, wide })
    }

    /// Whether reads of what was found take less time than those of what this run wrote.
    fn is_found_empty(&self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<bool, Ended> {
        let start = followed_from(context.span);
        let areas = [old_data::window(context.span), start..start + u64::from(FEW * 2 * self.page)];
        let reads = steps.run(reads_of_both("reads", areas, READ.max(context.block()), READS_EACH))?;
        Ok(MedianComparison::in_segment(reads).is_some_and(|reads| reads.is_less(EMPTY)))
    }

    /// Bytes to write on a drive that was found empty and will be emptied before it is filled.
    fn stretch_of_empty(&self, context: &Context<'_>, steps: &Steps<'_>) -> Option<u64> {
        let bytes = (context.span / STRETCH_SHARE).min(STRETCH_MOST) / (1 << 20) * (1 << 20);
        let is_wanted =
            self.is_empty && self.stretch.is_none() && context.loses_writes() && context.is_whole();
        (is_wanted && bytes > 0 && steps.may_write(bytes)).then_some(bytes)
    }

    /// The round that the drive is ready for, and the bytes from the first address on that may hold data.
    fn ready_round(&self, context: &Context<'_>, steps: &Steps<'_>) -> (&'static str, u64) {
        // A fill that is going on must not be interrupted.
        let is_ready = is_full(context, steps.before()) && !fill::is_going_on(steps.before());
        match self.stretch.filter(|bytes| *bytes >= 1 << 20) {
            _ if is_ready => (WHEN_FULL, context.span),
            Some(bytes) => (ON_STRETCH, bytes),
            None => ("", context.span),
        }
    }

    fn has_merges(&self) -> bool {
        self.times().is_some_and(|times| times.merge() > 0.0)
    }

    fn is_round_of_full(&self) -> bool {
        self.rounds.iter().any(|round| round.name == WHEN_FULL)
    }

    /// Writes sequentially until pauses show clusters, then at their beginnings and within one of them.
    fn search_clusters(&mut self, context: &Context<'a>, steps: &mut Steps<'a>) -> Result<(), Ended> {
        let page = self.page;
        while self.cluster.is_none() {
            let tried = self.tries.len();
            let more = (tried == TRIES.len() && self.is_round_of_full()).then_some(&TRY_WHEN_FULL);
            let Some((block, bytes)) = TRIES.get(tried).or(more) else { return Ok(()) };
            let start = self.start(context);
            let bytes = (*bytes).min(context.span - start).min(context.span / 2);
            if !steps.may_write(bytes) {
                return Ok(());
            }
            let name = format!("in order {}", tried + 1);
            let area = start..start + bytes;
            let writes = self.write_in_order(steps, &name, *block, area, SAMPLES_MAX)?;
            self.tries.push(writes);
            self.cluster = find_cluster(writes, f64::from(page));
        }
        let Some(cluster) = &self.cluster else { return Ok(()) };
        let step = step(cluster, page);
        let first = self.start(context).next_multiple_of(step);
        let count = (context.span / CLUSTERS_SHARE / step).clamp(CLUSTERS_LEAST, CLUSTERS_MOST);
        let stretch = first..first + step * count.min((context.span - first) / step);
        if let Some(rest) = self.unwritten(context, &stretch)
            && steps.may_write(rest.end - rest.start)
        {
            self.write_in_order(steps, "clusters", 128 << 10, rest, 0)?;
        }
        let place = AccessPattern::Strided { region: Region::bytes(stretch), step };
        self.heads = Some(steps.run(synced_writes("heads", 2 * page, place, HEADS))?);
        let pages = (step / u64::from(page) * 7 / 8).clamp(2, 64);
        let place = AccessPattern::Random(Region::bytes(first..first + pages * u64::from(page)));
        self.narrow = Some(steps.run(synced_writes("narrow", page, place, 2 * FEW))?);
        Ok(())
    }

    fn write_in_order(
        &mut self,
        steps: &mut Steps<'a>,
        name: &str,
        block: u32,
        range: Range<u64>,
        samples: u32,
    ) -> Result<&'a Segment, Ended> {
        self.written_end = self.written_end.max(Some(range.end));
        steps.run(Workload { samples, ..sequential_writes(name, range, block, DEPTH) })
    }

    /// Where the search for clusters begins: on the stretch of an empty drive, or around the addresses that were
    /// read as they were found, so that old data can be compared with new.
    fn start(&self, context: &Context<'_>) -> u64 {
        match self.stretch {
            Some(_) => 0,
            None => old_data::window(context.span).start.saturating_sub(BEFORE) / (1 << 20) * (1 << 20),
        }
    }

    /// The part of some clusters that was not written sequentially.
    fn unwritten(&self, context: &Context<'_>, clusters: &Range<u64>) -> Option<Range<u64>> {
        let block = 128 << 10;
        let from = (self.written_end? / block * block).max(clusters.start);
        let to = clusters.end.next_multiple_of(block).min(context.span / block * block);
        (from < to).then_some(from..to)
    }

    /// Latencies of the last round.
    fn times(&self) -> Option<Times> {
        let time = |segment: &Segment| {
            let times = synced_times(segment);
            median(times.get(times.len().saturating_sub(LAST)..)?).filter(|time| *time > 0.0)
        };
        let Round { follow, first, wide, .. } = self.rounds.last()?;
        Some(Times {
            follow: time(follow)?,
            first: time(first)?,
            wide: time(wide)?,
            heads: self.heads.and_then(time),
            narrow: self.narrow.and_then(time),
        })
    }

    fn finding(self, context: &Context<'_>) -> Finding {
        let Some(times) = self.times() else { return Finding::default() };
        let is_full_round = self.is_round_of_full();
        // Collection on a page map may look like merges, but not of clusters.
        let is_sure = is_full_round || times.merge() == 0.0 || self.cluster.is_some();
        let mapping = infer_property(&times, is_full_round);
        let mapping = if is_sure { mapping } else { mapping.at_most(UNLOCATED) };
        let is_known = mapping.is_known();
        let mut pictures = vec![("writes_in_places", places(self.page, &times))];
        let mut properties = vec![mapping];
        if let Some(cluster) = self.cluster.as_ref().filter(|_| is_known && times.merge() > 0.0) {
            properties.push(erase_unit(cluster, f64::from(self.page)));
            pictures.extend(self.tries.last().map(|last| ("pauses_in_order", pauses(last, cluster))));
        }
        let clusters = if is_full(context, &context.evidence.segments) {
            Some(0..context.span)
        } else {
            self.written_end.map(|end| self.start(context)..end)
        };
        Finding { properties, pictures, shared: Shared { clusters, ..Shared::default() } }
    }
}

/// Where sequential single writes begin: in the middle of what holds data.
fn followed_from(filled: u64) -> u64 {
    filled / 2 / (1 << 20) * (1 << 20)
}

fn step(cluster: &Spikes, page: u32) -> u64 {
    (cluster.period / f64::from(page)).round() as u64 * u64::from(page)
}

/// Clusters that hold data: their first address, the length of one and how many.
pub(super) fn clusters(context: &Context<'_>) -> Option<(u64, u64, u64)> {
    let unit = context.number(Key::EraseUnitBytes)?;
    let page = context.number(Key::MapPageBytes).unwrap_or(f64::from(PAGE)) as u64;
    let step = ((unit / page as f64).round() as u64 * page).max(1);
    let area = context.shared.clusters.clone()?;
    let first = area.start.next_multiple_of(step);
    Some((first, step, area.end.checked_sub(first)? / step))
}

/// Whether other tests of this run wrote the whole span sequentially.
fn is_full(context: &Context<'_>, segments: &[Segment]) -> bool {
    let in_order = segments.iter().filter(|segment| !is_of(NAME, segment) && writes_in_order(segment));
    in_order.map(bytes_written).sum::<u64>() >= context.span - context.span / 50
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
fn find_cluster(writes: &Segment, page: f64) -> Option<Spikes> {
    let (places, waits) = waits(writes);
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
    /// The longest of those that take as long as a merge; zero if none does.
    fn merge(&self) -> f64 {
        let times = [Some(self.first), Some(self.wide), self.heads];
        let merges = times.into_iter().flatten().filter(|time| *time > MERGE * self.follow);
        merges.fold(0.0, f64::max)
    }
}

fn infer_property(times: &Times, is_full: bool) -> Property {
    let (sequential, random) = (Latency(times.follow), Latency(times.wide));
    if times.merge() == 0.0 {
        let reason = wording::nothing_merged(sequential, Latency(times.first), random);
        let confidence = if is_full { 0.97 } else { 0.85 };
        let page = Property::word(Key::Mapping, "page", confidence, reason);
        return if is_full { page } else { page.caveat(wording::NOT_FULL_BEFORE) };
    }
    let Some(narrow) = times.narrow else {
        return Property::undecided(Key::Mapping, wording::unlocated_merges(sequential, random));
    };
    let reason = wording::merges(sequential, random, Latency(narrow), Latency(times.merge()));
    if narrow > UNMERGED_SHARE * times.merge() {
        Property::word(Key::Mapping, "block", 0.97, reason.how(wording::EVERY_WRITE_MERGED))
    } else {
        Property::word(Key::Mapping, "hybrid", 0.97, reason)
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

fn places(page: u32, times: &Times) -> Series {
    let to_point = |(index, time): (usize, Option<f64>)| time.map(|time| [index as f64, time]);
    let medians = [Some(times.follow), Some(times.first), Some(times.wide), times.heads, times.narrow];
    let points = medians.into_iter().enumerate().filter_map(to_point).collect();
    let title = wording::synced_writes_title(page.into());
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
