//! A disk whose tracks overlap.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Measured, Metric, Risk, Symptom};

use super::{hard_disk_evidence, scale_by};

/// No arm gets to a place in this share of the time that a read takes, not even in the best of orders.
const AT_ONCE: f64 = 0.08;

/// The disk is shingled.
pub(super) struct Shingled;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "shingled",
    summary: "its tracks overlap, so that small writes end in rewriting whole zones",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::WriteCliff,
        Symptom::Stalls,
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
    ],
    manual: include_str!("shingled.md"),
};

impl Cause for Shingled {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        let database = case.drive().map(|drive| &drive.database);
        // That a database does not say it says nothing.
        log_odds.add_fact(
            "database",
            database.and_then(|database| database.shingled.get()).filter(|is| *is),
            |_| "smartmontools' database calls this family shingled".into(),
            Hint::of_machine("install smartmontools, whose database knows such families"),
        );
        log_odds.add_fact(
            "knows_trim",
            case.drive().and_then(|drive| drive.identity.knows_trim.get()),
            |knows| {
                if knows {
                    "it knows TRIM, which only shingled disks do".into()
                } else {
                    "it knows no TRIM".into()
                }
            },
            "",
        );
        log_odds.add_measured(
            "write_cliff",
            case.measurements.write_cliff.map(|drop| drop.ratio),
            3.0,
            |ratio| format!("writes fell by {} after some bytes", scale_by(ratio)),
            Hint::of_writing("write at random places for longer"),
        );
        // What it writes anywhere it puts down in one place at first, and the arm does not move.
        let each = case.measurements.metric(Metric::RandomWrite).zip(case.measurements.access_ns);
        log_odds.add_measured(
            "cached_writes",
            each.map(|(writes, access)| {
                Measured::with_interval(1e9, 0.0).divide_by(writes).divide_by(access)
            }),
            AT_ONCE,
            |ratio| format!("a small write anywhere takes {} as long as a small read", scale_by(ratio)),
            Hint::of_writing("write small blocks at random places"),
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "give it time between writes: idle, it empties its buffer zone".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "hours after long writing",
                check: "likenew check again after a rest",
                action: None,
            },
            Fix {
                description: "use another disk for arrays and for anything that writes at random".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "a disk",
                check: "likenew check on it",
                action: None,
            },
        ]
    }
}
