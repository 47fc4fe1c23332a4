//! The result of a recording, as answers, tables and a series.

use likenew_core::findings::{
    Action, Answer, Axis, Findings, Lead, Line, Overview, OverviewTable, Row, Series, Shape,
};
use likenew_core::io::Op;
use likenew_core::segment::Windows;
use likenew_core::units::Nanos;
use likenew_real::tracefs::RecordingCounts;
use serde_json::{Value, json};

use super::trace_file::{Account, TraceResult};
use super::wording;

/// The findings on one drive's trace; `again` is the command that records with a larger buffer.
pub(crate) fn findings(
    name: &str,
    written: &TraceResult,
    counts: &RecordingCounts,
    elapsed: Nanos,
    again: String,
) -> Findings {
    let account = &written.accounts.all;
    let mut findings =
        Findings { summary: wording::summary(name, account, elapsed, moved(account)), ..Findings::default() };
    findings.answers.push(activity(account, elapsed));
    findings.answers.push(completeness(counts, again));
    if counts.ios.failed > 0 {
        let text = wording::failed(counts.ios.failed);
        findings.answers.push(Answer::problem("failed_ios", wording::FAILED, text));
    }
    findings.tables.insert("applications".into(), rows(written, requested_ios));
    findings.tables.insert("waiting".into(), rows(written, wait_columns));
    if account.bytes_moved() > 0 {
        findings.series.insert("throughput".into(), windows_series(written, elapsed));
    }
    findings.overview = overview(written);
    findings
}

fn moved(account: &Account) -> [u64; 2] {
    [account.bytes[Op::Read.index()], account.bytes[Op::Write.index()]]
}

fn activity(account: &Account, elapsed: Nanos) -> Answer {
    let [read, write] = moved(account);
    let text = wording::activity(account, elapsed, [read, write, account.bytes[Op::Trim.index()]]);
    let answer = Answer::info("activity", wording::ACTIVITY, text);
    match account.latency_mean() {
        Some(mean) => answer.with_evidence(wording::latency(mean, account.latency_max)),
        None => answer,
    }
}

/// An incomplete trace says nothing about the drive, so it is unknown rather than a problem.
fn completeness(counts: &RecordingCounts, again: String) -> Answer {
    let RecordingCounts { ios, events_lost, broken_pages } = counts;
    let mut answer = if *events_lost == 0 && *broken_pages == 0 {
        Answer::good("completeness", wording::COMPLETENESS, wording::COMPLETE)
    } else {
        Answer::unknown("completeness", wording::COMPLETENESS, wording::incomplete(counts))
            .with_evidence(wording::RECORDS_PER_IO)
            .action(Action::new("larger_buffer", wording::LARGER_BUFFER).command(again))
    };
    if ios.open > 0 {
        answer = answer.caveat(wording::without_end(ios.open));
    }
    if ios.headless > 0 {
        answer = answer.caveat(wording::without_start(ios.headless));
    }
    if ios.own_ios > 0 {
        answer = answer.caveat(wording::own_ios(ios.own_ios, ios.own_bytes));
    }
    answer
}

/// The applications that waited longest, and the throughput over time.
fn overview(written: &TraceResult) -> Overview {
    /// More lines do not fit beside a plot.
    const APPLICATIONS_MAX: usize = 5;
    let mut table = OverviewTable::new(wording::HEADINGS);
    table.push(wording::cells(wording::ALL, &written.accounts.all, moved(&written.accounts.all)));
    for index in by_waiting(written).into_iter().take(APPLICATIONS_MAX) {
        let account = &written.accounts.applications[index];
        let name = application(written, index).unwrap_or(wording::UNKNOWN_APPLICATION);
        table.push(wording::cells(name, account, moved(account)));
    }
    Overview {
        lead: Lead::Summary,
        answers: vec!["completeness".into()],
        table: Some(table),
        series: (written.accounts.all.bytes_moved() > 0).then(|| "throughput".into()),
    }
}

/// Applications with I/Os, longest waiting first.
fn by_waiting(written: &TraceResult) -> Vec<usize> {
    let accounts = &written.accounts;
    let mut order: Vec<usize> =
        (0..accounts.applications.len()).filter(|index| accounts.applications[*index].all() > 0).collect();
    order.sort_by_key(|index| std::cmp::Reverse(accounts.applications[*index].waiting));
    order
}

fn application(written: &TraceResult, index: usize) -> Option<&str> {
    written.names.get(index).map(String::as_str).filter(|name| !name.is_empty())
}

/// Makes the cells of one application's row.
type Fill = fn(&Account) -> Vec<(&'static str, Value)>;

/// A row for all I/O, then one for each application, longest waiting first.
fn rows(written: &TraceResult, fill: Fill) -> Vec<Row> {
    let accounts = &written.accounts;
    let name = |index: usize| application(written, index).unwrap_or("(not known)");
    let row = |name: &str, account: &Account| -> Row {
        let name = ("application", json!(name));
        let values = std::iter::once(name).chain(fill(account));
        values.map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let applications =
        by_waiting(written).into_iter().map(|index| row(name(index), &accounts.applications[index]));
    std::iter::once(row("(all)", &accounts.all)).chain(applications).collect()
}

/// The I/Os that an application requested.
fn requested_ios(account: &Account) -> Vec<(&'static str, Value)> {
    let (ios, bytes) = (|op: Op| json!(account.ios[op.index()]), |op: Op| json!(account.bytes[op.index()]));
    vec![
        ("reads", ios(Op::Read)),
        ("read_bytes", bytes(Op::Read)),
        ("writes", ios(Op::Write)),
        ("written_bytes", bytes(Op::Write)),
        ("trims", ios(Op::Trim)),
        ("trimmed_bytes", bytes(Op::Trim)),
        ("flushes", ios(Op::Flush)),
    ]
}

/// How long an application waited, and how sequential its I/O was.
fn wait_columns(account: &Account) -> Vec<(&'static str, Value)> {
    vec![
        ("sequential_percent", json!(account.sequential_share().map(|share| share * 100.0))),
        ("busy_ns", json!(account.busy.0)),
        ("waiting_ns", json!(account.waiting.0)),
        ("depth_mean", json!(account.depth_mean())),
        ("latency_ns_mean", json!(account.latency_mean())),
        ("latency_ns_max", json!((account.timed_ios > 0).then_some(account.latency_max.0))),
    ]
}

fn windows_series(written: &TraceResult, elapsed: Nanos) -> Series {
    let (x, y) = (Axis::new("time", "ns"), Axis::new("speed", "bytes/s"));
    let lines = [Op::Read, Op::Write].into_iter().zip(&written.accounts.windows);
    Series::new(wording::THROUGHPUT, Shape::Line, x, y)
        .lines(lines.map(|(op, windows)| Line::new(op.name(), points(windows, elapsed))))
}

/// Most points of a line. More points than a chart has columns show nothing more.
const POINTS_MOST: usize = 256;

fn points(windows: &Windows, elapsed: Nanos) -> Vec<[f64; 2]> {
    let cells = (elapsed.0 / windows.width + 1) as usize;
    let step = cells.div_ceil(POINTS_MOST).max(1);
    let width = (step as u64 * windows.width) as f64;
    (0..cells.div_ceil(step))
        .map(|point| {
            let cells = windows.cells.iter().skip(point * step).take(step);
            let bytes: u64 = cells.map(|cell| cell.bytes).sum();
            [(point as f64 + 0.5) * width, bytes as f64 / (width / 1e9)]
        })
        .collect()
}
