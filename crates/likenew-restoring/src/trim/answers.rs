//! Does TRIM reach the drive? The first step that decides it gives the answer.

use likenew_core::answer::{Answer, Standing};
use likenew_core::drive::Kind;
use likenew_core::procedure::Evidence;

use super::TrimOptions;
use super::outcome::Outcome;
use super::trim_evidence::{TrimEvidence, TrimStep};
use super::wording::{self, Doubt};
use super::worth::{Gain, Worth};
use crate::command::likenew;

/// The headline, and every answer, most important first.
pub(super) fn conclude(
    options: &TrimOptions,
    evidence: &Evidence,
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: Option<&Worth<'_>>,
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
    answers.extend(worth.and_then(|worth| worth.answer(options, evidence)));
    (summary, answers)
}

fn reach(
    evidence: &Evidence,
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: Option<&Worth<'_>>,
) -> (String, Answer) {
    let decisive: Vec<TrimStep> = steps.iter().filter(|step| step.decisive).cloned().collect();
    let relevant = if decisive.is_empty() { steps } else { &decisive };
    let failed = |(summary, answer): (String, Answer)| {
        if trim_evidence.rotates() {
            let (summary, answer) = wording::not_needed();
            return (summary, wording::with_steps(answer, relevant));
        }
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
        let ratio = worth.filter(|worth| worth.gain() == Gain::Faster).and_then(Worth::ratio);
        return (wording::reaches_summary(ratio), wording::reaches(proof));
    }
    let without_effect = worth.filter(|worth| worth.gain() == Gain::None && worth.frees_enough());
    let comparison = without_effect.and_then(Worth::comparison).filter(|_| trim_evidence.is_silent());
    if let Some(comparison) = comparison {
        return failed(wording::no_effect(&comparison));
    }
    let (summary, answer) = wording::undecided(doubt(evidence, trim_evidence));
    (summary, wording::with_steps(answer, steps))
}

fn doubt<'e>(evidence: &Evidence, trim_evidence: &TrimEvidence<'e>) -> Doubt<'e> {
    if trim_evidence.path.is_none() {
        return Doubt::NotBegun;
    }
    if let Some(reason) = trim_evidence.refusal() {
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
    let could_measure = !options.worth && evidence.geometry.writable && trim_evidence.refusal().is_none();
    if answer.standing == Standing::Unknown && could_measure {
        answer = answer.action(wording::measure_effect(likenew("trim", evidence, "")));
    }
    answer
}
