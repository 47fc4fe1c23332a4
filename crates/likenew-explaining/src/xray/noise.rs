//! How steady a drive answers when the same reads are repeated: shows whether something else uses the drive.
//!
//! Two kinds of rounds take turns: one address read again and again, without any seek, and a region read
//! sequentially, which keeps the medium busy. What belongs to the drive itself, such as the spread of a
//! network's latencies or a seek back to the start, does not count.

use likenew_core::io::{DataClass, Op};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use likenew_stats::interval::{CONFIDENCE_90, share_interval};
use likenew_stats::summary::{median, quantile, standard_deviation};

use super::disturbance::{BackgroundIo, Noise, OUTLIER};
use super::experiment::{Experiment, ExperimentContext, Finding, latencies, own_name, random_reads};

pub(super) const NAME: &str = "noise";
const SAME_PLACE: &str = "same place";
const IN_ORDER: &str = "sequential";

/// Rounds, half of them of each kind; together long enough to meet what happens every few seconds.
const ROUNDS: usize = 16;
/// Length of a round. Chosen: 16 of them take 5 s, and each has enough reads for a median.
const ROUND: Nanos = Nanos::from_millis(300);
const SAMPLES: u32 = 2048;
/// Length of one sequential read, and bytes read before the round starts again.
const LENGTH: u32 = 256 << 10;
const STRETCH: u64 = 256 << 20;
/// Reads left out at the start of a round.
const ON_THE_WAY: usize = 3;
/// Multiple of the median above which a read of one address was delayed. Chosen: another program's read at
/// QD1 adds at least half.
const SLOW_READ_FACTOR: f64 = 1.5;
/// Standard deviations of the drive's own spread within which a latency is its own.
const DEVIATIONS: f64 = 4.0;
/// Reads one address again and again, and a region sequentially.
pub(super) struct NoiseExperiment;

impl Experiment for NoiseExperiment {
    fn name(&self) -> &'static str {
        NAME
    }

    fn next(&self, context: &ExperimentContext<'_>) -> Option<Workload> {
        let round = context.segments.len();
        let (name, stream) = if round.is_multiple_of(2) {
            let block = context.block().max(4096);
            (SAME_PLACE, random_reads(0..u64::from(block), block, 1))
        } else {
            let stretch = STRETCH.min(context.span - context.span % u64::from(LENGTH));
            let place = AccessPattern::Sequential(Region::bytes(0..stretch));
            (IN_ORDER, Stream::closed(Mix::Only(Op::Read), LENGTH, place, 1, DataClass::Random))
        };
        let until = Until::elapsed(ROUND);
        let workload = Workload::new(format!("{name} {}", round / 2 + 1), until, vec![stream]);
        (round < ROUNDS).then_some(Workload { samples: SAMPLES, ..workload })
    }

    fn find(&self, context: &ExperimentContext<'_>) -> Finding {
        Finding { noise: noise(&context.segments), ..Finding::default() }
    }
}

fn noise(rounds: &[&Segment]) -> Option<Noise> {
    let of = |kind: &str| -> Vec<Vec<f64>> {
        let rounds = rounds.iter().filter(|round| own_name(round).starts_with(kind));
        // The first reads of a round may include a seek that the others do not.
        let rounds = rounds.map(|round| latencies(round).split_off(ON_THE_WAY.min(round.samples.len())));
        rounds.filter(|round| round.len() > 1).collect()
    };
    let same = Rounds::from_times(&of(SAME_PLACE))?;
    // The first sequential round may miss the mapping cache more than those after it.
    let in_order = Rounds::from_times(of(IN_ORDER).get(1..).unwrap_or_default());
    let worst = |of: fn(&Rounds) -> f64| in_order.as_ref().map_or(0.0, of).max(of(&same));
    Some(Noise {
        spread: worst(|rounds| rounds.spread),
        outliers: worst(|rounds| rounds.outliers),
        rare: same.outliers,
        wait_share: same.wait_share,
        log_deviation: same.log_deviation,
        upper: same.upper,
        typical_ns: same.typical_ns,
        background_io: BackgroundIo::in_segment(rounds.iter().copied()),
    })
}

/// The result of the equal rounds of one kind.
struct Rounds {
    spread: f64,
    outliers: f64,
    wait_share: f64,
    log_deviation: f64,
    upper: f64,
    typical_ns: f64,
}

impl Rounds {
    fn from_times(rounds: &[Vec<f64>]) -> Option<Self> {
        let medians: Vec<f64> = rounds.iter().filter_map(|round| median(round)).collect();
        let typical_ns = median(&medians).filter(|usual| *usual > 0.0)?;
        let spreads = rounds.iter().filter_map(|round| spreads(round));
        let (lower, upper): (Vec<f64>, Vec<f64>) = spreads.unzip();
        let (log_deviation, upper) = (median(&lower).unwrap_or(0.0), median(&upper).unwrap_or(0.0));
        // The standard error of a median of n normal values is √(π/2)·σ/√n.
        let least = rounds.iter().map(Vec::len).min().unwrap_or(1) as f64;
        let expected = (std::f64::consts::FRAC_PI_2 / least).sqrt() * log_deviation;
        let between = standard_deviation(&medians).unwrap_or(0.0) / typical_ns;
        let all: Vec<f64> = rounds.concat();
        let share = |times: f64| {
            let limit = typical_ns * times.max((DEVIATIONS * log_deviation).exp());
            let hits = all.iter().filter(|latency| **latency > limit).count();
            share_interval(hits as u64, all.len() as u64, CONFIDENCE_90).map_or(0.0, |interval| interval.low)
        };
        let spread = (between * between - expected * expected).max(0.0).sqrt();
        Some(Self {
            spread,
            outliers: share(OUTLIER),
            wait_share: share(SLOW_READ_FACTOR),
            log_deviation,
            upper,
            typical_ns,
        })
    }
}

/// The standard deviation of the logarithm of these from their lower and from their upper half: the distances
/// from the median to the tenth and to the ninetieth percentile, which are 1.2816 standard deviations of a
/// normal distribution.
pub(super) fn spreads(latencies: &[f64]) -> Option<(f64, f64)> {
    let (low, high) = (quantile(latencies, 0.1)?, quantile(latencies, 0.9)?);
    let middle = median(latencies)?;
    (low > 0.0).then(|| ((middle / low).ln() / 1.2816, (high / middle).ln() / 1.2816))
}

#[cfg(test)]
mod tests {
    use super::super::disturbance::RARE_MAX;
    use super::*;

    /// Latencies of a log-normal distribution by its quantiles, shuffled.
    fn log_normal(count: usize, deviation: f64) -> Vec<f64> {
        // Tukey's lambda of 0.14 is the normal distribution within 1% up to three deviations.
        let quantile = |p: f64| (p.powf(0.14) - (1.0 - p).powf(0.14)) / 0.1975;
        let p = |index: usize| ((index * 7919) % count) as f64 / count as f64 + 0.5 / count as f64;
        (0..count).map(|index| 8e5 * (deviation * quantile(p(index))).exp()).collect()
    }

    #[test]
    fn the_tail_of_a_network_is_its_nature() {
        let rounds: Vec<Vec<f64>> = (0..4).map(|_| log_normal(251, 0.69)).collect();
        let rounds = Rounds::from_times(&rounds).expect("there are rounds");
        assert!((rounds.log_deviation - 0.69).abs() < 0.05, "{}", rounds.log_deviation);
        assert_eq!((rounds.outliers, rounds.wait_share, rounds.spread), (0.0, 0.0, 0.0));
    }

    #[test]
    fn one_in_ten_that_waits_for_somebody_is_noticed() {
        let round: Vec<f64> = (0..1000).map(|read| if read % 10 == 3 { 2e5 } else { 1e5 }).collect();
        let rounds = Rounds::from_times(&[round.clone(), round]).expect("there are rounds");
        assert!((rounds.wait_share - 0.09).abs() < 0.01 && rounds.outliers == 0.0);
    }

    #[test]
    fn few_among_thousands_that_take_long_are_noticed() {
        let rounds = |outliers: usize| -> Vec<Vec<f64>> {
            let late = |round: usize, read: usize| read == 700 && round < outliers;
            let read = |round| (0..2000).map(move |read| if late(round, read) { 5e7 } else { 1e5 }).collect();
            (0..8).map(read).collect()
        };
        let rare = |outliers| Rounds::from_times(&rounds(outliers)).expect("there are rounds").outliers;
        assert!(rare(6) > RARE_MAX && rare(1) < RARE_MAX, "{} {}", rare(6), rare(1));
        assert!(Noise { rare: rare(6), ..Noise::default() }.is_busy());
    }

    #[test]
    fn a_drive_that_slows_down_is_noticed() {
        let rounds: Vec<Vec<f64>> = [1e5, 1e5, 2e5, 2e5].iter().map(|latency| vec![*latency; 100]).collect();
        assert!(Rounds::from_times(&rounds).expect("there are rounds").spread > 0.3);
    }
}
