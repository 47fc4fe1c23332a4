//! Firmware that is known to be bad.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

/// The firmware is known to be bad.
pub(super) struct Firmware;

const CARD: Card = Card {
    name: "firmware",
    because: "its firmware is known to be faulty",
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::FreshIsFaster,
        Symptom::Stalls,
        Symptom::Patchy,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("firmware.md"),
};

impl Cause for Firmware {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let warning = case.drive().and_then(|drive| drive.database.warning.value());
        scales.fact(
            "known_bug",
            warning.map(Option::is_some),
            |is| match warning {
                Some(Some(text)) if is => format!("smartmontools' database warns of it: {text}"),
                _ => "smartmontools' database warns of nothing".into(),
            },
            Hint::of_machine("install smartmontools, whose database knows faulty firmware"),
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "make a backup, then update the firmware by its maker's tool".into(),
            command: Some("fwupdmgr get-updates".into()),
            undo: None,
            risk: Risk::Low,
            cost: "minutes",
            check: "likenew facts shows the new version",
            deed: None,
        }]
    }
}
