//! The medium, from random reads at QD1 and what their latency depends on.
//!
//! A hard disk takes longer for a longer seek, and a shingled one is slow to read sequentially what was
//! overwritten in pieces. A network's latencies vary at random, or follow a rate limit. Flash does neither.

mod nature;
mod pieces;

use likenew_core::drive::Kind;
use likenew_core::findings::{Line, Series, Shape};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::until::Until;
use likenew_core::workload::{Arrival, InterArrival, Stream, Workload};

use super::context::{ExperimentContext, latencies, random_reads};
use super::experiment::Experiment;
use super::finding::Finding;
use super::property::{Key, Property};
use super::reason::Reason;
use super::wording;
use likenew_core::quantity::Latency;
use likenew_procedure_support::series::axis;
use nature::ReadModel;
use pieces::Pieces;

const READS: u32 = 1024;
/// Time limit of the reads. Chosen: twice what 1,024 reads of a slow hard disk take.
const TIME: Nanos = Nanos::from_secs(30);
pub(super) const NAME: &str = "medium";
const ALL_ADDRESSES: &str = "random reads";
const SPACED_READS: &str = "paced reads";
/// Reads at a fifth of the rate that the drive showed.
const UNHURRIED_READS: u32 = 256;
/// That share of the rate. Chosen: a fifth leaves a rate limit no reason to delay a read.
const UNHURRIED_SHARE: f64 = 0.2;

/// Random reads of small blocks all over the drive at QD1. On a disk, also overwrites a few blocks, to see
/// whether they stay in place.
pub(super) struct MediumExperiment;

impl Experiment for MediumExperiment {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let stream = random_reads(0..context.span, context.block().max(4096), 1);
        let Some(reads) = context.segment(ALL_ADDRESSES) else {
            let until = Until { elapsed: Some(TIME), ..Until::ops(u64::from(READS)) };
            return Some(Workload { samples: READS, ..Workload::new(ALL_ADDRESSES, until, vec![stream]) });
        };
        match ReadModel::from_reads(reads, context)? {
            ReadModel::HardDisk { .. } => Pieces::next(context),
            ReadModel::Steady { .. } => {
                let typical_ns = nature::paced_ns(context)?;
                // One address only: others may be on flash of another age, or not on flash at all.
                let same_place =
                    random_reads(0..u64::from(context.block().max(4096)), context.block().max(4096), 1);
                let per_second = UNHURRIED_SHARE * 1e9 / typical_ns;
                let arrival = Arrival::Open { per_second, inter_arrival: InterArrival::Even, depth_max: 1 };
                let until = Until { elapsed: Some(TIME), ..Until::ops(u64::from(UNHURRIED_READS)) };
                let workload = Workload::new(SPACED_READS, until, vec![Stream { arrival, ..same_place }]);
                context
                    .segment(SPACED_READS)
                    .is_none()
                    .then_some(Workload { samples: UNHURRIED_READS, ..workload })
            }
            ReadModel::Network { .. } => None,
        }
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        let Some(reads) = context.segment(ALL_ADDRESSES) else { return Finding::default() };
        if context.evidence.identity.is_memory() {
            return Finding::single(
                Property::word(Key::Medium, "memory", 1.0, wording::lies_in_memory()),
                None,
            );
        }
        let Some(nature) = ReadModel::from_reads(reads, context) else { return Finding::default() };
        let nature = nature.with_spaced_reads(context, context.segment(SPACED_READS));
        let pieces = Pieces::from_segments(context);
        let property = match &nature {
            ReadModel::HardDisk { reason } => disk(reason, pieces.as_ref()),
            ReadModel::Network { reason } => {
                Property::word(Key::Medium, "virtual", confidence(context, 0.98), reason.clone())
            }
            ReadModel::Steady { typical_ns } => flash(*typical_ns, context),
        };
        let mut finding = Finding::single(property, Some(("reads_by_distance", picture(reads))));
        finding.pictures.extend(pieces.map(|pieces| ("reads_in_order", pieces.picture())));
        finding
    }
}

/// Random reads at QD1 over the whole span, which other tests use too; `None` if they were not run.
pub(super) fn reads_alone<'a>(context: &ExperimentContext<'a>) -> Option<&'a Segment> {
    context.segment_of_any(&format!("{NAME}: {ALL_ADDRESSES}"))
}

/// Lower for a drive that is not quite steady.
fn confidence(context: &ExperimentContext<'_>, quiet: f64) -> f64 {
    if context.is_busy() { quiet.min(0.85) } else { quiet }
}

/// What is read was written by this run in a folder alone: elsewhere it is as it was found.
fn flash(typical_ns: f64, context: &ExperimentContext<'_>) -> Property {
    let reason = wording::equal_reads(Latency(typical_ns));
    let property = Property::word(Key::Medium, "flash", confidence(context, 0.98), reason);
    match context.evidence.identity.kind {
        Kind::Folder => property,
        _ => property.caveat(wording::perhaps_empty()),
    }
}

fn disk(seeks: &Reason, pieces: Option<&Pieces>) -> Property {
    let seeks = seeks.clone();
    match pieces {
        None => Property::word(Key::Medium, "disk", 0.85, seeks).caveat(wording::shingles_untested()),
        Some(pieces) if pieces.has_moved() => {
            Property::word(Key::Medium, "shingled_disk", 0.99, pieces.reason(seeks, wording::moved_blocks))
        }
        Some(pieces) if pieces.has_stayed() => {
            Property::word(Key::Medium, "disk", 0.99, pieces.reason(seeks, wording::kept_blocks))
        }
        Some(pieces) => Property::undecided(Key::Medium, pieces.reason(seeks, wording::unclear_blocks)),
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
