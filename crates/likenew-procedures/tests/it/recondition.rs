//! What a recondition says before anything is done, from evidence made by hand.

use likenew_core::drive::Kind;
use likenew_core::facts::Fact;
use likenew_core::look::{Look, Seen, Sight};
use likenew_core::outlook::{ByHand, Deed, Objection, Outlook};
use likenew_core::procedure::{Evidence, Procedure, Step};
use likenew_core::units::Nanos;
use likenew_core::verdict::Row;
use likenew_procedures::recondition::{Recondition, ReconditionOptions};

fn saw(evidence: &mut Evidence, look: Look, seen: Seen) {
    let (began, ended) = (Nanos::ZERO, Nanos::ZERO);
    evidence.sights.push(Sight { look, seen, after: 0, began, ended, after_break: false, accounting: None });
}

fn dry_run() -> Recondition {
    Recondition::new(ReconditionOptions { dry_run: true, ..ReconditionOptions::default() }).unwrap()
}

/// Evidence of a dry run that has seen this of a drive of this kind.
fn evidence(kind: Kind, outlook: Outlook) -> Evidence {
    let mut evidence = crate::support::evidence(1 << 30, true);
    evidence.identity.kind = kind;
    let asked = dry_run();
    assert_eq!(asked.next(&evidence), Ok(Step::Look(Look::Outlook)), "that comes first");
    saw(&mut evidence, Look::Outlook, Seen::Outlook(outlook));
    assert_eq!(asked.next(&evidence), Ok(Step::Look(Look::Facts)));
    saw(&mut evidence, Look::Facts, Seen::Facts(Box::default()));
    assert_eq!(asked.next(&evidence), Ok(Step::Enough));
    evidence
}

fn why(ladder: &[Row], rung: &str) -> String {
    let row = ladder.iter().find(|row| row["rung"] == rung).unwrap();
    row["not_taken_because"].as_str().unwrap().to_owned()
}

#[test]
fn what_forbids_a_step_takes_it_off_the_ladder() {
    let objection = |deed, forbids, why: &str| Objection { deed, forbids, why: why.into() };
    let outlook = Outlook {
        objections: vec![
            objection(Deed::Refresh, true, "it has 75 °C; let it cool down"),
            objection(Deed::Fstrim, false, "it hesitates for seconds"),
        ],
        unused_bytes: Fact::known(3 << 30, "the partition table"),
        ..Outlook::default()
    };
    let findings = dry_run().judge(&evidence(Kind::Folder, outlook));
    let ladder = &findings.tables["ladder"];
    assert_eq!(why(ladder, "refresh"), "it has 75 °C; let it cool down");
    assert!(why(ladder, "trim").starts_with("this only says"));
    assert!(why(ladder, "discard-unused").contains("nothing is kept in 3 GiB that no partition covers"));
    let first = &findings.verdicts[0].claim;
    assert!(first.contains("trim, discard-unused, overwrite") && !first.contains("refresh"), "{first}");
}

#[test]
fn what_no_partition_covers_is_no_way_where_there_is_none_of_it_or_nobody_knows() {
    for (unused, words) in [
        (Fact::known(0, "the partition table"), "partitions cover all of the disk"),
        (Fact::unknown("it lies on several disks", "the partition table"), "it lies on several disks"),
    ] {
        let outlook = Outlook { unused_bytes: unused, ..Outlook::default() };
        let findings = dry_run().judge(&evidence(Kind::Folder, outlook));
        assert_eq!(why(&findings.tables["ladder"], "discard-unused"), words);
    }
}

#[test]
fn what_a_drive_could_do_by_itself_is_written_down_line_by_line() {
    let lines =
        vec!["It can not be ended.".to_owned(), "    hdparm --security-erase likenew /dev/sdx".to_owned()];
    let by_hand = vec![ByHand { deed: Deed::AtaSecureErase, lines: lines.clone() }];
    let findings = dry_run().judge(&evidence(Kind::Device, Outlook { by_hand, ..Outlook::default() }));
    let verdict =
        findings.verdicts.iter().find(|verdict| verdict.claim.contains("ATA secure erase")).unwrap();
    assert!(verdict.claim.contains("never done here") && !verdict.problem, "{verdict:?}");
    assert_eq!(verdict.because, lines);
}
