//! The findings of a loop: the speed of each test, fill by fill.

use std::ops::Range;

use likenew_core::answer::Standing;
use likenew_core::findings::{Findings, Mark, Row, Series, Shape};
use likenew_core::flash_counters::FlashCounters;
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;
use likenew_stats::summary::mean;
use serde::Serialize;

use super::answers::{Coverage, loop_answers, loop_caveats};
use super::level::{Level, Rounds, knee_mark};
use super::loop_test::{LoopTest, Part};
use super::test_series::{KneeRow, Pass, TestSeries};
use super::wording;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::wording::answer_as_summary;

/// All loops, in the order they ran.
struct Loops<'a> {
    series: Vec<TestSeries<'a>>,
    fills: Vec<Fill>,
    span: u64,
    /// After this many loops every address of the span has been written.
    places: usize,
    /// Loops that ran to their end.
    count: usize,
    /// Bytes written in all of them.
    written_until: u64,
    /// A simulated drive's flash counters after each of them.
    counters: Vec<Option<FlashCounters>>,
}

/// The loops that begin during the n-th fill of the span.
struct Fill {
    /// From 1.
    number: u64,
    /// Which loops, from 0.
    loops: Range<usize>,
    /// Bytes written when the first of them began …
    started_at: u64,
    /// … and when the last of them had ended.
    written_until: u64,
    /// Whether no more loops belong to it.
    is_complete: bool,
}

/// The findings of a loop.
pub(super) fn findings(of: &LoopTest, evidence: &Evidence) -> Findings {
    let loops = Loops::new(of, evidence);
    let levels: Vec<Level<'_>> =
        loops.series.iter().map(|test_series| Level::new(test_series, &loops.rounds(test_series))).collect();
    let knees: Vec<KneeRow> = levels.iter().flat_map(|level| level.knees.clone()).collect();
    let coverage =
        Coverage { span: loops.span, places: loops.places, loops: loops.count, written: loops.written_until };
    let mut findings = Findings::default();
    for op in &of.options.ops {
        let of_op: Vec<&Level<'_>> = levels.iter().filter(|level| level.test_series.op == *op).collect();
        if !of_op.is_empty() {
            findings.answers.extend(loop_answers(of, evidence, *op, &of_op, &coverage));
        }
    }
    findings.answers.sort_by_key(|answer| answer.standing != Standing::Problem);
    if let Some(first) = findings.answers.first_mut() {
        first.caveats.extend(loop_caveats(of, evidence));
    }
    findings.answers.extend(refusals(&evidence.segments));
    spare_failing_drive(&mut findings.answers, evidence);
    let first = findings.answers.first();
    findings.summary = first.map_or_else(wording::nothing_measured, answer_as_summary);
    findings.overview.answers = findings.answers.iter().skip(1).map(|answer| answer.id.clone()).collect();
    let table = wording::level_table(levels.iter().map(Level::cells));
    findings.overview.table = (!table.rows.is_empty()).then_some(table);
    findings.tables.insert("levels".into(), levels.iter().map(|level| row(level.row())).collect());
    findings.tables.insert("knees".into(), knees.iter().map(row).collect());
    findings.tables.insert("fills".into(), loops.fill_rows());
    findings.tables.insert("loops".into(), loops.loop_rows());
    findings.series.extend(pictures(&levels));
    findings
}

impl<'a> Loops<'a> {
    fn new(of: &LoopTest, evidence: &'a Evidence) -> Self {
        let parts = of.parts(&evidence.geometry);
        let places = of.places(&evidence.geometry) as usize;
        let mut loops = Self {
            series: Vec::new(),
            fills: Vec::new(),
            span: of.span(&evidence.geometry).max(1),
            places,
            count: 0,
            written_until: 0,
            counters: Vec::new(),
        };
        let (mut written, mut started_at) = (0, 0);
        // A workload stopped in the middle is no whole test, and after one that failed no loop is complete.
        let is_whole =
            |segment: &&Segment| segment.stop == Stop::Reached && segment.measurement_error().is_none();
        let reached = evidence.segments.iter().take_while(is_whole);
        for (index, segment) in reached.enumerate() {
            let (turn, part) = (index / parts.len(), index % parts.len());
            let written_before = written;
            written += segment.bytes(Op::Write);
            if let Some(bytes_per_s) = segment.bytes_per_s() {
                let pass = Pass { written_before, written_after: written, segment, bytes_per_s };
                loops.add(of, parts[part], pass);
            }
            if part == 0 {
                started_at = written_before;
            }
            if part + 1 == parts.len() {
                loops.counters.push(segment.accounting);
                loops.on_end(turn, started_at, written);
            }
        }
        loops
    }

    fn add(&mut self, of: &LoopTest, part: Part, pass: Pass<'a>) {
        let (test, op) = match part {
            Part::File => ("file".to_owned(), Mix::Only(Op::Write)),
            Part::Test(test, op) => (test.to_string(), op),
            Part::Delete => return,
        };
        match self.series.iter_mut().find(|test_series| test_series.test == test && test_series.op == op) {
            Some(test_series) => test_series.passes.push(pass),
            None => {
                let (data, period) = (of.options.data, self.places);
                self.series.push(TestSeries { test, op, data, passes: vec![pass], period });
            }
        }
    }

    fn on_end(&mut self, turn: usize, started_at: u64, written_until: u64) {
        (self.count, self.written_until) = (turn + 1, written_until);
        let number = started_at / self.span + 1;
        match self.fills.last_mut().filter(|fill| fill.number == number) {
            Some(fill) => (fill.loops.end, fill.written_until) = (turn + 1, written_until),
            None => self.fills.push(Fill {
                number,
                loops: turn..turn + 1,
                started_at,
                written_until,
                is_complete: true,
            }),
        }
        for fill in self.fills.iter_mut().rev().take(2) {
            fill.is_complete = written_until >= fill.number * self.span;
        }
    }

    /// The rounds of a test: the complete fills after every address of the span was written once.
    fn rounds(&self, test_series: &TestSeries<'_>) -> Rounds {
        let whole = || self.fills.iter().filter(|fill| fill.is_complete);
        let usable_fills = || whole().filter(|fill| fill.loops.start >= self.places);
        let last = test_series.passes.last().expect("a test has a pass").bytes_per_s;
        Rounds {
            speeds: usable_fills().map(|fill| fill.mean(test_series)).collect(),
            started_at: usable_fills().map(|fill| fill.started_at).collect(),
            last: whole().next_back().map_or(last, |fill| fill.mean(test_series)),
        }
    }

    fn fill_rows(&self) -> Vec<Row> {
        let rows = self.fills.iter().filter(|fill| fill.is_complete).flat_map(|fill| {
            self.series.iter().map(|test_series| {
                row(FillRow {
                    fill: fill.number,
                    test: &test_series.test,
                    op: test_series.op.to_string(),
                    written_bytes: fill.written_until,
                    bytes_per_s: fill.mean(test_series),
                    loops: fill.loops.len(),
                    write_amplification: self.write_amplification(&fill.loops),
                })
            })
        });
        rows.collect()
    }

    /// Bytes programmed over bytes written from the first of these loops to the last; on a simulated drive
    /// only.
    fn write_amplification(&self, loops: &Range<usize>) -> Option<f64> {
        let end = self.counters[loops.end - 1]?;
        let (host, flash) = match loops.start.checked_sub(1) {
            Some(before) => {
                let counters = self.counters[before]?;
                (counters.host_bytes_written, counters.flash_bytes_programmed)
            }
            None => (0, 0),
        };
        let host = end.host_bytes_written.checked_sub(host).filter(|host| *host > 0)?;
        Some(end.flash_bytes_programmed.checked_sub(flash)? as f64 / host as f64)
    }

    fn loop_rows(&self) -> Vec<Row> {
        let turns = self.series.iter().map(|test_series| test_series.passes.len()).max().unwrap_or(0);
        let of_turn = |turn: usize| {
            self.series.iter().filter_map(move |test_series| {
                test_series.passes.get(turn).map(|pass| row(LoopRow::new(turn + 1, test_series, pass)))
            })
        };
        (0..turns).flat_map(of_turn).collect()
    }
}

impl Fill {
    fn mean(&self, test_series: &TestSeries<'_>) -> f64 {
        let speeds = test_series.passes[self.loops.clone()].iter().map(|pass| pass.bytes_per_s);
        mean(&speeds.collect::<Vec<f64>>()).expect("a fill has a loop")
    }
}

#[derive(Serialize)]
struct FillRow<'a> {
    fill: u64,
    test: &'a str,
    op: String,
    written_bytes: u64,
    bytes_per_s: f64,
    loops: usize,
    write_amplification: Option<f64>,
}

#[derive(Serialize)]
struct LoopRow<'a> {
    r#loop: usize,
    written_bytes: u64,
    test: &'a str,
    op: String,
    bytes_per_s: f64,
    iops: Option<f64>,
    latency_ns_mean: f64,
    latency_ns_max: u64,
}

impl<'a> LoopRow<'a> {
    fn new(turn: usize, test_series: &'a TestSeries<'_>, pass: &Pass<'_>) -> Self {
        let total = pass.segment.total();
        Self {
            r#loop: turn,
            written_bytes: pass.written_after,
            test: &test_series.test,
            op: test_series.op.to_string(),
            bytes_per_s: pass.bytes_per_s,
            iops: pass.segment.iops(),
            latency_ns_mean: total.latency_ns_mean(),
            latency_ns_max: total.latency.max().0,
        }
    }
}

/// One chart per test: its operations by bytes written, with their knees.
fn pictures(levels: &[Level<'_>]) -> Vec<(String, Series)> {
    let mut tests: Vec<&str> = Vec::new();
    for level in levels {
        if !tests.contains(&level.test_series.test.as_str()) {
            tests.push(&level.test_series.test);
        }
    }
    let picture = |test: &&str| {
        let of = || levels.iter().filter(|level| level.test_series.test == **test);
        let marks: Vec<Mark> = of().flat_map(|level| level.knees.iter().map(knee_mark)).collect();
        let title = wording::test_title(test);
        let series = Series::new(title, Shape::Line, axis(wording::WRITTEN_AXIS, "bytes"), speed())
            .lines(of().map(|level| level.test_series.line()))
            .marks(marks);
        ((*test).to_owned(), series)
    };
    tests.iter().map(picture).collect()
}
