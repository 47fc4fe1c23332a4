//! What the data lies on, by how long single random reads take and what that depends on.
//!
//! An arm takes longer for a longer way, and a disk whose tracks overlap is slow to read in order what was overwritten
//! in pieces. A network answers each read after a time of its own, or when its turn has come. Flash does neither.

mod nature;
mod pieces;

use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_core::workload::{Arrivals, Pace, Stream, Workload};

use super::finding::Finding;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::{Scene, latencies, random_reads};
use crate::series::axis;
use nature::Nature;
use pieces::Pieces;

const READS: u32 = 1024;
const TIME: Nanos = Nanos::from_secs(30);
const NAME: &str = "medium";
const EVERYWHERE: &str = "random reads";
const UNHURRIED: &str = "unhurried reads";
/// So many reads that leave at a rate of a fifth of what the drive has shown.
const UNHURRIED_READS: u32 = 256;
const UNHURRIED_SHARE: f64 = 0.2;

/// Reads small blocks all over the drive, one after the other; of a disk it overwrites a few blocks, to see whether they stay
/// where they were.
pub(super) struct MediumProbe;

impl Probe for MediumProbe {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        let stream = random_reads(0..scene.span, scene.block().max(4096), 1);
        let Some(reads) = scene.ran(EVERYWHERE) else {
            let until = Until { elapsed: Some(TIME), ..Until::ops(u64::from(READS)) };
            return Some(Workload { samples: READS, ..Workload::new(EVERYWHERE, until, vec![stream]) });
        };
        match Nature::of(reads, scene)? {
            Nature::Arm { .. } => Pieces::next(scene),
            Nature::Steady { .. } => {
                let usual_ns = nature::paced_ns(scene)?;
                // One place: other places may lie on flash of another age, or nowhere.
                let one = random_reads(0..u64::from(scene.block().max(4096)), scene.block().max(4096), 1);
                let per_second = UNHURRIED_SHARE * 1e9 / usual_ns;
                let pace = Pace::Open { per_second, arrivals: Arrivals::Even, depth_max: 1 };
                let until = Until { elapsed: Some(TIME), ..Until::ops(u64::from(UNHURRIED_READS)) };
                let workload = Workload::new(UNHURRIED, until, vec![Stream { pace, ..one }]);
                scene.ran(UNHURRIED).is_none().then_some(Workload { samples: UNHURRIED_READS, ..workload })
            }
            Nature::Network { .. } => None,
        }
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        let Some(reads) = scene.ran(EVERYWHERE) else { return Finding::default() };
        let Some(nature) = Nature::of(reads, scene) else { return Finding::default() };
        let nature = nature.unhurried(scene, scene.ran(UNHURRIED));
        let pieces = Pieces::seen(scene);
        let property = match &nature {
            Nature::Arm { because, .. } => disk(because, pieces.as_ref()),
            Nature::Network { because } => {
                Property::word(Key::Medium, "virtual", confidence(scene, 0.98), because.clone())
            }
            Nature::Steady { usual_ns } => Property::word(
                Key::Medium,
                "flash",
                confidence(scene, 0.98),
                format!(
                    "random reads take {} in the middle wherever they go, one like the other",
                    Nanos(*usual_ns as u64)
                ),
            ),
        };
        let mut finding = Finding::of(property, Some(("reads_by_distance", picture(reads))));
        finding.pictures.extend(pieces.map(|pieces| ("reads_in_order", pieces.picture())));
        finding
    }
}

/// Random reads one after the other over all that is looked at, as any probe may need them; `None` where they were not run.
pub(super) fn reads_alone<'a>(scene: &Scene<'a>) -> Option<&'a Segment> {
    scene.anyone_ran(&format!("{NAME}: {EVERYWHERE}"))
}

/// What is not quite steady is not quite certain.
fn confidence(scene: &Scene<'_>, quiet: f64) -> f64 {
    if scene.is_busy() { quiet.min(0.85) } else { quiet }
}

fn disk(arm: &str, pieces: Option<&Pieces>) -> Property {
    let word = |word, confidence, because: String| Property::word(Key::Medium, word, confidence, because);
    match pieces {
        None => word("disk", 0.85, arm.to_owned())
            .caveat("whether its tracks overlap like shingles shows only by overwriting some"),
        Some(pieces) if pieces.moved() => word("shingled disk", 0.99, format!("{arm}; {}", pieces.because())),
        Some(pieces) if pieces.stayed() => word("disk", 0.99, format!("{arm}; {}", pieces.because())),
        Some(pieces) => Property::undecided(Key::Medium, format!("{arm}; {}", pieces.because())),
    }
}

/// `[distance in bytes, latency in ns]` of each read but the first.
fn by_distance(reads: &Segment) -> Vec<[f64; 2]> {
    let ways = reads.samples.windows(2).map(|pair| pair[1].offset.abs_diff(pair[0].offset) as f64);
    ways.zip(latencies(reads).into_iter().skip(1)).map(|(way, latency)| [way, latency]).collect()
}

fn picture(reads: &Segment) -> Series {
    let title = "How long does a random read take, by its distance from the one before?";
    Series::new(title, Shape::Scatter, axis("distance", "bytes"), axis("latency", "ns"))
        .lines([Line::new("reads", by_distance(reads))])
}
