//! Extracts speeds from the tables of a run, and computes the ratio of a speed between two runs with its interval.

use std::collections::HashMap;

use indexmap::IndexMap;
use likenew_core::findings::Row;
use likenew_procedure_support::estimate::Estimate;
use likenew_stats::interval::{CONFIDENCE_95, Interval, WINDOWS_MIN, window_interval};
use likenew_stats::summary::{mean, median};
use serde_json::Value;

use crate::{ComparedRun, SpeedRatio, wording};

/// A table with a column of speeds. `is_sampled`: all rows sample one speed, such as the files of a fill.
struct SpeedTable {
    name: &'static str,
    column: &'static str,
    is_sampled: bool,
}

const fn measured(name: &'static str, column: &'static str) -> SpeedTable {
    SpeedTable { name, column, is_sampled: false }
}

const fn sampled(name: &'static str, column: &'static str) -> SpeedTable {
    SpeedTable { name, column, is_sampled: true }
}

/// Tables of all procedures.
const TABLES: [SpeedTable; 12] = [
    measured("metrics", "measured_per_s"),
    measured("results", "bytes_per_s"),
    measured("matrix", "bytes_per_s"),
    measured("levels", "steady_bytes_per_s"),
    measured("levels", "bytes_per_s"),
    measured("compressibility", "bytes_per_s"),
    measured("fit", "throughput_bytes_per_s"),
    measured("workloads", "bytes_per_s"),
    measured("commits", "commits_per_s"),
    measured("applications", "score"),
    sampled("files", "bytes_per_s"),
    sampled("curve", "bytes_per_s"),
];

/// A speed of a run: more is faster.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Speed {
    /// What was measured, in words; equal in all runs.
    pub(crate) name: String,
    /// The name without the workload's name.
    pub(crate) test: String,
    /// `bytes/s`, `1/s`, `commits/s` or `points`.
    pub(crate) unit: &'static str,
    /// The speed, in `unit`.
    pub(crate) value: f64,
    /// Measurements from which the interval follows.
    pub(crate) basis: Basis,
}

/// Measurements from which a speed's interval follows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Basis {
    /// A 95% interval; both ends equal the value if it was measured once.
    Interval { low: f64, high: f64 },
    /// A speed at each of several places, such as files or offsets, by name of the place.
    Samples(Vec<(String, f64)>),
}

/// All speeds of a run, in the order of its tables.
pub(crate) fn speeds(tables: &IndexMap<String, Vec<Row>>) -> Vec<Speed> {
    let mut speeds = Vec::new();
    for table in &TABLES {
        let rows = tables.get(table.name).map_or(&[][..], Vec::as_slice);
        if table.is_sampled {
            speeds.extend(of_samples(table, rows));
        } else {
            speeds.extend(rows.iter().filter_map(|row| of_row(table, row)));
        }
    }
    speeds
}

fn number(row: &Row, key: &str) -> Option<f64> {
    row.get(key)?.as_f64()
}

/// A value above 0, since no ratio to 0 exists.
fn positive(row: &Row, key: &str) -> Option<f64> {
    number(row, key).filter(|value| *value > 0.0)
}

fn of_row(table: &SpeedTable, row: &Row) -> Option<Speed> {
    let value = positive(row, table.column)?;
    let unit = match (row.get("unit").and_then(Value::as_str), table.column) {
        (Some("1/s"), _) => "1/s",
        (_, "score") => "points",
        (_, "commits_per_s") => "commits/s",
        _ => "bytes/s",
    };
    // In a check, the ends are `low_per_s` and `high_per_s`.
    let end = |end: &str| {
        let of_column = number(row, &format!("{}_{end}", table.column));
        of_column.or_else(|| number(row, &format!("{end}_per_s"))).unwrap_or(value)
    };
    let (low, high) = (end("low").min(value), end("high").max(value));
    let cells = || row.iter().take_while(|(key, _)| *key != table.column);
    let (name, test) =
        (wording::speed(cells()), wording::speed(cells().filter(|(key, _)| *key != "workload")));
    Some(Speed { name, test, unit, value, basis: Basis::Interval { low, high } })
}

fn of_samples(table: &SpeedTable, rows: &[Row]) -> Option<Speed> {
    let place = |row: &Row| {
        let place = row.iter().find(|(key, _)| matches!(key.as_str(), "file" | "offset_bytes"));
        place.map(|(_, place)| place.to_string())
    };
    let samples: Vec<(String, f64)> =
        rows.iter().filter_map(|row| Some((place(row)?, positive(row, table.column)?))).collect();
    let values: Vec<f64> = samples.iter().map(|(_, value)| *value).collect();
    let value = median(&values)?;
    let name = wording::sampled_speed(table.name).to_owned();
    Some(Speed { test: name.clone(), name, unit: "bytes/s", value, basis: Basis::Samples(samples) })
}

/// Standard errors from a value to each end of its 95% interval (normal distribution).
const REACH_95: f64 = 1.96;

/// The ratio of a speed between two runs, with its interval.
///
/// Logarithms of speeds are assumed to be normally distributed. The errors of both runs and the scatter between
/// repeated runs add as squares. Samples at the same places are paired, so what both runs share there, such as slow
/// inner tracks, adds no error.
pub(crate) fn ratio_of(runs: [&ComparedRun<'_>; 2], first: &Speed, other: &Speed) -> Option<SpeedRatio> {
    let (center, error) = match (&first.basis, &other.basis) {
        (Basis::Interval { low, high }, Basis::Interval { low: other_low, high: other_high }) => {
            let errors = [(first.value, *low, *high), (other.value, *other_low, *other_high)].map(error_of);
            ((other.value / first.value).ln(), errors[0].hypot(errors[1]))
        }
        (Basis::Samples(first), Basis::Samples(other)) => paired(first, other)?,
        _ => return None,
    };
    let error = runs.iter().fold(error, |error, run| error.hypot(run.scatter()));
    let [low, high] = [center - REACH_95 * error, center + REACH_95 * error].map(f64::exp);
    Some(SpeedRatio {
        name: first.name.clone(),
        unit: first.unit,
        values: [first.value, other.value],
        ratio: Estimate { value: center.exp(), interval: Some(Interval { low, high }) },
    })
}

/// Standard error of a value's logarithm, from the interval.
fn error_of((value, low, high): (f64, f64, f64)) -> f64 {
    if low > 0.0 { (high / low).ln() / 2.0 / REACH_95 } else { (high - low) / 2.0 / REACH_95 / value }
}

/// Mean and standard error of the logarithms of ratios, over places that both runs have.
fn paired(first: &[(String, f64)], other: &[(String, f64)]) -> Option<(f64, f64)> {
    let other: HashMap<&str, f64> = other.iter().map(|(place, value)| (place.as_str(), *value)).collect();
    let logarithm = |(place, value): &(String, f64)| Some((other.get(place.as_str())? / value).ln());
    let logarithms: Vec<f64> = first.iter().filter_map(logarithm).collect();
    if logarithms.len() < WINDOWS_MIN {
        return None;
    }
    let interval = window_interval(&logarithms, CONFIDENCE_95)?;
    Some((mean(&logarithms)?, (interval.high - interval.low) / 2.0 / REACH_95))
}

#[cfg(test)]
mod tests {
    use likenew_core::drive::TargetKind;
    use likenew_core::procedure::Plan;
    use likenew_procedure_support::estimate::Verdict;
    use serde_json::json;

    use super::*;

    fn tables(name: &str, rows: Value) -> IndexMap<String, Vec<Row>> {
        let rows = rows.as_array().unwrap().iter().map(|row| row.as_object().unwrap().clone()).collect();
        IndexMap::from([(name.to_owned(), rows)])
    }

    #[test]
    fn a_speed_is_named_by_what_stands_before_it() {
        let sweep = tables(
            "matrix",
            json!([{"pattern": "random", "op": "write", "block_bytes": 4096, "depth": 8, "data": "random",
                "bytes_per_s": 5.0, "bytes_per_s_low": 4.0, "bytes_per_s_high": 6.0, "iops": 3.0}]),
        );
        let [speed] = &speeds(&sweep)[..] else { panic!() };
        assert_eq!(
            (speed.name.as_str(), speed.unit, speed.value),
            ("random write 4 KiB QD8", "bytes/s", 5.0)
        );
        assert_eq!(speed.basis, Basis::Interval { low: 4.0, high: 6.0 });

        let check =
            tables("metrics", json!([{"metric": "random_read", "unit": "1/s", "measured_per_s": 9.0}]));
        let [speed] = &speeds(&check)[..] else { panic!() };
        assert_eq!((speed.name.as_str(), speed.unit), ("4K random read", "1/s"));
        assert_eq!(speed.basis, Basis::Interval { low: 9.0, high: 9.0 }, "measured once");
    }

    #[test]
    fn commits_are_those_of_their_writers() {
        let row = |writers: u64| json!({"by": "fdatasync", "block_bytes": 8192, "writers": writers, "commits_per_s": 980.0});
        let commits = speeds(&tables("commits", json!([row(1), row(8)])));
        let commits: Vec<(&str, &str)> = commits.iter().map(|speed| (&*speed.name, speed.unit)).collect();
        assert_eq!(
            commits,
            [
                ("fdatasync 8 KiB commits of 1 writer", "commits/s"),
                ("fdatasync 8 KiB commits of 8 writers", "commits/s")
            ]
        );
    }

    #[test]
    fn a_workload_has_a_speed_for_each_operation_of_each_stream() {
        let row = |stream: u16, op: &str, bytes_per_s: f64| json!({"workload": "job_1", "stream": stream, "op": op, "ios": 7, "bytes": 4096, "bytes_per_s": bytes_per_s});
        let run = tables(
            "workloads",
            json!([row(0, "read", 5.0), row(0, "write", 6.0), row(0, "flush", 0.0), row(1, "read", 7.0)]),
        );
        let names: Vec<String> = speeds(&run).into_iter().map(|speed| speed.name).collect();
        assert_eq!(names, ["job_1 read", "job_1 write", "job_1 stream 2 read"]);
    }

    #[test]
    fn files_are_samples_of_one_speed() {
        let fill = tables(
            "files",
            json!([{"file": 1, "bytes_per_s": 10.0}, {"file": 2, "bytes_per_s": 0.0}, {"file": 3, "bytes_per_s": 30.0}]),
        );
        let [speed] = &speeds(&fill)[..] else { panic!() };
        assert_eq!(speed.value, 20.0);
        assert_eq!(speed.basis, Basis::Samples(vec![("1".into(), 10.0), ("3".into(), 30.0)]));
    }

    fn speed(value: f64, spread: f64) -> Speed {
        let basis = Basis::Interval { low: value / spread, high: value * spread };
        Speed { name: "write".into(), test: String::new(), unit: "bytes/s", value, basis }
    }

    fn ratio(kind: TargetKind, is_virtual: bool, first: &Speed, other: &Speed) -> Option<SpeedRatio> {
        let (plan, tables) = (Plan::new("check", None, 0, toml::Table::new()), IndexMap::new());
        let run = ComparedRun { name: "A", plan: &plan, kind, is_virtual, tables: &tables };
        ratio_of([&run, &run], first, other)
    }

    #[test]
    fn half_the_speed_is_half_with_an_interval_of_both() {
        let half = ratio(TargetKind::Simulated, false, &speed(100.0, 1.03), &speed(50.0, 1.04)).unwrap();
        // Errors of 3% and 4% add up to 5%.
        let reach = half.ratio.ends()[1] / half.ratio.value;
        assert!((half.ratio.value - 0.5).abs() < 1e-12 && (reach - 1.05).abs() < 0.001, "{half:?}");
        assert_eq!(half.difference(), Verdict::Below);
        let exact = ratio(TargetKind::Simulated, false, &speed(100.0, 1.0), &speed(101.0, 1.0)).unwrap();
        assert_eq!((exact.ratio.low(), exact.difference()), (exact.ratio.high(), Verdict::Alike));
    }

    #[test]
    fn a_real_drive_is_only_slower_by_more_than_it_scatters() {
        let (new, used) = (speed(100.0, 1.01), speed(92.0, 1.01));
        let difference = |kind, is_virtual| ratio(kind, is_virtual, &new, &used).unwrap().difference();
        assert_eq!(difference(TargetKind::Simulated, false), Verdict::Below);
        assert_eq!(difference(TargetKind::Device, false), Verdict::Unclear);
        let much = ratio(TargetKind::Device, false, &new, &speed(70.0, 1.01)).unwrap();
        assert_eq!(much.difference(), Verdict::Below);
        let shared = ratio(TargetKind::Device, true, &new, &speed(70.0, 1.01)).unwrap();
        assert_eq!(shared.difference(), Verdict::Unclear, "a virtual disk does that unchanged");
    }

    #[test]
    fn places_are_paired() {
        let samples = |factor: f64| {
            let places = (0..40).map(|place| (place.to_string(), factor * f64::from(200 - 3 * place)));
            Speed {
                name: "files".into(),
                test: String::new(),
                unit: "bytes/s",
                value: 1.0,
                basis: Basis::Samples(places.collect()),
            }
        };
        let half = ratio(TargetKind::Simulated, false, &samples(1.0), &samples(0.5)).unwrap();
        // Outer tracks are twice as fast as inner ones, but the ratio is the same everywhere.
        assert!((half.ratio.value - 0.5).abs() < 1e-9, "{half:?}");
        assert!(half.ratio.half_width().unwrap() < 1e-9, "{half:?}");
        let mut few = samples(1.0);
        let Basis::Samples(places) = &mut few.basis else { panic!() };
        places.truncate(WINDOWS_MIN - 1);
        assert_eq!(ratio(TargetKind::Simulated, false, &few, &samples(0.5)), None);
        assert_eq!(ratio(TargetKind::Simulated, false, &few, &speed(1.0, 1.0)), None);
    }
}
