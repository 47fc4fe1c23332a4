//! What the data lies on, by how long single random reads take and how that depends on the way to them.

use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::verdict::{Line, Series, Shape};
use likenew_core::workload::Workload;
use likenew_stats::rank_correlation::rank_correlation;
use likenew_stats::summary::{median, quantile};

use super::finding::Finding;
use super::probe::Probe;
use super::property::{Key, Property};
use super::scene::{Scene, random_reads};
use crate::series::axis;

const READS: u32 = 1024;
const TIME: Nanos = Nanos::from_secs(30);
/// An arm takes longer for a longer way: below this rank correlation the way explains next to nothing.
const MATTERS: f64 = 0.2;
/// Nothing that turns reads at random faster than this: a fifth of the half turn of 15 000 rpm.
const ARM_NS_LEAST: f64 = 400_000.0;

/// Reads small blocks all over the drive, one after the other.
pub(super) struct MediumProbe;

impl Probe for MediumProbe {
    fn name(&self) -> &'static str {
        "medium"
    }

    fn next(&self, scene: &Scene<'_>) -> Option<Workload> {
        let stream = random_reads(0..scene.span, scene.block().max(4096), 1);
        let until = Until { elapsed: Some(TIME), ..Until::ops(u64::from(READS)) };
        let workload = Workload { samples: READS, ..Workload::new("random reads", until, vec![stream]) };
        scene.own.is_empty().then_some(workload)
    }

    fn find(&self, scene: &Scene<'_>) -> Finding {
        let Some(reads) = scene.ran("random reads").filter(|reads| reads.samples.len() > 32) else {
            return Finding::default();
        };
        Finding::of(medium(reads), Some(("reads_by_distance", picture(reads))))
    }
}

/// `[distance in bytes, latency in ns]` of each read but the first.
fn by_distance(reads: &Segment) -> Vec<[f64; 2]> {
    let pairs = reads.samples.windows(2);
    pairs.map(|pair| [pair[1].offset.abs_diff(pair[0].offset) as f64, pair[1].latency().0 as f64]).collect()
}

fn medium(reads: &Segment) -> Property {
    let points = by_distance(reads);
    let (distances, latencies): (Vec<f64>, Vec<f64>) = points.iter().map(|[x, y]| (*x, *y)).unzip();
    let usual = median(&latencies).expect("there are more than 32");
    let spread = quantile(&latencies, 0.9).zip(quantile(&latencies, 0.1));
    let spread = spread.map_or(0.0, |(high, low)| high - low);
    let way = rank_correlation(&distances, &latencies);
    let told = format!(
        "random reads take {} in the middle; the middle 80 % of them lie {} apart",
        Nanos(usual as u64),
        Nanos(spread as u64)
    );
    match way {
        Some(way) if usual > ARM_NS_LEAST && way.interval.low > MATTERS => Property::word(
            Key::Medium,
            "disk",
            0.99,
            format!("{told}, and longer ways take longer (rank correlation {:.2})", way.value),
        ),
        _ => Property::undecided(Key::Medium, told),
    }
}

fn picture(reads: &Segment) -> Series {
    let title = "How long does a random read take, by its distance from the one before?";
    Series::new(title, Shape::Scatter, axis("distance", "bytes"), axis("latency", "ns"))
        .lines([Line::new("reads", by_distance(reads))])
}
