//! A disk whose tracks overlap.

use crate::{Card, Case, Cause, Cure, Figure, Kind, Risk, Scales, Symptom};

use super::{arm, times};

/// The disk is shingled.
pub(super) struct Shingled;

const CARD: Card = Card {
    name: "shingled",
    because: "its tracks overlap, so that small writes end in rewriting whole zones",
    kind: Kind::ByDesign,
    explains: &[
        Symptom::WritesDrop,
        Symptom::Stalls,
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::WriteInOrder),
    ],
    manual: include_str!("shingled.md"),
};

impl Cause for Shingled {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-2.0);
        arm(&mut scales, case, (2.0, -8.0));
        let database = case.drive().map(|drive| &drive.database);
        // That a database does not say it says nothing.
        scales.fact(
            database.and_then(|database| database.shingled.get()).filter(|is| *is),
            (6.0, 0.0),
            |_| "smartmontools' database calls this family shingled".into(),
            "install smartmontools, whose database knows such families",
        );
        scales.fact(
            case.drive().and_then(|drive| drive.identity.knows_trim.get()),
            (3.0, -0.5),
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
            case.signs.write_drop.map(|drop| drop.ratio),
            3.0,
            (3.0, -1.5),
            |ratio| format!("writes fell by {} after some bytes", times(ratio)),
            "write at random places for longer",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "give it time between writes: idle, it empties its buffer zone".into(),
                command: None,
                risk: Risk::None,
                cost: "hours after long writing",
                check: "likenew check again after a rest",
            },
            Cure {
                what: "use another disk for arrays and for anything that writes at random".into(),
                command: None,
                risk: Risk::None,
                cost: "a disk",
                check: "likenew check on it",
            },
        ]
    }
}
