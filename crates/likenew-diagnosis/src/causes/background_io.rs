//! Somebody else who uses the drive.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::{percent, times};

/// Something else uses the drive.
pub(super) struct BackgroundIo;

const CARD: Card = Card {
    name: "background_io",
    because: "something else uses the drive at the same time",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::OthersToo,
        Symptom::Stalls,
        Symptom::Patchy,
        Symptom::AlignmentCosts,
        Symptom::Uneven,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("background_io.md"),
};

impl Cause for BackgroundIo {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "others_busy",
            case.signs.others_share,
            0.05,
            |share| {
                format!("while nothing was measured, others kept it busy for {} of the time", percent(share))
            },
            Hint::of_machine("count what others do meanwhile").by("likenew watch"),
        );
        scales.fact(
            "array_busy",
            case.array_is_busy().then_some(true),
            |_| "the array below it is busy with itself, and asks for that".into(),
            "",
        );
        scales.sign(
            "uneven_reads",
            case.signs.read_scatter,
            0.15,
            |scatter| format!("reads in order scatter by {} from moment to moment", times(scatter)),
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "see who it is, and measure again without it".into(),
            command: Some("likenew watch".into()),
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "likenew check again",
            deed: None,
        }]
    }
}
