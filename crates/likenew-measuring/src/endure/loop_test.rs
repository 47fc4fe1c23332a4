//! The loop: creates a file, runs the tests on it, deletes it, and continues with the next file at the next
//! addresses. Its findings are the speed of each test, fill by fill.

use std::ops::Range;

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Findings, Mark, Row, Series, Shape, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Ended, Evidence, Layout, Steps};
use likenew_core::quantity::Size;
use likenew_core::segment::Segment;
use likenew_core::target::Geometry;
use likenew_core::units::{Nanos, duration_text, exact_duration, exact_size, size_text};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::{distinct, is_whole};
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::options::{Arguments, check_multiple, check_ops, check_time, joined};
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::profile::{Profile, Test};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::{Columns as _, row};
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::wording::answer_as_summary;
use likenew_stats::steady_state::ROUNDS;
use likenew_stats::summary::mean;
use serde::{Deserialize, Serialize};

use super::levels::{Rounds, changes, knee_mark, missing_purge, remainder};
use super::test_series::{KneeRow, Level, Pass, TestSeries};
use super::wording::{self, Stretch};
use super::{Endure, EndureOptions};

/// The options of a loop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LoopOptions {
    /// The tests.
    pub profile: Profile,
    /// The operations, in this order.
    pub ops: Vec<Mix>,
    /// Bytes of a loop's file.
    #[serde(with = "size_text")]
    pub file_size: u64,
    /// Bytes of address space through which the files rotate. `None`: the whole of a simulated drive; in a
    /// folder, one file.
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub span: Option<u64>,
    /// The run ends with the loop that reaches this many bytes written. `None`: see
    /// [`LoopOptions::default_fills`].
    #[serde(with = "size_text::optional", skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// Bytes to write, in multiples of the span; like `bytes`, it ends the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fills: Option<f64>,
    /// Content of writes.
    pub data: DataClass,
    /// Whether a file is deleted after its tests, so that the drive receives TRIM.
    pub trim: bool,
    /// A test ends after this time, or once it has moved its bytes.
    #[serde(with = "duration_text")]
    pub time: Nanos,
}

impl Default for LoopOptions {
    /// As Puget Systems looped CrystalDiskMark.
    fn default() -> Self {
        Self {
            profile: Profile::Of2009,
            ops: vec![Mix::Only(Op::Read), Mix::Only(Op::Write)],
            file_size: 1000 << 20,
            span: None,
            bytes: None,
            fills: None,
            data: DataClass::Random,
            trim: false,
            time: Nanos::from_secs(60),
        }
    }
}

/// File size in the study that this test follows.
const FILE_SIZE_USUAL: u64 = 1000 << 20;
/// Fewest files in the span, so that there are enough loops to see a knee.
const FILES_MIN: u64 = 100;
/// Most files in the span, so that a large drive is not looped for ever.
const FILES_MAX: u64 = 256;

/// The file size of a loop for a span of this many bytes.
pub fn default_file_size(span: u64) -> u64 {
    let file_size = (span / FILES_MIN).min(FILE_SIZE_USUAL).max(span / FILES_MAX);
    (file_size - file_size % FILE_SIZE_MIN).max(FILE_SIZE_MIN)
}

/// A file is a multiple of this: the largest block times the deepest queue of any profile.
pub const FILE_SIZE_MIN: u64 = 8 << 20;
/// An I/O, and so a piece of a deletion, is at most this long.
const PIECE_MAX: u64 = 1 << 30;
const MAKE_BLOCK: u32 = 1 << 20;
const MAKE_DEPTH: u32 = 8;
/// Blocks from this size on count as large.
const LARGE: u32 = 64 << 10;
/// Most fills of a plan. Chosen: more is a mistake.
const FILLS_MAX: f64 = 10_000.0;

impl LoopOptions {
    /// The options that differ from their defaults on a target of `capacity` bytes, as a command line.
    fn arguments(&self, capacity: u64) -> String {
        let defaults = Self::default();
        let span = self.span.unwrap_or(capacity);
        Arguments::default()
            .add(self.profile != defaults.profile, "profile", <&str>::from(self.profile))
            .add(self.ops != defaults.ops, "op", joined(&self.ops))
            .add(self.file_size != default_file_size(span), "file-size", exact_size(self.file_size))
            // The default span leaves less than a file of the target.
            .add(span + self.file_size <= capacity, "span", exact_size(span))
            .add(self.data != defaults.data, "data", self.data)
            .add(self.trim, "trim", "on")
            .add(self.time != defaults.time, "time", exact_duration(self.time))
            .add_known("fills", self.fills)
            .text()
    }

    /// Default number of fills: enough to write every address once, and then to show a steady state. 15 with profile
    /// 2009.
    pub fn default_fills(&self) -> f64 {
        (self.written_per_mille() as f64 / 1000.0).ceil() + ROUNDS as f64 + 1.0
    }

    /// Bytes written in a loop, in thousandths of its file, including the creation of the file.
    fn written_per_mille(&self) -> u64 {
        let moved = |op: &Mix| self.profile.tests().iter().map(|test| per_mille(test, *op)).sum::<u64>();
        1000 + self.ops.iter().filter(|op| op.writes()).map(moved).sum::<u64>()
    }
}

/// Bytes moved by a test, in thousandths of the file: chosen so that a loop of profile 2009 writes 9.2 GB
/// with a file of 1000 MiB, as Puget Systems counted for CrystalDiskMark with five passes of each test.
fn per_mille(test: &Test, op: Mix) -> u64 {
    match (test.random, test.block >= LARGE, op.writes()) {
        (false, _, true) => 5000,
        (true, true, true) => 2000,
        (true, false, true) => 387,
        (false, _, false) => 1000,
        (true, true, false) => 500,
        (true, false, false) => 100,
    }
}

/// One workload of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    /// Writes the file once sequentially.
    File,
    /// A test of the profile.
    Test(Test, Mix),
    /// Deletes the file.
    Delete,
}

/// The procedure of a loop.
pub(super) struct LoopTest {
    pub(super) options: LoopOptions,
}

impl LoopTest {
    pub(super) fn new(options: LoopOptions) -> Result<Self, String> {
        let LoopOptions { file_size, span, bytes, fills, time, .. } = options;
        check_multiple("file_size", file_size, FILE_SIZE_MIN)?;
        if let Some(span) = span.filter(|span| *span < file_size) {
            return Err(wording::span_below_file_size(Size(span), Size(file_size)));
        }
        if bytes.is_some() && fills.is_some() {
            return Err(wording::bytes_and_fills());
        }
        if bytes == Some(0) || fills.is_some_and(|fills| !(fills > 0.0 && fills <= FILLS_MAX)) {
            return Err(wording::wrong_bytes_or_fills(FILLS_MAX));
        }
        check_time("time", time)?;
        check_ops(&options.ops)?;
        Ok(Self { options })
    }

    /// Bytes through which the files rotate, in whole files.
    pub(super) fn span(&self, geometry: &Geometry) -> u64 {
        let span = self.options.span.unwrap_or(geometry.capacity);
        span - span % self.options.file_size
    }

    /// Number of files side by side in the span; at least one.
    pub(super) fn places(&self, geometry: &Geometry) -> u64 {
        (self.span(geometry) / self.options.file_size).max(1)
    }

    /// The run ends with the loop that reaches this many bytes.
    fn bytes(&self, geometry: &Geometry) -> u64 {
        let fills = self.options.fills.unwrap_or_else(|| self.options.default_fills());
        self.options.bytes.unwrap_or((fills * self.span(geometry) as f64) as u64)
    }

    /// The same run with enough fills to decide what this one left open.
    pub(super) fn rerun_to_decide(&self, evidence: &Evidence) -> Rerun {
        let LoopOptions { bytes, fills, .. } = self.options;
        let default_fills = self.options.default_fills();
        // A run of the default length that decided nothing is advised at twice the length.
        let was_short = bytes.is_some() || fills.is_some_and(|fills| fills < default_fills);
        let fills = if was_short { default_fills } else { 2.0 * fills.unwrap_or(default_fills) };
        let again = LoopOptions { fills: Some(fills), bytes: None, ..self.options.clone() };
        let text = again.arguments(evidence.geometry.capacity);
        Rerun::new(evidence, &text, Endure::new(EndureOptions::Loop(again)))
    }

    /// The parts of a loop, in the order they run.
    pub(super) fn parts(&self, geometry: &Geometry) -> Vec<Part> {
        let tests = self.options.profile.tests();
        let tests = self.options.ops.iter().flat_map(|op| tests.iter().map(|test| Part::Test(*test, *op)));
        let delete = (self.options.trim && geometry.trims).then_some(Part::Delete);
        std::iter::once(Part::File).chain(tests).chain(delete).collect()
    }

    fn workload(&self, turn: u64, part: Part, geometry: &Geometry) -> Workload {
        let start = turn % self.places(geometry) * self.options.file_size;
        let file = start..start + self.options.file_size;
        let number = turn + 1;
        let (name, op, block, depth) = match part {
            Part::File => ("file", Op::Write, MAKE_BLOCK, MAKE_DEPTH),
            Part::Delete => ("delete", Op::Trim, self.piece(), 1),
            Part::Test(test, op) => return self.test(number, &test, op, &file),
        };
        let place = Pattern::Sequential.over(file);
        let stream = Stream::closed(Mix::Only(op), block, place, depth, self.options.data);
        let until = Until::bytes(self.options.file_size);
        Workload::new(format!("loop {number} {name}"), until, vec![stream])
    }

    fn test(&self, number: u64, test: &Test, op: Mix, file: &Range<u64>) -> Workload {
        let bytes =
            (self.options.file_size / 1000 * per_mille(test, op)).next_multiple_of(u64::from(test.block));
        let until = Until { elapsed: Some(self.options.time), bytes: Some(bytes), ops: None };
        let place = test.over(file.clone());
        let stream = Stream::closed(op, test.block, place, test.depth, self.options.data);
        let workload = Workload::new(wording::loop_name(number, test, op), until, vec![stream]);
        Workload { lanes: test.threads, ..workload }
    }

    /// The longest piece in which a file can be deleted: all of it, if an I/O can be that long.
    fn piece(&self) -> u32 {
        let units = self.options.file_size / FILE_SIZE_MIN;
        let most = PIECE_MAX / FILE_SIZE_MIN;
        let fitting = (1..=most).rev().find(|count| units.is_multiple_of(*count));
        (fitting.expect("one unit fits") * FILE_SIZE_MIN) as u32
    }

    /// The layout of a folder for it.
    pub(super) fn layout(&self) -> Layout {
        let LoopOptions { file_size, span, .. } = self.options;
        let files = span.unwrap_or(file_size) / file_size;
        Layout { files: u32::try_from(files).unwrap_or(u32::MAX), file_bytes: file_size }
    }

    /// # Errors
    /// A sentence, when the plan does not fit the drive.
    pub(super) fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let geometry = &steps.evidence().geometry;
        let (span, there) = (self.span(geometry), geometry.capacity);
        if span > there || self.options.file_size > there {
            let needed = Size(span.max(self.options.file_size));
            return Err(wording::loop_does_not_fit(needed, there, FILE_SIZE_MIN));
        }
        let mut loops = Loops::new(self, geometry);
        let _ended = self.measure(steps, &mut loops);
        loops.series.retain(|test_series| !test_series.passes.is_empty());
        Ok(steps.conclude(|evidence| findings(self, evidence, &loops)))
    }

    /// Only whole loops are run, so that every test is measured equally often.
    fn measure<'a>(&self, steps: &mut Steps<'a>, loops: &mut Loops<'a>) -> Result<(), Ended> {
        let geometry = &steps.evidence().geometry;
        let parts = self.parts(geometry);
        let (mut turn, mut written, mut are_whole) = (0, 0, true);
        while written < self.bytes(geometry) {
            let (started_at, mut counters) = (written, None);
            for (index, part) in parts.iter().enumerate() {
                let segment = steps.run_seeded(|| self.workload(turn, *part, geometry))?;
                let written_before = written;
                written += segment.bytes(Op::Write);
                // A workload that was stopped is no whole test, and no loop is complete after one that failed.
                are_whole = are_whole && is_whole(segment);
                if are_whole {
                    loops.add(index, written_before, written, segment);
                    counters = segment.accounting;
                }
            }
            if are_whole {
                loops.on_end(started_at, written, counters);
            }
            turn += 1;
        }
        Ok(())
    }
}

/// All loops, in the order they ran.
struct Loops<'a> {
    /// A series for each part of a loop that measures something, in their order.
    series: Vec<TestSeries<'a>>,
    fills: Vec<Fill>,
    span: u64,
    /// After this many loops every address of the span has been written.
    places: usize,
    /// Loops that ran to their end.
    count: usize,
    /// Bytes written in all loops.
    written_until: u64,
    /// A simulated drive's flash counters after each loop.
    counters: Vec<Option<FlashCounters>>,
}

/// The loops that begin during the n-th fill of the span.
struct Fill {
    /// From 1.
    number: u64,
    /// Its loops, counted from 0.
    loops: Range<usize>,
    /// Bytes written when its first loop began.
    started_at: u64,
    /// Bytes written when its last loop had ended.
    written_until: u64,
    /// Whether no more loops belong to it.
    is_complete: bool,
}

/// The findings of a loop.
fn findings(loop_test: &LoopTest, evidence: &Evidence, loops: &Loops<'_>) -> Findings {
    let levels: Vec<Level<'_>> =
        loops.series.iter().map(|test_series| Level::new(test_series, &loops.rounds(test_series))).collect();
    let knees: Vec<KneeRow> = levels.iter().flat_map(|level| level.knees.clone()).collect();
    let mut findings = Findings::default();
    for op in &loop_test.options.ops {
        let of_op: Vec<&Level<'_>> = levels.iter().filter(|level| level.test_series.op == *op).collect();
        if !of_op.is_empty() {
            findings.answers.extend(loop_answers(loop_test, evidence, *op, &of_op, loops));
        }
    }
    findings.answers.sort_by_key(|answer| answer.standing != Standing::Problem);
    if let Some(first) = findings.answers.first_mut() {
        first.caveats.extend(loop_caveats(loop_test, evidence));
    }
    add_failures(&mut findings.answers, evidence, None);
    let first = findings.answers.first();
    findings.summary = first.map_or_else(wording::nothing_measured, answer_as_summary);
    list_below_summary(&mut findings, |_| true);
    findings.overview.table = (!levels.is_empty()).then(|| wording::level_table(&levels));
    findings.tables.insert("levels".into(), levels.iter().map(Level::row).collect());
    findings.tables.insert("knees".into(), knees.iter().map(row).collect());
    findings.tables.insert("fills".into(), loops.fill_rows());
    findings.tables.insert("loops".into(), loops.loop_rows());
    findings.series.extend(pictures(&levels));
    findings
}

impl<'a> Loops<'a> {
    fn new(loop_test: &LoopTest, geometry: &Geometry) -> Self {
        let (data, period) = (loop_test.options.data, loop_test.places(geometry) as usize);
        let series = |(test, op)| TestSeries { test, op, data, passes: Vec::new(), period };
        Self {
            series: loop_test.parts(geometry).into_iter().filter_map(test_of).map(series).collect(),
            fills: Vec::new(),
            span: loop_test.span(geometry).max(1),
            places: period,
            count: 0,
            written_until: 0,
            counters: Vec::new(),
        }
    }

    fn add(&mut self, part: usize, written_before: u64, written_after: u64, segment: &'a Segment) {
        // The deletion, which is the last part, measures nothing.
        if let (Some(series), Some(bytes_per_s)) = (self.series.get_mut(part), segment.bytes_per_s()) {
            series.passes.push(Pass { written_before, written_after, segment, bytes_per_s });
        }
    }

    fn on_end(&mut self, started_at: u64, written_until: u64, counters: Option<FlashCounters>) {
        let turn = self.count;
        self.counters.push(counters);
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

    /// Fills that it takes to write every address once; more than one, because a loop writes its file several times.
    /// `None` before the first loop has ended.
    fn fills_per_round(&self) -> Option<f64> {
        let rounds = self.count as f64 / self.places as f64;
        (rounds > 0.0).then(|| self.written_until as f64 / self.span as f64 / rounds)
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
                Row::new()
                    .with("fill", fill.number)
                    .with("test", &test_series.test)
                    .with("op", test_series.op.to_string())
                    .with("written_bytes", fill.written_until)
                    .with("bytes_per_s", fill.mean(test_series))
                    .with("loops", fill.loops.len())
                    .with("write_amplification", self.write_amplification(&fill.loops))
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
        let row = |turn: usize, test_series: &TestSeries<'_>, pass: &Pass<'_>| {
            Row::new()
                .with("loop", turn + 1)
                .with("written_bytes", pass.written_after)
                .with("test", &test_series.test)
                .with("op", test_series.op.to_string())
                .with_pass(pass.segment)
        };
        let of_turn = |turn: usize| {
            let series = self.series.iter();
            series.filter_map(move |test_series| Some(row(turn, test_series, test_series.passes.get(turn)?)))
        };
        (0..turns).flat_map(of_turn).collect()
    }
}

/// What a part of a loop measures.
fn test_of(part: Part) -> Option<(String, Mix)> {
    match part {
        Part::File => Some(("file".to_owned(), Mix::Only(Op::Write))),
        Part::Test(test, op) => Some((test.to_string(), op)),
        Part::Delete => None,
    }
}

impl Fill {
    fn mean(&self, test_series: &TestSeries<'_>) -> f64 {
        let speeds = test_series.passes[self.loops.clone()].iter().map(|pass| pass.bytes_per_s);
        mean(&speeds.collect::<Vec<f64>>()).expect("a fill has a loop")
    }
}

/// One chart per test: its operations by bytes written, with their knees.
fn pictures(levels: &[Level<'_>]) -> Vec<(String, Series)> {
    let tests = distinct(levels.iter().map(|level| &*level.test_series.test));
    let picture = |test: &&str| {
        let own_levels = || levels.iter().filter(|level| level.test_series.test == **test);
        let marks: Vec<Mark> = own_levels().flat_map(|level| level.knees.iter().map(knee_mark)).collect();
        let title = wording::test_title(test);
        let series = Series::new(title, Shape::Line, axis(wording::WRITTEN_AXIS, "bytes"), speed())
            .lines(own_levels().map(|level| level.test_series.line()))
            .marks(marks);
        ((*test).to_owned(), series)
    };
    tests.iter().map(picture).collect()
}

/// The answers for the tests of one operation.
fn loop_answers(
    loop_test: &LoopTest,
    evidence: &Evidence,
    op: Mix,
    levels: &[&Level<'_>],
    loops: &Loops<'_>,
) -> Vec<Answer> {
    let more = |answer: Answer| match answer.standing {
        Standing::Unknown => {
            answer.action(loop_test.rerun_to_decide(evidence).action("write_more", wording::WRITE_MORE))
        }
        _ => answer,
    };
    let mut answers: Vec<Answer> = remainder(op, levels).into_iter().collect();
    let steadiness = loop_steadiness(op, levels, loops);
    // A level that may still change is not good yet.
    let is_settled = steadiness.standing == Standing::Good;
    answers.push(more(changes(op, levels, loops.span, is_settled)));
    answers.push(more(steadiness));
    answers
}

/// The limits of the results of a loop.
fn loop_caveats(loop_test: &LoopTest, evidence: &Evidence) -> Vec<String> {
    let mut caveats: Vec<String> = missing_purge(&evidence.identity).map(String::from).into_iter().collect();
    if loop_test.options.trim && !evidence.geometry.trims {
        caveats.push(wording::FILES_WERE_NOT_DELETED.into());
    } else if loop_test.options.trim && keeps_deletions(&evidence.identity) {
        caveats.push(wording::DELETIONS_MAY_NOT_REACH_DRIVE.into());
    }
    caveats
}

/// Whether a folder's file system may delay TRIM for deleted files.
fn keeps_deletions(identity: &Identity) -> bool {
    let options = identity.facts.iter().find(|(name, _)| name == "mount options");
    let discards = options.is_some_and(|(_, options)| options.split(',').any(|option| option == "discard"));
    identity.kind == TargetKind::Folder && !discards
}

/// Whether the speeds are steady at the end.
fn loop_steadiness(op: Mix, levels: &[&Level<'_>], loops: &Loops<'_>) -> Answer {
    if levels.iter().any(|level| level.steadiness.window.is_none()) {
        let fills = levels.iter().map(|level| level.rounds).min().unwrap_or(0);
        let mut answer = wording::too_few_fills(op, fills);
        answer.evidence.extend(loops.fills_per_round().map(wording::fills_per_round));
        let is_covered = loops.count >= loops.places;
        answer.evidence.extend((!is_covered).then(|| wording::span_not_covered(loops.count, loops.places)));
        return answer;
    }
    let by_steadiness =
        |steady: bool| levels.iter().filter(move |level| level.steadiness.is_steady() == steady);
    let window = |level: &&Level<'_>| {
        wording::window(&level.test_series.test, level.steadiness.window.as_ref(), Stretch::Fills)
    };
    let unsteady = by_steadiness(false).count();
    if unsteady > 0 {
        let answer = wording::not_steady(op, unsteady, levels.len());
        return by_steadiness(false).map(window).fold(answer, Answer::with_evidence);
    }
    let from = levels.iter().filter_map(|level| level.steady_from).max().unwrap_or_default();
    let answer = wording::steady_from(op, Size(from), from as f64 / loops.span as f64);
    by_steadiness(true).map(window).fold(answer, Answer::with_evidence)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loops_file_suits_the_span() {
        assert_eq!(default_file_size(120_034_123_776), 1000 << 20);
        assert_eq!(default_file_size(1 << 30), 8 << 20);
        assert_eq!(default_file_size(4 << 20), 8 << 20);
        let large = default_file_size(2_000_398_934_016);
        assert!(2_000_398_934_016 / large <= 257 && large.is_multiple_of(FILE_SIZE_MIN), "{large}");
    }
}
