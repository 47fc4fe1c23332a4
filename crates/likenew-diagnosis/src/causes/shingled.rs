//! A disk whose tracks overlap.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Sign, Symptom};

use super::{arm, times};

/// No arm gets to a place in this share of the time that a read takes, not even in the best of orders.
const AT_ONCE: f64 = 0.08;

/// The disk is shingled.
pub(super) struct Shingled;

const CARD: Card = Card {
    name: "shingled",
    because: "its tracks overlap, so that small writes end in rewriting whole zones",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::WritesDrop,
        Symptom::Stalls,
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
    ],
    manual: include_str!("shingled.md"),
};

impl Cause for Shingled {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        arm(&mut scales, case);
        let shown = case.virtual_by().map(|_| true);
        scales.fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        let database = case.drive().map(|drive| &drive.database);
        // That a database does not say it says nothing.
        scales.fact(
            "database",
            database.and_then(|database| database.shingled.get()).filter(|is| *is),
            |_| "smartmontools' database calls this family shingled".into(),
            Hint::of_machine("install smartmontools, whose database knows such families"),
        );
        scales.fact(
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
        scales.sign(
            "write_drop",
            case.signs.write_drop.map(|drop| drop.ratio),
            3.0,
            |ratio| format!("writes fell by {} after some bytes", times(ratio)),
            Hint::of_writing("write at random places for longer"),
        );
        // What it writes anywhere it puts down in one place at first, and the arm does not move.
        let each = case.signs.figure(Figure::WriteAnywhere).zip(case.signs.access_ns);
        scales.sign(
            "cached_writes",
            each.map(|(writes, access)| Sign::within(1e9, 0.0).over(writes).over(access)),
            AT_ONCE,
            |ratio| format!("a small write anywhere takes {} as long as a small read", times(ratio)),
            Hint::of_writing("write small blocks at random places"),
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "give it time between writes: idle, it empties its buffer zone".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "hours after long writing",
                check: "likenew check again after a rest",
                deed: None,
            },
            Cure {
                what: "use another disk for arrays and for anything that writes at random".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "a disk",
                check: "likenew check on it",
                deed: None,
            },
        ]
    }
}
