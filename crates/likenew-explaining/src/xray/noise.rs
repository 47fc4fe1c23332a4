//! Measures how steadily a drive repeats the same reads, to show whether something else uses it.
//!
//! Two kinds of rounds take turns: one address read again and again, without any seek, and a region read
//! sequentially, which keeps the medium busy. What belongs to the drive itself, such as the spread of a
//! network's latencies or a seek back to the start, does not count.

use likenew_core::io::Op;
use likenew_core::procedure::Ended;
use likenew_core::units::Nanos;
use likenew_core::workload::{Until, Workload};
use likenew_stats::interval::{CONFIDENCE_90, share_interval};
use likenew_stats::summary::{median, quantile, standard_deviation};

use super::disturbance::{BackgroundIo, Noise, OUTLIER};
use super::experiment::{self, Context, Finding, Shared, Steps, latencies, random_reads};
use super::property::Reason;

/// Rounds of each kind; together long enough to meet what happens every few seconds.
const ROUNDS: usize = 8;
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
pub(super) fn run<'a>(context: &Context<'a>, steps: &mut Steps<'a>) -> Result<Finding, Reason> {
    let (mut same_place, mut sequential) = (Vec::new(), Vec::new());
    let _ended = take_turns(context, steps, &mut same_place, &mut sequential);
    let background_io = BackgroundIo::in_segment(context.segments.iter().copied());
    let noise = noise(&same_place, &sequential, background_io);
    Ok(Finding { shared: Shared { noise, ..Shared::default() }, ..Finding::default() })
}

/// Runs rounds of both kinds in turns, and adds their latencies to `same_place` and `sequential`.
fn take_turns<'a>(
    context: &Context<'a>,
    steps: &mut Steps<'a>,
    same_place: &mut Vec<Vec<f64>>,
    sequential: &mut Vec<Vec<f64>>,
) -> Result<(), Ended> {
    let mut round = |name: String, stream| {
        let workload = Workload::new(name, Until::elapsed(ROUND), vec![stream]);
        let round = steps.run(Workload { samples: SAMPLES, ..workload })?;
        // The first reads of a round may include a seek that the others do not.
        Ok(latencies(round).split_off(ON_THE_WAY.min(round.samples.len())))
    };
    let block = context.block().max(4096);
    let stretch = STRETCH.min(context.span - context.span % u64::from(LENGTH));
    for number in 1..=ROUNDS {
        same_place.push(round(format!("same place {number}"), random_reads(0..u64::from(block), block, 1))?);
        let reads = experiment::sequential(Op::Read, 0..stretch, LENGTH, 1);
        sequential.push(round(format!("sequential {number}"), reads)?);
    }
    Ok(())
}

fn noise(same_place: &[Vec<f64>], sequential: &[Vec<f64>], background_io: BackgroundIo) -> Option<Noise> {
    let long_enough = |rounds: &[Vec<f64>]| -> Vec<Vec<f64>> {
        rounds.iter().filter(|round| round.len() > 1).cloned().collect()
    };
    let same = noise_of(&long_enough(same_place))?;
    // The first sequential round may miss the mapping cache more than those after it.
    let in_order = noise_of(long_enough(sequential).get(1..).unwrap_or_default()).unwrap_or_default();
    let (spread, outliers) = (same.spread.max(in_order.spread), same.outliers.max(in_order.outliers));
    Some(Noise { spread, outliers, background_io, ..same })
}

/// The noise in equal rounds of one kind; `None` if no time passed.
fn noise_of(rounds: &[Vec<f64>]) -> Option<Noise> {
    let medians: Vec<f64> = rounds.iter().filter_map(|round| median(round)).collect();
    let typical_ns = median(&medians).filter(|median| *median > 0.0)?;
    let spreads = rounds.iter().filter_map(|round| spreads(round));
    let (lower, upper): (Vec<f64>, Vec<f64>) = spreads.unzip();
    let (log_deviation, upper) = (median(&lower).unwrap_or(0.0), median(&upper).unwrap_or(0.0));
    // The standard error of a median of n normal values is √(π/2)·σ/√n.
    let least = rounds.iter().map(Vec::len).min().unwrap_or(1) as f64;
    let expected = (std::f64::consts::FRAC_PI_2 / least).sqrt() * log_deviation;
    let between = standard_deviation(&medians).unwrap_or(0.0) / typical_ns;
    let latencies: Vec<f64> = rounds.concat();
    let share = |times: f64| {
        let limit = typical_ns * times.max((DEVIATIONS * log_deviation).exp());
        let hits = latencies.iter().filter(|latency| **latency > limit).count();
        share_interval(hits as u64, latencies.len() as u64, CONFIDENCE_90)
            .map_or(0.0, |interval| interval.low)
    };
    let spread = (between * between - expected * expected).max(0.0).sqrt();
    let outliers = share(OUTLIER);
    Some(Noise {
        spread,
        outliers,
        rare: outliers,
        wait_share: share(SLOW_READ_FACTOR),
        log_deviation,
        upper,
        typical_ns,
        background_io: BackgroundIo::default(),
    })
}

/// The standard deviation of the logarithm of latencies from their lower and from their upper half: the
/// distances from the median to the tenth and to the ninetieth percentile, which are 1.2816 standard
/// deviations of a normal distribution.
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
        let rounds = noise_of(&rounds).expect("there are rounds");
        assert!((rounds.log_deviation - 0.69).abs() < 0.05, "{}", rounds.log_deviation);
        assert_eq!((rounds.outliers, rounds.wait_share, rounds.spread), (0.0, 0.0, 0.0));
    }

    #[test]
    fn one_in_ten_that_waits_for_somebody_is_noticed() {
        let round: Vec<f64> = (0..1000).map(|read| if read % 10 == 3 { 2e5 } else { 1e5 }).collect();
        let rounds = noise_of(&[round.clone(), round]).expect("there are rounds");
        assert!((rounds.wait_share - 0.09).abs() < 0.01 && rounds.outliers == 0.0);
    }

    #[test]
    fn few_among_thousands_that_take_long_are_noticed() {
        let rounds = |outliers: usize| -> Vec<Vec<f64>> {
            let late = |round: usize, read: usize| read == 700 && round < outliers;
            let read = |round| (0..2000).map(move |read| if late(round, read) { 5e7 } else { 1e5 }).collect();
            (0..8).map(read).collect()
        };
        let rare = |outliers| noise_of(&rounds(outliers)).expect("there are rounds").outliers;
        assert!(rare(6) > RARE_MAX && rare(1) < RARE_MAX, "{} {}", rare(6), rare(1));
        assert!(Noise { rare: rare(6), ..Noise::default() }.is_busy());
    }

    #[test]
    fn a_drive_that_slows_down_is_noticed() {
        let rounds: Vec<Vec<f64>> = [1e5, 1e5, 2e5, 2e5].iter().map(|latency| vec![*latency; 100]).collect();
        assert!(noise_of(&rounds).expect("there are rounds").spread > 0.3);
    }
}
