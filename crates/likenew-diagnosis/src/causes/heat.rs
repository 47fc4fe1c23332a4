//! A drive that slows itself down against heat.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::scale_by;

/// Drives begin to slow down some degrees below the temperature that they warn at.
const MARGIN_C: f64 = 5.0;

/// The drive is too hot.
pub(super) struct Heat;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "heat",
    summary: "it slows itself down because it is too hot",
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
            |ratio| {
                format!(
                    "after some seconds of load it was slower, and after a rest it was {} as fast again",
                    scale_by(ratio)
                )
            },
            "load it for a minute, and again after a rest",
        );
        let counts = case.delta.map(|since| &since.counts);
        let throttled = counts.and_then(|counts| {
            let each = [
                &counts.throttled_light_s,
                &counts.throttled_heavy_s,
                &counts.throttled_light_times,
                &counts.throttled_heavy_times,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        log_odds.add_count(
            "throttle_count",
            throttled.map(|count| count > 0),
            |is| {
                if is {
                    "its own counters of throttling went up meanwhile".into()
                } else {
                    "its counters of throttling stood still, as those of many drives always do".into()
                }
            },
            Hint::of_root("read its counters as root"),
        );
        let health = case.drive().map(|drive| &drive.health);
        let margin =
            health.and_then(|health| Some(health.temperature_warning_c.get()? - health.temperature_c.get()?));
        log_odds.add_fact(
            "near_limit",
            margin.map(|margin| margin < MARGIN_C),
            |is| {
                if is {
                    "it is about as hot as its maker warns of".into()
                } else {
                    "it is well below the temperature that its maker warns of".into()
                }
            },
            Hint::of_root("read its temperature as root"),
        );
        log_odds.add_measured(
            "cliff_at_half_rate",
            case.measurements.write_cliff.and_then(|drop| drop.at_half_rate),
            0.75,
            |share| format!("at half the rate writes fell after {} as many bytes", scale_by(share)),
            Hint::of_writing("write at half the rate"),
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description:
                "let air reach it, or give it a heat sink; in an enclosure take one that leads heat away"
                    .into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "little",
            check: "likenew check again under the same load",
            action: None,
        }]
    }
}
