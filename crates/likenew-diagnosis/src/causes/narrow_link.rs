//! A link that runs below what drive and port could do.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Sign, Symptom};

use super::times;

/// Protocols leave about this share of what a link carries to data (PCIe with 128-byte payloads 82 %, SATA 91 %, USB 3.0 bulk 80 %: headers over
/// payloads by the standards).
const NEAR: f64 = 0.7;

/// The link is slower than it could be.
pub(super) struct NarrowLink;

const CARD: Card = Card {
    name: "narrow_link",
    because: "its link runs below what the drive could use",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("narrow_link.md"),
};

impl Cause for NarrowLink {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let link = case.drive().map(|drive| &drive.link);
        let share = link.and_then(|link| {
            let (now, best) = (link.ceiling_bytes_per_s.get()?, link.possible_bytes_per_s.get()?);
            (best > 0).then(|| now as f64 / best as f64)
        });
        scales.fact(
            "link_share",
            share.map(|share| share < 0.9),
            |is| match (is, share) {
                (true, Some(share)) => {
                    format!("the link carries {:.0} % of what its two ends could", share * 100.0)
                }
                _ => "the link carries what its ends can".into(),
            },
            Hint::of_facts("look at the link while it is in use"),
        );
        // There it is the port, the cable or the bridge, which is a cause of its own.
        scales.fact(
            "usb",
            case.is_usb(),
            |is| format!("the link {} USB", if is { "is" } else { "is not" }),
            "",
        );
        let read = case.signs.figure(Figure::ReadInOrder);
        let ceiling = link.and_then(|link| link.ceiling_bytes_per_s.get()).filter(|ceiling| *ceiling > 0);
        scales.sign(
            "reads_at_ceiling",
            read.zip(ceiling).map(|(read, ceiling)| read.over(Sign::within(ceiling as f64, 0.0))),
            NEAR,
            |of| format!("reads in order reach {} what the link carries", times(of)),
            "read it in order",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "put it into another slot or port, seat it again, or take another cable; look for a setting of the slot in the firmware of the board".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "minutes with the power off",
                check: "likenew facts shows the link at its best, and likenew check again",
                deed: None,
            },
        ]
    }
}
