//! An array that misses a member or is busy with itself.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use likenew_core::facts::{Layer, LayerKind};

use super::commands::pause_check;
use super::setting;

/// The array is degraded or busy.
pub(super) struct DegradedArray;

const CARD: Card = Card {
    name: "degraded_array",
    because: "the array below it misses a member or is busy with itself",
    kind: Kind::NotTheDrive,
    endangers: true,
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
    manual: include_str!("degraded_array.md"),
};

impl Cause for DegradedArray {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let arrays: Vec<&Layer> =
            case.facts.map(|facts| facts.layers_of(LayerKind::Array).collect()).unwrap_or_default();
        let misses = arrays.iter().any(|array| array.members_missing.get().is_some_and(|count| count > 0));
        let is_busy = case.array_is_busy();
        scales.fact(
            "array_degraded",
            case.facts.map(|_| misses || is_busy),
            |is| match (is, misses) {
                (true, true) => "an array misses a member".into(),
                (true, false) => "an array is rebuilding, checking or reshaping itself".into(),
                (false, _) if arrays.is_empty() => "there is no array below it".into(),
                (false, _) => "every array is whole and idle".into(),
            },
            Hint::of_facts("look at the layers"),
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let pause = pause_check(case).map(|command| {
            setting(
                "put off its check until nobody waits for the array",
                command,
                Risk::None,
                "a later check",
            )
        });
        let see = Cure {
            what: "see what it is doing; replace the member that is missing, and wait".into(),
            command: Some("cat /proc/mdstat".into()),
            undo: None,
            risk: Risk::None,
            cost: "hours",
            check: "likenew check again",
            deed: None,
        };
        pause.into_iter().chain([see]).collect()
    }
}
