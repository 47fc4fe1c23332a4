//! Compares a value with those of its peers: is it lower than they are among themselves?

use crate::interval::{CONFIDENCE_95, median_interval};
use crate::summary::{median, median_absolute_deviation};

/// Fewest peers for calling a value low. Chosen: with fewer, their scatter is not known.
pub const PEERS_LEAST: usize = 20;
/// A value is low from this many standard deviations below its peers' median on. With 20 peers, six metrics
/// and normal scatter, one drive in a hundred that is like all others would be called low, as a test counts.
/// Heavier tails are the reason for [`SHARE_MOST`].
const DEVIATIONS: f64 = 4.5;
/// A value above this share of the median is not low, whatever the scatter. Chosen: as for a change of one
/// drive.
const SHARE_MOST: f64 = 0.85;
/// Least standard deviation assumed, of the logarithm. Chosen: checks repeat to a few percent.
const SCATTER_LEAST: f64 = 0.02;
/// Standard deviations of a normal distribution in its median absolute deviation (Hampel 1974).
const DEVIATIONS_IN_MAD: f64 = 1.4826;

/// A value compared with its peers, all above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmongPeers {
    /// Number of peers.
    pub peers: usize,
    /// Number of peers with a higher value.
    pub higher: usize,
    /// Median of the peers.
    pub median: f64,
    /// The value over that median.
    pub ratio: f64,
    /// The interval of `ratio`, from that of the median; `None` with fewer than six peers.
    pub interval: Option<(f64, f64)>,
    /// The ratio below which the value is low; `None` with too few peers.
    pub least: Option<f64>,
}

impl AmongPeers {
    /// `None` without peers.
    pub fn new(value: f64, others: &[f64]) -> Option<Self> {
        let center = median(others)?;
        let logarithms: Vec<f64> = others.iter().map(|other| other.ln()).collect();
        let spread = median_absolute_deviation(&logarithms)? * DEVIATIONS_IN_MAD;
        let least = (-DEVIATIONS * spread.max(SCATTER_LEAST)).exp().min(SHARE_MOST);
        let interval = median_interval(others, CONFIDENCE_95);
        Some(Self {
            peers: others.len(),
            higher: others.iter().filter(|other| **other > value).count(),
            median: center,
            ratio: value / center,
            interval: interval.map(|interval| (value / interval.high, value / interval.low)),
            least: (others.len() >= PEERS_LEAST).then_some(least),
        })
    }

    /// Whether the value is lower than its peers are among themselves; `None` with too few peers.
    pub fn is_low(&self) -> Option<bool> {
        self.least.map(|least| self.ratio < least)
    }
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    #[test]
    fn a_drive_like_all_others_is_rarely_called_slow_and_a_slow_one_is_found() {
        const METRICS: usize = 6;
        const FLEETS: usize = 5_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for (others, scatter) in [(20, 0.05), (20, 0.15), (47, 0.08), (200, 0.08)] {
            let noise = Normal::new(0.0, scatter).unwrap();
            let mut value = |mean: f64| 500e6 * (mean + noise.sample(&mut random)).exp();
            let mut is_slow = |mean: f64| {
                let peers: Vec<f64> = (0..others).map(|_| value(0.0)).collect();
                AmongPeers::new(value(mean), &peers).unwrap().is_low().unwrap()
            };
            let alarms = (0..FLEETS).filter(|_| (0..METRICS).any(|_| is_slow(0.0))).count();
            let detected = (0..500).filter(|_| is_slow(0.5f64.ln())).count();
            println!(
                "{others} others, scatter {scatter}: {alarms} alarms of {FLEETS}, {detected} of 500 halved found"
            );
            assert!(alarms * 100 <= FLEETS, "{others} others, scatter {scatter}: {alarms} of {FLEETS}");
            assert!(
                detected >= if scatter < 0.1 { 495 } else { 200 },
                "{others} others, scatter {scatter}: {detected}"
            );
        }
    }

    #[test]
    fn few_others_are_too_few() {
        let among_few = AmongPeers::new(100e6, &[500e6, 501e6, 502e6]).unwrap();
        assert_eq!(
            (among_few.peers, among_few.higher, among_few.is_low(), among_few.interval),
            (3, 3, None, None)
        );
        assert_eq!(AmongPeers::new(100e6, &[]), None);
        let alike = vec![500e6; 30];
        let is_low = |value| AmongPeers::new(value, &alike).unwrap().is_low();
        assert_eq!(is_low(490e6), Some(false), "no scatter is no proof");
        assert_eq!(is_low(300e6), Some(true));
    }
}
