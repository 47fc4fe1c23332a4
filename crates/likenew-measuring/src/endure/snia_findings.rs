//! The findings of a SNIA test: its windows, its results, and every round.

use likenew_core::answer::Standing;
use likenew_core::findings::{Findings, Row};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::recorder::Stop;
use likenew_core::segment::Segment;
use likenew_stats::steady_state::{RANGE_SHARE_MAX, ROUNDS, SLOPE_SHARE_MAX, Window};
use likenew_stats::summary::mean;
use serde::Serialize;

use super::answers::snia_answers;
use super::level::{Level, Rounds};
use super::snia::{Ending, Progress, Snia};
use super::snia_pictures::pictures;
use super::snia_plan::{SniaTest, read_percent};
use super::snia_results::Results;
use super::test_series::{Pass, TestSeries};
use super::wording;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rows::row;
use likenew_procedure_support::wording::answer_as_summary;

/// The findings of a test.
pub(super) fn findings(of: &Snia, evidence: &Evidence) -> Findings {
    // A workload that failed or was stopped is no whole point.
    let is_whole =
        |segment: &&Segment| segment.stop == Stop::Reached && segment.measurement_error().is_none();
    let reached = evidence.segments.iter().take_while(is_whole).count();
    let segments = &evidence.segments[..reached];
    let phases: Vec<Progress<'_>> = of.progress(segments, &evidence.geometry);
    let span = of.span(&evidence.geometry).max(1);
    let test_series = saturation(of, &phases);
    let level = test_series
        .as_ref()
        .map(|test_series| Level::new(test_series, &saturation_rounds(test_series, &phases[0], span)));
    let settled = level.as_ref().is_some_and(|level| level.steadiness.is_steady());
    let is_steady = |phase: &Progress<'_>| settled || phase.ending == Some(Ending::Steady);
    let results: Vec<Results<'_>> =
        phases.iter().flat_map(|phase| Results::of_phase(phase, is_steady(phase))).collect();

    let mut findings = Findings::default();
    findings.answers.extend(snia_answers(
        of,
        evidence,
        &phases,
        &results,
        level.as_ref().map(|level| (level, span)),
    ));
    findings.answers.sort_by_key(|answer| answer.standing != Standing::Problem);
    findings.answers.extend(refusals(&evidence.segments));
    spare_failing_drive(&mut findings.answers, evidence);
    let first = findings.answers.first();
    findings.summary = first.map_or_else(wording::nothing_measured, answer_as_summary);
    add_overview(&mut findings, of, &results);
    findings.tables.insert("results".into(), results.iter().map(|result| row(result.row())).collect());
    if let Some(level) = &level {
        findings.tables.insert("levels".into(), vec![row(level.row())]);
        findings.tables.insert("knees".into(), level.knees.iter().map(row).collect());
    }
    findings.tables.insert("windows".into(), phases.iter().flat_map(windows).collect());
    findings.tables.insert("rounds".into(), round_rows(segments, &phases));
    findings.series.extend(pictures(of.test, &phases, &results, level.as_ref()));
    findings
}

/// Adds whether it is steady, and a table of the points: those with 4 KiB blocks or, in the throughput test,
/// all.
fn add_overview(findings: &mut Findings, of: &Snia, results: &[Results<'_>]) {
    findings.overview.answers = findings.answers.iter().skip(1).map(|answer| answer.id.clone()).collect();
    match of.test {
        SniaTest::WriteSaturation => findings.overview.series = Some("saturation".into()),
        _ => {
            let is_shown =
                |result: &&Results<'_>| of.test != SniaTest::Iops || result.point.test.block == 4096;
            let table = wording::point_table(results.iter().filter(is_shown).map(Results::cells));
            findings.overview.table = (!table.rows.is_empty()).then_some(table);
        }
    }
}

/// The only test of write saturation, round by round.
fn saturation<'a>(of: &Snia, phases: &[Progress<'a>]) -> Option<TestSeries<'a>> {
    let phase =
        phases.first().filter(|phase| of.test == SniaTest::WriteSaturation && !phase.rounds.is_empty())?;
    let point = phase.phase.points.first()?;
    let mut written = 0;
    let passes = phase.rounds.iter().filter_map(|round| {
        let segment = &round[0];
        let written_before = written;
        written += segment.bytes(Op::Write);
        Some(Pass { written_before, written_after: written, segment, bytes_per_s: segment.bytes_per_s()? })
    });
    Some(TestSeries {
        test: point.test.to_string(),
        op: point.op,
        data: of.options.data,
        passes: passes.collect(),
        period: 1,
    })
}

/// The rounds that decide saturation: the samples, if they ended it; otherwise the mean of every quarter of a
/// fill, because five consecutive minutes are alike while a drive still falls from hour to hour.
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

#[derive(Serialize)]
struct WindowRow {
    test: String,
    op: String,
    metric: &'static str,
    rounds: usize,
    is_steady: bool,
    mean: Option<f64>,
    range_percent: Option<f64>,
    range_percent_max: f64,
    slope_percent: Option<f64>,
    slope_percent_max: f64,
}

/// The windows of the tracked metrics of a phase: its last five rounds.
fn windows(progress: &Progress<'_>) -> Vec<Row> {
    let rows = progress.phase.tracked_metrics.iter().enumerate().map(|(index, (point, metric))| {
        let samples = progress.samples(index);
        let window = Window::last(&samples);
        let point = &progress.phase.points[*point];
        row(WindowRow {
            test: point.test.to_string(),
            op: point.op.to_string(),
            metric: metric.key(),
            rounds: samples.len(),
            is_steady: window.is_some_and(|window| window.is_steady()),
            mean: window.map(|window| window.mean),
            range_percent: window.map(|window| window.range_share * 100.0),
            range_percent_max: RANGE_SHARE_MAX * 100.0,
            slope_percent: window.map(|window| window.slope_share * 100.0),
            slope_percent_max: SLOPE_SHARE_MAX * 100.0,
        })
    });
    rows.collect()
}

#[derive(Serialize)]
struct RoundRow {
    round: usize,
    test: String,
    op: String,
    read_percent: u8,
    block_bytes: u32,
    written_bytes: u64,
    iops: Option<f64>,
    bytes_per_s: Option<f64>,
    latency_ns_mean: f64,
    latency_ns_max: u64,
}

fn round_rows(segments: &[Segment], phases: &[Progress<'_>]) -> Vec<Row> {
    let mut written = 0;
    let written_after = segments.iter().map(|segment| {
        written += segment.bytes(Op::Write);
        written
    });
    let written_after: Vec<u64> = written_after.collect();
    let mut rows = Vec::new();
    for progress in phases {
        let points = progress.phase.points.len();
        for (index, segment) in progress.rounds.iter().copied().flatten().enumerate() {
            let (point, total) = (&progress.phase.points[index % points], segment.total());
            rows.push(row(RoundRow {
                round: index / points + 1,
                test: point.test.to_string(),
                op: point.op.to_string(),
                read_percent: read_percent(point.op),
                block_bytes: point.test.block,
                written_bytes: written_after[progress.rounds_start + index],
                iops: segment.iops(),
                bytes_per_s: segment.bytes_per_s(),
                latency_ns_mean: total.latency_ns_mean(),
                latency_ns_max: total.latency.max().0,
            }));
        }
    }
    rows
}
