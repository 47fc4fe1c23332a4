//! Findings of a recondition before it does anything, from evidence written by hand.

use likenew_core::drive::TargetKind;
use likenew_core::facts::Fact;
use likenew_core::findings::{Row, Standing};
use likenew_core::fix::{ActionKind, Feasibility, Fix, ManualStep, Objection};
use likenew_core::probe::{Observation, Probe, ProbeResult, TrimReport};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::units::Nanos;
use likenew_procedures::recondition::{Recondition, ReconditionOptions};

use crate::support::{SpeedPattern, segment, steady};

fn saw(evidence: &mut Evidence, probe: Probe, result: ProbeResult) {
    let (started_at, ended_at) = (Nanos::ZERO, Nanos::ZERO);
    evidence.observations.push(Observation {
        probe,
        result,
        after: 0,
        started_at,
        ended_at,
        after_interruption: false,
        accounting: None,
    });
}

fn dry_run() -> Recondition {
    Recondition::new(ReconditionOptions { dry_run: true, ..ReconditionOptions::default() }).unwrap()
}

/// Evidence of a dry run with this feasibility on a target of this kind.
fn evidence(kind: TargetKind, feasibility: Feasibility) -> Evidence {
    let mut evidence = crate::support::evidence(1 << 30, true);
    evidence.identity.kind = kind;
    let asked = dry_run();
    assert_eq!(asked.next(&evidence), Ok(Step::Probe(Probe::Feasibility)), "that comes first");
    saw(&mut evidence, Probe::Feasibility, ProbeResult::Feasibility(feasibility));
    assert_eq!(asked.next(&evidence), Ok(Step::Probe(Probe::Facts)));
    saw(&mut evidence, Probe::Facts, ProbeResult::Facts(Box::default()));
    assert_eq!(asked.next(&evidence), Ok(Step::Done));
    evidence
}

fn reason(step_plan: &[Row], step: &str) -> String {
    let row = step_plan.iter().find(|row| row["step"] == step).unwrap();
    row["not_run_reason"].as_str().unwrap().to_owned()
}

#[test]
fn an_objection_removes_a_step() {
    let objection = |action, forbids, reason: &str| Objection { action, forbids, reason: reason.into() };
    let feasibility = Feasibility {
        objections: vec![
            objection(ActionKind::Refresh, true, "it has 75 °C; let it cool down"),
            objection(ActionKind::Fstrim, false, "it hesitates for seconds"),
        ],
        unused_bytes: Fact::new(3 << 30, "the partition table"),
        ..Feasibility::default()
    };
    let findings = dry_run().judge(&evidence(TargetKind::Folder, feasibility));
    let step_plan = &findings.tables["step_plan"];
    assert_eq!(reason(step_plan, "refresh"), "it has 75 °C; let it cool down");
    assert!(reason(step_plan, "trim").starts_with("possible; not run"));
    assert!(reason(step_plan, "discard-unused").contains("the 3 GiB outside of partitions may hold data"));
    let plan = &findings.answers[0];
    assert_eq!((&*plan.id, &*plan.answer), ("plan", "trim, discard-unused, overwrite, rewrite"));
    assert!(findings.summary.contains("trim, discard-unused, overwrite and rewrite"), "{}", findings.summary);
}

#[test]
fn what_no_partition_covers_is_no_way_where_there_is_none_of_it_or_nobody_knows() {
    for (unused, words) in [
        (Fact::new(0, "the partition table"), "partitions cover the whole disk"),
        (Fact::unknown("it is on several disks", "the partition table"), "it is on several disks"),
    ] {
        let feasibility = Feasibility { unused_bytes: unused, ..Feasibility::default() };
        let findings = dry_run().judge(&evidence(TargetKind::Folder, feasibility));
        assert_eq!(reason(&findings.tables["step_plan"], "discard-unused"), words);
    }
}

#[test]
fn a_full_folder_is_not_asked_to_be_a_folder() {
    let options =
        ReconditionOptions { dry_run: true, overwrite_max: Some(1 << 20), ..ReconditionOptions::default() };
    let mut evidence = evidence(TargetKind::Folder, Feasibility::default());
    evidence.geometry.writable = false;
    let findings = Recondition::new(options).unwrap().judge(&evidence);
    let reason = reason(&findings.tables["step_plan"], "overwrite");
    assert_eq!(reason, "too little is free above the reserve; delete something first");
}

#[test]
fn what_a_drive_could_do_by_itself_is_written_down_line_by_line() {
    let lines =
        vec!["It cannot be ended.".to_owned(), "    hdparm --security-erase likenew /dev/sdx".to_owned()];
    let manual_steps = vec![ManualStep { action: ActionKind::AtaSecureErase, lines: lines.clone() }];
    let findings = dry_run()
        .judge(&evidence(TargetKind::Device, Feasibility { manual_steps, ..Feasibility::default() }));
    let manual = findings.answers.iter().find(|answer| answer.id == "manual_step").unwrap();
    assert_eq!((&*manual.question, manual.standing), ("ATA secure erase", Standing::Info));
    assert!(manual.answer.contains("never run by Likenew"), "{manual:?}");
    assert_eq!(manual.evidence, lines);
}

/// The first fix of a drive that nothing is known of, with a check of these bytes. It writes places at first and after TRIM so,
/// and otherwise at 17 MB/s: a cache that lies in free space is full then.
fn first_fix(bytes: u64, at_first: SpeedPattern, after_trim: SpeedPattern) -> Option<Fix> {
    let mut options = ReconditionOptions::default();
    options.check.bytes = Some(bytes);
    let asked = Recondition::new(options).unwrap();
    let mut evidence = crate::support::evidence(4 << 30, true);
    evidence.identity.kind = TargetKind::Folder;
    let mut now = Nanos::ZERO;
    loop {
        match asked.next(&evidence).unwrap() {
            Step::Run(workload) => {
                let played = match workload.name.as_str() {
                    "sequential writes" => segment(&workload, now, &at_first),
                    "writes after TRIM" => segment(&workload, now, &after_trim),
                    name if name.contains("writes") => segment(&workload, now, &steady(17e6)),
                    _ => segment(&workload, now, &steady(500e6)),
                };
                now = played.ended_at;
                evidence.segments.push(played);
            }
            Step::Probe(Probe::Fix(fix)) => return Some(fix),
            Step::Probe(probe) => {
                let result = match probe {
                    Probe::Release { bytes, .. } => {
                        ProbeResult::Released(TrimReport { bytes, ..TrimReport::default() })
                    }
                    Probe::Feasibility => ProbeResult::Feasibility(Feasibility::default()),
                    _ => ProbeResult::Unknown("it is not asked here".into()),
                };
                saw(&mut evidence, probe, result);
                evidence.observations.last_mut().unwrap().after = evidence.segments.len();
            }
            Step::Done => return None,
        }
    }
}

#[test]
fn a_cache_that_the_check_itself_has_filled_is_no_reason_for_trim() {
    let fix = |at_first, after_trim| first_fix(128 << 20, steady(at_first), steady(after_trim));
    assert_eq!(fix(17e6, 200e6), Some(Fix::TrimFree), "it was slow when it was found");
    assert_eq!(fix(200e6, 200e6), None, "the check has filled it");
    assert_eq!(fix(200e6, 17e6), None, "TRIM changes nothing");
    // The first writes fill a cache of 172 MiB, which is more than is written after TRIM and again.
    let filled = SpeedPattern { drop: Some((172 << 20, 17e6)), ..steady(200e6) };
    assert_eq!(first_fix(2 << 30, filled, steady(200e6)), None, "the check has filled it, later");
}
