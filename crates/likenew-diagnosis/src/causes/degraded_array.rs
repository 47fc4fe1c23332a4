//! An array that misses a member or is busy with itself.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use likenew_core::facts::{Layer, LayerKind};

use super::commands::pause_check;
use super::setting;

/// The array is degraded or busy.
pub(super) struct DegradedArray;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "degraded_array",
    summary: "the array below it misses a member or is busy with itself",
    kind: Kind::NotTheDrive,
    endangers: true,
    explains: &[
        Symptom::BackgroundIo,
        Symptom::Stalls,
        Symptom::SlowRegions,
        Symptom::SlowWhenAligned,
        Symptom::Uneven,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("degraded_array.md"),
};

impl Cause for DegradedArray {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let arrays: Vec<&Layer> =
            case.facts.map(|facts| facts.layers_of(LayerKind::Array).collect()).unwrap_or_default();
        let misses = arrays.iter().any(|array| array.members_missing.get().is_some_and(|count| count > 0));
        let is_busy = case.array_is_busy();
        log_odds.add_fact(
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
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let pause = pause_check(case).map(|command| {
            setting(
                "put off its check until nobody waits for the array",
                command,
                Risk::None,
                "a later check",
            )
        });
        let see = Fix {
            description: "see what it is doing; replace the member that is missing, and wait".into(),
            command: Some("cat /proc/mdstat".into()),
            undo: None,
            risk: Risk::None,
            cost: "hours",
            check: "likenew check again",
            action: None,
        };
        pause.into_iter().chain([see]).collect()
    }
}
