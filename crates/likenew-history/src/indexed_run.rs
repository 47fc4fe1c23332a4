//! Reads one run folder into the form that the index stores.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use jiff::Timestamp;
use likenew_archive::{Archive, DriveSignature, Record};
use likenew_core::facts::{Drive, Fact};
use likenew_core::findings::{Findings, Row, standing};
use likenew_core::probe::{Observation, ProbeResult};
use likenew_core::procedure::Plan;
use likenew_core::segment::Segment;
use likenew_restoring::check::{self, CheckOptions, Metric};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wording;

/// Increased when this file would index the same folder differently.
const INDEX_VERSION: u32 = 7;
/// Most metrics of one run; a full sweep has some hundred.
const METRICS_MAX: usize = 1_000;

/// A run folder as indexed, or the reason why it cannot be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct IndexedRun {
    /// The name of the folder.
    pub(crate) name: String,
    /// A text that changes when the folder does.
    pub(crate) fingerprint: String,
    /// The folder's content, or why it cannot be read.
    pub(crate) content: Result<RunContent, String>,
}

/// The content of a run folder.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunContent {
    pub(crate) started_at: String,
    pub(crate) procedure: String,
    pub(crate) target: String,
    pub(crate) seed: u64,
    pub(crate) standing: &'static str,
    pub(crate) summary: String,
    pub(crate) drive: Option<DriveSignature>,
    pub(crate) metrics: Vec<MetricValue>,
    pub(crate) failed_ios: u64,
    pub(crate) problems: Option<Vec<Problem>>,
}

/// A problem that a check found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// An identifier, equal in all checks that find this problem.
    pub name: String,
    /// The problem, without a full stop.
    pub sentence: String,
}

/// A measured value with its interval.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MetricValue {
    /// The table of the findings that holds the value.
    pub source: String,
    /// What was measured: the metric's name, or the cells that identify its row.
    pub name: String,
    /// `bytes/s`, `1/s`, `ns`, `%`, or empty.
    pub unit: String,
    /// The value.
    pub value: f64,
    /// Lower end of the value's interval.
    pub low: f64,
    /// Upper end of the value's interval.
    pub high: f64,
    /// The reference value that it was compared with.
    pub reference: Option<f64>,
    /// Where the reference comes from.
    pub origin: Option<String>,
    /// Bytes of the test, if the value depends on them. Only values of equal bytes are comparable.
    pub bytes: Option<u64>,
}

/// Standing of a run that is in progress or was interrupted.
pub(crate) const UNFINISHED: &str = "unfinished";

/// A text that changes whenever a run's measurements or findings do. Looks only at times and lengths of files.
pub(crate) fn fingerprint(folder: &Path) -> String {
    let part = |path: &Path| {
        let stat = fs::metadata(path);
        stat.map_or_else(
            |_| "-".into(),
            |metadata| format!("{}.{:09}:{}", metadata.mtime(), metadata.mtime_nsec(), metadata.len()),
        )
    };
    let [folder, segments, findings] =
        [folder.to_owned(), folder.join("segments.jsonl"), folder.join("findings.json")]
            .map(|path| part(&path));
    format!("{INDEX_VERSION} {folder} {segments} {findings}")
}

/// The name of a run: that of its folder.
pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

impl IndexedRun {
    /// Reads a run folder. A damaged one gives a result, too.
    pub(crate) fn read(folder: &Path) -> Self {
        let name = name_of(folder);
        // Taken before the contents, so that a later change is noticed.
        let fingerprint = fingerprint(folder);
        let content = Archive::open(folder).map_err(|error| error.to_string()).and_then(content);
        Self { name, fingerprint, content }
    }
}

fn content(mut record: Record) -> Result<RunContent, String> {
    let has_findings = record.path.join("findings.json").exists();
    if record.findings.is_none() && has_findings {
        return Err(record.notes.pop().unwrap_or_default());
    }
    let drive = DriveSignature::of(&record);
    let plan = &record.header.plan;
    let findings = record.findings.as_ref();
    let started_at = &record.header.machine.started_at;
    Ok(RunContent {
        started_at: date(started_at).ok_or_else(|| wording::no_date(&record.path, started_at))?,
        procedure: plan.procedure.clone(),
        target: record.header.machine.identity.name.clone(),
        seed: plan.seed,
        standing: findings
            .filter(|findings| !findings.is_interrupted)
            .map_or(UNFINISHED, |findings| standing(&findings.answers).name()),
        summary: findings.map_or_else(String::new, |findings| findings.summary.clone()),
        drive,
        problems: findings.filter(|_| plan.procedure == "check").map(problems),
        failed_ios: record.segments.iter().map(Segment::errors).sum(),
        metrics: findings.map_or_else(Vec::new, |findings| {
            metrics(plan, findings).into_iter().chain(health(plan, &record.observations)).collect()
        }),
    })
}

/// Name of the table of health values.
pub(crate) const HEALTH: &str = "health";

/// Health values that a check's only drive reported at the end.
fn health(plan: &Plan, observations: &[Observation]) -> Vec<MetricValue> {
    let mut results = observations.iter().rev().map(|observation| &observation.result);
    let facts = results.find_map(ProbeResult::facts).filter(|_| plan.procedure == "check");
    let Some([drive]) = facts.map(|facts| &facts.drives[..]) else { return Vec::new() };
    // The volume may be backed by another disk next time.
    if drive.is_volume() {
        return Vec::new();
    }
    let number = |count: &Fact<u64>| count.get().map(|count| count as f64);
    let Drive { health, counts, .. } = drive;
    [
        ("temperature", "°C", health.temperature_c.get()),
        ("failing", "", health.failing.get().map(|failing| f64::from(u8::from(failing)))),
        ("endurance_used", "%", health.used_percent.get()),
        ("media_errors", "", number(&counts.media_errors)),
        ("power_on", "h", number(&counts.power_on_hours)),
        ("written", "bytes", number(&counts.lifetime_bytes_written)),
    ]
    .into_iter()
    .filter_map(|(name, unit, value)| {
        let value = value?;
        let (source, name, unit) = (HEALTH.to_owned(), name.to_owned(), unit.to_owned());
        Some(MetricValue { source, name, unit, value, low: value, high: value, ..MetricValue::default() })
    })
    .collect()
}

/// The date in a form that sorts as text; `None` unless it is a date since 1970.
fn date(text: &str) -> Option<String> {
    let time: Timestamp = text.parse().ok()?;
    (time >= Timestamp::UNIX_EPOCH).then(|| time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string())
}

fn problems(findings: &Findings) -> Vec<Problem> {
    let problem = |(name, sentence): (String, &str)| Problem { name, sentence: sentence.to_owned() };
    check::problems(&findings.answers).map(problem).collect()
}

/// Values with an interval, in the order of the tables.
fn metrics(plan: &Plan, findings: &Findings) -> Vec<MetricValue> {
    let options = (plan.procedure == "check").then(|| CheckOptions::from_table(&plan.options).ok()).flatten();
    let rows = findings.tables.iter().flat_map(|(table, rows)| rows.iter().map(move |row| (table, row)));
    rows.flat_map(|(table, row)| match check_metric(table, row, options.as_ref()) {
        Some(metric) => vec![metric],
        None => interval_metrics(table, row),
    })
    .take(METRICS_MAX)
    .collect()
}

/// A row of a check's metrics.
fn check_metric(table: &str, row: &Row, options: Option<&CheckOptions>) -> Option<MetricValue> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let text = |key: &str| row.get(key).and_then(Value::as_str).map(str::to_owned);
    let name = text("metric")?;
    let metric: Option<Metric> = serde_json::from_value(Value::String(name.clone())).ok();
    Some(MetricValue {
        source: table.to_owned(),
        name,
        unit: text("unit")?,
        value: number("measured_per_s")?,
        low: number("low_per_s")?,
        high: number("high_per_s")?,
        reference: number("reference_per_s"),
        origin: text("reference"),
        bytes: metric.and_then(|metric| options?.bytes_of(metric)),
    })
}

/// Columns of a row with an interval in `KEY_low` and `KEY_high`. The cells before a column name its value.
fn interval_metrics(table: &str, row: &Row) -> Vec<MetricValue> {
    let number = |key: &str| row.get(key).and_then(Value::as_f64);
    let keys: BTreeSet<&str> = row.keys().filter_map(|key| key.strip_suffix("_low")).collect();
    let columns = row.iter().filter(|(key, _)| keys.contains(key.as_str()));
    let metrics = columns.filter_map(|(key, value)| {
        let (low, high) = (number(&format!("{key}_low"))?, number(&format!("{key}_high"))?);
        let is_setting = |(name, cell): &(&String, &Value)| {
            *name != "unit" && (cell.is_string() || (cell.is_u64() && !keys.contains(name.as_str())))
        };
        let before = row.iter().take_while(|(name, _)| *name != key).filter(is_setting);
        let words = before.map(|(name, cell)| match cell {
            Value::String(text) => text.clone(),
            number => format!("{name} {number}"),
        });
        let name: Vec<String> = words.chain([key.clone()]).collect();
        let unit = row.get("unit").and_then(Value::as_str).unwrap_or_else(|| unit_of(key)).to_owned();
        let value = value.as_f64()?;
        let (source, name) = (table.to_owned(), name.join(", "));
        Some(MetricValue { source, name, unit, value, low, high, ..MetricValue::default() })
    });
    metrics.collect()
}

/// The unit at the end of a column's key.
fn unit_of(key: &str) -> &'static str {
    match key {
        _ if key.ends_with("bytes_per_s") => "bytes/s",
        _ if key.ends_with("iops") => "1/s",
        _ if key.ends_with("_ns") => "ns",
        _ if key.ends_with("percent") => "%",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(value: &Value) -> Row {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_checks_metric_says_what_it_was_compared_with() {
        let row = row(
            &json!({"metric": "sustained_write", "unit": "bytes/s", "measured_per_s": 2.0, "low_per_s": 1.5,
            "high_per_s": 2.5, "reference_per_s": 8.0, "reference": "baseline", "percent": 25.0}),
        );
        let options = CheckOptions { bytes: Some(7 << 20), ..CheckOptions::default() };
        let metric = check_metric("metrics", &row, Some(&options)).unwrap();
        assert_eq!((metric.value, metric.low, metric.high, metric.reference), (2.0, 1.5, 2.5, Some(8.0)));
        assert_eq!((metric.origin.as_deref(), metric.bytes), (Some("baseline"), Some(7 << 20)));
    }

    #[test]
    fn dates_have_one_form_and_what_is_none_is_refused() {
        assert_eq!(date("2026-03-14T15:09:26Z").as_deref(), Some("2026-03-14T15:09:26.000Z"));
        assert_eq!(date("2026-03-14T16:09:26.5+01:00").as_deref(), Some("2026-03-14T15:09:26.500Z"));
        for bad in ["", "yesterday", "2026-99-99T00:00:00Z", "-009999-01-02T00:00:00Z"] {
            assert_eq!(date(bad), None, "{bad}");
        }
    }

    #[test]
    fn other_tables_are_read_by_their_columns() {
        let bench =
            row(&json!({"test": "SEQ1M Q8T1", "op": "read", "bytes_per_s": 5.0, "bytes_per_s_low": 4.0,
            "bytes_per_s_high": 6.0, "iops": 3.0}));
        let [metric] = &interval_metrics("results", &bench)[..] else { panic!() };
        assert_eq!(
            (metric.name.as_str(), metric.unit.as_str()),
            ("SEQ1M Q8T1, read, bytes_per_s", "bytes/s")
        );
        let open = row(&json!({"test": "x", "iops": 3.0, "iops_low": null, "iops_high": null}));
        assert_eq!(interval_metrics("results", &open), []);
        let aged =
            row(&json!({"test": "x", "unit": "points", "value": 3.0, "value_low": 2.0, "value_high": 4.0}));
        assert_eq!(interval_metrics("intervals", &aged)[0].unit, "points");
    }
}
