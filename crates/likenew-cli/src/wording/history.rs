//! Sentences about drives over time.

use std::path::Path;

use likenew_core::findings::Standing;
use likenew_core::quantity::{Iops, Rate, Share};
use likenew_core::shell::shell_quote;
use likenew_core::units::Number;
use likenew_history::drive_wording::metric_name;
pub(crate) use likenew_history::drive_wording::{change, day, drive, title};
use likenew_history::{
    Change, Check, DamagedRun, DriveHistory, DriveRow, MetricHistory, MetricValue, News, Peers, Place,
};
use likenew_procedures::check::among_peers;
use likenew_stats::peers::PEERS_LEAST;

/// The two lines above the column of a metric.
pub(crate) fn headings(name: &str) -> [&str; 2] {
    match name {
        "sequential_read" => ["sequential", "read"],
        "sequential_write" => ["sequential", "write"],
        "sustained_write" => ["sustained", "write"],
        "random_read" => ["4K random", "read"],
        "random_write" => ["4K random", "write"],
        "random_read_qd32" => ["4K random", "read QD32"],
        _ => [name, ""],
    }
}

/// Names of metrics in the table of drives.
pub(crate) const DRIVE_METRICS: [&str; 2] = ["sustained_write", "sequential_read"];

/// The headings of the table of drives.
pub(crate) const DRIVE_HEADINGS: [&str; 4] = ["drive", "last check", "sustained write", "sequential read"];
/// The heading of the column of dates.
pub(crate) const DATE_HEADING: &str = "checked";

fn value(metric: &MetricHistory, value: f64) -> String {
    match metric.unit.as_str() {
        "1/s" => Iops(value).to_string(),
        _ => Rate(value).to_string(),
    }
}

/// A metric's value now, and its share of the baseline.
pub(crate) fn now_cell(metric: Option<&MetricHistory>) -> String {
    metric.map_or_else(String::new, |metric| {
        let share = format!("{:.0}", Share(metric.now / metric.baseline));
        format!("{:>10} {share:>5}", value(metric, metric.now))
    })
}

/// The value that 100% stands for.
pub(crate) fn baseline_cell(metric: &MetricHistory) -> String {
    value(metric, metric.baseline)
}

/// A value as a share of the baseline; `mark` says whether it begins a new level.
pub(crate) fn share_cell(share: Option<f64>, mark: Option<&Change>) -> String {
    let arrow = match mark {
        Some(change) if change.ratio < 1.0 => "↓",
        Some(_) => "↑",
        None => " ",
    };
    share.map_or_else(|| "- ".into(), |share| format!("{:.0}{arrow}", Share(share)))
}

/// What changed, with the sign of its standing.
pub(crate) fn signed(news: &News) -> String {
    let sign = match news.standing {
        Standing::Good => "✓",
        Standing::Problem => "✗",
        Standing::Unknown | Standing::Info => "?",
    };
    format!("{sign} {}", news.sentence)
}

/// `sequential reads: 300 MB/s, slower than 46 of 47 others, 0.61× (0.55–0.68) of their median`.
pub(crate) fn place(place: &Place) -> String {
    let metric = metric_name(&place.metric);
    let value = match place.unit.as_str() {
        "1/s" => Iops(place.value).to_string(),
        _ => Rate(place.value).to_string(),
    };
    format!("{metric}: {value}, {}", among_peers(&place.among))
}

/// `LIKENEW OK - Samsung SSD 980: as fast as rated … | sequential_read=3400000000B;;;0`, as plugin guidelines ask.
pub(crate) fn nagios_line(drive_row: &DriveRow, check: &Check, is_problem: bool) -> String {
    let state = if is_problem { "CRITICAL" } else { "OK" };
    let value = |metric: &MetricValue| {
        let unit = if metric.unit == "bytes/s" { "B" } else { "" };
        format!("{}={:.0}{unit};;;0", metric.name, metric.value)
    };
    let metrics = check.metrics.iter().filter(|metric| metric.source == "metrics");
    let numbers = metrics.map(value).collect::<Vec<_>>().join(" ");
    // In a plugin's line, a bar begins the numbers.
    let text = format!("{}: {}", drive(drive_row), check.run.summary).replace('|', "/");
    format!("LIKENEW {state} - {text} | {numbers}\n")
}

pub(crate) const NAGIOS_PROBLEM: &str = "LIKENEW CRITICAL - a problem was found; likenew report shows it\n";
pub(crate) const NAGIOS_FINE: &str = "LIKENEW OK - no problem was found\n";
pub(crate) const NOT_FINISHED: &str = "the check did not finish";

likenew_core::sentences! {
    pub(crate) fn nagios_unknown(reason: &str) = "LIKENEW UNKNOWN - {}\n", reason.replace('|', "/");
    pub(crate) fn peers_not_known(reason: &str) = "how other drives of its model do is not known: {reason}";
    pub(crate) fn last_standing(check: &Check) = "{} Last check: {}", sign(Some(check)), check.run.summary;
    pub(crate) fn key(key: &str) = "    key {}", key.get(..12).unwrap_or(key);
    pub(crate) fn damaged(run: &DamagedRun) = "? {}: {}", run.name, run.error;
    pub(crate) fn unknown_drive(typed: &str) =
        "no kept run is of {typed:?}; likenew history lists all drives";
    /// `--openmetrics` with a file that nobody would read.
    pub(crate) fn not_a_textfile(path: &Path) =
        "--openmetrics {}: node_exporter reads only files whose name ends in .prom; give one, or - for \
         standard output", path.display();
}

/// The sign of a drive that is not slow among others of its model: ✓, or ? if that cannot be judged.
pub(crate) fn peers_sign(peers: &Peers<'_>) -> &'static str {
    if peers.places.iter().any(|place| place.is_slow().is_some()) { "✓" } else { "?" }
}

/// The line below a comparison of drives.
pub(crate) fn peers_total(drives: &[Peers<'_>]) -> String {
    let judged = drives.iter().filter(|drive| drive.count() >= PEERS_LEAST).count();
    let slow = drives.iter().filter(|drive| drive.slowest().is_some()).count();
    let [total, slow_text, judged_text] = [drives.len(), slow, judged].map(|count| Number(count as f64));
    let compared =
        format!("{judged_text} of {total} drives have {PEERS_LEAST} others of their model or more");
    match (judged, slow) {
        (0, _) => format!("? No drive has {PEERS_LEAST} others of its model, so none can be called slow."),
        (_, 0) => format!("✓ {compared}; none is slower than the others."),
        _ => format!("{compared}; slower than the others: {slow_text}."),
    }
}

/// The sign of a check's standing.
pub(crate) fn sign(check: Option<&Check>) -> &'static str {
    match check.map(|check| check.run.standing.as_str()) {
        Some("good") => "✓",
        Some("problem") => "✗",
        Some(_) => "?",
        None => " ",
    }
}

/// The line below the list of drives.
pub(crate) fn more_drives(shown: usize, total: usize) -> String {
    if shown < total {
        return format!(
            "{shown} of {total} drives; all: likenew history --details; one: likenew history TARGET"
        );
    }
    "100% is the first check. About one drive: likenew history TARGET".into()
}

/// The line below the table of checks.
pub(crate) fn more_checks(shown: usize, drive: &DriveHistory, typed: &str) -> String {
    if shown < drive.drive.checks as usize {
        let typed = shell_quote(typed);
        return format!("{shown} of {} checks; more: likenew history {typed} --details", drive.drive.checks);
    }
    "↓ and ↑ begin a new level; each run: likenew report --list".into()
}

pub(crate) fn damaged_count(runs: usize) -> String {
    match runs {
        1 => "? 1 run cannot be read; likenew history --details says why".into(),
        runs => format!("? {} runs cannot be read; likenew history --details says why", Number(runs as f64)),
    }
}

pub(crate) fn rebuilt(runs: usize) -> String {
    match runs {
        1 => "Indexed 1 run.".into(),
        runs => format!("Indexed {} runs.", Number(runs as f64)),
    }
}

pub(crate) const NO_DRIVES: &str = "no drive was checked yet; begin with likenew check TARGET";

pub(crate) fn several_drives(typed: &str, drives: &[DriveRow]) -> String {
    let each = drives.iter().map(|row| format!("{} {}", row.key.get(..12).unwrap_or(&row.key), drive(row)));
    format!(
        "{typed:?} is {} drives; give the key of one: {}",
        drives.len(),
        each.collect::<Vec<_>>().join(", ")
    )
}

/// For a user who may only read a shared database.
pub(crate) const RUNS_NOT_ADDED: &str =
    "this user may only read the history, so the runs of this machine were not added to it";

// ---- likenew check --changes ----

/// What is new about a drive, in one line for mail or chat.
pub(crate) fn news(drive_row: &DriveRow, sentences: &[String], is_worse: bool) -> String {
    format!("{} {}: {}", if is_worse { "✗" } else { "✓" }, drive(drive_row), sentences.join("; "))
}

pub(crate) fn new_problem(summary: &str) -> String {
    summary.trim_end_matches('.').to_owned()
}

pub(crate) fn solved(summary: &str) -> String {
    format!("no problem any more (before: {})", summary.trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use likenew_stats::peers::AmongPeers;

    use super::*;

    #[test]
    fn a_place_says_how_many_are_faster_and_by_how_much() {
        let others: Vec<f64> = (0..47).map(|index| 460e6 + f64::from(index) * 1e6).collect();
        let compared_with = |others| Place {
            metric: "sequential_read".into(),
            unit: "bytes/s".into(),
            value: 300e6,
            among: AmongPeers::new(300e6, others).unwrap(),
        };
        assert_eq!(
            place(&compared_with(&others)),
            "sequential reads: 300 MB/s, slower than 47 of 47 others, 0.621× (0.612–0.630) of their median"
        );
        assert_eq!(
            place(&compared_with(&others[..3])),
            "sequential reads: 300 MB/s, 0.651× of their median; 3 others are too few to judge by"
        );
        assert!(peers_total(&[]).starts_with("? No drive has 20 others"));
    }

    #[test]
    fn a_value_stands_beside_its_share() {
        let change =
            Change { at: 3, since: "2026-03-03T10:00:00.000Z".into(), ratio: 0.88, low: 0.85, high: 0.91 };
        let metric = MetricHistory {
            name: "sequential_read".into(),
            unit: "bytes/s".into(),
            values: Vec::new(),
            baseline: 100e6,
            now: 88e6,
            changes: Vec::new(),
        };
        assert_eq!(now_cell(Some(&metric)), " 88.0 MB/s   88%");
        assert_eq!(share_cell(Some(0.88), Some(&change)), "88%↓");
    }
}
