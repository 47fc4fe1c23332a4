//! What single reads depend on: the way of an arm, a network, or nothing.

use std::ops::Range;

use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_stats::rank_correlation::rank_correlation;
use likenew_stats::summary::{median, quantile};

use super::super::noise::spreads;
use super::super::scene::{Scene, latencies};
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
const SPREAD_OF_TURN: f64 = 0.4;
/// Standard deviations of the logarithm of latencies that a network has: flash differs less from read to read, and a drive
/// that is busy now and idle then more. Both halves of a network's latencies show about the same.
const NETWORK: Range<f64> = 0.08..1.0;
const SKEW: Range<f64> = 0.3..4.0;
/// Credits are never so many that a turn is shorter than this.
const PACE_NS_LEAST: f64 = 250_000.0;

/// What reads depend on.
pub(super) enum Nature {
    /// The way that an arm has to go.
    Arm { because: String },
    /// Each read takes its own time, wherever it goes, or waits for its turn.
    Network { because: String },
    /// Nothing.
    Steady { usual_ns: f64 },
}

/// How long reads of one place take, if that is long enough to be a wait for their turn.
pub(super) fn paced_ns(scene: &Scene<'_>) -> Option<f64> {
    scene.known.noise().map(|noise| noise.usual_ns).filter(|usual_ns| *usual_ns > PACE_NS_LEAST)
}

/// Whether latencies whose lower and upper halves spread like this are those of a network.
fn is_network((lower, upper): (f64, f64)) -> bool {
    NETWORK.contains(&lower) && SKEW.contains(&(upper / lower))
}

impl Nature {
    /// By random reads all over the drive, beside reads of one place; `None` of too few.
    pub(super) fn of(reads: &Segment, scene: &Scene<'_>) -> Option<Self> {
        let points = by_distance(reads);
        if points.len() < READS_MIN {
            return None;
        }
        let (distances, latencies): (Vec<f64>, Vec<f64>) = points.iter().map(|[x, y]| (*x, *y)).unzip();
        let usual_ns = median(&latencies).filter(|usual| *usual > 0.0)?;
        let (low, high) = (quantile(&latencies, 0.1)?, quantile(&latencies, 0.9)?);
        let told = format!(
            "random reads take {} in the middle; the middle 80 % of them lie {} apart",
            Nanos(usual_ns as u64),
            Nanos((high - low) as u64)
        );
        let way = rank_correlation(&distances, &latencies).filter(|way| way.interval.low > MATTERS);
        if let Some(way) = way.filter(|_| usual_ns > ARM_NS_LEAST) {
            let because = format!("{told}, and longer ways take longer (rank correlation {:.2})", way.value);
            return Some(Self::Arm { because });
        }
        let noise = scene.known.noise();
        let is_turn = usual_ns > TURN_NS_LEAST && high - low > SPREAD_OF_TURN * usual_ns;
        if let Some(noise) = noise.filter(|noise| is_turn && usual_ns > FROM_MEMORY * noise.usual_ns) {
            let because =
                format!("{told}, and one place is read in {} from memory", Nanos(noise.usual_ns as u64));
            return Some(Self::Arm { because });
        }
        // One place: other places may lie on flash of another age, or nowhere.
        let own = noise.filter(|noise| is_network((noise.own, noise.upper))).map(|noise| noise.own);
        if let Some(own) = own {
            let because = format!(
                "{told}; one place read again and again takes a time of its own each time (standard deviation of its logarithm {own:.2}), as over a network"
            );
            return Some(Self::Network { because });
        }
        Some(Self::Steady { usual_ns })
    }

    /// What it is in the light of reads of one place that were not in a hurry.
    pub(super) fn unhurried(self, scene: &Scene<'_>, reads: Option<&Segment>) -> Self {
        let (Self::Steady { .. }, Some(usual_ns)) = (&self, paced_ns(scene)) else { return self };
        // Somebody else may have been in the way of the one or the other.
        if scene.is_busy() {
            return self;
        }
        let latencies = reads.map(latencies).unwrap_or_default();
        let alone_ns = median(&latencies).filter(|_| latencies.len() >= READS_MIN);
        let Some(alone_ns) = alone_ns.filter(|_| spreads(&latencies).is_some_and(is_network)) else {
            return self;
        };
        Self::Network {
            because: format!(
                "reads of one place one after the other take {} each, and {} when they are in no hurry, each a time of its own: they wait for their turn, not for a medium",
                Nanos(usual_ns as u64),
                Nanos(alone_ns as u64)
            ),
        }
    }
}
