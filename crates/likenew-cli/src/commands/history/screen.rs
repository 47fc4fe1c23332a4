//! Drives and checks as tables that fit one screen.

use std::fmt::Write as _;

use likenew_history::{DamagedRun, DriveHistory, MetricHistory};

use crate::wording::history as wording;

/// Lines of a screen, and its columns.
const LINES: usize = 24;
const WIDTH: usize = 80;
/// Characters of the column of drives; longer names are cut.
const DRIVE_WIDTH: usize = 30;
/// Characters of a metric's column: its longest heading and a space.
const METRIC_WIDTH: usize = 11;
/// Characters of a date.
const DATE_WIDTH: usize = 10;

/// All drives, one line each, and a line for what changed.
pub(super) fn drives(drives: &[DriveHistory], total: usize, damaged: &[DamagedRun], details: bool) -> String {
    let mut text = String::new();
    if !drives.is_empty() {
        let [drive, checked, first, second] = wording::DRIVE_HEADINGS;
        let _ = writeln!(text, "  {drive:DRIVE_WIDTH$} {checked:DATE_WIDTH$}  {first:>16}  {second:>16}");
    }
    for drive in drives {
        let name = cut(&wording::drive(&drive.drive), DRIVE_WIDTH);
        let day = drive.checks.last().map_or("", |check| wording::day(&check.run.started_at));
        let [first, second] = wording::DRIVE_METRICS.map(|name| wording::now_cell(drive.metric(name)));
        let sign = wording::sign(drive.checks.last());
        let line = format!("{sign} {name:DRIVE_WIDTH$} {day:DATE_WIDTH$}  {first:>16}  {second:>16}");
        let _ = writeln!(text, "{}", line.trim_end());
        if let Some((metric, change)) = drive.main_change() {
            let _ = writeln!(text, "    {}", wording::signed_change(metric, change));
        }
        if details {
            let _ = writeln!(text, "{}", wording::key(&drive.drive.key));
        }
    }
    if details {
        for run in damaged {
            let _ = writeln!(text, "{}", wording::damaged(run));
        }
    } else if !damaged.is_empty() {
        let _ = writeln!(text, "{}", wording::damaged_count(damaged.len()));
    }
    if !drives.is_empty() {
        let _ = writeln!(text, "{}", wording::more_drives(drives.len(), total));
    }
    text
}

/// One drive: what changed, and a line for each check.
pub(super) fn drive(drive: &DriveHistory, typed: &str, details: bool) -> String {
    let mut head = format!("{}\n", wording::title(&drive.drive));
    let changes = drive.metrics.iter().filter_map(|metric| Some((metric, metric.changes.last()?)));
    let changes: Vec<String> =
        changes.map(|(metric, change)| wording::signed_change(metric, change)).collect();
    if changes.is_empty() {
        let _ = writeln!(head, "{}", wording::no_change(drive.checks.len(), !drive.metrics.is_empty()));
    }
    for change in changes {
        let _ = writeln!(head, "{change}");
    }
    if let Some(check) = drive.checks.last() {
        let _ = writeln!(head, "{}", cut(&wording::last_standing(check), WIDTH));
    }
    if details {
        let _ = writeln!(head, "{}", wording::key(&drive.drive.key));
    }
    let [upper, lower] = [0, 1].map(|line| {
        let cells = drive.metrics.iter().map(|metric| wording::headings(&metric.name)[line].to_owned() + " ");
        row(if line == 1 { wording::DATE_HEADING } else { "" }, cells)
    });
    let baseline = row("100% is", drive.metrics.iter().map(|metric| wording::baseline_cell(metric) + " "));
    // Two headings, the baseline, an empty line and the last line.
    let room = if details { usize::MAX } else { LINES.saturating_sub(head.lines().count() + 5) };
    let first = drive.checks.len().saturating_sub(room);
    let rows = (first..drive.checks.len()).map(|at| {
        let check = &drive.checks[at];
        row(wording::day(&check.run.started_at), drive.metrics.iter().map(|metric| cell(metric, at)))
    });
    let rows: String = rows.collect();
    let more = wording::more_checks(drive.checks.len() - first, drive, typed);
    if drive.metrics.is_empty() {
        return head;
    }
    format!("{head}\n{upper}{lower}{rows}{baseline}{more}\n")
}

fn cell(metric: &MetricHistory, at: usize) -> String {
    let mark = metric.changes.iter().find(|change| change.at == at);
    wording::share_cell(metric.values[at].map(|value| value / metric.baseline), mark)
}

fn row(first: &str, cells: impl Iterator<Item = String>) -> String {
    let cells: String = cells.map(|cell| format!("{cell:>METRIC_WIDTH$}")).collect();
    format!("{}\n", format!("  {first:DATE_WIDTH$}{cells}").trim_end())
}

/// The text, or its beginning with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}
