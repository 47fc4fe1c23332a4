//! Compares drives of one model, and finds those that are slower than the others differ among themselves.
//!
//! A drive is compared with the latest checks of all others of its model, capacity and access, metric by metric.
//! Medians keep a few slow drives from hiding each other.

use std::collections::{BTreeMap, BTreeSet};

use likenew_archive::DriveSignature;
use likenew_stats::peers::AmongPeers;
use serde_json::{Value, json};

use super::database::History;
use super::drive_history::{DriveHistory, text};
use super::error::HistoryError;
use super::indexed_run::MetricValue;
use super::queries::{Check, DriveRow, Page};

/// A metric of a drive among other drives of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The metric's name.
    pub metric: String,
    /// The metric's unit.
    pub unit: String,
    /// The drive's value.
    pub value: f64,
    /// The position among the others' values.
    pub among: AmongPeers,
}

impl Place {
    fn new(metric: &MetricValue, others: &[f64]) -> Option<Self> {
        let among = AmongPeers::new(metric.value, others)?;
        Some(Self { metric: metric.name.clone(), unit: metric.unit.clone(), value: metric.value, among })
    }

    /// Whether the drive is slower than the others differ among themselves; `None` if there are too few.
    pub fn is_slow(&self) -> Option<bool> {
        self.among.is_low()
    }
}

/// A drive among other drives of its model.
#[derive(Clone, Debug, PartialEq)]
pub struct Peers<'a> {
    /// The drive.
    pub drive: &'a DriveHistory,
    /// The drive's metrics.
    pub places: Vec<Place>,
}

impl Peers<'_> {
    /// The slow metric that is farthest below the others.
    pub fn slowest(&self) -> Option<&Place> {
        let slow = self.places.iter().filter(|place| place.is_slow() == Some(true));
        slow.min_by(|one, other| one.among.ratio.total_cmp(&other.among.ratio))
    }

    /// Number of other drives.
    pub fn count(&self) -> usize {
        self.places.iter().map(|place| place.among.peers).max().unwrap_or(0)
    }
}

/// The table of a check in which more is better.
const METRICS: &str = "metrics";

/// Values with equal keys are comparable: model, capacity, access, metric, unit, bytes.
type Key<'a> = (&'a str, Option<i64>, &'a str, &'a str, &'a str, Option<u64>);

fn key<'a>(drive: &'a DriveHistory, metric: &'a MetricValue) -> Option<Key<'a>> {
    let row = &drive.drive;
    Some((row.model.as_deref()?, row.capacity_bytes, &row.access, &metric.name, &metric.unit, metric.bytes))
}

fn latest(checks: &[Check]) -> impl Iterator<Item = &MetricValue> {
    let metrics = checks.last().into_iter().flat_map(|check| &check.metrics);
    metrics.filter(|metric| metric.source == METRICS && metric.value > 0.0)
}

/// Whether both are the same drive, checked through two partitions.
fn is_same(one: &DriveHistory, other: &DriveHistory) -> bool {
    one.drive.serial.is_some() && one.drive.serial == other.drive.serial
}

/// Each checked drive of a known model, in the given order.
pub fn peers<'a>(drives: impl IntoIterator<Item = &'a DriveHistory>) -> Vec<Peers<'a>> {
    let drives: Vec<&DriveHistory> = drives.into_iter().collect();
    let mut values_by_key: BTreeMap<Key<'_>, Vec<(usize, f64)>> = BTreeMap::new();
    for (index, drive) in drives.iter().enumerate() {
        for metric in latest(&drive.checks) {
            if let Some(key) = key(drive, metric) {
                values_by_key.entry(key).or_default().push((index, metric.value));
            }
        }
    }
    let place = |index: usize, metric: &MetricValue| {
        let same = &values_by_key[&key(drives[index], metric)?];
        let others =
            same.iter().filter(|(other, _)| *other != index && !is_same(drives[*other], drives[index]));
        let others = others.map(|(_, value)| *value);
        Place::new(metric, &others.collect::<Vec<_>>())
    };
    let to_peers = |(index, drive): (usize, &&'a DriveHistory)| {
        let places = latest(&drive.checks).filter_map(|metric| place(index, metric)).collect();
        Peers { drive, places }
    };
    let known = drives.iter().enumerate().map(to_peers);
    known.filter(|peers| peers.drive.drive.model.is_some() && !peers.drive.checks.is_empty()).collect()
}

impl History {
    /// Metrics from the latest checks of other drives with the same model, capacity and access, for at most `most`
    /// drives, most recently measured first.
    ///
    /// # Errors
    /// The index could not be read.
    pub fn peers_of(
        &mut self,
        drive_signature: &DriveSignature,
        most: usize,
    ) -> Result<Vec<MetricValue>, HistoryError> {
        let own_key = drive_signature.key(&BTreeSet::new());
        let capacity = drive_signature.capacity_bytes.map(u64::cast_signed);
        let drives = self.drives(Page { offset: 0, rows: u32::MAX })?;
        let archive = self.archive_name();
        let is_peer = |row: &DriveRow| {
            let is_alike =
                row.model == drive_signature.model && row.model.is_some() && row.capacity_bytes == capacity;
            let is_itself = row.archive == archive && row.key == own_key
                || row.serial.is_some() && row.serial == drive_signature.serial;
            is_alike && row.access == drive_signature.access.name() && !is_itself
        };
        let peers: Vec<DriveRow> = drives.into_iter().filter(|row| is_peer(row)).take(most).collect();
        let mut metrics = Vec::new();
        for row in &peers {
            metrics.extend(latest(&self.checks(row)?).cloned());
        }
        Ok(metrics)
    }
}

/// The comparison as JSON.
pub fn peers_json(all_peers: &[Peers<'_>]) -> String {
    let place = |place: &Place| {
        json!({
            "metric": place.metric,
            "unit": place.unit,
            "value_per_s": place.value,
            "peers": place.among.peers,
            "peers_faster": place.among.higher,
            "ratio": place.among.ratio,
            "ratio_low": place.among.interval.map(|(low, _)| low),
            "ratio_high": place.among.interval.map(|(_, high)| high),
            "slow": place.is_slow(),
        })
    };
    let drive = |peers: &Peers<'_>| {
        let row = &peers.drive.drive;
        let places: Vec<Value> = peers.places.iter().map(place).collect();
        json!({
            "archive": row.archive,
            "key": row.key,
            "model": row.model,
            "target": row.target,
            "metrics": places,
        })
    };
    let drives: Vec<Value> = all_peers.iter().map(drive).collect();
    text(&json!({ "schema": 1, "drives": drives }))
}
