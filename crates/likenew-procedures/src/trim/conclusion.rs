//! Does TRIM reach the flash? The first rung that decides, decides.

use likenew_core::verdict::{Standing, Verdict};

use super::ladder::Ladder;
use super::outcome::Outcome;
use super::rungs::Rung;
use super::worth::Worth;

const CLAIM: &str = "TRIM reaches the flash.";

/// Every verdict, most important first.
pub(super) fn conclude(ladder: &Ladder<'_>, rungs: &[Rung], worth: Option<&Worth<'_>>) -> Vec<Verdict> {
    let mut verdicts = reach(ladder, rungs, worth);
    let lost = ladder.lost_bytes();
    if lost > 0 {
        verdicts.push(
            Verdict::new("TRIM changed data beside what was given up.", Standing::Holds)
                .problem()
                .because(format!(
                    "{lost} bytes of our own file that were kept do not read as they were written: mount without discard, switch \
                     fstrim off, and look for a firmware update"
                )),
        );
    }
    verdicts.extend(worth.and_then(Worth::verdict));
    verdicts
}

/// The claim, and what is wrong if it fails.
fn reach(ladder: &Ladder<'_>, rungs: &[Rung], worth: Option<&Worth<'_>>) -> Vec<Verdict> {
    if ladder.path.is_none() {
        return vec![Verdict::new(CLAIM, Standing::Undecided).because("nothing was looked at yet")];
    }
    if let Some(layer) = ladder.blocked_by() {
        return fails(
            ladder,
            rungs,
            format!("TRIM ends at {} ({}).", layer.name, layer.kind),
            layer.remedy.clone(),
        );
    }
    if ladder.has_no_trim() {
        return fails(ladder, rungs, "The drive knows no TRIM.".to_owned(), None);
    }
    let decides = |rung: &&Rung| rung.decisive;
    if ladder.breaks_its_promise() {
        let remedy = "look at the layers between, or for a firmware update".to_owned();
        return fails(
            ladder,
            rungs,
            "TRIM is sent, and the drive does nothing with it.".to_owned(),
            Some(remedy),
        );
    }
    if let Some(rung) = rungs.iter().find(decides) {
        let verdict = with_rungs(Verdict::new(CLAIM, Standing::Holds), std::slice::from_ref(rung));
        return vec![doubts(verdict, ladder)];
    }
    let no_effect = worth.is_some_and(|worth| worth.standing() == Standing::Fails && worth.gives_up_much());
    if ladder.is_silent() && no_effect {
        let claim = "TRIM is sent, and the drive does nothing with it.".to_owned();
        return fails(
            ladder,
            rungs,
            claim,
            Some("look for a firmware update, or for a bridge between that drops it".to_owned()),
        );
    }
    vec![doubts(with_rungs(Verdict::new(CLAIM, Standing::Undecided), rungs), ladder)]
}

fn fails(ladder: &Ladder<'_>, rungs: &[Rung], what: String, remedy: Option<String>) -> Vec<Verdict> {
    let decisive: Vec<Rung> = rungs.iter().filter(|rung| rung.decisive).cloned().collect();
    let rungs = if decisive.is_empty() { rungs } else { &decisive };
    let claim = with_rungs(Verdict::new(CLAIM, Standing::Fails), rungs);
    let mut wrong = Verdict::new(what, Standing::Holds);
    if ladder.rotates() {
        let why = "a disk that rotates overwrites in place and needs no TRIM; one whose tracks are shingled would gain by it";
        return vec![claim, wrong.because(why)];
    }
    wrong = wrong.problem();
    vec![
        claim,
        remedy.into_iter().fold(wrong, |wrong, remedy| wrong.because(format!("what helps: {remedy}"))),
    ]
}

fn with_rungs(verdict: Verdict, rungs: &[Rung]) -> Verdict {
    rungs.iter().fold(verdict, |verdict, rung| {
        verdict.because(format!("{} {} ({})", rung.question, rung.answer, rung.evidence))
    })
}

/// What limits the answer.
fn doubts(mut verdict: Verdict, ladder: &Ladder<'_>) -> Verdict {
    if ladder.path.and_then(|path| path.ok()?.at_once) == Some(false) {
        verdict = verdict.caveat(
            "the file system is mounted without discard, so that TRIM is sent only when somebody runs fstrim: see systemctl status \
             fstrim.timer, and that it lists this file system",
        );
    }
    if ladder.read_back.is_none() && verdict.standing == Standing::Undecided {
        verdict = verdict.caveat(
            "nothing was written, so that only what the system says was looked at: give a folder on it",
        );
    }
    match ladder.outcome() {
        Some(Outcome::Zeros | Outcome::Ones) => verdict.caveat(
            "whatever lies nearest to the host has forgotten the data; of a host's file, a bridge or an array below it, nothing was \
             seen",
        ),
        Some(Outcome::Other) => {
            verdict.caveat("below encryption, trimmed blocks read as random data: look at the device below it, with an unencrypted folder")
        }
        Some(Outcome::Old) if verdict.standing == Standing::Undecided => verdict.caveat(
            "a drive may show old data for as long as it likes after TRIM; after a power cycle, or with a longer --wait, it may show \
             something else",
        ),
        _ => verdict,
    }
}
