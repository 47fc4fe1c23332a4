//! What do the system and the drive say of it?

mod remarks;

use likenew_core::facts::{Drive, Fact, Facts as Known};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::verdict::{Findings, Standing, Verdict};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::rows::row;
use remarks::remarks;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "facts",
    question: "What do the system and the drive say of it?",
    writes: "writes nothing, and does no I/O",
    manual: include_str!("facts.md"),
};

/// It has no settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FactsOptions {}

/// The procedure.
pub struct Facts;

impl Facts {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence: it takes no settings.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        options::<FactsOptions>("facts", table).map(|_| Self)
    }
}

impl Procedure for Facts {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    /// Nothing is laid out for it.
    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: 4096 }
    }

    fn only_probes(&self) -> bool {
        true
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let has_looked = evidence.observations.iter().any(|observation| observation.probe == Probe::Facts);
        Ok(if has_looked { Step::Done } else { Step::Probe(Probe::Facts) })
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let result = evidence
            .observations
            .iter()
            .rev()
            .find(|observation| observation.probe == Probe::Facts)
            .map(|observation| &observation.result);
        let mut findings = Findings::default();
        match result {
            Some(ProbeResult::Facts(facts)) => judge(facts, &mut findings),
            Some(ProbeResult::Unknown(reason)) => {
                findings.verdicts = vec![remarks_verdict(Standing::Undecided).caveat(sentence(reason))]
            }
            _ => {
                let reason = "Nothing was collected yet.";
                findings.verdicts = vec![remarks_verdict(Standing::Undecided).caveat(reason)];
            }
        }
        findings
    }
}

fn judge(facts: &Known, findings: &mut Findings) {
    let remarks = remarks(facts);
    let standing = if remarks.is_empty() { Standing::Fails } else { Standing::Holds };
    let verdict = remarks.iter().fold(remarks_verdict(standing), |verdict, remark| {
        verdict.with_evidence(format!("{}: {}", remark.subject, remark.words))
    });
    let rows = facts.rows();
    let unknown = rows.iter().filter(|row| row.unknown.is_some()).count();
    let remarkable = if unknown > 0 {
        verdict.caveat(format!(
            "{unknown} of {} facts are not known; the table says why, and what would help.",
            rows.len()
        ))
    } else {
        verdict
    };
    // What a drive says of its end comes before all else; that none says so is no news.
    let failing = failure_verdict(facts);
    let verdicts = match failing.standing {
        Standing::Holds => [failing, remarkable],
        _ => [remarkable, failing],
    };
    findings.verdicts.extend(verdicts);
    if !remarks.is_empty() {
        findings.tables.insert("remarks".to_owned(), remarks.iter().map(row).collect());
    }
    findings.tables.insert("facts".to_owned(), rows.iter().map(row).collect());
}

fn remarks_verdict(standing: Standing) -> Verdict {
    Verdict::new("Something here is worth a look", standing)
}

/// The drives' own word, which alone is a problem: what facts mean for speed is not said here.
fn failure_verdict(facts: &Known) -> Verdict {
    let says =
        |answer: bool| facts.drives.iter().filter(move |drive| drive.health.failing.get() == Some(answer));
    let claim = "A drive says that it is failing";
    if says(true).next().is_some() {
        let verdict = Verdict::new(claim, Standing::Holds).problem();
        return says(true).fold(verdict, |verdict, drive| {
            let warnings = drive.health.warnings.value().filter(|warnings| !warnings.is_empty());
            let words = warnings.map_or_else(|| "it fails its own test".to_owned(), |words| words.join(", "));
            verdict.with_evidence(format!("{}: {words}.", drive.name))
        });
    }
    if facts.drives.is_empty() {
        return Verdict::new(claim, Standing::Undecided)
            .caveat("No drive told its health: none is known below it.");
    }
    let silent: Vec<_> = facts.drives.iter().filter(|drive| drive.health.failing.value().is_none()).collect();
    if silent.is_empty() {
        return Verdict::new(claim, Standing::Fails);
    }
    // Of several reasons the one counts that somebody can do something about.
    let can_be_helped = |drive: &&&Drive| matches!(drive.health.failing, Fact::Unknown { help: Some(_), .. });
    let drive = silent.iter().find(can_be_helped).or(silent.first());
    let reason = drive.and_then(|drive| drive.health.failing.reason()).unwrap_or("nobody could ask");
    let names: Vec<&str> = silent.iter().map(|drive| &*drive.name).collect();
    let who = if silent.len() == facts.drives.len() {
        "No drive told its health".to_owned()
    } else {
        format!("Of {} the health is not known", names.join(", "))
    };
    Verdict::new(claim, Standing::Undecided).caveat(format!("{who}: {reason}."))
}

fn sentence(words: &str) -> String {
    format!("Nothing could be collected: {words}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(answers: &[Option<bool>]) -> Known {
        let drive = |(number, failing): (usize, &Option<bool>)| {
            let mut drive = Drive { name: format!("sd{number}"), ..Drive::default() };
            drive.health.failing = Fact::from_option(*failing, "it takes root", "SMART");
            drive
        };
        Known { drives: answers.iter().enumerate().map(drive).collect(), ..Known::default() }
    }

    #[test]
    fn one_failing_drive_is_a_problem_and_silence_is_no_health() {
        let standing = |answers: &[Option<bool>]| {
            let verdict = failure_verdict(&known(answers));
            (verdict.standing, verdict.problem)
        };
        assert_eq!(standing(&[Some(false), Some(true), None]), (Standing::Holds, true));
        assert_eq!(standing(&[Some(false), Some(false)]), (Standing::Fails, false));
        assert_eq!(standing(&[Some(false), None]), (Standing::Undecided, false));
        assert_eq!(standing(&[]), (Standing::Undecided, false));
    }

    #[test]
    fn a_failing_drive_comes_first_and_silence_last_in_plain_words() {
        let verdicts = |answers: &[Option<bool>]| {
            let mut findings = Findings::default();
            judge(&known(answers), &mut findings);
            findings.verdicts
        };
        assert!(verdicts(&[None, Some(true)])[0].claim.contains("failing"));
        for (answers, words) in [
            (&[None, None][..], "No drive told its health: it takes root."),
            (&[Some(false), None], "Of sd1 the health is not known: it takes root."),
            (&[], "No drive told its health: none is known below it."),
        ] {
            let last = verdicts(answers).pop().unwrap();
            assert_eq!((last.standing, &*last.caveats[0]), (Standing::Undecided, words));
        }
        assert_eq!(verdicts(&[Some(false)])[1].standing, Standing::Fails);
    }

    #[test]
    fn it_has_no_settings() {
        assert!(Facts::from_options(&toml::Table::new()).is_ok());
        let mut table = toml::Table::new();
        table.insert("span".into(), 1.into());
        assert!(Facts::from_options(&table).is_err());
    }
}
