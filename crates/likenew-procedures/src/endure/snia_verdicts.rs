//! What a test of SNIA's specification says: whether it became steady, what it came to, and where it was not the
//! specification's.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::procedure::Evidence;
use likenew_core::units::{Nanos, amount, rate, three_digits};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::steady_state::ROUNDS;

use super::level::Level;
use super::loop_verdicts::{knee_verdict, remainder, word};
use super::purge::missing_purge;
use super::snia::{Ending, Progress, Snia};
use super::snia_plan::{SniaTest, TrackedMetric};
use super::snia_results::Results;
use super::steadiness::Steadiness;

/// Most important first. `level`: of the write saturation, with the bytes of a fill.
pub(super) fn verdicts(
    of: &Snia,
    evidence: &Evidence,
    phases: &[Progress<'_>],
    results: &[Results<'_>],
    level: Option<(&Level<'_>, u64)>,
) -> Vec<Verdict> {
    let mut verdicts: Vec<Verdict> = outcome(of.test, results).into_iter().collect();
    if let Some((level, area)) = level {
        let word = word(level.test_series.op);
        verdicts.extend(remainder(&word, level.test_series.op, &[level]));
        verdicts.push(knee_verdict(&word, &[level], area));
        verdicts.push(saturation_verdict(level, phases));
    } else {
        verdicts.extend(phases.iter().map(|progress| steadiness_verdict(progress)));
    }
    if let Some(first) = verdicts.first_mut() {
        first.caveats.extend(of.options.deviations(of.test, evidence.geometry.block));
        first.caveats.extend(coverage(of, evidence));
        first.caveats.extend(missing_purge(&evidence.identity));
        if of.test == SniaTest::Throughput && phases.len() > 1 {
            first.caveats.push("the drive was not purged between the two blocks".into());
        }
    }
    verdicts
}

/// The specification allows a part of the drive, if that is said.
fn coverage(of: &Snia, evidence: &Evidence) -> Option<String> {
    let (area, there) = (of.area(&evidence.geometry), evidence.geometry.capacity);
    let percent = area as f64 / there.max(1) as f64 * 100.0;
    (percent < 99.5).then(|| format!("the active range was {percent:.0} % of the drive, {}", amount(area)))
}

/// The figures that the test is made for.
fn outcome(test: SniaTest, results: &[Results<'_>]) -> Option<Verdict> {
    let find = |block: u32, op: Op| {
        results.iter().find(|result| result.point.test.block == block && result.point.op == Mix::Only(op))
    };
    let parts: Vec<String> = match test {
        SniaTest::Iops | SniaTest::WriteSaturation => [Op::Read, Op::Write]
            .into_iter()
            .filter_map(|op| {
                let (iops, _) = find(4096, op)?.metric(TrackedMetric::Iops);
                Some(format!("{op}s at {} IOPS in random blocks of 4 KiB", three_digits(iops)))
            })
            .collect(),
        SniaTest::Throughput => results
            .iter()
            .map(|result| {
                let (speed, _) = result.metric(TrackedMetric::BytesPerS);
                format!(
                    "{}s at {} in blocks of {}",
                    result.point.op,
                    rate(speed),
                    amount(result.point.test.block.into())
                )
            })
            .collect(),
        SniaTest::Latency => {
            [Op::Read, Op::Write].into_iter().filter_map(|op| find(4096, op)).map(latency).collect()
        }
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
    let when = if all_steady { "In steady state it" } else { "At the end, not in a steady state, it" };
    let mut verdict = Verdict::new(format!("{when} {}.", parts.join("; it ")), Standing::Holds)
        .with_evidence(format!(
            "means of the last {} rounds; every point stands in the table of results",
            main.rounds()
        ));
    if let (mean, Some(interval)) = main.metric(metric) {
        verdict = verdict.estimate(mean, interval.low.max(0.0), interval.high, unit);
    }
    Some(verdict)
}

fn latency(result: &Results<'_>) -> String {
    let mean = Nanos(result.total.latency_ns_mean() as u64);
    let worst = result.total.latency.max();
    let tail =
        result.latency_ns_p99999().map_or_else(String::new, |tail| format!("{} for 99.999 %, ", Nanos(tail)));
    format!("{}s 4 KiB at random in {mean} on average ({tail}{worst} at most)", result.point.op)
}

/// Whether what is tracked has become steady.
fn steadiness_verdict(progress: &Progress<'_>) -> Verdict {
    let rounds = progress.rounds.len();
    let points = &progress.phase.points;
    let of = if points.iter().all(|point| !point.test.random) {
        format!(" in blocks of {}", amount(points[0].test.block.into()))
    } else {
        String::new()
    };
    let (claim, standing) = match progress.ending {
        Some(Ending::Steady) => {
            (format!("It reached a steady state{of} after {rounds} rounds."), Standing::Holds)
        }
        Some(_) => (format!("It reached a steady state{of}."), Standing::Fails),
        None => (format!("It reached a steady state{of}."), Standing::Undecided),
    };
    let figures = progress.phase.tracked_metrics.iter().enumerate().map(|(index, (point, _))| {
        let figures = Steadiness::from_rounds(&progress.samples(index)).figures("rounds");
        format!("{} {}: {figures}", points[*point].test, points[*point].op)
    });
    let verdict = figures.fold(Verdict::new(claim, standing), Verdict::with_evidence);
    match progress.ending {
        Some(Ending::Steady) => verdict,
        Some(_) => verdict.caveat(format!(
            "{rounds} rounds were made; the results are means of the last {ROUNDS} and not of a steady state"
        )),
        None => verdict.caveat("the run ended before: finish it, or give more time"),
    }
}

/// Why the write saturation ended, and whether its end is steady.
fn saturation_verdict(level: &Level<'_>, phases: &[Progress<'_>]) -> Verdict {
    let claim = "Random writes have reached a steady state.";
    let rounds = level.test_series.passes.len();
    let (reason, stretches) = match phases[0].ending {
        Some(Ending::Steady) => ("samples of one round in 31 were steady", "samples"),
        Some(Ending::Bytes) => ("the area was written four times", "quarters of a fill"),
        Some(Ending::Rounds) => ("all rounds were made", "quarters of a fill"),
        None => ("the run was stopped", "quarters of a fill"),
    };
    let standing = match (level.steadiness.window, level.steadiness.is_steady()) {
        (None, _) => Standing::Undecided,
        (Some(_), true) => Standing::Holds,
        (Some(_), false) => Standing::Fails,
    };
    let verdict = Verdict::new(claim, standing)
        .with_evidence(format!("it ended after {rounds} rounds: {reason}"))
        .with_evidence(level.steadiness.figures(stretches));
    match standing {
        Standing::Holds => verdict,
        Standing::Fails => {
            verdict.caveat("its results are means of the last five rounds and not of a steady state")
        }
        Standing::Undecided => {
            verdict.caveat("more rounds would decide it: it takes five quarters of a fill")
        }
    }
}
