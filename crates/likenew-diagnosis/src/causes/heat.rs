//! A drive that slows itself down against heat.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::times;

/// Drives begin to slow down some degrees below the temperature that they warn at.
const MARGIN_C: f64 = 5.0;

/// The drive is too hot.
pub(super) struct Heat;

const CARD: Card = Card {
    name: "heat",
    because: "it slows itself down because it is too hot",
    kind: Kind::NotTheDrive,
    endangers: true,
    explains: &[
        Symptom::Tires,
        Symptom::WritesDrop,
        Symptom::Stalls,
        Symptom::Uneven,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("heat.md"),
};

impl Cause for Heat {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "slower_when_warm",
            case.signs.cool_over_warm,
            1.3,
            |ratio| {
                format!(
                    "after some seconds of load it was slower, and after a rest it was {} as fast again",
                    times(ratio)
                )
            },
            "load it for a minute, and again after a rest",
        );
        let counts = case.since.map(|since| &since.counts);
        let throttled = counts.and_then(|counts| {
            let each = [
                &counts.throttled_light_s,
                &counts.throttled_heavy_s,
                &counts.throttled_light_times,
                &counts.throttled_heavy_times,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        scales.count(
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
        scales.fact(
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
        scales.sign(
            "drop_at_half_rate",
            case.signs.write_drop.and_then(|drop| drop.at_half_rate),
            0.75,
            |share| format!("at half the rate writes fell after {} as many bytes", times(share)),
            Hint::of_writing("write at half the rate"),
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "let air reach it, or give it a heat sink; in an enclosure take one that leads heat away"
                .into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "little",
            check: "likenew check again under the same load",
            deed: None,
        }]
    }
}
