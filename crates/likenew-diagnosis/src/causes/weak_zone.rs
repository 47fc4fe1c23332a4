//! Places of a disk that it can hardly read.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Shape, Symptom};

use super::commands::device;
use super::{arm, times};

/// Some places of a disk are failing.
pub(super) struct WeakZone;

const CARD: Card = Card {
    name: "weak_zone",
    because: "some places can only be read with many retries: the surface is failing there",
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::Patchy,
        Symptom::Stalls,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::FreshIsFaster,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("weak_zone.md"),
};

impl Cause for WeakZone {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        arm(&mut scales, case);
        scales.sign(
            "slow_places",
            case.beyond_usual(Shape::MedianOverSlowest),
            1.5,
            |ratio| format!("the slowest places take {} as long as the others", times(ratio)),
            Hint::from("read more places").by("likenew surface {}"),
        );
        scales.sign(
            "second_read_faster",
            case.signs.again_over_first,
            1.4,
            |ratio| format!("read again, slow places are {} as fast", times(ratio)),
            "read slow places again",
        );
        let drive = case.drive();
        let some =
            |is: bool, what: &str| format!("the drive {} {what}", if is { "counts" } else { "counts no" });
        scales.fact(
            "pending_sectors",
            drive.and_then(|drive| drive.health.pending_sectors.get()).map(|sectors| sectors > 0),
            |is| some(is, "sectors that wait to be read (SMART 197)"),
            Hint::of_root("read its SMART as root"),
        );
        scales.fact(
            "reallocated_sectors",
            drive.and_then(|drive| drive.counts.reallocated_sectors.get()).map(|sectors| sectors > 0),
            |is| some(is, "sectors that were replaced (SMART 5)"),
            "",
        );
        scales.fact(
            "errors",
            Some(case.signs.errors > 0),
            |is| {
                if is {
                    format!("{} I/Os were refused", case.signs.errors)
                } else {
                    "every I/O was answered".into()
                }
            },
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "copy what you can not lose elsewhere, now, the good places first".into(),
                command: Some(format!("ddrescue -n {} /ELSEWHERE/drive.img /ELSEWHERE/drive.map", device(case))),
                undo: None,
                risk: Risk::None,
                cost: "the time of a copy",
                check: "the copy can be read",
                deed: None,
            },
            Cure {
                what: "replace the drive; overwriting the weak places can make the drive replace their sectors, and destroys what is there".into(),
                command: None,
                undo: None,
                risk: Risk::Data,
                cost: "a drive",
                check: "likenew surface on the new one",
                deed: None,
            },
        ]
    }
}
