//! Drives of one model beside each other: which is slower than the others are among themselves.
//!
//! A drive is compared with the latest checks of all others of its model, capacity and way of access, metric by metric, by medians,
//! so that a few slow ones do not hide each other.

use std::collections::BTreeMap;

use likenew_stats::interval::{CONFIDENCE_95, median_interval};
use likenew_stats::summary::{median, median_absolute_deviation};
use serde_json::{Value, json};

use super::drive_history::{DriveHistory, text};
use super::indexed_run::MetricValue;

/// Others from which a drive can be called slower than they are. Chosen: with fewer the scatter among them is not known.
pub const PEERS_LEAST: usize = 20;
/// Standard deviations below the others' median. With 20 others, six metrics and scatter of a normal distribution, one drive in a
/// hundred that is like all others would be called slow, as a test counts; heavier tails are the reason for [`SHARE_MOST`].
const DEVIATIONS: f64 = 4.5;
/// Share of the median above which nobody would call it slow, whatever the scatter. Chosen: as for a change of one drive.
const SHARE_MOST: f64 = 0.85;
/// Standard deviation of a logarithm that is assumed at least. Chosen: checks repeat to a few percent.
const SCATTER_LEAST: f64 = 0.02;
/// Standard deviations of a normal distribution in its median absolute deviation (Hampel 1974).
const DEVIATIONS_IN_MAD: f64 = 1.4826;

/// A metric of a drive among others of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Which metric.
    pub metric: String,
    /// Its unit.
    pub unit: String,
    /// Its value.
    pub value: f64,
    /// How many others there are.
    pub peers: usize,
    /// How many of them are faster.
    pub faster: usize,
    /// The value over their median.
    pub ratio: f64,
    /// Its interval, by that of the median; `None` with fewer than six others.
    pub interval: Option<(f64, f64)>,
    /// Whether it is slower than the others are among themselves; `None` where there are too few.
    pub is_slow: Option<bool>,
}

impl Place {
    /// Of a value among those of others, all above zero; `None` without others.
    fn new(metric: &MetricValue, others: &[f64]) -> Option<Self> {
        let center = median(others)?;
        let logarithms: Vec<f64> = others.iter().map(|other| other.ln()).collect();
        let spread = median_absolute_deviation(&logarithms)? * DEVIATIONS_IN_MAD;
        let ratio = metric.value / center;
        let is_slow = ratio <= SHARE_MOST && ratio.ln() < -DEVIATIONS * spread.max(SCATTER_LEAST);
        let interval = median_interval(others, CONFIDENCE_95);
        Some(Self {
            metric: metric.name.clone(),
            unit: metric.unit.clone(),
            value: metric.value,
            peers: others.len(),
            faster: others.iter().filter(|other| **other > metric.value).count(),
            ratio,
            interval: interval.map(|of| (metric.value / of.high, metric.value / of.low)),
            is_slow: (others.len() >= PEERS_LEAST).then_some(is_slow),
        })
    }
}

/// A drive among others of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers<'a> {
    /// The drive.
    pub drive: &'a DriveHistory,
    /// Its metrics.
    pub places: Vec<Place>,
}

impl Peers<'_> {
    /// The metric that is farthest below those of the others, of those that are slow.
    pub fn slowest(&self) -> Option<&Place> {
        let slow = self.places.iter().filter(|place| place.is_slow == Some(true));
        slow.min_by(|one, other| one.ratio.total_cmp(&other.ratio))
    }

    /// How many others there are.
    pub fn count(&self) -> usize {
        self.places.iter().map(|place| place.peers).max().unwrap_or(0)
    }
}

/// The table of a check in which more is better.
const METRICS: &str = "metrics";

/// What makes the metrics of two drives comparable.
type Key<'a> = (&'a str, Option<i64>, &'a str, &'a str, &'a str, Option<u64>);

fn key<'a>(drive: &'a DriveHistory, metric: &'a MetricValue) -> Option<Key<'a>> {
    let row = &drive.drive;
    Some((row.model.as_deref()?, row.capacity_bytes, &row.access, &metric.name, &metric.unit, metric.bytes))
}

fn latest(drive: &DriveHistory) -> impl Iterator<Item = &MetricValue> {
    let metrics = drive.checks.last().into_iter().flat_map(|check| &check.metrics);
    metrics.filter(|metric| metric.source == METRICS && metric.value > 0.0)
}

/// Each drive whose model is known and that was checked, in the order given.
pub fn peers<'a>(drives: impl IntoIterator<Item = &'a DriveHistory>) -> Vec<Peers<'a>> {
    let drives: Vec<&DriveHistory> = drives.into_iter().collect();
    let mut all: BTreeMap<Key<'_>, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, drive) in drives.iter().enumerate() {
        for metric in latest(drive) {
            if let Some(key) = key(drive, metric) {
                all.entry(key).or_default().push((index, metric.value));
            }
        }
    }
    let place = |index: usize, metric: &MetricValue| {
        let same = &all[&key(drives[index], metric)?];
        let others = same.iter().filter(|(other, _)| *other != index).map(|(_, value)| *value);
        Place::new(metric, &others.collect::<Vec<_>>())
    };
    let of = |(index, drive): (usize, &&'a DriveHistory)| {
        let places = latest(drive).filter_map(|metric| place(index, metric)).collect();
        Peers { drive, places }
    };
    let known = drives.iter().enumerate().map(of);
    known.filter(|of| of.drive.drive.model.is_some() && !of.drive.checks.is_empty()).collect()
}

/// As JSON.
pub fn peers_json(all: &[Peers<'_>]) -> String {
    let place = |place: &Place| {
        json!({
            "metric": place.metric,
            "unit": place.unit,
            "value_per_s": place.value,
            "peers": place.peers,
            "peers_faster": place.faster,
            "ratio": place.ratio,
            "ratio_low": place.interval.map(|(low, _)| low),
            "ratio_high": place.interval.map(|(_, high)| high),
            "slow": place.is_slow,
        })
    };
    let drive = |of: &Peers<'_>| {
        let row = &of.drive.drive;
        let places: Vec<Value> = of.places.iter().map(place).collect();
        json!({
            "archive": row.archive,
            "key": row.key,
            "model": row.model,
            "target": row.target,
            "metrics": places,
        })
    };
    let drives: Vec<Value> = all.iter().map(drive).collect();
    text(&json!({ "schema": 1, "drives": drives }))
}

#[cfg(test)]
mod tests {
    use rand_distr::{Distribution as _, Normal};
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::SeedableRng as _;

    use super::*;

    fn metric(value: f64) -> MetricValue {
        MetricValue {
            source: "metrics".into(),
            name: "sequential_read".into(),
            unit: "bytes/s".into(),
            value,
            low: value,
            high: value,
            reference: None,
            origin: None,
            bytes: None,
        }
    }

    #[test]
    fn a_drive_like_all_others_is_rarely_called_slow_and_a_slow_one_is_found() {
        const METRICS: usize = 6;
        const FLEETS: usize = 5_000;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
        for (others, scatter) in [(20, 0.05), (20, 0.15), (47, 0.08), (200, 0.08)] {
            let of = Normal::new(0.0, scatter).unwrap();
            let mut value = |mean: f64| 500e6 * (mean + of.sample(&mut random)).exp();
            let mut is_slow = |mean: f64| {
                let all: Vec<f64> = (0..others).map(|_| value(0.0)).collect();
                Place::new(&metric(value(mean)), &all).unwrap().is_slow.unwrap()
            };
            let alarms = (0..FLEETS).filter(|_| (0..METRICS).any(|_| is_slow(0.0))).count();
            let found = (0..500).filter(|_| is_slow(0.5f64.ln())).count();
            println!(
                "{others} others, scatter {scatter}: {alarms} alarms of {FLEETS}, {found} of 500 halved found"
            );
            assert!(alarms * 100 <= FLEETS, "{others} others, scatter {scatter}: {alarms} of {FLEETS}");
            assert!(
                found >= if scatter < 0.1 { 495 } else { 200 },
                "{others} others, scatter {scatter}: {found}"
            );
        }
    }

    #[test]
    fn few_others_are_too_few() {
        let place = Place::new(&metric(100e6), &[500e6, 501e6, 502e6]).unwrap();
        assert_eq!((place.peers, place.faster, place.is_slow, place.interval), (3, 3, None, None));
        assert_eq!(Place::new(&metric(100e6), &[]), None);
        let alike = vec![500e6; 30];
        assert_eq!(
            Place::new(&metric(490e6), &alike).unwrap().is_slow,
            Some(false),
            "no scatter is no proof"
        );
        assert_eq!(Place::new(&metric(300e6), &alike).unwrap().is_slow, Some(true));
    }
}
