//! Does TRIM reach the flash? The first rung that decides, decides.

use likenew_core::verdict::{Standing, Verdict};

use super::outcome::Outcome;
use super::trim_evidence::TrimEvidence;
use super::trim_steps::TrimStep;
use super::worth::Worth;

const CLAIM: &str = "TRIM reaches the flash.";

/// Every verdict, most important first.
pub(super) fn conclude(
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: Option<&Worth<'_>>,
) -> Vec<Verdict> {
    let mut verdicts = reach_verdicts(trim_evidence, steps, worth);
    let lost = trim_evidence.lost_bytes();
    if lost > 0 {
        verdicts.push(
            Verdict::new("TRIM changed data beside what was given up.", Standing::Holds)
                .problem()
                .with_evidence(format!(
                    "{lost} bytes of our own file that were kept do not read as they were written: mount without discard, switch \
                     fstrim off, and look for a firmware update"
                )),
        );
    }
    verdicts.extend(worth.and_then(Worth::verdict));
    verdicts
}

/// The claim, and what is wrong if it fails.
fn reach_verdicts(
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    worth: Option<&Worth<'_>>,
) -> Vec<Verdict> {
    if trim_evidence.path.is_none() {
        return vec![Verdict::new(CLAIM, Standing::Undecided).with_evidence("nothing was looked at yet")];
    }
    if let Some(layer) = trim_evidence.blocked_by() {
        return failure_answers(
            trim_evidence,
            steps,
            format!("TRIM ends at {} ({}).", layer.name, layer.kind),
            layer.remedy.clone(),
        );
    }
    if trim_evidence.has_no_trim() {
        return failure_answers(trim_evidence, steps, "The drive knows no TRIM.".to_owned(), None);
    }
    let decides = |step: &&TrimStep| step.decisive;
    if trim_evidence.violates_claim() {
        let remedy = "look at the layers between, or for a firmware update".to_owned();
        return failure_answers(
            trim_evidence,
            steps,
            "TRIM is sent, and the drive does nothing with it.".to_owned(),
            Some(remedy),
        );
    }
    if let Some(step) = steps.iter().find(decides) {
        let verdict = with_steps(Verdict::new(CLAIM, Standing::Holds), std::slice::from_ref(step));
        return vec![doubt_answer(verdict, trim_evidence)];
    }
    let no_effect = worth.is_some_and(|worth| worth.standing() == Standing::Fails && worth.frees_enough());
    if trim_evidence.is_silent() && no_effect {
        let claim = "TRIM is sent, and the drive does nothing with it.".to_owned();
        return failure_answers(
            trim_evidence,
            steps,
            claim,
            Some("look for a firmware update, or for a bridge between that drops it".to_owned()),
        );
    }
    vec![doubt_answer(with_steps(Verdict::new(CLAIM, Standing::Undecided), steps), trim_evidence)]
}

fn failure_answers(
    trim_evidence: &TrimEvidence<'_>,
    steps: &[TrimStep],
    what: String,
    remedy: Option<String>,
) -> Vec<Verdict> {
    let decisive: Vec<TrimStep> = steps.iter().filter(|step| step.decisive).cloned().collect();
    let steps = if decisive.is_empty() { steps } else { &decisive };
    let claim = with_steps(Verdict::new(CLAIM, Standing::Fails), steps);
    let mut wrong = Verdict::new(what, Standing::Holds);
    if trim_evidence.rotates() {
        let reason = "a disk that rotates overwrites in place and needs no TRIM; one whose tracks are shingled would gain by it";
        return vec![claim, wrong.with_evidence(reason)];
    }
    wrong = wrong.problem();
    vec![
        claim,
        remedy.into_iter().fold(wrong, |wrong, remedy| wrong.with_evidence(format!("what helps: {remedy}"))),
    ]
}

fn with_steps(verdict: Verdict, steps: &[TrimStep]) -> Verdict {
    steps.iter().fold(verdict, |verdict, step| {
        verdict.with_evidence(format!("{} {} ({})", step.question, step.answer, step.evidence))
    })
}

/// What limits the answer.
fn doubt_answer(mut verdict: Verdict, trim_evidence: &TrimEvidence<'_>) -> Verdict {
    if trim_evidence.path.and_then(|path| path.ok()?.immediate) == Some(false) {
        verdict = verdict.caveat(
            "the file system is mounted without discard, so that TRIM is sent only when somebody runs fstrim: see systemctl status \
             fstrim.timer, and that it lists this file system",
        );
    }
    if trim_evidence.read_back.is_none() && verdict.standing == Standing::Undecided {
        verdict = verdict.caveat(
            "nothing was written, so that only what the system says was looked at: give a folder on it",
        );
    }
    match trim_evidence.outcome() {
        Some(Outcome::Zeros | Outcome::Ones) => verdict.caveat(
            "whatever lies nearest to the host has forgotten the data; of a host's file, a bridge or an array below it, nothing was \
             seen",
        ),
        Some(Outcome::Other) => {
            verdict.caveat("below encryption, trimmed blocks read as random data: look at the device below it, with an unencrypted folder")
        }
        Some(Outcome::OldData) if verdict.standing == Standing::Undecided => verdict.caveat(
            "a drive may show old data for as long as it likes after TRIM; after a power cycle, or with a longer --wait, it may show \
             something else",
        ),
        _ => verdict,
    }
}
