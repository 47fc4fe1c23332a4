//! How a drive's metrics changed from check to check, as data and as JSON for programs and the served page.

use likenew_core::findings::Standing;
use likenew_restoring::check::CheckHistory;
use likenew_stats::interval::CONFIDENCE_95;
use likenew_stats::steady_state::{LevelChange, level_changes};
use likenew_stats::summary::median;
use serde::Serialize;
use serde_json::{Value, json};

use super::database::History;
use super::error::HistoryError;
use super::indexed_run::MetricValue;
use super::queries::{Check, DamagedRun, DriveRow, UnknownDrive};

pub mod wording;

/// Standard errors from a value to each end of its 95% interval (normal distribution).
const REACH_95: f64 = 1.96;

/// A drive's checks and metrics over time.
#[derive(Clone, Debug, PartialEq)]
pub struct DriveHistory {
    /// The drive.
    pub drive: DriveRow,
    /// The drive's checks, earliest first.
    pub checks: Vec<Check>,
    /// The metrics of the latest check, each over time.
    pub metrics: Vec<MetricHistory>,
}

/// One metric over time.
#[derive(Clone, Debug, PartialEq)]
pub struct MetricHistory {
    /// The metric's name.
    pub name: String,
    /// The metric's unit.
    pub unit: String,
    /// The value in each check, if it was measured in the same way as in the latest one.
    pub values: Vec<Option<f64>>,
    /// The earliest of these values.
    pub baseline: f64,
    /// The latest of these values.
    pub now: f64,
    /// Lasting changes, earliest first.
    pub changes: Vec<Change>,
}

/// A change of level that the scatter between checks does not explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Index of the first check at the new level.
    pub at: usize,
    /// Start of this check.
    pub since: String,
    /// The new level over the previous one.
    pub ratio: f64,
    /// Lower end of the ratio's interval, which never contains 1.
    pub low: f64,
    /// Upper end of the ratio's interval.
    pub high: f64,
}

/// A sentence about a drive's change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct News {
    /// A problem if a metric fell, good if it rose.
    pub standing: Standing,
    /// The sentence, with its full stop.
    pub sentence: String,
}

impl DriveHistory {
    /// Reads and evaluates the checks of a drive.
    ///
    /// # Errors
    /// The database failed.
    pub fn read(history: &mut History, drive: DriveRow) -> Result<Self, HistoryError> {
        let checks = history.checks(&drive)?;
        Ok(Self::new(drive, checks))
    }

    /// Evaluates the checks of a drive, earliest first.
    pub fn new(drive: DriveRow, checks: Vec<Check>) -> Self {
        let latest = checks.last().map_or(&[][..], |check| &check.metrics);
        // If there are many, checks are missing after the first one. The time of a change there is unknown.
        let contiguous = usize::from(drive.checks > checks.len() as i64);
        let metrics = latest
            .iter()
            .filter_map(|metric| history(metric, &checks, contiguous, drive.is_virtual))
            .collect();
        Self { drive, checks, metrics }
    }

    /// The history without the latest check.
    #[must_use]
    pub fn before(&self) -> Self {
        let mut checks = self.checks.clone();
        let popped = checks.pop().map_or(0, |_| 1);
        Self::new(DriveRow { checks: self.drive.checks - popped, ..self.drive.clone() }, checks)
    }

    /// The largest of the latest changes.
    pub fn main_change(&self) -> Option<(&MetricHistory, &Change)> {
        self.changes().first().copied()
    }

    /// The latest change of each metric that changed, largest first.
    fn changes(&self) -> Vec<(&MetricHistory, &Change)> {
        let latest = self.metrics.iter().filter_map(|metric| Some((metric, metric.changes.last()?)));
        let mut changes: Vec<(&MetricHistory, &Change)> = latest.collect();
        changes.sort_by(|(_, one), (_, other)| other.ratio.ln().abs().total_cmp(&one.ratio.ln().abs()));
        changes
    }

    /// Sentences about all latest changes, or one that nothing changed; never empty.
    pub fn news(&self) -> Vec<News> {
        let changes: Vec<News> =
            self.changes().into_iter().map(|(metric, change)| wording::changed(metric, change)).collect();
        match &changes[..] {
            [] => vec![wording::no_change(self.checks.len(), !self.metrics.is_empty())],
            _ => changes,
        }
    }

    /// The metric with this name.
    pub fn metric(&self, name: &str) -> Option<&MetricHistory> {
        self.metrics.iter().find(|metric| metric.name == name)
    }
}

/// One metric over time. `contiguous`: index of the check from which on none is missing.
fn history<'a>(
    latest: &MetricValue,
    checks: &'a [Check],
    contiguous: usize,
    is_virtual: bool,
) -> Option<MetricHistory> {
    let is_same = |metric: &&MetricValue| {
        metric.name == latest.name && metric.bytes == latest.bytes && metric.unit == latest.unit
    };
    let same = |check: &'a Check| check.metrics.iter().find(is_same).filter(|metric| metric.value > 0.0);
    let by_check: Vec<Option<&MetricValue>> = checks.iter().map(same).collect();
    let measured = || by_check.iter().enumerate().filter_map(|(at, metric)| Some((at, (*metric)?)));
    let (baseline, now) = (measured().next()?.1.value, measured().next_back()?.1.value);
    let (places, metrics): (Vec<usize>, Vec<&MetricValue>) =
        measured().filter(|(at, _)| *at >= contiguous).unzip();
    let logarithms: Vec<f64> = metrics.iter().map(|metric| metric.value.ln()).collect();
    let changes = level_changes(&logarithms, assumed_scatter(&metrics, is_virtual), CONFIDENCE_95);
    let change = |change: LevelChange| Change {
        at: places[change.at],
        since: checks[places[change.at]].run.started_at.clone(),
        ratio: change.difference.exp(),
        low: change.interval.low.exp(),
        high: change.interval.high.exp(),
    };
    Some(MetricHistory {
        name: latest.name.clone(),
        unit: latest.unit.clone(),
        baseline,
        now,
        values: by_check.iter().map(|metric| metric.map(|metric| metric.value)).collect(),
        changes: changes.into_iter().map(change).collect(),
    })
}

/// The assumed scatter between checks, or the error within checks if that is larger.
fn assumed_scatter(metrics: &[&MetricValue], is_virtual: bool) -> f64 {
    let error =
        |metric: &&MetricValue| (metric.low > 0.0).then(|| (metric.high / metric.low).ln() / 2.0 / REACH_95);
    let errors: Vec<f64> = metrics.iter().filter_map(error).filter(|error| error.is_finite()).collect();
    CheckHistory::assumed(is_virtual).max(median(&errors).unwrap_or(0.0))
}

/// Most checks in a list's small line; more cannot be distinguished there.
const LINE_MAX: usize = 60;
/// Version of the JSON.
const SCHEMA: u32 = 1;

/// A list of drives, with their total number, checked targets of unknown drives, and damaged runs.
pub fn drives_json(
    drives: &[DriveHistory],
    count: usize,
    unknown: &[UnknownDrive],
    damaged: &[DamagedRun],
) -> String {
    text(&listed(drives, count, unknown, damaged))
}

fn listed(drives: &[DriveHistory], count: usize, unknown: &[UnknownDrive], damaged: &[DamagedRun]) -> Value {
    let drives: Vec<Value> = drives.iter().map(summary).collect();
    let damaged: Vec<Value> = damaged
        .iter()
        .map(|run| json!({"archive": run.archive, "run": run.name, "error": run.error}))
        .collect();
    let unknown: Vec<Value> = unknown
        .iter()
        .map(|drive| {
            json!({"archive": drive.archive, "target": drive.target, "last_check": drive.last_check,
                "last_check_at": drive.last_check_at, "sentence": wording::unknown_drive(drive)})
        })
        .collect();
    json!({"schema": SCHEMA, "drives": drives, "count": count, "unknown_drives": unknown, "damaged": damaged})
}

/// Drives for a page without a server: a server's answers by address, and the page's first view.
pub fn page_json(drives: &[DriveHistory], damaged: &[DamagedRun]) -> String {
    let answer = |drive: &DriveHistory| (format!("/api/history/{}", drive.drive.key), detailed(drive));
    let mut answers: serde_json::Map<String, Value> = drives.iter().map(answer).collect();
    answers.insert("/api/history?limit=500".into(), listed(drives, drives.len(), &[], damaged));
    let place = match drives {
        [only] => format!("#/history/{}", only.drive.key),
        _ => "#/history".to_owned(),
    };
    text(&json!({"place": place, "answers": answers}))
}

/// A drive with all its checks.
pub fn drive_json(drive: &DriveHistory) -> String {
    text(&detailed(drive))
}

fn detailed(drive: &DriveHistory) -> Value {
    let checks: Vec<Value> = drive.checks.iter().enumerate().map(|(at, _)| check(drive, at)).collect();
    let mut details = summary(drive);
    details["schema"] = json!(SCHEMA);
    details["checks"] = json!(checks);
    details
}

fn summary(drive: &DriveHistory) -> Value {
    let row = &drive.drive;
    let metrics: Vec<Value> = drive.metrics.iter().map(metric).collect();
    json!({
        "archive": row.archive,
        "key": row.key,
        "name": wording::drive(row),
        "title": wording::title(row),
        "about": wording::about(row),
        "news": drive.news(),
        "access": row.access,
        "model": row.model,
        "serial_hash": row.serial,
        "capacity_bytes": row.capacity_bytes,
        "is_virtual": row.is_virtual,
        "target": row.target,
        "first_at": row.first_at,
        "last_at": row.last_at,
        "runs": row.runs,
        "check_count": row.checks,
        "last_check": drive.checks.last().map(|check| check.run.name.clone()),
        "last_check_at": drive.checks.last().map(|check| check.run.started_at.clone()),
        "standing": drive.checks.last().map(|check| check.run.standing.clone()),
        "summary": drive.checks.last().map(|check| check.run.summary.clone()),
        "metrics": metrics,
    })
}

fn metric(metric: &MetricHistory) -> Value {
    let changes = metric.changes.iter().map(|change| {
        json!({"since": change.since, "ratio": change.ratio, "ratio_low": change.low, "ratio_high": change.high})
    });
    let changes: Vec<Value> = changes.collect();
    let each = metric.values.iter().flatten().map(|value| 100.0 * value / metric.baseline);
    let each: Vec<f64> = each.collect();
    json!({
        "metric": metric.name,
        "unit": metric.unit,
        "baseline_per_s": metric.baseline,
        "now_per_s": metric.now,
        "percent_of_baseline": 100.0 * metric.now / metric.baseline,
        "percent_of_baseline_each": each[each.len().saturating_sub(LINE_MAX)..],
        "changes": changes,
    })
}

fn check(drive: &DriveHistory, at: usize) -> Value {
    let check = &drive.checks[at];
    let metrics = check.metrics.iter().map(|metric| {
        let baseline = drive
            .metric(&metric.name)
            .filter(|metric| metric.values[at].is_some())
            .map(|metric| metric.baseline);
        json!({
            "metric": metric.name,
            "unit": metric.unit,
            "per_s": metric.value,
            "low_per_s": metric.low,
            "high_per_s": metric.high,
            "reference_per_s": metric.reference,
            "reference": metric.origin,
            "percent_of_baseline": baseline.map(|baseline| 100.0 * metric.value / baseline),
        })
    });
    let metrics: Vec<Value> = metrics.collect();
    let run = &check.run;
    json!({
        "run": run.name,
        "started_at": run.started_at,
        "target": run.target,
        "standing": run.standing,
        "summary": run.summary,
        "seed": run.seed,
        "metrics": metrics,
    })
}

pub(crate) fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("these are plain values") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queries::RunRow;

    fn drive(is_virtual: bool) -> DriveRow {
        DriveRow {
            archive: ".".into(),
            key: "k".into(),
            access: "device".into(),
            model: None,
            serial: None,
            capacity_bytes: None,
            is_virtual,
            first_at: String::new(),
            last_at: String::new(),
            runs: 0,
            checks: 0,
            target: "/dev/sda".into(),
        }
    }

    fn check(day: usize, values: &[(&str, f64, Option<u64>)]) -> Check {
        let metric = |(name, value, bytes): &(&str, f64, Option<u64>)| MetricValue {
            source: "metrics".into(),
            name: (*name).into(),
            unit: "bytes/s".into(),
            value: *value,
            low: value * 0.98,
            high: value * 1.02,
            reference: None,
            origin: None,
            bytes: *bytes,
        };
        let run = RunRow {
            archive: ".".into(),
            name: format!("run-{day}"),
            started_at: format!("2026-03-{day:02}T10:00:00.000Z"),
            procedure: "check".into(),
            target: "/dev/sda".into(),
            standing: "good".into(),
            summary: String::new(),
            seed: 0,
            drive: Some("k".into()),
            failed_ios: 0,
            problems: Vec::new(),
        };
        Check { run, metrics: values.iter().map(metric).collect(), health: Vec::new() }
    }

    fn reads(values: &[f64], is_virtual: bool) -> DriveHistory {
        let checks = values
            .iter()
            .enumerate()
            .map(|(day, value)| check(day + 1, &[("sequential_read", *value, None)]));
        DriveHistory::new(drive(is_virtual), checks.collect())
    }

    #[test]
    fn a_fall_has_its_day_and_its_size() {
        let values = [100.0, 102.0, 99.0, 101.0, 100.0, 80.0, 81.0, 79.5, 80.2];
        let history = reads(&values, false);
        let (metric, change) = history.main_change().unwrap();
        assert_eq!(
            (metric.name.as_str(), change.at, &change.since[..10]),
            ("sequential_read", 5, "2026-03-06")
        );
        assert!((change.ratio - 0.798).abs() < 0.01 && change.low < 0.798 && change.high < 1.0, "{change:?}");
        assert_eq!((metric.baseline, metric.now), (100.0, 80.2));
        assert_eq!(reads(&values, true).main_change(), None, "a virtual disk may do that unchanged");
        assert_eq!(reads(&values[..6], false).before().main_change(), None);
    }

    #[test]
    fn a_change_among_checks_that_are_not_here_has_no_day() {
        let mut history = reads(&[100.0, 80.0, 81.0, 79.5, 80.2, 80.0], false);
        assert_eq!(history.main_change().unwrap().1.at, 1);
        history.drive.checks = 400;
        let history = DriveHistory::new(history.drive, history.checks);
        assert_eq!(history.main_change(), None);
        assert_eq!((history.metrics[0].baseline, history.metrics[0].now), (100.0, 80.0));
    }

    #[test]
    fn scatter_is_no_change() {
        let history = reads(&[100.0, 130.0, 90.0, 125.0, 95.0, 128.0, 92.0, 80.0], false);
        assert_eq!(history.main_change(), None, "{:?}", history.metrics);
    }

    #[test]
    fn writes_of_another_length_are_another_test() {
        let write = |day, value, bytes| check(day, &[("sustained_write", value, Some(bytes))]);
        let checks = vec![write(1, 100.0, 1), write(2, 20.0, 2), write(3, 101.0, 1)];
        let history = DriveHistory::new(drive(false), checks);
        assert_eq!(history.metrics[0].values, [Some(100.0), None, Some(101.0)]);
        assert_eq!(history.main_change(), None);
    }
}
