//! A cable or contact that damages what it carries.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

/// A few come with plugging it in.
const CRC_SOME: u64 = 10;

/// The link has errors.
pub(super) struct LinkErrors;

const CARD: Card = Card {
    name: "link_errors",
    because: "its link damages what it carries, so that it has to be sent again",
    kind: Kind::NotTheDrive,
    endangers: true,
    explains: &[
        Symptom::Stalls,
        Symptom::Patchy,
        Symptom::FreshIsFaster,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("link_errors.md"),
};

impl Cause for LinkErrors {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let counts = case.since.map(|since| &since.counts);
        let during = counts.and_then(|counts| {
            let each = [
                &counts.crc_errors,
                &counts.pcie_corrected_errors,
                &counts.log_link_errors,
                &counts.log_resets,
                &counts.link_downshifts,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        scales.count(
            "crc_during",
            during.map(|count| count > 0),
            |is| {
                if is {
                    "errors of the link were counted during the measurement".into()
                } else {
                    "no error of the link was counted during the measurement".into()
                }
            },
            Hint::of_root("count its errors as root"),
        );
        let before = case.drive().and_then(|drive| drive.counts.crc_errors.get());
        scales.fact(
            "crc_before",
            before.map(|count| count > CRC_SOME),
            |_| {
                before.map_or_else(String::new, |count| {
                    format!("the drive counts {count} transfers with a wrong checksum since it was made")
                })
            },
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "take another cable, seat it again, or use another port".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "a cable",
            check: "the counters stand still: likenew facts",
            deed: None,
        }]
    }
}
