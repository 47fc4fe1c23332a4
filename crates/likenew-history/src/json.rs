//! Drives over time as JSON, for programs and the served page.

use serde_json::{Value, json};

use crate::drive_history::{DriveHistory, MetricHistory};
use crate::queries::DamagedRun;

/// The version of this form.
const SCHEMA: u32 = 1;

/// Drives, each as it is now, how many there are in all, and the runs that cannot be read.
pub fn drives_json(drives: &[DriveHistory], count: usize, damaged: &[DamagedRun]) -> String {
    let drives: Vec<Value> = drives.iter().map(summary).collect();
    let damaged: Vec<Value> = damaged
        .iter()
        .map(|run| json!({"archive": run.archive, "run": run.name, "error": run.error}))
        .collect();
    text(&json!({"schema": SCHEMA, "drives": drives, "count": count, "damaged": damaged}))
}

/// One drive with all of its checks.
pub fn drive_json(drive: &DriveHistory) -> String {
    let checks: Vec<Value> = drive.checks.iter().enumerate().map(|(at, _)| check(drive, at)).collect();
    let mut of = summary(drive);
    of["schema"] = json!(SCHEMA);
    of["checks"] = json!(checks);
    text(&of)
}

fn summary(drive: &DriveHistory) -> Value {
    let row = &drive.drive;
    let metrics: Vec<Value> = drive.metrics.iter().map(metric).collect();
    json!({
        "archive": row.archive,
        "key": row.key,
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
    json!({
        "metric": metric.name,
        "unit": metric.unit,
        "baseline_per_s": metric.baseline,
        "now_per_s": metric.now,
        "percent_of_baseline": 100.0 * metric.now / metric.baseline,
        "changes": changes,
    })
}

fn check(drive: &DriveHistory, at: usize) -> Value {
    let check = &drive.checks[at];
    let metrics = check.metrics.iter().map(|metric| {
        let baseline = drive.metric(&metric.name).filter(|of| of.values[at].is_some()).map(|of| of.baseline);
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

fn text(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("these are plain values") + "\n"
}
