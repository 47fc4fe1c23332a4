//! What the latency of single reads depends on: seek distance, a network, or nothing.

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

/// Fewer reads than this show nothing.
const READS_MIN: usize = 32;
/// Rank correlation of latency and seek distance, in 0..1, from which it is a hard disk. Chosen: a lower one
/// explains next to nothing.
const MATTERS: f64 = 0.2;
/// Shortest mean latency of random reads on anything that turns, in nanoseconds: a fifth of half a revolution
/// at 15,000 rpm.
const ARM_NS_LEAST: f64 = 400_000.0;
/// Shortest mean latency, in nanoseconds, at which revolutions alone identify a disk. Within a short span
/// seeks hardly differ, and reads spread over most of a revolution. Chosen: half a revolution at 10,000 rpm.
const TURN_NS_LEAST: f64 = 3e6;
/// Latency of random reads over that of one address, which the disk's memory answers, as a ratio, at least.
/// Chosen: memory is far faster than a revolution.
const FROM_MEMORY: f64 = 5.0;
/// Spread of those latencies, as a share of the mean one, at least. Chosen: waits for a revolution spread
/// evenly from none to a whole one, which is far more.
const REVOLUTION_SPREAD: f64 = 0.4;
/// Standard deviation of the logarithm of a network's latencies: flash varies less from read to read, and a
/// drive that is busy only at times varies more. The lower and the upper half of a network's latencies give
/// about the same.
const NETWORK: Range<f64> = 0.08..1.0;
/// Ratio of the spreads of the upper and the lower half of a network's latencies. Chosen: one-sided noise is
/// beyond it.
const SKEW: Range<f64> = 0.3..4.0;
/// Shortest time between reads under a rate limit, in nanoseconds. Chosen: 4,000 IOPS is more than volumes
/// with such limits grant at QD1.
const PACE_NS_LEAST: f64 = 250_000.0;

/// What the latency of reads depends on.
pub(super) enum ReadModel {
    /// Seek distance.
    HardDisk { reason: Reason },
    /// Each read varies by itself, wherever it goes, or is delayed by a rate limit.
    Network { reason: Reason },
    /// Nothing.
    Steady { typical_ns: f64 },
}

/// Latency of reads of one address, if it is long enough to be the delay of a rate limit.
pub(super) fn paced_ns(context: &ExperimentContext<'_>) -> Option<f64> {
    context.inferences.noise().map(|noise| noise.typical_ns).filter(|typical_ns| *typical_ns > PACE_NS_LEAST)
}

/// Whether the lower and upper half of latencies spread as those of a network do.
fn is_network((lower, upper): (f64, f64)) -> bool {
    NETWORK.contains(&lower) && SKEW.contains(&(upper / lower))
}

impl ReadModel {
    /// From random reads all over the drive, and reads of one address; `None` if there are too few.
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
        // One address only: others may be on flash of another age, or not on flash at all.
        let log_deviation = noise
            .filter(|noise| is_network((noise.log_deviation, noise.upper)))
            .map(|noise| noise.log_deviation);
        if let Some(log_deviation) = log_deviation {
            return Some(Self::Network { reason: wording::network_reads(middle, spread, log_deviation) });
        }
        Some(Self::Steady { typical_ns })
    }

    /// The same after slow reads of one address.
    pub(super) fn with_spaced_reads(self, context: &ExperimentContext<'_>, reads: Option<&Segment>) -> Self {
        let (Self::Steady { .. }, Some(typical_ns)) = (&self, paced_ns(context)) else { return self };
        // Other programs may have delayed either of them.
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
