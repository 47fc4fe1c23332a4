//! What a recondition says before anything is done, from evidence made by hand.

use likenew_core::drive::Kind;
use likenew_core::facts::Fact;
use likenew_core::feasibility::{ActionKind, Feasibility, ManualStep, Objection};
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::units::Nanos;
use likenew_core::verdict::Row;
use likenew_procedures::recondition::{Recondition, ReconditionOptions};

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

/// Evidence of a dry run that has seen this of a drive of this kind.
fn evidence(kind: Kind, feasibility: Feasibility) -> Evidence {
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
    let findings = dry_run().judge(&evidence(Kind::Folder, feasibility));
    let step_plan = &findings.tables["step_plan"];
    assert_eq!(reason(step_plan, "refresh"), "it has 75 °C; let it cool down");
    assert!(reason(step_plan, "trim").starts_with("this only says"));
    assert!(
        reason(step_plan, "discard-unused").contains("nothing is kept in 3 GiB that no partition covers")
    );
    let first = &findings.verdicts[0].claim;
    assert!(first.contains("trim, discard-unused, overwrite") && !first.contains("refresh"), "{first}");
}

#[test]
fn what_no_partition_covers_is_no_way_where_there_is_none_of_it_or_nobody_knows() {
    for (unused, words) in [
        (Fact::new(0, "the partition table"), "partitions cover all of the disk"),
        (Fact::unknown("it lies on several disks", "the partition table"), "it lies on several disks"),
    ] {
        let feasibility = Feasibility { unused_bytes: unused, ..Feasibility::default() };
        let findings = dry_run().judge(&evidence(Kind::Folder, feasibility));
        assert_eq!(reason(&findings.tables["step_plan"], "discard-unused"), words);
    }
}

#[test]
fn what_a_drive_could_do_by_itself_is_written_down_line_by_line() {
    let lines =
        vec!["It can not be ended.".to_owned(), "    hdparm --security-erase likenew /dev/sdx".to_owned()];
    let manual_steps = vec![ManualStep { action: ActionKind::AtaSecureErase, lines: lines.clone() }];
    let findings =
        dry_run().judge(&evidence(Kind::Device, Feasibility { manual_steps, ..Feasibility::default() }));
    let verdict =
        findings.verdicts.iter().find(|verdict| verdict.claim.contains("ATA secure erase")).unwrap();
    assert!(verdict.claim.contains("never done here") && !verdict.problem, "{verdict:?}");
    assert_eq!(verdict.evidence, lines);
}
