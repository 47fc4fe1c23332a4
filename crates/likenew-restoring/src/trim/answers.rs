//! Does TRIM reach the drive? The first step that decides it gives the answer; the table and the charts of all steps.

use likenew_core::drive::Kind;
use likenew_core::findings::{Answer, Findings, Line, Row, Series, Shape, Standing};
use likenew_core::probe::Layer;
use likenew_core::procedure::Evidence;
use likenew_core::row;
use likenew_procedure_support::estimate::Verdict;
use likenew_procedure_support::series::{axis, speed};

use super::TrimOptions;
use super::trim_evidence::{Outcome, TrimEvidence, TrimStep, Worth};
use super::wording::{self, Doubt};
use crate::site::{add_series, likenew};

/// The headline, and every answer, most important first.
pub(super) fn conclude(
    options: &TrimOptions,
    evidence: &Evidence,
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: &Worth<'_>,
) -> (String, Vec<Answer>) {
    let (mut summary, reach) = reach(evidence, trim_evidence, steps, worth);
    let reach = advise(reach, options, evidence, trim_evidence);
    let mut answers = vec![reach];
    let lost = trim_evidence.lost_bytes();
    if lost > 0 {
        let (lost_summary, answer) = wording::damaged_neighbors(lost);
        // Lost data is worse than a TRIM that does not arrive.
        summary = lost_summary;
        answers.insert(0, answer);
    }
    answers.extend(effect(worth, options, evidence));
    (summary, answers)
}

fn reach(
    evidence: &Evidence,
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: &Worth<'_>,
) -> (String, Answer) {
    let decisive: Vec<TrimStep> = steps.iter().filter(|step| step.decisive).cloned().collect();
    let relevant = if decisive.is_empty() { steps } else { &decisive };
    let failed = |answer: (String, Answer)| {
        let (summary, answer) = if trim_evidence.rotates() { wording::not_needed() } else { answer };
        (summary, wording::with_steps(answer, relevant))
    };
    if let Some(layer) = trim_evidence.blocked_by() {
        let is_drive = trim_evidence.layers().last() == Some(layer);
        let drive = trim_evidence.layers().last().map(|layer| &*layer.name);
        return failed(if is_drive {
            wording::drive_takes_none(layer)
        } else {
            wording::stops_at(layer, drive)
        });
    }
    if trim_evidence.has_no_trim() {
        return failed(wording::unsupported());
    }
    if trim_evidence.violates_claim() {
        return failed(wording::promise_broken());
    }
    if let Some(proof) = decisive.first() {
        let ratio = worth.ratio.filter(|_| worth.gain() == Verdict::Above);
        return (wording::reaches_summary(ratio.map(|ratio| ratio.value)), wording::reaches(proof));
    }
    let is_without_effect =
        worth.gain() == Verdict::Below && worth.frees_enough() && trim_evidence.is_silent();
    if let Some(comparison) = worth.comparison().filter(|_| is_without_effect) {
        return failed(wording::no_effect(&comparison));
    }
    let (summary, answer) = wording::undecided(doubt(evidence, trim_evidence));
    (summary, wording::with_steps(answer, steps))
}

fn doubt<'e>(evidence: &Evidence, trim_evidence: &TrimEvidence<'e>) -> Doubt<'e> {
    if trim_evidence.path.is_none() {
        return Doubt::NotBegun;
    }
    if let Some(reason) = trim_evidence.refusal {
        return Doubt::NotSent(reason);
    }
    match (trim_evidence.read_back, trim_evidence.outcome()) {
        (None, _) if !evidence.geometry.writable => Doubt::OnlyInspected,
        (None, _) => Doubt::NotBegun,
        (Some(Err(reason)), _) => Doubt::NotRead(reason),
        (_, Some(Outcome::OldData)) => Doubt::OldData,
        (_, Some(Outcome::Other)) => Doubt::OtherData,
        _ => Doubt::NoProof,
    }
}

/// Adds the limits of the answer, and actions.
fn advise(
    mut answer: Answer,
    options: &TrimOptions,
    evidence: &Evidence,
    trim_evidence: &TrimEvidence<'_>,
) -> Answer {
    if answer.standing == Standing::Problem {
        let command = likenew("check", evidence, "");
        return answer.action(wording::without_trim(command));
    }
    if answer.standing == Standing::Info {
        return answer;
    }
    if trim_evidence.path.and_then(|path| path.ok()?.immediate) == Some(false) {
        answer = answer.caveat(wording::SENT_BY_FSTRIM_ONLY).action(wording::check_timer());
    }
    if matches!(trim_evidence.outcome(), Some(Outcome::Zeros | Outcome::Ones)) {
        answer = answer.caveat(wording::SEEN_AT_THE_TOP);
    }
    if answer.standing == Standing::Unknown && trim_evidence.read_back.is_none() {
        let is_only_inspected = matches!(evidence.identity.kind, Kind::Device | Kind::File);
        return if is_only_inspected { answer.caveat(wording::TEST_FOLDER) } else { answer };
    }
    let could_measure = !options.worth && evidence.geometry.writable && trim_evidence.refusal.is_none();
    if answer.standing == Standing::Unknown && could_measure {
        answer = answer.action(wording::measure_effect(likenew("trim", evidence, "")));
    }
    answer
}

/// Whether TRIM has an effect, if that was to be measured and could be.
fn effect(worth: &Worth<'_>, options: &TrimOptions, evidence: &Evidence) -> Option<Answer> {
    if !worth.is_measured {
        return None;
    }
    if let Some(reason) = worth.refusal {
        return Some(wording::gain_not_measured(reason));
    }
    let (comparison, ratio) = worth.comparison().zip(worth.ratio)?;
    let answer = match worth.gain() {
        Verdict::Above => return Some(ratio.put(wording::faster(&comparison), "×")),
        Verdict::Below => wording::no_faster(&comparison),
        _ => {
            let passes = format!("--passes {}", (2 * options.passes).max(4));
            wording::gain_unknown(&comparison)
                .action(wording::more_passes(likenew("trim", evidence, &passes)))
        }
    };
    let answer = ratio.put(answer, "×");
    Some(match worth.frees_enough() {
        true => answer,
        false => answer.caveat(wording::freed_too_little(worth.released_share)),
    })
}

/// A layer as a row.
pub(super) fn layer_row(layer: &Layer) -> Row {
    row! {
        layer: &layer.name,
        kind: &layer.kind,
        passes: wording::passes(layer.passes),
        largest_discard_bytes: layer.discard_max_bytes,
        granularity_bytes: layer.granularity_bytes,
        evidence: &layer.evidence,
        remedy: layer.remedy.as_deref(),
    }
}

/// Percentiles at which latencies are drawn.
const SHARES: [usize; 11] = [0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 99];

/// Draws the charts that have data.
pub(super) fn draw(findings: &mut Findings, trim_evidence: &TrimEvidence<'_>, worth: &Worth<'_>) {
    let lines = [(wording::WITHOUT, false), (wording::WITH, true)].map(|(name, trimmed)| {
        let speeds = worth.speeds(trimmed).into_iter().enumerate();
        Line::new(name, speeds.map(|(index, speed)| [index as f64 + 1.0, speed]).collect())
    });
    let effect = Series::new(wording::EFFECT_TITLE, Shape::Line, axis("pass", ""), speed()).lines(lines);
    add_series(findings, "worth", effect);
    let Some(Ok(result)) = trim_evidence.read_back else { return };
    if result.probes_kept_ns.is_empty() {
        return;
    }
    let quantiles = |name: &str, ns: &[u64]| {
        let mut sorted = ns.to_vec();
        sorted.sort_unstable();
        let at = |share: usize| sorted[(share * (sorted.len() - 1)) / 100] as f64;
        Line::new(name, SHARES.iter().map(|share| [*share as f64, at(*share)]).collect())
    };
    let lines = [
        quantiles(wording::KEPT, &result.probes_kept_ns),
        quantiles(wording::FREED, &result.probes_released_ns),
    ];
    let picture =
        Series::new(wording::LATENCY_TITLE, Shape::Line, axis("percentile", "%"), axis("latency", "ns"))
            .lines(lines);
    add_series(findings, "probes", picture);
}
