//! What a recording came to, as verdicts, tables and a series.

use likenew_core::io::Op;
use likenew_core::units::{Nanos, amount, three_digits};
use likenew_core::verdict::{Axis, Findings, Line, Row, Series, Shape, Standing, Verdict};
use likenew_core::windows::Windows;
use likenew_real::tracefs::RecordingCounts;
use serde_json::{Value, json};

use super::account::Account;
use super::trace_file::TraceResult;

/// What is said of one drive's trace.
pub(crate) fn findings(
    name: &str,
    written: &TraceResult,
    counts: &RecordingCounts,
    elapsed: Nanos,
) -> Findings {
    let mut findings = Findings::default();
    findings.verdicts.push(busy(name, &written.accounts.all, elapsed));
    findings.verdicts.push(complete(counts));
    findings.verdicts.extend(failed_ios(counts));
    findings.tables.insert("applications".into(), rows(written, requested_ios));
    findings.tables.insert("waiting".into(), rows(written, wait_columns));
    if written.accounts.all.bytes_moved() > 0 {
        findings.series.insert("throughput".into(), windows_series(written, elapsed));
    }
    findings
}

fn busy(name: &str, all: &Account, elapsed: Nanos) -> Verdict {
    let share = all.busy.0 as f64 / elapsed.0.max(1) as f64;
    let [read, write, trim, _] = all.bytes;
    let trimmed = if trim > 0 { format!(", {} discarded", amount(trim)) } else { String::new() };
    let claim = format!(
        "{name} did {} I/Os in {elapsed}: {} read, {} written{trimmed}; it was busy {} % of the time",
        all.all(),
        amount(read),
        amount(write),
        three_digits(share * 100.0)
    );
    let verdict = Verdict::new(claim, Standing::Holds);
    match all.latency_mean() {
        Some(mean) => verdict.with_evidence(format!(
            "an I/O took {} on average, {} at most",
            Nanos(mean as u64),
            all.latency_max
        )),
        None => verdict,
    }
}

fn complete(counts: &RecordingCounts) -> Verdict {
    let RecordingCounts { ios, events_lost, broken_pages } = counts;
    let is_whole = *events_lost == 0 && *broken_pages == 0;
    let standing = if is_whole { Standing::Holds } else { Standing::Fails };
    let mut verdict = Verdict::new("The trace holds every I/O that left during the recording", standing);
    if *events_lost > 0 {
        verdict = verdict.with_evidence(format!(
            "the kernel lost {events_lost} records, two or three of which make an I/O: the machine was too busy, or the buffer \
             too small (--buffer)"
        ));
    } else {
        verdict = verdict.with_evidence("the kernel lost no record");
    }
    if *broken_pages > 0 {
        verdict = verdict.with_evidence(format!("{broken_pages} pages of records made no sense"));
    }
    if ios.open > 0 {
        verdict = verdict.caveat(format!("of {} I/Os the end was not seen: they have no latency", ios.open));
    }
    if ios.headless > 0 {
        verdict = verdict
            .caveat(format!("{} I/Os had left before the recording began, and are not in it", ios.headless));
    }
    if ios.own_ios > 0 {
        verdict = verdict.caveat(format!(
            "{} I/Os ({}) that wrote the trace itself were left out; what the file system wrote to its journal and tables \
             because of it was not",
            ios.own_ios,
            amount(ios.own_bytes)
        ));
    }
    verdict
}

fn failed_ios(counts: &RecordingCounts) -> Option<Verdict> {
    let failed = counts.ios.failed;
    let claim = format!("{failed} I/Os ended with an error");
    (failed > 0).then(|| Verdict::new(claim, Standing::Holds).problem())
}

/// Fills a row of a table for one application.
type Fill = fn(&Account) -> Vec<(&'static str, Value)>;

/// Everything first, then each application, the one that waited longest first.
fn rows(written: &TraceResult, fill: Fill) -> Vec<Row> {
    let accounts = &written.accounts;
    let mut order: Vec<usize> =
        (0..accounts.applications.len()).filter(|index| accounts.applications[*index].all() > 0).collect();
    order.sort_by_key(|index| std::cmp::Reverse(accounts.applications[*index].waiting));
    let name = |index: usize| match written.names.get(index).map(String::as_str) {
        None | Some("") => "(not known)",
        Some(name) => name,
    };
    let row = |name: &str, account: &Account| -> Row {
        let name = ("application", json!(name));
        let values = std::iter::once(name).chain(fill(account));
        values.map(|(key, value)| (key.to_owned(), value)).collect()
    };
    let applications = order.into_iter().map(|index| row(name(index), &accounts.applications[index]));
    std::iter::once(row("(all)", &accounts.all)).chain(applications).collect()
}

/// What an application asked of the drive.
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

/// What it waited for the answers, and in what order it asked.
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
    Series::new("What did the drive move, and when?", Shape::Line, x, y)
        .lines(lines.map(|(op, windows)| Line::new(op.name(), points(windows, elapsed))))
}

/// A line of more points than a picture has columns says no more.
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
