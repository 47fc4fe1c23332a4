//! A step gets credit only for what it did: on drives on which it does nothing, no answer says that it
//! helped.

use std::io;
use std::path::Path;

use likenew_core::drive::Drive as _;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::fix::{FixEnd, FixReport};
use likenew_core::probe::{Observation, ProbeResult};
use likenew_core::procedure::{Evidence, Plan};
use likenew_procedures::all;
use likenew_procedures::recondition::StepName;
use likenew_run::runner::run_procedure;
use likenew_sim::Spec;

use crate::questions::Bystander;

/// Rated speeds of the model, so that something is slow.
const PROMISED: &str = "
[check]
bytes = '128MiB'
[[check.reference]]
metric = 'sustained_write'
origin = 'simulated'
per_s = 67760464.0
[[check.reference]]
metric = 'sequential_write'
origin = 'simulated'
per_s = 68838726.0
[[check.reference]]
metric = 'sequential_read'
origin = 'simulated'
per_s = 278838431.0
";

/// A drive of the catalog with another table in its file.
fn file(but: &str) -> impl Fn(&Path) -> io::Result<Vec<u8>> {
    let like = concat!(env!("CARGO_MANIFEST_DIR"), "/../../catalog/tiny-flash.toml");
    let text = format!("{}\n{but}", std::fs::read_to_string(like).unwrap());
    move |_: &Path| Ok(text.clone().into_bytes())
}

fn reconditioned(target: &str, but: &str, step: StepName) -> (Evidence, Findings) {
    reconditioned_by(target, but, step, PROMISED)
}

fn reconditioned_by(target: &str, but: &str, step: StepName, promised: &str) -> (Evidence, Findings) {
    let spec = Spec::parse(target).unwrap();
    let mut drive = spec.open(file(but)).unwrap();
    let free = spec.free(drive.geometry().capacity);
    let free =
        if free.is_empty() { String::new() } else { format!("free = '{}..{}'\n", free.start, free.end) };
    let options = format!("step = '{}'\nidle = '1s'\npasses = 2\n{free}{promised}", step.text());
    let plan = Plan::new("recondition", Some(target.into()), 0, toml::from_str(&options).unwrap());
    let procedure = all::from_plan(&plan).unwrap();
    let mut evidence = Evidence::new(plan, drive.identity(), drive.geometry());
    run_procedure(&mut drive, &*procedure, &mut evidence, &mut Bystander).unwrap();
    let findings = all::judge(&*procedure, &evidence);
    (evidence, findings)
}

/// Whether an answer says that a step helped: steps and their result have a good standing only then.
fn credits(answer: &Answer) -> bool {
    let is_about_steps = answer.id == "result" || answer.id.starts_with("step_");
    let words = ["helped:", "restored ", "estored:", "Faster:"];
    let text = format!("{}: {}", answer.question, answer.answer);
    let is_credit = answer.estimate.is_some()
        && (answer.standing == Standing::Good || words.iter().any(|words| text.contains(words)));
    is_about_steps && is_credit
}

/// Every sentence of a report.
fn sentences(findings: &Findings) -> impl Iterator<Item = &String> {
    let answers = findings.answers.iter().flat_map(|Answer { answer, evidence, caveats, .. }| {
        evidence.iter().chain(caveats).chain(std::iter::once(answer))
    });
    answers.chain(std::iter::once(&findings.summary))
}

/// Whether a sentence of a diagnosis credits TRIM.
fn credits_trim(sentence: &str) -> bool {
    let sentence = sentence.to_lowercase();
    sentence.contains("after trim was sent")
        || ["restored:", "partly restored:", "faster:"].iter().any(|words| sentence.starts_with(words))
}

const NEVER_OLD: &str = "sim:d.toml?state=used&fill=0.95&deleted=0.4";
const NO_TRIM: &str = "sim:d.toml?state=used&fill=0.95&deleted=0.4&trim=off";
const FULL: &str = "sim:d.toml?state=used";
const AS_NEW: &str = "sim:d.toml?fill=0.5";
const DROPPED: &str = "[faults]\ntrim = { value = \"dropped\", source = \"this test\" }";
const HIDDEN: &str = "[faults]\ntrim = { value = \"hidden\", source = \"this test\" }";

#[test]
fn a_step_that_does_nothing_is_credited_with_nothing() {
    let idle = [
        (StepName::Refresh, FULL, ""),
        (StepName::Refresh, NEVER_OLD, ""),
        (StepName::Refresh, NO_TRIM, ""),
        (StepName::Trim, NO_TRIM, ""),
        (StepName::Trim, FULL, ""),
        (StepName::Trim, NEVER_OLD, HIDDEN),
        (StepName::DiscardUnused, NEVER_OLD, ""),
        (StepName::Overwrite, FULL, ""),
        (StepName::Discard, NO_TRIM, ""),
        (StepName::Format, FULL, ""),
    ];
    for (step, target, but) in idle {
        let (_, findings) = reconditioned(target, but, step);
        let of = format!("{} on {target} {but}", step.text());
        assert!(!findings.answers.iter().any(credits), "{of}: {:#?}", findings.answers);
        assert!(!findings.tables.contains_key("steps"), "{of}: {:#?}", findings.tables["steps"]);
        let credit = sentences(&findings).find(|sentence| credits_trim(sentence));
        assert!(credit.is_none(), "{of}: {credit:?}");
        let summary = &findings.summary;
        let words = ["Nothing", "No step", "No fix", " is not possible: "];
        assert!(words.iter().any(|words| summary.contains(words)), "{of}: {summary}");
    }
}

#[test]
fn a_step_that_the_drive_ends_is_a_problem_with_its_reason() {
    let (mut evidence, _) = reconditioned(FULL, "", StepName::Rewrite);
    let is_fix = |of: &Observation| matches!(of.result, ProbeResult::FixReport(_));
    let at = evidence.observations.iter().position(is_fix).unwrap();
    evidence.segments.truncate(evidence.observations[at].after);
    evidence.observations.truncate(at + 1);
    let mut report = FixReport { end: FixEnd::Failed, ..FixReport::default() };
    report.skip(1 << 30, "could not write 3 MiB at byte 1048576: the journal is /tmp/j");
    evidence.observations[at].result = ProbeResult::FixReport(report);
    let findings = all::judge(&*all::from_plan(&evidence.plan).unwrap(), &evidence);
    assert_eq!(
        findings.summary,
        "Rewriting all data failed: could not write 3 MiB at byte 1048576: the journal is /tmp/j."
    );
    assert_eq!(findings.answers[0].standing, Standing::Problem);
    assert!(!findings.answers.iter().any(credits), "{:#?}", findings.answers);
}

#[test]
fn a_step_without_effect_is_credited_with_nothing() {
    for (step, target, but) in [
        (StepName::Trim, NEVER_OLD, DROPPED),
        (StepName::Trim, AS_NEW, ""),
        (StepName::Overwrite, AS_NEW, ""),
        (StepName::OverwriteAll, AS_NEW, ""),
        (StepName::Discard, AS_NEW, ""),
    ] {
        let (_, findings) = reconditioned(target, but, step);
        let of = format!("{} on {target} {but}", step.text());
        for answer in findings.answers.iter().filter(|answer| credits(answer)) {
            let low = answer.estimate.as_ref().map(|estimate| estimate.low);
            assert!(low.is_some_and(|low| low > 1.0), "{of}: {answer:#?}");
        }
        if but == DROPPED {
            let credited: Vec<&String> =
                sentences(&findings).filter(|sentence| credits_trim(sentence)).collect();
            assert!(credited.is_empty(), "{of}: it drops TRIM: {credited:#?}");
            assert!(!findings.answers.iter().any(credits), "{of}: {:#?}", findings.answers);
        }
        assert!(findings.tables.contains_key("steps"), "{of}: it was taken");
    }
}

#[test]
fn reads_of_what_was_released_are_no_success() {
    // Its check writes too little to be slow, and random reads of trimmed addresses do not reach the flash.
    let (_, findings) = reconditioned("sim:d.toml?state=used&fill=1&deleted=0.9", "", StepName::Trim);
    assert!(!findings.answers.iter().any(credits), "{:#?}", findings.answers);
    assert!(!findings.summary.contains("4K random reads"), "{}", findings.summary);
}

#[test]
fn a_step_that_helps_is_credited_with_what_it_did() {
    // Enough to get through what the drive keeps erased.
    let promised = PROMISED.replace("128MiB", "512MiB");
    let target = "sim:d.toml?state=used&fill=1&deleted=0.9";
    let (_, findings) = reconditioned_by(target, "", StepName::Trim, &promised);
    let first = &findings.answers[0];
    assert!(findings.summary.contains("estored: sustained writes "), "{}", findings.summary);
    assert!(credits(first) && first.estimate.as_ref().unwrap().low > 1.0, "{first:#?}");
    assert!(findings.tables["steps"][0]["bytes"].as_u64().unwrap() > 0);
}
