//! An array that is degraded or busy.

use likenew_core::answer::Action;
use likenew_core::facts::{Layer, LayerKind};

use crate::{Case, Cause, CauseDescriptor, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::pause_check;

/// The array is degraded or busy.
pub(super) struct DegradedArray;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "degraded_array",
    title: wording::degraded_array::TITLE,
    summary: wording::degraded_array::SUMMARY,
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
                (true, true) => wording::degraded_array::missing(),
                (true, false) => wording::degraded_array::busy(),
                (false, _) if arrays.is_empty() => wording::degraded_array::none(),
                (false, _) => wording::degraded_array::idle(),
            },
            wording::SHOW_LAYERS,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let pause = pause_check(case).map(|command| command.add_to(wording::degraded_array::pause_check()));
        pause
            .into_iter()
            .chain([wording::degraded_array::watch_array().command("cat /proc/mdstat")])
            .collect()
    }
}
