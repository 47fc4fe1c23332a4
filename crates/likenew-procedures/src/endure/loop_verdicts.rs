//! What a run says of one operation: what is left of its best speed, its knees, and whether it is steady.

use likenew_core::io::Op;
use likenew_core::mix::Mix;
use likenew_core::units::{amount, rate};
use likenew_core::verdict::{Standing, Verdict};
use likenew_stats::steady_state::ROUNDS;

use super::level::Level;
use super::loop_findings::Loops;
use super::test_series::{KneeRow, TestSeries};

/// Garbage collection in the background can halve the speed of reads. Less than this of the best speed is more than that.
const READ_SHARE_MIN: f64 = 0.25;

/// What the tests of one operation say.
pub(super) fn loop_verdicts(op: Mix, levels: &[&Level<'_>], loops: &Loops<'_>) -> Vec<Verdict> {
    let word = word(op);
    let mut verdicts: Vec<Verdict> = remainder(&word, op, levels).into_iter().collect();
    verdicts.push(knee_verdict(&word, levels, loops.area));
    verdicts.push(steadiness_verdict(&word, levels, loops));
    verdicts
}

/// The I/Os of an operation, at the beginning of a sentence.
pub(super) fn word(op: Mix) -> String {
    match op {
        Mix::Only(Op::Read) => "Reads".to_owned(),
        Mix::Only(Op::Write) => "Writes".to_owned(),
        other => format!("I/Os of {other}"),
    }
}

/// What is left of the best speed, from the tests that are steady.
pub(super) fn remainder(word: &str, op: Mix, levels: &[&Level<'_>]) -> Option<Verdict> {
    let worst = levels
        .iter()
        .filter_map(|level| level.share().map(|share| (share, *level)))
        .min_by(|a, b| a.0.total_cmp(&b.0));
    let (share, level) = worst?;
    let percent = (share * 100.0).floor();
    let claim = if percent >= 95.0 {
        format!("{word} keep their best speed in the long run: {percent:.0} % of it or more.")
    } else {
        format!(
            "{word} keep {:.0} % of their best speed in the long run in the worst case, {}: {} of {}.",
            share * 100.0,
            level.test_series.test,
            rate(level.steady.map_or(level.last, |(mean, _)| mean)),
            rate(level.peak)
        )
    };
    let mut verdict = Verdict::new(claim, Standing::Holds);
    if let Some((mean, Some(interval))) = level.steady {
        verdict = verdict.estimate(mean, interval.low.max(0.0), interval.high, "bytes/s");
    }
    verdict = levels.iter().fold(verdict, |verdict, level| verdict.with_evidence(level.sentence()));
    if op == Mix::Only(Op::Read) && share < READ_SHARE_MIN {
        let reason = "collecting garbage beside them costs reads about half of their speed at times, not more: look for heat, for data \
            that is read with retries, or for a link that has become slower";
        verdict = verdict.problem().with_evidence(reason);
    }
    Some(verdict.caveat("the best speed is that of the fastest pass, measured once"))
}

/// Where the levels change. `area` is what a fill writes.
pub(super) fn knee_verdict(word: &str, levels: &[&Level<'_>], area: u64) -> Verdict {
    let knees: Vec<&KneeRow> = levels.iter().flat_map(|level| &level.knees).collect();
    if !knees.is_empty() {
        let tests = levels.iter().filter(|level| !level.knees.is_empty()).count();
        let (plural, of) = (if knees.len() == 1 { "knee" } else { "knees" }, levels.len());
        let first = knees.iter().map(|knee| knee.at_bytes).min().unwrap_or_default();
        let claim = format!(
            "{word} have {} {plural} in {tests} of {of} tests, the first after {} written.",
            knees.len(),
            amount(first)
        );
        let verdict = Verdict::new(claim, Standing::Holds);
        return knees.iter().fold(verdict, |verdict, knee| verdict.with_evidence(knee.sentence(area)));
    }
    let claim = format!("{word} have no knee.");
    let passes = levels.iter().map(|level| level.test_series.passes.len()).min().unwrap_or(0);
    if passes < TestSeries::PASSES_MIN {
        return Verdict::new(claim, Standing::Undecided).with_evidence(format!(
            "each test ran {passes} times, too few to tell a change of level from chance; {} times would decide it: write more",
            TestSeries::PASSES_MIN
        ));
    }
    let written =
        levels.iter().filter_map(|level| level.test_series.passes.last()).map(|pass| pass.written_after);
    Verdict::new(claim, Standing::Holds).with_evidence(format!(
        "each test ran {passes} times while {} were written, and none changed its level by 5 % or more",
        amount(written.max().unwrap_or(0))
    ))
}

/// Whether the speeds are steady at the end.
fn steadiness_verdict(word: &str, levels: &[&Level<'_>], loops: &Loops<'_>) -> Verdict {
    let claim = format!("{word} have reached a steady state.");
    if levels.iter().any(|level| level.steadiness.window.is_none()) {
        return too_short(claim, levels, loops);
    }
    let of = |steady: bool| levels.iter().filter(move |level| level.steadiness.is_steady() == steady);
    let figures =
        |level: &&&Level<'_>| format!("{}: {}", level.test_series.test, level.steadiness.figures("fills"));
    if of(false).count() > 0 {
        return of(false)
            .map(|level| figures(&level))
            .fold(Verdict::new(claim, Standing::Fails), Verdict::with_evidence)
            .caveat("the levels of these are means of the last fill, not steady ones; writing more would show where they end");
    }
    let from = levels.iter().filter_map(|level| level.steady_from).max().unwrap_or_default();
    let claim = format!(
        "{word} have reached a steady state after {} written ({:.1} fills).",
        amount(from),
        from as f64 / loops.area as f64
    );
    of(true).map(|level| figures(&level)).fold(Verdict::new(claim, Standing::Holds), Verdict::with_evidence)
}

fn too_short(claim: String, levels: &[&Level<'_>], loops: &Loops<'_>) -> Verdict {
    let rounds = levels.iter().map(|level| level.rounds).min().unwrap_or(0);
    let verdict = Verdict::new(claim, Standing::Undecided).with_evidence(format!(
        "it takes {ROUNDS} whole fills after every address of the area was written once, and there are {rounds}"
    ));
    if loops.count < loops.places {
        return verdict.with_evidence(format!(
            "{} loops have written {} of the {} places of the area: what was never written serves the drive as spare",
            loops.count, loops.count, loops.places
        ));
    }
    verdict
}
