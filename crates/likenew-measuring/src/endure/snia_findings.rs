//! The findings of a SNIA test: its windows, its results, and every round.

use likenew_core::findings::{Answer, Findings, Line, OverviewTable, Row, Series, Shape, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Iops, Latency, Rate, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, digits, exact_size};
use likenew_core::workload::Mix;
use likenew_procedure_support::estimate::{Estimate, Passes, grouped, is_whole};
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::overview::{list_below_summary, table_of};
use likenew_procedure_support::profile::Test;
use likenew_procedure_support::rows::{Columns as _, row};
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::wording::{answer_as_summary, cell};
use likenew_stats::steady_state::{RANGE_SHARE_MAX, ROUNDS, SLOPE_SHARE_MAX, Window};
use likenew_stats::summary::mean;

use super::levels::{Rounds, changes, knee_mark, missing_purge, remainder};
use super::snia::{Point, Progress, Snia, SniaTest, TrackedMetric, read_percent};
use super::test_series::{Level, Pass, Steadiness, TestSeries};
use super::wording::{self, Ending, Stretch};

/// The findings of a test.
pub(super) fn findings(snia: &Snia, evidence: &Evidence, mut phases: Vec<Progress<'_>>) -> Findings {
    cut_at_failure(&mut phases);
    let span = snia.span(&evidence.geometry).max(1);
    let test_series = saturation_series(snia, &phases);
    let level = test_series
        .as_ref()
        .map(|test_series| Level::new(test_series, &saturation_rounds(test_series, &phases[0], span)));
    let settled = level.as_ref().is_some_and(|level| level.steadiness.is_steady());
    let is_steady = |phase: &Progress<'_>| settled || phase.ending == Some(Ending::Steady);
    let results: Vec<Results<'_>> =
        phases.iter().flat_map(|phase| Results::of_phase(phase, is_steady(phase))).collect();

    let mut findings = Findings::default();
    let of_saturation = level.as_ref().map(|level| (level, span));
    findings.answers.extend(snia_answers(snia, evidence, &phases, &results, of_saturation));
    findings.answers.sort_by_key(|answer| answer.standing != Standing::Problem);
    add_failures(&mut findings.answers, evidence, None);
    let first = findings.answers.first();
    findings.summary = first.map_or_else(wording::nothing_measured, answer_as_summary);
    add_overview(&mut findings, snia, &results);
    findings.tables.insert("results".into(), results.iter().map(Results::row).collect());
    if let Some(level) = &level {
        findings.tables.insert("levels".into(), vec![level.row()]);
        findings.tables.insert("knees".into(), level.knees.iter().map(row).collect());
    }
    findings.tables.insert("windows".into(), phases.iter().flat_map(windows).collect());
    findings.tables.insert("rounds".into(), round_rows(&phases));
    findings.series.extend(pictures(snia.test, &phases, &results, level.as_ref()));
    findings
}

/// Leaves out everything from the first workload that failed or was stopped.
fn cut_at_failure(phases: &mut Vec<Progress<'_>>) {
    for index in 0..phases.len() {
        let Progress { preparation, rounds, ending, .. } = &mut phases[index];
        let are_whole = |segments: &Vec<&Segment>| segments.iter().all(|segment| is_whole(segment));
        let whole = if are_whole(preparation) {
            rounds.iter().take_while(|round| are_whole(round)).count()
        } else {
            0
        };
        if whole < rounds.len() || !are_whole(preparation) {
            rounds.truncate(whole);
            *ending = None;
            phases.truncate(index + 1);
            return;
        }
    }
}

/// Adds to the first screen whether it is steady, and a table of points: for IOPS only those with 4 KiB blocks.
fn add_overview(findings: &mut Findings, snia: &Snia, results: &[Results<'_>]) {
    list_below_summary(findings, |_| true);
    if snia.test == SniaTest::WriteSaturation {
        findings.overview.series = Some("saturation".into());
        return;
    }
    let is_shown = |result: &&Results<'_>| snia.test != SniaTest::Iops || result.point.test.block == 4096;
    let shown: Vec<&Results<'_>> = results.iter().filter(is_shown).collect();
    findings.overview.table = (!shown.is_empty()).then(|| point_table(&shown));
}

/// The points of a test of the specification on the first screen.
fn point_table(results: &[&Results<'_>]) -> OverviewTable {
    // With few I/Os, this percentile is unknown.
    let has_tail = results.iter().any(|result| result.latency_ns_p99999().is_some());
    let value = |result: &Results<'_>, metric| result.metric(metric).value;
    table_of(results)
        .column("test", |result| wording::tracked_rate(&result.point.test.to_string(), result.point.op))
        .column("IOPS", |result| digits(value(result, TrackedMetric::Iops)))
        .column("rate", |result| Rate(value(result, TrackedMetric::BytesPerS)))
        .column("mean", |result| Latency(result.passes.total.latency_ns_mean()))
        .column_if(has_tail, "p99.999", |result| cell(result.latency_ns_p99999().map(Nanos)))
        .column("max", |result| result.passes.total.latency.max())
        .build()
}

/// The writes of the write saturation test, round by round.
fn saturation_series<'a>(snia: &Snia, phases: &[Progress<'a>]) -> Option<TestSeries<'a>> {
    let phase =
        phases.first().filter(|phase| snia.test == SniaTest::WriteSaturation && !phase.rounds.is_empty())?;
    let point = phase.phase.points.first()?;
    let mut written = 0;
    let passes = phase.rounds.iter().filter_map(|round| {
        let segment = round[0];
        let written_before = written;
        written += segment.bytes(Op::Write);
        Some(Pass { written_before, written_after: written, segment, bytes_per_s: segment.bytes_per_s()? })
    });
    Some(TestSeries {
        test: point.test.to_string(),
        op: point.op,
        data: snia.options.data,
        passes: passes.collect(),
        period: 1,
    })
}

/// The rounds that decide whether saturation is steady: the samples, if they ended it; otherwise the mean of every
/// quarter of a fill. Five consecutive minutes are alike even while a drive falls from hour to hour.
fn saturation_rounds(test_series: &TestSeries<'_>, progress: &Progress<'_>, span: u64) -> Rounds {
    let speeds = test_series.speeds();
    let last = &speeds[speeds.len().saturating_sub(ROUNDS)..];
    let mut rounds = Rounds { speeds: Vec::new(), started_at: Vec::new(), last: mean(last).unwrap_or(0.0) };
    let mut add = |passes: &[Pass<'_>]| {
        let speeds: Vec<f64> = passes.iter().map(|pass| pass.bytes_per_s).collect();
        rounds.speeds.extend(mean(&speeds));
        rounds.started_at.extend(passes.first().map(|pass| pass.written_before));
    };
    if progress.ending == Some(Ending::Steady) {
        let step = progress.phase.sample;
        test_series.passes.chunks_exact(step).for_each(|passes| add(&passes[step - 1..]));
        return rounds;
    }
    let quarter = |bytes: u64| bytes / span.div_ceil(4);
    for passes in test_series.passes.chunk_by(|a, b| quarter(a.written_before) == quarter(b.written_before)) {
        let (first, last) = (passes[0], passes[passes.len() - 1]);
        if quarter(last.written_after) > quarter(first.written_before) {
            add(passes);
        }
    }
    rounds
}

/// The windows of the tracked metrics of a phase: its last five rounds.
fn windows(progress: &Progress<'_>) -> Vec<Row> {
    let rows = progress.phase.tracked_metrics.iter().enumerate().map(|(index, (point, metric))| {
        let samples = progress.samples(index);
        let window = Window::last(&samples);
        let point = &progress.phase.points[*point];
        Row::new()
            .with("test", point.test.to_string())
            .with("op", point.op.to_string())
            .with("metric", <&str>::from(metric))
            .with("rounds", samples.len())
            .with("is_steady", window.is_some_and(|window| window.is_steady()))
            .with("mean", window.map(|window| window.mean))
            .with("range_percent", window.map(|window| window.range_share * 100.0))
            .with("range_percent_max", RANGE_SHARE_MAX * 100.0)
            .with("slope_percent", window.map(|window| window.slope_share * 100.0))
            .with("slope_percent_max", SLOPE_SHARE_MAX * 100.0)
    });
    rows.collect()
}

fn round_rows(phases: &[Progress<'_>]) -> Vec<Row> {
    let (mut rows, mut written) = (Vec::new(), 0);
    for Progress { phase, preparation, rounds, .. } in phases {
        written += preparation.iter().map(|segment| segment.bytes(Op::Write)).sum::<u64>();
        for (number, round) in (1..).zip(rounds) {
            for (point, segment) in phase.points.iter().zip(round) {
                let total = segment.total();
                written += segment.bytes(Op::Write);
                rows.push(
                    point
                        .columns(Row::new().with("round", number))
                        .with("written_bytes", written)
                        .with("iops", segment.iops())
                        .with("bytes_per_s", segment.bytes_per_s())
                        .with("latency_ns_mean", total.latency_ns_mean())
                        .with("latency_ns_max", total.latency.max().0),
                );
            }
        }
    }
    rows
}

/// The answers of a test, most important first. `level`: for write saturation, with the bytes of a fill.
fn snia_answers(
    snia: &Snia,
    evidence: &Evidence,
    phases: &[Progress<'_>],
    results: &[Results<'_>],
    level: Option<(&Level<'_>, u64)>,
) -> Vec<Answer> {
    let written =
        level.and_then(|(level, _)| level.test_series.passes.last()).map(|pass| Size(pass.written_after));
    let rounds = phases.iter().map(|phase| phase.rounds.len()).max().unwrap_or(0);
    let result = result(snia, results, written, rounds);
    let mut answers: Vec<Answer> =
        result.into_iter().map(|answer| snia.with_rerun(answer, evidence)).collect();
    if let Some((level, span)) = level {
        let op = level.test_series.op;
        answers.extend(remainder(op, &[level]));
        let saturation = saturation(level, phases);
        answers.push(changes(op, &[level], span, saturation.standing == Standing::Good));
        answers.push(saturation);
    } else {
        answers.extend(phases.iter().map(rounds_steadiness));
    }
    if let Some(first) = answers.first_mut() {
        first.caveats.extend(snia.options.deviations(snia.test, evidence.geometry.block));
        first.caveats.extend(coverage(snia, evidence));
        first.caveats.extend(missing_purge(&evidence.identity).map(String::from));
        if snia.test == SniaTest::Throughput && phases.len() > 1 {
            first.caveats.push(wording::NO_PURGE_BETWEEN_BLOCKS.into());
        }
    }
    answers
}

/// The caveat if only a part of the drive was tested, which the specification allows if it is reported.
fn coverage(snia: &Snia, evidence: &Evidence) -> Option<String> {
    let (span, there) = (snia.span(&evidence.geometry), evidence.geometry.capacity);
    let share = span as f64 / there.max(1) as f64;
    (share < 0.995).then(|| wording::active_range(Share(share), Size(span)))
}

/// The answer with the metrics that the test is made for. `written`: in all, for write saturation; `rounds`: of its
/// longest phase.
fn result(snia: &Snia, results: &[Results<'_>], written: Option<Size>, rounds: usize) -> Option<Answer> {
    let test = snia.test;
    let find = |block: u32, op: Op| {
        results.iter().find(|result| result.point.test.block == block && result.point.op == Mix::Only(op))
    };
    let outcome = |result: &Results<'_>| {
        let (Point { test: Test { block, .. }, op }, total) = (result.point, &result.passes.total);
        let value = |metric| result.metric(metric).value;
        match test {
            SniaTest::Iops | SniaTest::WriteSaturation => {
                wording::iops_outcome(op, Iops(value(TrackedMetric::Iops)))
            }
            SniaTest::Throughput => {
                wording::rate_outcome(Size(block.into()), op, Rate(value(TrackedMetric::BytesPerS)))
            }
            SniaTest::Latency => {
                let (mean, tail) = (Latency(total.latency_ns_mean()), result.latency_ns_p99999().map(Nanos));
                wording::latency_outcome(op, mean, tail, total.latency.max())
            }
        }
    };
    let small = [Op::Read, Op::Write].into_iter().filter_map(|op| find(4096, op));
    let outcomes: Vec<String> = match test {
        SniaTest::Throughput => results.iter().map(outcome).collect(),
        _ => small.map(outcome).collect(),
    };
    let main = match test {
        SniaTest::Throughput => results.iter().find(|result| result.point.op == Mix::Only(Op::Write)),
        _ => find(4096, Op::Write),
    }?;
    let (metric, unit) = match test {
        SniaTest::Iops | SniaTest::WriteSaturation => (TrackedMetric::Iops, "1/s"),
        SniaTest::Throughput => (TrackedMetric::BytesPerS, "bytes/s"),
        SniaTest::Latency => (TrackedMetric::LatencyNs, "ns"),
    };
    let all_steady = results.iter().all(|result| result.is_steady);
    // Write saturation shows the way, not only the end.
    let is_open = !all_steady && written.is_none() && snia.options.is_shorter_than_specified(test);
    let answer = wording::result(&outcomes, all_steady, written, (main.rounds(), rounds), is_open);
    Some(main.metric(metric).not_negative().put(answer, unit))
}

/// Whether a phase has become steady, with its window.
fn rounds_steadiness(progress: &Progress<'_>) -> Answer {
    let rounds = progress.rounds.len();
    let points = &progress.phase.points;
    // Only the throughput test is sequential; it has a phase for each block size.
    let is_sequential = points.iter().all(|point| !point.test.random);
    let block = is_sequential.then(|| Size(points[0].test.block.into()));
    let answer = match progress.ending {
        Some(Ending::Steady) => wording::rounds_are_steady(block, rounds),
        Some(_) => wording::rounds_are_not_steady(block, rounds),
        None => wording::rounds_ended_early(block, rounds),
    };
    let windows = progress.phase.tracked_metrics.iter().enumerate().map(|(index, (point, _))| {
        let point = &points[*point];
        let window = Steadiness::from_rounds(&progress.samples(index)).window;
        let name = wording::tracked_rate(&point.test.to_string(), point.op);
        wording::window(&name, window.as_ref(), Stretch::Rounds)
    });
    windows.fold(answer, Answer::with_evidence)
}

/// Why the write saturation ended, and whether its end is steady.
fn saturation(level: &Level<'_>, phases: &[Progress<'_>]) -> Answer {
    let (op, rounds) = (level.test_series.op, level.test_series.passes.len());
    let ending = phases[0].ending;
    let stretch = if ending == Some(Ending::Steady) { Stretch::Samples } else { Stretch::QuarterFills };
    let answer = match (level.steadiness.window, level.steadiness.is_steady()) {
        (None, _) => wording::saturation_is_too_short(op, rounds),
        (Some(_), true) => wording::saturation_is_steady(op, rounds),
        (Some(_), false) => wording::saturation_is_not_steady(op, rounds),
    };
    let window = wording::window(&level.test_series.test, level.steadiness.window.as_ref(), stretch);
    answer.with_evidence(wording::saturation_ended(rounds, ending)).with_evidence(window)
}

/// The results of a point over the rounds of the window.
pub(super) struct Results<'a> {
    pub(super) point: Point,
    pub(super) is_steady: bool,
    passes: Passes<'a>,
}

/// With fewer I/Os than this, the 99.999th percentile is unknown.
const P99999_IOS_MIN: u64 = 100_000;

impl Point {
    /// A row of these columns and of what the point is.
    fn columns(&self, columns: Row) -> Row {
        columns
            .with("test", self.test.to_string())
            .with("op", self.op.to_string())
            .with("read_percent", read_percent(self.op))
            .with("block_bytes", self.test.block)
    }
}

impl<'a> Results<'a> {
    /// Each point of a phase; empty before its first whole round.
    pub(super) fn of_phase(progress: &Progress<'a>, is_steady: bool) -> Vec<Self> {
        let window = progress.window();
        if window.is_empty() {
            return Vec::new();
        }
        let points = progress.phase.points.iter().enumerate().filter_map(|(index, point)| {
            let passes = Passes::new(window.iter().map(|round| round[index]), None)?;
            Some(Self { point: *point, is_steady, passes })
        });
        points.collect()
    }

    /// Rounds of the window.
    pub(super) fn rounds(&self) -> usize {
        self.passes.segments.len()
    }

    /// The mean over the rounds, and its interval.
    pub(super) fn metric(&self, metric: TrackedMetric) -> Estimate {
        let rounds: Vec<f64> =
            self.passes.segments.iter().filter_map(|segment| metric.value(segment)).collect();
        Estimate::of_passes(&rounds).expect("a window has a round")
    }

    /// The 99.999th percentile of latency, in nanoseconds.
    pub(super) fn latency_ns_p99999(&self) -> Option<u64> {
        (self.passes.total.ios >= P99999_IOS_MIN).then(|| self.passes.total.latency.quantile(0.99999).0)
    }

    pub(super) fn row(&self) -> Row {
        let iops = self.metric(TrackedMetric::Iops).not_negative();
        self.point
            .columns(Row::new())
            .with("is_steady", self.is_steady)
            .with_estimate("iops", Some(iops))
            .with("bytes_per_s", self.metric(TrackedMetric::BytesPerS).value)
            .with("latency_ns_mean", self.passes.total.latency_ns_mean())
            .with("latency_ns_p99999", self.latency_ns_p99999())
            .with("latency_ns_max", self.passes.total.latency.max().0)
    }
}

/// The charts, by name.
pub(super) fn pictures(
    test: SniaTest,
    phases: &[Progress<'_>],
    results: &[Results<'_>],
    level: Option<&Level<'_>>,
) -> Vec<(String, Series)> {
    let mut pictures = Vec::new();
    if let Some(level) = level {
        let x = axis(wording::WRITTEN_AXIS, "bytes");
        let series = Series::new(wording::SATURATION_TITLE, Shape::Line, x, speed())
            .lines([level.test_series.line()])
            .marks(level.knees.iter().map(knee_mark));
        pictures.push(("saturation".to_owned(), series));
    } else {
        pictures.extend(tracked_series(phases).map(|series| ("convergence".to_owned(), series)));
    }
    if test == SniaTest::Iops && !results.is_empty() {
        pictures.push(("iops".to_owned(), matrix(results)));
    }
    pictures
}

/// The tracked metrics by round, each divided by its mean, so that they fit into one chart.
fn tracked_series(phases: &[Progress<'_>]) -> Option<Series> {
    let mut lines = Vec::new();
    for progress in phases {
        for (index, (point, metric)) in progress.phase.tracked_metrics.iter().enumerate() {
            let samples = progress.samples(index);
            let mean = samples.iter().sum::<f64>() / samples.len().max(1) as f64;
            if mean > 0.0 {
                let point = &progress.phase.points[*point];
                let points = (1..).zip(&samples).map(|(round, value)| [f64::from(round), value / mean]);
                let test = point.test.to_string();
                let name = match metric {
                    TrackedMetric::LatencyNs => wording::tracked_latency(&test, point.op),
                    _ => wording::tracked_rate(&test, point.op),
                };
                lines.push(Line::new(name, points.collect()));
            }
        }
    }
    let title = wording::CONVERGENCE_TITLE;
    (!lines.is_empty()).then(|| {
        Series::new(title, Shape::Line, axis("round", ""), axis(wording::CONVERGENCE_AXIS, "")).lines(lines)
    })
}

/// IOPS by block and mix.
fn matrix(results: &[Results<'_>]) -> Series {
    let mut blocks: Vec<u32> = results.iter().map(|result| result.point.test.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    let cell = |result: &Results<'_>| {
        let place = blocks.iter().position(|block| *block == result.point.test.block);
        let place = place.expect("its block is listed") as f64;
        (result.point.op.to_string(), [place, result.metric(TrackedMetric::Iops).value])
    };
    let lines: Vec<Line> =
        grouped(results.iter().map(cell)).into_iter().map(|(op, cells)| Line::new(op, cells)).collect();
    let names = blocks.iter().map(|block| exact_size(u64::from(*block)));
    Series::new(wording::IOPS_TITLE, Shape::Heat, axis("block", ""), axis("IOPS", "1/s").logarithmic())
        .rows("mix")
        .categories(names)
        .lines(lines)
}
