//! The result of endure: the share of the best speed that is left, where the level changes, and whether it is
//! steady.

use likenew_core::answer::{Answer, Standing};
use likenew_core::drive::{Identity, Kind};
use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::{Iops, Latency, Rate, Share, Size};
use likenew_core::units::Nanos;

use super::level::Level;
use super::loop_test::LoopTest;
use super::snia::{Ending, Progress, Snia};
use super::snia_plan::{SniaTest, TrackedMetric};
use super::snia_results::Results;
use super::steadiness::Steadiness;
use super::test_series::{KneeRow, TestSeries};
use super::wording::{self, Outcome, Remainder, SaturationEnd, Stretch};

/// Share of the best speed that reads must keep, in 0..1: background garbage collection can halve it, and
/// less than this is more than that (our choice).
const READ_SHARE_MIN: f64 = 0.25;

/// How far loops have gone round the span.
pub(super) struct Coverage {
    /// Bytes of the span.
    pub(super) span: u64,
    /// After this many loops every address of the span has been written.
    pub(super) places: usize,
    /// Loops that ran to their end.
    pub(super) loops: usize,
    /// Bytes written in all of them.
    pub(super) written: u64,
}

impl Coverage {
    /// Fills of the span that are written until every address has been written once: a loop writes its file more than
    /// once. Nothing before the first loop has ended.
    fn fills_per_round(&self) -> Option<f64> {
        let rounds = self.loops as f64 / self.places as f64;
        (rounds > 0.0).then(|| self.written as f64 / self.span as f64 / rounds)
    }
}

/// The answers for the tests of one operation.
pub(super) fn loop_answers(
    of: &LoopTest,
    evidence: &Evidence,
    op: Mix,
    levels: &[&Level<'_>],
    coverage: &Coverage,
) -> Vec<Answer> {
    let more = |answer: Answer| match answer.standing {
        Standing::Unknown => answer.action(wording::write_more(&of.rerun_to_decide(evidence))),
        _ => answer,
    };
    let mut answers: Vec<Answer> = remainder(op, levels).into_iter().collect();
    let steadiness = loop_steadiness(op, levels, coverage);
    // What still has to be seen to settle is not as it should be yet.
    let is_settled = steadiness.standing == Standing::Good;
    answers.push(more(knees(op, levels, coverage.span, is_settled)));
    answers.push(more(steadiness));
    answers
}

/// The limits of the results of a loop.
pub(super) fn loop_caveats(of: &LoopTest, evidence: &Evidence) -> Vec<String> {
    let mut caveats: Vec<String> = missing_purge(&evidence.identity).map(String::from).into_iter().collect();
    if of.options.trim && !evidence.geometry.trims {
        caveats.push(wording::files_were_not_deleted().into());
    } else if of.options.trim && keeps_deletions(&evidence.identity) {
        caveats.push(wording::deletions_may_not_reach_drive().into());
    }
    caveats
}

/// Whether a folder's file system may delay TRIM for deleted files.
fn keeps_deletions(identity: &Identity) -> bool {
    let options = identity.facts.iter().find(|(name, _)| name == "mount options");
    let discards = options.is_some_and(|(_, options)| options.split(',').any(|option| option == "discard"));
    identity.kind == Kind::Folder && !discards
}

/// The share of the best speed that is left, from the steady tests.
fn remainder(op: Mix, levels: &[&Level<'_>]) -> Option<Answer> {
    let shares = levels.iter().filter_map(|level| level.share().map(|share| (share, *level)));
    let (share, level) = shares.min_by(|a, b| a.0.total_cmp(&b.0))?;
    let of = Remainder {
        op,
        test: &level.test_series.test,
        share,
        steady: Rate(level.steady.map_or(level.last, |(mean, _)| mean)),
        peak: Rate(level.peak),
        is_problem: op == Mix::Only(Op::Read) && share < READ_SHARE_MIN,
    };
    let mut answer = wording::steady_share(&of).caveat(wording::peak_is_one_pass());
    if let Some((mean, Some(interval))) = level.steady {
        answer = answer.estimate(mean, interval.low.max(0.0), interval.high, "bytes/s");
    }
    // The answer says everything about a single test.
    let tests = levels.iter().filter(|_| levels.len() > 1);
    Some(tests.map(|level| level.sentence()).fold(answer, Answer::with_evidence))
}

/// Where the levels change. `span` is what a fill writes; `is_settled`: whether the speeds are steady at the end.
fn knees(op: Mix, levels: &[&Level<'_>], span: u64, is_settled: bool) -> Answer {
    let knees: Vec<&KneeRow> = levels.iter().flat_map(|level| &level.knees).collect();
    if let Some(answer) = main_knee(op, levels, &knees) {
        return knees.iter().map(|knee| wording::knee(knee, span)).fold(answer, Answer::with_evidence);
    }
    let passes = levels.iter().map(|level| level.test_series.passes.len()).min().unwrap_or(0);
    if passes < TestSeries::PASSES_MIN {
        return wording::too_few_for_knees(op, passes, TestSeries::PASSES_MIN);
    }
    let last = levels.iter().filter_map(|level| level.test_series.passes.last());
    let written = Size(last.map(|pass| pass.written_after).max().unwrap_or(0));
    let ends = || levels.iter().map(|level| level.steady.map_or(level.last, |(mean, _)| mean));
    let shares = || ends().zip(levels).map(|(end, level)| (end / level.peak).min(1.0));
    let rates = (Rate(least(ends())), Rate(most(ends())));
    wording::no_knee(op, passes, written, rates, (Share(least(shares())), Share(most(shares()))), is_settled)
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

fn most(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, f64::max)
}

/// The deepest fall, or the first rise where none falls; nothing without a change.
fn main_knee(op: Mix, levels: &[&Level<'_>], knees: &[&KneeRow]) -> Option<Answer> {
    let cliffs = levels.iter().filter_map(|level| level.cliff());
    if let Some(cliff) = cliffs.min_by(|a, b| a.share().total_cmp(&b.share())) {
        return Some(wording::deepest_cliff(op, &cliff, knees.len()));
    }
    let rise = knees.iter().min_by_key(|knee| knee.at_bytes)?;
    Some(wording::first_rise(op, rise, knees.len()))
}

/// Whether the speeds are steady at the end.
fn loop_steadiness(op: Mix, levels: &[&Level<'_>], coverage: &Coverage) -> Answer {
    if levels.iter().any(|level| level.steadiness.window.is_none()) {
        let fills = levels.iter().map(|level| level.rounds).min().unwrap_or(0);
        let answer = wording::too_few_fills(op, fills, coverage.fills_per_round());
        let uncovered = coverage.loops < coverage.places;
        let sentence = uncovered.then(|| wording::span_not_covered(coverage.loops, coverage.places));
        return sentence.into_iter().fold(answer, Answer::with_evidence);
    }
    let of = |steady: bool| levels.iter().filter(move |level| level.steadiness.is_steady() == steady);
    let window = |level: &&Level<'_>| {
        wording::window(&level.test_series.test, level.steadiness.window.as_ref(), Stretch::Fills)
    };
    let unsteady = of(false).count();
    if unsteady > 0 {
        let answer = wording::not_steady(op, unsteady, levels.len());
        return of(false).map(window).fold(answer, Answer::with_evidence);
    }
    let from = levels.iter().filter_map(|level| level.steady_from).max().unwrap_or_default();
    let answer = wording::steady_from(op, Size(from), from as f64 / coverage.span as f64);
    of(true).map(window).fold(answer, Answer::with_evidence)
}

/// For a test of the specification, most important first. `level`: for write saturation, with the bytes of a
/// fill.
pub(super) fn snia_answers(
    of: &Snia,
    evidence: &Evidence,
    phases: &[Progress<'_>],
    results: &[Results<'_>],
    level: Option<(&Level<'_>, u64)>,
) -> Vec<Answer> {
    let written =
        level.and_then(|(level, _)| level.test_series.passes.last()).map(|pass| Size(pass.written_after));
    let rounds = phases.iter().map(|phase| phase.rounds.len()).max().unwrap_or(0);
    let result = result(of, results, written, rounds);
    let mut answers: Vec<Answer> = result.into_iter().map(|answer| of.with_rerun(answer, evidence)).collect();
    if let Some((level, span)) = level {
        let op = level.test_series.op;
        answers.extend(remainder(op, &[level]));
        let saturation = saturation(level, phases);
        answers.push(knees(op, &[level], span, saturation.standing == Standing::Good));
        answers.push(saturation);
    } else {
        answers.extend(phases.iter().map(rounds_steadiness));
    }
    if let Some(first) = answers.first_mut() {
        first.caveats.extend(of.options.deviations(of.test, evidence.geometry.block));
        first.caveats.extend(coverage(of, evidence));
        first.caveats.extend(missing_purge(&evidence.identity).map(String::from));
        if of.test == SniaTest::Throughput && phases.len() > 1 {
            first.caveats.push(wording::no_purge_between_blocks().into());
        }
    }
    answers
}

/// The specification allows a part of the drive if that is reported.
fn coverage(of: &Snia, evidence: &Evidence) -> Option<String> {
    let (span, there) = (of.span(&evidence.geometry), evidence.geometry.capacity);
    let share = span as f64 / there.max(1) as f64;
    (share < 0.995).then(|| wording::active_range(Share(share), Size(span)))
}

/// The metrics that the test is made for; `written`: in all, of a test that is about what was written; `rounds`: of its
/// longest phase.
fn result(of: &Snia, results: &[Results<'_>], written: Option<Size>, rounds: usize) -> Option<Answer> {
    let test = of.test;
    let find = |block: u32, op: Op| {
        results.iter().find(|result| result.point.test.block == block && result.point.op == Mix::Only(op))
    };
    let small = || [Op::Read, Op::Write].into_iter().filter_map(|op| find(4096, op));
    let outcomes: Vec<Outcome> = match test {
        SniaTest::Iops | SniaTest::WriteSaturation => small()
            .map(|result| Outcome::Iops {
                op: result.point.op,
                iops: Iops(result.metric(TrackedMetric::Iops).0),
            })
            .collect(),
        SniaTest::Throughput => results
            .iter()
            .map(|result| Outcome::Rate {
                op: result.point.op,
                rate: Rate(result.metric(TrackedMetric::BytesPerS).0),
                block: Size(result.point.test.block.into()),
            })
            .collect(),
        SniaTest::Latency => small()
            .map(|result| Outcome::Latency {
                op: result.point.op,
                mean: Latency(result.total.latency_ns_mean()),
                p99999: result.latency_ns_p99999().map(Nanos),
                max: result.total.latency.max(),
            })
            .collect(),
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
    // A saturation is about the way, not about its end.
    let is_open = !all_steady && written.is_none() && of.options.is_shorter_than_specified(test);
    let answer = wording::result(&outcomes, all_steady, written, (main.rounds(), rounds), is_open);
    Some(match main.metric(metric) {
        (mean, Some(interval)) => answer.estimate(mean, interval.low.max(0.0), interval.high, unit),
        _ => answer,
    })
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
    let (end, stretch) = match phases[0].ending {
        Some(Ending::Steady) => (SaturationEnd::Steady, Stretch::Samples),
        Some(Ending::Bytes) => (SaturationEnd::FourFills, Stretch::QuarterFills),
        Some(Ending::Rounds) => (SaturationEnd::AllRounds, Stretch::QuarterFills),
        None => (SaturationEnd::Stopped, Stretch::QuarterFills),
    };
    let answer = match (level.steadiness.window, level.steadiness.is_steady()) {
        (None, _) => wording::saturation_is_too_short(op, rounds),
        (Some(_), true) => wording::saturation_is_steady(op, rounds),
        (Some(_), false) => wording::saturation_is_not_steady(op, rounds),
    };
    answer.with_evidence(wording::saturation_ended(rounds, end)).with_evidence(wording::window(
        &level.test_series.test,
        level.steadiness.window.as_ref(),
        stretch,
    ))
}

/// The caveat for a drive that was not purged, as far as can be known.
fn missing_purge(identity: &Identity) -> Option<&'static str> {
    match identity.kind {
        Kind::Simulated => (!is_new(identity)).then(wording::simulated_was_not_new),
        Kind::Nop => None,
        Kind::Folder | Kind::File | Kind::Device => Some(wording::was_not_purged()),
    }
}

/// Whether a simulated drive was opened new, not filled or used.
fn is_new(identity: &Identity) -> bool {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, value)| value.as_str());
    state.is_none_or(|state| state.starts_with("new") && !state.contains("then") && !state.contains("ago"))
}
