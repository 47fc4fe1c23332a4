//! Flash at the end of its life.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::arm;

/// Of the rated endurance.
const WORN_PERCENT: f64 = 90.0;

/// The flash is worn out.
pub(super) struct Worn;

const CARD: Card = Card {
    name: "worn",
    because: "its flash is worn out",
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::Patchy,
        Symptom::Stalls,
        Symptom::Errors,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("worn.md"),
};

impl Cause for Worn {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let health = case.drive().map(|drive| &drive.health);
        let used = health.and_then(|health| health.used_percent.get());
        scales.fact(
            "endurance_used",
            used.map(|used| used >= WORN_PERCENT),
            |_| {
                used.map_or_else(String::new, |used| {
                    format!("it says that {used:.0} % of its endurance is used")
                })
            },
            Hint::of_root("ask the drive as root"),
        );
        let spare = health.and_then(|health| {
            Some((health.spare_percent.get()?, health.spare_threshold_percent.get().unwrap_or(10.0)))
        });
        scales.fact(
            "spare_low",
            spare.map(|(left, least)| left <= least),
            |_| spare.map_or_else(String::new, |(left, _)| format!("{left:.0} % of its spare is left")),
            "",
        );
        scales.fact(
            "failing",
            health.and_then(|health| health.failing.get()),
            |is| {
                if is {
                    "it says itself that it is failing".into()
                } else {
                    "it does not say that it is failing".into()
                }
            },
            "",
        );
        arm(&mut scales, case);
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "copy what you can not lose elsewhere, now, and replace it".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "a drive",
            check: "likenew check on the new one",
            deed: None,
        }]
    }
}
