//! A value among those of others of its kind: is it lower than they are among themselves?

use crate::interval::{CONFIDENCE_95, median_interval};
use crate::summary::{median, median_absolute_deviation};

/// Others from which a value can be called low. Chosen: with fewer the scatter among them is not known.
pub const PEERS_LEAST: usize = 20;
/// Standard deviations below the others' median. With 20 others, six metrics and scatter of a normal distribution, one in a
/// hundred that is like all others would be called low, as a test counts; heavier tails are the reason for [`SHARE_MOST`].
const DEVIATIONS: f64 = 4.5;
/// Share of the median above which nobody would call it low, whatever the scatter. Chosen: as for a change of one drive.
const SHARE_MOST: f64 = 0.85;
/// Standard deviation of a logarithm that is assumed at least. Chosen: checks repeat to a few percent.
const SCATTER_LEAST: f64 = 0.02;
/// Standard deviations of a normal distribution in its median absolute deviation (Hampel 1974).
const DEVIATIONS_IN_MAD: f64 = 1.4826;

/// A value among others, all above zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AmongPeers {
    /// How many others there are.
    pub peers: usize,
    /// How many of them are higher.
    pub higher: usize,
    /// Their median.
    pub median: f64,
    /// The value over their median.
    pub ratio: f64,
    /// Its interval, by that of the median; `None` with fewer than six others.
    pub interval: Option<(f64, f64)>,
    /// The ratio below which it is lower than the others are among themselves; `None` where there are too few.
    pub least: Option<f64>,
}

impl AmongPeers {
    /// `None` without others.
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

    /// Whether it is lower than the others are among themselves; `None` where there are too few.
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
