//! What real passes differ by: each is slower or faster as a whole.

use likenew_core::procedure::Evidence;
use likenew_core::segment::Segment;
use likenew_core::tally::Latencies;
use likenew_core::units::Nanos;
use rand::RngExt as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Every pass of a run as if all of its times were longer or shorter by a draw with this standard deviation.
///
/// The seeds change as well: on a real drive the same addresses lie elsewhere, so that a simulation meets other conflicts.
pub(super) fn disturb(evidence: &mut Evidence, deviation: f64, random: &mut Xoshiro256PlusPlus) {
    for segment in &mut evidence.segments {
        stretch(segment, (deviation * normal(random)).exp());
        segment.workload.seed = random.random();
    }
}

/// A draw of the standard normal distribution: twelve uniform draws come close enough for noise.
fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
    (0..12).map(|_| random.random::<f64>()).sum::<f64>() - 6.0
}

fn stretch(segment: &mut Segment, factor: f64) {
    let longer = |time: Nanos| Nanos((time.0 as f64 * factor).round() as u64);
    let started_at = segment.started_at;
    let later = |at: Nanos| started_at + longer(at.since(started_at));
    segment.ended_at = later(segment.ended_at);
    segment.busy = longer(segment.busy);
    for tally in &mut segment.tallies {
        tally.latency_ns_sum = (tally.latency_ns_sum as f64 * factor) as u64;
        let mut latency = Latencies::default();
        tally
            .latency
            .places()
            .iter()
            .for_each(|(value, count)| latency.record_n(longer(Nanos(*value)), *count));
        latency.compact();
        tally.latency = latency;
    }
    segment.seconds.width = longer(Nanos(segment.seconds.width)).0;
    let cells = segment.seconds.cells.iter_mut().chain(&mut segment.gigabytes.cells);
    cells.filter(|cell| cell.ios > 0).for_each(|cell| cell.last = later(cell.last));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng as _;

    #[test]
    fn draws_are_normal() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        let draws: Vec<f64> = (0..10_000).map(|_| normal(&mut random)).collect();
        let mean = draws.iter().sum::<f64>() / 1e4;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
