//! A drive that throttles itself against heat.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// Degrees below a drive's warning temperature at which it may throttle. Chosen: drives start some degrees
/// below.
const MARGIN_C: f64 = 5.0;

/// Rate at the beginning of a load over that of the rest, as a ratio, from which it began with a burst. Chosen: above the scatter.
const BURST: f64 = 1.3;

/// The drive is too hot.
pub(super) struct Heat;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "heat",
    title: wording::heat::TITLE,
    summary: wording::heat::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: true,
    explains: &[
        Symptom::SlowsUnderLoad,
        Symptom::WriteCliff,
        Symptom::Stalls,
        Symptom::Uneven,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("heat.md"),
};

impl Cause for Heat {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "slower_when_warm",
            case.measurements.rested_over_loaded,
            1.3,
            wording::heat::slower_when_warm,
            wording::heat::LOAD_AGAIN,
        );
        // A drive that is too hot becomes slow step by step; one rate after a burst is a limit that somebody set.
        log_odds.add_fact(
            "one_rate",
            case.measurements.load_burst_over_flat.filter(|burst| burst.value >= BURST).map(|_| true),
            wording::heat::one_rate,
            Hint::NONE,
        );
        log_odds.add_count(
            "throttle_count",
            case.throttled(),
            wording::heat::throttle_count,
            wording::heat::READ_COUNTERS,
        );
        let health = case.drive().map(|drive| &drive.health);
        let margin =
            health.and_then(|health| Some(health.temperature_warning_c.get()? - health.temperature_c.get()?));
        log_odds.add_fact(
            "near_limit",
            margin.map(|margin| margin < MARGIN_C),
            wording::heat::near_limit,
            wording::heat::READ_COUNTERS,
        );
        log_odds.add_measured(
            "cliff_at_half_rate",
            case.measurements.write_cliff.and_then(|drop| drop.at_half_rate),
            0.75,
            wording::heat::cliff_at_half_rate,
            wording::WRITE_AT_HALF_RATE,
        );
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::heat::cool()]
    }
}
