//! Answers of age: which metrics fell, by how much, and whether idle time restores them.

use likenew_core::counters::FlashCounters;
use likenew_core::drive::{Identity, TargetKind};
use likenew_core::findings::{Answer, Standing};
use likenew_core::io::Op;
use likenew_core::procedure::Evidence;
use likenew_core::quantity::Size;
use likenew_core::segment::Segment;
use likenew_core::target::Clock;
use likenew_core::units::{exact_duration, exact_size};
use likenew_procedure_support::estimate::{Estimate, Verdict};
use likenew_procedure_support::options::Arguments;
use likenew_procedure_support::rerun::Rerun;

use super::results::{AgeResults, Better, Comparison};
use super::wording::{self, Drop, Transition};
use super::workloads::Phase;
use super::{Age, AgeOptions, Recipe};

/// Drop in percent below which a user notices nothing. Chosen.
pub(super) const NOTICED_PERCENT: f64 = 10.0;
/// Ratio of the fastest pass to the slowest above which passes were not steady. Chosen.
const UNSTEADY_RATIO: f64 = 1.25;
/// Passes to advise after a single one; Student's factor falls from 12.7 to 4.3 by the third.
const PASSES_AFTER_ONE: u32 = 3;
/// Most passes to advise: Student's factor hardly falls any more.
const PASSES_MAX: u32 = 100;

/// The summary, and all answers, most important first. Random writes lead, because they fall furthest; they carry the
/// background of the aging.
pub(super) fn answers(
    options: &AgeOptions,
    evidence: &Evidence,
    measured: &AgeResults<'_>,
    comparisons: &[Comparison],
) -> (Option<String>, Vec<Answer>) {
    let [writes, _, _, _, sequential, random_reads, sequential_reads, score] = comparisons else {
        unreachable!("the table has eight lines")
    };
    let is_alone =
        evidence.geometry.clock == Clock::Virtual || reads_unchanged(random_reads, sequential_reads);
    let change_of = |id, question, comparison| change(id, question, comparison, is_alone);
    let candidates = [
        change_of("random_write", "Random write", writes)
            .map(|answer| with_background(answer, options, evidence, measured, writes)),
        change_of("sequential_write", "Sequential write", sequential),
        change_of("application_score", "Application score", score)
            .map(|answer| with_trimmed_blocks(answer.with_evidence(wording::SCORE_EXPLAINED), options)),
        read("random_read", "Random read", random_reads, evidence),
        read("sequential_read", "Sequential read", sequential_reads, evidence),
        idle(options, writes),
    ];
    let answers =
        candidates.into_iter().flatten().map(|answer| with_actions(answer, options, evidence)).collect();
    let most_telling =
        [("Random writes", writes), ("Sequential writes", sequential), ("The application score", score)];
    // Reads that fell are a problem only if nothing else can have used the drive.
    let reads = [("Random reads", random_reads), ("Sequential reads", sequential_reads)];
    let reads = reads.into_iter().filter(|_| evidence.geometry.clock == Clock::Virtual);
    let summary = most_telling
        .into_iter()
        .chain(reads)
        .find_map(|(subject, comparison)| fallen(subject, comparison, is_alone));
    (summary.or_else(|| kept(writes, is_alone)), answers)
}

/// The summary if random writes, which fall first, fell by little.
fn kept(writes: &Comparison, is_alone: bool) -> Option<String> {
    let drop = classify(&writes.fall(Phase::Used)?, is_alone);
    wording::kept("random writes", transition(writes)?, drop, NOTICED_PERCENT)
}

/// Adds why a used drive with trimmed blocks looks faster.
fn with_trimmed_blocks(answer: Answer, options: &AgeOptions) -> Answer {
    let looks_faster = options.trim && answer.standing == Standing::Info;
    if looks_faster { answer.caveat(wording::TRIMMED_BLOCKS_READ_FAST) } else { answer }
}

/// The summary if a metric certainly fell; otherwise the first answer becomes the summary.
fn fallen(subject: &str, comparison: &Comparison, is_alone: bool) -> Option<String> {
    match classify(&comparison.fall(Phase::Used)?, is_alone) {
        Drop::Fell { percent, .. } => Some(wording::fell(subject, transition(comparison)?, percent)),
        _ => None,
    }
}

fn transition(comparison: &Comparison) -> Option<Transition> {
    let (new, used) = (comparison.value(Phase::New)?, comparison.value(Phase::Used)?);
    Some(Transition { unit: comparison.unit, new, used })
}

/// Classifies a drop by its interval. On a drive that other programs may use, a fall counts only if reads did
/// not change.
fn classify(fall: &Estimate, is_alone: bool) -> Drop {
    let Some(interval) = fall.interval else { return Drop::OnePass };
    let percent = fall.value;
    match fall.within(-NOTICED_PERCENT, NOTICED_PERCENT) {
        Verdict::Above if is_alone => Drop::Fell { percent, interval },
        Verdict::Above => Drop::FellWithReads { percent, interval },
        Verdict::Below => Drop::Rose { percent },
        _ if interval.high <= NOTICED_PERCENT => Drop::Small { percent, interval },
        _ => Drop::Unclear { percent, interval },
    }
}

fn change(id: &str, question: &str, comparison: &Comparison, is_alone: bool) -> Option<Answer> {
    let fall = comparison.fall(Phase::Used)?;
    let drop = classify(&fall, is_alone);
    let answer = wording::change(id, question, transition(comparison)?, drop, NOTICED_PERCENT);
    Some(fall.put(answer, "%"))
}

/// The answer about reads. A fall is a problem of the drive only if nothing else can have used it.
fn read(id: &str, question: &str, comparison: &Comparison, evidence: &Evidence) -> Option<Answer> {
    let answer = change(id, question, comparison, true)?;
    let is_open = answer.standing == Standing::Problem && evidence.geometry.clock != Clock::Virtual;
    Some(if is_open { Answer { standing: Standing::Info, ..answer } } else { answer })
}

/// Adds how steady the drive was, how it was aged, and what "new" means.
fn with_background(
    answer: Answer,
    options: &AgeOptions,
    evidence: &Evidence,
    measured: &AgeResults<'_>,
    writes: &Comparison,
) -> Answer {
    let sentences = [unsteady(writes), aging(measured, options), write_amplification(measured)];
    let answer = sentences.into_iter().flatten().fold(answer, Answer::with_evidence);
    let caveat = missing_reference(&evidence.identity);
    caveat.into_iter().fold(answer, Answer::caveat)
}

/// The first and the last pass of random writes, if these were not steady.
fn unsteady(comparison: &Comparison) -> Option<String> {
    let passes = comparison.passes_in(Phase::Used);
    let [first, .., last] = passes else { return None };
    let least = passes.iter().copied().fold(f64::INFINITY, f64::min);
    let most = passes.iter().copied().fold(0.0, f64::max);
    let is_unsteady = comparison.better == Better::Higher && most > least * UNSTEADY_RATIO;
    is_unsteady.then(|| wording::not_steady("Random writes", comparison.unit, *first, *last))
}

/// Whether reads, which aging does not affect, changed little: then nothing else used the drive.
fn reads_unchanged(random: &Comparison, sequential: &Comparison) -> bool {
    [random, sequential].into_iter().all(|comparison| {
        comparison.fall(Phase::Used).is_some_and(|fall| matches!(classify(&fall, true), Drop::Small { .. }))
    })
}

/// Whether idle time restored random writes; `None` if they had not fallen.
fn idle(options: &AgeOptions, writes: &Comparison) -> Option<Answer> {
    let (used, after) = (writes.fall(Phase::Used)?, writes.fall(Phase::AfterIdle)?);
    let has_fallen = matches!(classify(&used, true), Drop::Fell { .. });
    has_fallen.then(|| wording::after_idle(options.idle, used.value, after.value, classify(&after, true)))
}

/// How the drive was aged; `None` if that has not begun.
fn aging(measured: &AgeResults<'_>, options: &AgeOptions) -> Option<String> {
    let segments: Vec<&Segment> = measured.aging().collect();
    let bytes: u64 = segments.iter().map(|segment| segment.bytes(Op::Write)).sum();
    let time = segments.last()?.ended_at.since(segments.first()?.started_at);
    let sentence = match options.recipe {
        Recipe::Fill => wording::aged_by_fill,
        Recipe::Overwrite => wording::aged_by_overwrites,
        Recipe::Churn => wording::aged_by_small_files,
    };
    Some(sentence(Size(bytes), time))
}

/// Bytes programmed over bytes written during the aging, if the simulated drive has flash counters.
fn write_amplification(measured: &AgeResults<'_>) -> Option<String> {
    let before = measured.before_aging()?.accounting?;
    let last = measured.aging().last()?;
    let after = last.accounting.filter(FlashCounters::has_flash)?;
    let host = after.host_bytes_written.checked_sub(before.host_bytes_written).filter(|bytes| *bytes > 0)?;
    let flash = after.flash_bytes_programmed.saturating_sub(before.flash_bytes_programmed);
    Some(wording::write_amplification(flash as f64 / host as f64))
}

/// What "new" means for a drive that is not known to have been erased.
fn missing_reference(identity: &Identity) -> Option<String> {
    let state = identity.facts.iter().find(|(name, _)| name == "state").map(|(_, state)| state.as_str());
    match (identity.kind, state) {
        (TargetKind::Simulated, Some(state)) if state == "new" || state.starts_with("new:") => None,
        (TargetKind::Simulated, Some(state)) => Some(wording::was_not_new(state)),
        _ => Some(wording::EARLIER_USE_IS_UNKNOWN.into()),
    }
}

/// Adds commands that decide an open question or restore a slower drive. A simulated drive begins every run in the
/// state that its target names, so there is nothing to restore.
fn with_actions(answer: Answer, options: &AgeOptions, evidence: &Evidence) -> Answer {
    let is_simulated = evidence.identity.kind == TargetKind::Simulated;
    match answer.standing {
        Standing::Unknown => {
            let passes = match options.passes {
                1 => PASSES_AFTER_ONE,
                several => several.saturating_mul(2).min(PASSES_MAX),
            };
            let again = AgeOptions { passes, ..options.clone() };
            let again = Rerun::new(evidence, &options_text(&again), Age::new(again.clone()));
            answer.action(wording::more_passes(&again, options.passes == 1, is_simulated))
        }
        Standing::Problem if !is_simulated && answer.id == "random_write" => {
            wording::recondition(&evidence.plan).into_iter().fold(answer, Answer::action)
        }
        _ => answer,
    }
}

/// The options that differ from their defaults, as a command line, and always the passes.
fn options_text(options: &AgeOptions) -> String {
    let defaults = AgeOptions::default();
    Arguments::default()
        .add(options.recipe != defaults.recipe, "recipe", options.recipe)
        .add_known("bytes", options.bytes.map(exact_size))
        .add_known("span", options.span.map(exact_size))
        .add(options.random_span != defaults.random_span, "random-span", exact_size(options.random_span))
        .add(options.time != defaults.time, "time", exact_duration(options.time))
        .add(options.depth != defaults.depth, "depth", options.depth)
        .add(options.idle != defaults.idle, "idle", exact_duration(options.idle))
        .add(options.trim, "trim", "on")
        .add(options.data != defaults.data, "data", options.data)
        .add(true, "passes", options.passes)
        .text()
}
