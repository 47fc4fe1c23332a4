//! How many dies serve reads at once, and what lies together on one: two readers, of which one stays on a single page and
//! keeps its die busy, while the other reads all over data that was written in order.
//!
//! The second reader waits where it meets the die of the first, and nowhere else: so the places where it is slow are
//! those of one die. They come back with the period of the stripe over all dies, and are as long as what lies together
//! on one (after Chen, Lee and Zhang, "Essential roles of exploiting internal parallelism of flash memory based solid
//! state drives in high-speed data processing", HPCA 2011). A link, a channel or firmware that is the bottleneck makes
//! the second reader wait everywhere, and shows nothing.

mod conflicts;

use std::ops::Range;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_core::workload::{Pace, Stream, Workload};
use likenew_stats::summary::{median, quantile};

use super::finding::Finding;
use super::ground::written_in_order;
use super::medium::reads_alone;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::{Scene, latencies, random_reads};
use crate::series::axis;
use conflicts::{Conflicts, PINNED_DEPTH, Pattern};

/// An area of addresses that is read, the grain of its places, and how many reads of both readers that takes.
struct Stage {
    bytes: u64,
    grain: u64,
    reads: u32,
}

/// From the least that has to be written to what the widest stripes need.
const STAGES: [Stage; 4] = [
    Stage { bytes: 4 << 20, grain: 4 << 10, reads: 32_768 },
    Stage { bytes: 16 << 20, grain: 4 << 10, reads: 65_536 },
    Stage { bytes: 64 << 20, grain: 16 << 10, reads: 65_536 },
    Stage { bytes: 256 << 20, grain: 64 << 10, reads: 65_536 },
];
const ALONE: &str = "alone";
const DEEP: &str = "32 in flight";
const ALONE_READS: u32 = 256;
const DEEP_READS: u64 = 2048;
/// An area is at most this share of all addresses, and smaller where nobody else has written it.
const SHARE_MAX: u64 = 4;
const WRITE_MAX: u64 = 64 << 20;
const WRITE_SHARE: u64 = 32;
const EVERYWHERE: &str = "two readers over all";
const EVERYWHERE_READS: u32 = 65_536;
/// Reads all over the drive that differ by less than this share of their median lie on flash of one kind and age.
const EVEN: f64 = 0.25;

/// Two readers that meet on one die.
pub(super) struct Parallelism;

impl Probe for Parallelism {
    fn name(&self) -> &'static str {
        "parallelism"
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        if scene.known.word(Key::Medium).is_some_and(|medium| medium != "flash") {
            return None;
        }
        for stage in usable(scene) {
            if let Some(walk) = scene.ran(&walk_name(stage.bytes)) {
                match Conflicts::of(walk, alone_ns(scene)).map(|conflicts| conflicts.pattern()) {
                    None | Some(Pattern::Unclear { .. }) => continue,
                    Some(_) => return deep(scene, walk),
                }
            }
            let name = write_name(stage.bytes);
            let Some(area) = area(scene, stage.bytes) else {
                // What is there was not written in order, or who knows how.
                let start = scene.span / 2 - scene.span / 2 % stage.bytes;
                let is_little = stage.bytes <= WRITE_MAX.min(scene.span / WRITE_SHARE);
                let may = is_little && scene.may_write(stage.bytes);
                if may && scene.ran(&name).is_none() {
                    return Some(writing(name, start..start + stage.bytes));
                }
                break;
            };
            if scene.ran(ALONE).is_none() {
                let until = Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(ALONE_READS.into()) };
                let stream = random_reads(area, scene.block(), 1);
                return Some(Workload { samples: ALONE_READS, ..Workload::new(ALONE, until, vec![stream]) });
            }
            return Some(walking(scene, stage, area));
        }
        // Without a period the share of places tells as much.
        if scene.ran(EVERYWHERE).is_none() && is_even(scene) {
            return Some(walking_everywhere(scene));
        }
        let last = usable(scene).filter_map(|stage| scene.ran(&walk_name(stage.bytes))).last()?;
        deep(scene, last)
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        let alone_ns = alone_ns(scene);
        let walks = STAGES.iter().filter_map(|stage| scene.ran(&walk_name(stage.bytes)));
        let seen: Vec<Conflicts> = walks.filter_map(|walk| Conflicts::of(walk, alone_ns)).collect();
        let is_clear = |conflicts: &&Conflicts| matches!(conflicts.pattern(), Pattern::Clear { .. });
        let Some(best) = seen.iter().find(is_clear).or(seen.last()) else { return Finding::default() };
        let everywhere = scene.ran(EVERYWHERE).and_then(|walk| Conflicts::of(walk, usual_ns(scene)?));
        let by_share = everywhere.filter(|_| matches!(best.pattern(), Pattern::Unclear { .. }));
        let by_share = by_share.map(|conflicts| conflicts.by_share());
        let by_share = by_share.filter(|pattern| matches!(pattern, Pattern::Clear { .. }));
        let pattern = by_share.unwrap_or_else(|| best.pattern());
        let busy = scene.is_busy();
        let [dies, stripe] = properties(&pattern, busy, &at_once(scene, alone_ns));
        let picture = ("conflicts_by_place", picture(best));
        Finding { properties: vec![dies, stripe], pictures: vec![picture], ..Finding::default() }
    }
}

fn walk_name(bytes: u64) -> String {
    format!("two readers over {}", likenew_core::units::amount(bytes))
}

fn write_name(bytes: u64) -> String {
    format!("write {} in order", likenew_core::units::amount(bytes))
}

/// A map that is not at hand for all of an area is read from dies, too, which looks like meeting them.
fn usable(scene: &Scene<'_>) -> impl Iterator<Item = &'static Stage> + use<> {
    let covered = scene.known.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let most = scene.span / SHARE_MAX;
    STAGES.iter().filter(move |stage| stage.bytes <= most && stage.bytes as f64 <= covered)
}

/// Where so much was written in order; beyond the part that a pseudo-SLC cache may hold in other stripes.
fn area(scene: &Scene<'_>, bytes: u64) -> Option<Range<u64>> {
    let ground = written_in_order(scene)?;
    let room = (ground.end - ground.start).checked_sub(bytes)?;
    let start = ground.start + room / 5 * 3;
    let start = start - (start - ground.start) % (1 << 20);
    Some(start..start + bytes)
}

fn writing(name: String, range: Range<u64>) -> Workload {
    let bytes = range.end - range.start;
    let place = Place::Forward(Region::bytes(range));
    let stream = Stream::closed(Mix::Only(Op::Write), 1 << 17, place, 1, DataClass::Random);
    Workload { flush: true, ..Workload::new(name, Until::bytes(bytes), vec![stream]) }
}

fn walking(scene: &Scene<'_>, stage: &Stage, area: Range<u64>) -> Workload {
    let block = scene.block();
    let pinned = random_reads(area.start..area.start + u64::from(block), block, PINNED_DEPTH);
    let place = Place::Scattered { region: Region::bytes(area), align: stage.grain.max(block.into()) };
    let other = Stream { place, pace: Pace::Closed { depth: 1 }, ..pinned.clone() };
    let until = Until { elapsed: Some(Nanos::from_secs(60)), ..Until::ops(stage.reads.into()) };
    let workload = Workload::new(walk_name(stage.bytes), until, vec![pinned, other]);
    Workload { samples: stage.reads, ..workload }
}

/// Over all addresses whose map is at hand, whatever has put them where they are.
fn walking_everywhere(scene: &Scene<'_>) -> Workload {
    let covered = scene.known.number(Key::MapCacheBytes).unwrap_or(f64::INFINITY);
    let end = scene.span.min(covered as u64);
    let grain = 4096.max(scene.block());
    let stage = Stage { bytes: end, grain: grain.into(), reads: EVERYWHERE_READS };
    Workload { name: EVERYWHERE.into(), ..walking(scene, &stage, 0..end - end % u64::from(grain)) }
}

/// How long random reads all over the drive took.
fn usual_ns(scene: &Scene<'_>) -> Option<f64> {
    median(&latencies(reads_alone(scene)?))
}

/// Whether those lie on flash of one kind and age, and on flash at all: what touches none meets nobody.
fn is_even(scene: &Scene<'_>) -> bool {
    if usual_ns(scene).is_none_or(|usual_ns| usual_ns < (1.0 - EVEN) * alone_ns(scene)) {
        return false;
    }
    let reads = reads_alone(scene).map(latencies).unwrap_or_default();
    let (low, high) = (quantile(&reads, 0.05), quantile(&reads, 0.95));
    low.zip(high).is_some_and(|(low, high)| low > 0.0 && high < (1.0 + EVEN) * low)
}

/// How much faster reads are side by side: what is left to say where dies do not show.
fn deep(scene: &Scene<'_>, walk: &Segment) -> Option<Workload> {
    let region = walk.workload.streams.get(1)?.place.region();
    let range = region.resolve(scene.evidence.geometry.capacity, scene.block()).ok()?;
    let stream = random_reads(range, scene.block(), 32);
    let until = Until { elapsed: Some(Nanos::from_secs(10)), ..Until::ops(DEEP_READS) };
    scene.ran(DEEP).is_none().then(|| Workload::new(DEEP, until, vec![stream]))
}

/// Reads right after a write may have waited for what it has left to do: the fastest tenth has not.
fn alone_ns(scene: &Scene<'_>) -> f64 {
    scene.ran(ALONE).and_then(|alone| quantile(&latencies(alone), 0.1)).unwrap_or(0.0)
}

fn at_once(scene: &Scene<'_>, alone_ns: f64) -> String {
    match scene.ran(DEEP).and_then(Segment::iops) {
        Some(rate) if alone_ns > 0.0 => {
            format!("; 32 in flight are read {:.1} times as fast as one", rate * alone_ns / 1e9)
        }
        _ => String::new(),
    }
}

fn properties(pattern: &Pattern, busy: bool, at_once: &str) -> [Property; 2] {
    let undecided = |because: String| {
        [Key::Parallelism, Key::StripeBytes]
            .map(|key| Property::undecided(key, format!("{because}{at_once}")))
    };
    match pattern {
        Pattern::Nowhere => undecided("a reader never waits for another one that stays on one page".into()),
        Pattern::Everywhere => undecided(
            "a reader waits for another one wherever it reads: link or firmware take one command at a time for longer than a die reads, or there is a single die".into(),
        ),
        Pattern::Unclear { share } => undecided(format!(
            "a reader waits for another one that stays on one page at {:.1} % of all places, without a clear period",
            share * 100.0
        )),
        Pattern::Clear { share, dies, stripe } => {
            let because = format!(
                "a reader waits for another one that stays on one page at {:.1} % of all places{at_once}",
                share * 100.0
            );
            let confidence = if busy { 0.8 } else { 0.95 };
            let number = |key, (value, low, high)| {
                Property::number(key, value, (low, high), confidence, because.clone())
            };
            let no_period = || Property::undecided(Key::StripeBytes, format!("{because}, without a period"));
            let stripe = stripe.map_or_else(no_period, |stripe| number(Key::StripeBytes, stripe));
            [number(Key::Parallelism, *dies), stripe]
        }
    }
}

fn picture(conflicts: &Conflicts) -> Series {
    let title = "How long does a read take by its place, while another reader stays on one page?";
    Series::new(title, Shape::Scatter, axis("place", "bytes"), axis("latency", "ns"))
        .lines([Line::new("reads", conflicts.points())])
}
