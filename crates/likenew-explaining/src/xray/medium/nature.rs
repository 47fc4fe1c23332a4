//! What single reads depend on: the way of an arm, a network, or nothing.

use std::ops::Range;

use likenew_core::quantity::Latency;
use likenew_core::segment::Segment;
use likenew_stats::rank_correlation::rank_correlation;
use likenew_stats::summary::{median, quantile};

use super::super::context::{ExperimentContext, latencies};
use super::super::noise::spreads;
use super::super::reason::Reason;
use super::super::wording;
use super::by_distance;

/// Fewer reads than this say nothing.
const READS_MIN: usize = 32;
/// An arm takes longer for a longer way: below this rank correlation the way explains next to nothing.
const MATTERS: f64 = 0.2;
/// Nothing that turns reads at random faster than this: a fifth of the half turn of 15 000 rpm.
const ARM_NS_LEAST: f64 = 400_000.0;
/// Within a short span the turn alone decides: reads as slow as this that spread over most of a turn, while one place is read
/// from memory this many times as fast.
const TURN_NS_LEAST: f64 = 3e6;
const FROM_MEMORY: f64 = 5.0;
const REVOLUTION_SPREAD: f64 = 0.4;
/// Standard deviations of the logarithm of latencies that a network has: flash differs less from read to read, and a drive
/// that is busy now and idle then more. Both halves of a network's latencies show about the same.
const NETWORK: Range<f64> = 0.08..1.0;
const SKEW: Range<f64> = 0.3..4.0;
/// Credits are never so many that a turn is shorter than this.
const PACE_NS_LEAST: f64 = 250_000.0;

/// What reads depend on.
pub(super) enum ReadModel {
    /// The way that an arm has to go.
    HardDisk { reason: Reason },
    /// Each read takes its own time, wherever it goes, or waits for its turn.
    Network { reason: Reason },
    /// Nothing.
    Steady { typical_ns: f64 },
}

/// How long reads of one place take, if that is long enough to be a wait for their turn.
pub(super) fn paced_ns(context: &ExperimentContext<'_>) -> Option<f64> {
    context.inferences.noise().map(|noise| noise.typical_ns).filter(|typical_ns| *typical_ns > PACE_NS_LEAST)
}

/// Whether latencies whose lower and upper halves spread like this are those of a network.
fn is_network((lower, upper): (f64, f64)) -> bool {
    NETWORK.contains(&lower) && SKEW.contains(&(upper / lower))
}

impl ReadModel {
    /// By random reads all over the drive, beside reads of one place; `None` of too few.
    pub(super) fn from_reads(reads: &Segment, context: &ExperimentContext<'_>) -> Option<Self> {
        let points = by_distance(reads);
        if points.len() < READS_MIN {
            return None;
        }
        let (distances, latencies): (Vec<f64>, Vec<f64>) = points.iter().map(|[x, y]| (*x, *y)).unzip();
        let typical_ns = median(&latencies).filter(|usual| *usual > 0.0)?;
        let (low, high) = (quantile(&latencies, 0.1)?, quantile(&latencies, 0.9)?);
        let (middle, spread) = (Latency(typical_ns), Latency(high - low));
        let way = rank_correlation(&distances, &latencies).filter(|way| way.interval.low > MATTERS);
        if let Some(way) = way.filter(|_| typical_ns > ARM_NS_LEAST) {
            return Some(Self::HardDisk { reason: wording::longer_seeks(middle, spread, way.value) });
        }
        let noise = context.inferences.noise();
        let is_turn = typical_ns > TURN_NS_LEAST && high - low > REVOLUTION_SPREAD * typical_ns;
        if let Some(noise) = noise.filter(|noise| is_turn && typical_ns > FROM_MEMORY * noise.typical_ns) {
            let reason = wording::platter_turns(middle, spread, Latency(noise.typical_ns));
            return Some(Self::HardDisk { reason });
        }
        // One place: other places may lie on flash of another age, or nowhere.
        let log_deviation = noise
            .filter(|noise| is_network((noise.log_deviation, noise.upper)))
            .map(|noise| noise.log_deviation);
        if let Some(log_deviation) = log_deviation {
            return Some(Self::Network { reason: wording::network_reads(middle, spread, log_deviation) });
        }
        Some(Self::Steady { typical_ns })
    }

    /// What it is in the light of reads of one place that were not in a hurry.
    pub(super) fn with_spaced_reads(self, context: &ExperimentContext<'_>, reads: Option<&Segment>) -> Self {
        let (Self::Steady { .. }, Some(typical_ns)) = (&self, paced_ns(context)) else { return self };
        // Somebody else may have been in the way of the one or the other.
        if context.is_busy() {
            return self;
        }
        let latencies = reads.map(latencies).unwrap_or_default();
        let alone_ns = median(&latencies).filter(|_| latencies.len() >= READS_MIN);
        let Some(alone_ns) = alone_ns.filter(|_| spreads(&latencies).is_some_and(is_network)) else {
            return self;
        };
        Self::Network { reason: wording::rate_limited_reads(Latency(typical_ns), Latency(alone_ns)) }
    }
}
