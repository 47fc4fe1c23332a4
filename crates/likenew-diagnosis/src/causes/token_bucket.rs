//! A volume that is held to a rate after a burst.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::{percent, times};

/// The volume has used up its credits.
pub(super) struct TokenBucket;

const CARD: Card = Card {
    name: "token_bucket",
    because: "its credits are used up, and it is held to the rate that is paid for",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::FlatAfterBurst,
        Symptom::WritesDrop,
        Symptom::Tires,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("token_bucket.md"),
};

impl Cause for TokenBucket {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "burst",
            case.signs.burst_over_flat,
            1.3,
            |ratio| format!("a run of small I/Os began {} as fast as it ended, and ended flat", times(ratio)),
            "run it for longer than its burst lasts",
        );
        scales.fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            |is| if is { "a hypervisor or a cloud shows it".into() } else { "no hypervisor shows it".into() },
            Hint::of_facts("look at what shows it"),
        );
        scales.fact(
            "cloud",
            case.drive().map(|drive| drive.cloud.is_some()),
            |is| {
                if is {
                    "it is a cloud's volume, which are sold by rates".into()
                } else {
                    "it is no volume of a known cloud".into()
                }
            },
            "",
        );
        scales.sign(
            "deep_below",
            case.is_below(Figure::ReadAnywhereDeep),
            0.7,
            |share| format!("small reads 32 at a time are at {} of what they should be", percent(share)),
            Hint::from("give what its small reads should be")
                .by("likenew check {} --advertised random_read_deep=3000"),
        );
        let counts = case.since.map(|since| &since.counts);
        let held = counts.and_then(|counts| {
            let each = [
                &counts.volume_iops_exceeded_us,
                &counts.volume_throughput_exceeded_us,
                &counts.instance_iops_exceeded_us,
                &counts.instance_throughput_exceeded_us,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        scales.count(
            "held_count",
            held.map(|us| us > 0),
            |is| {
                if is {
                    "the volume counts time in which it was held back".into()
                } else {
                    "the volume counts no time in which it was held back".into()
                }
            },
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "pay for more I/Os or bytes a second, or for a larger machine where the machine is the limit".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "money",
                check: "likenew check again",
                deed: None,
            },
            Cure {
                what: "spread the work, so that credits come back".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "time",
                check: "likenew watch",
                deed: None,
            },
        ]
    }
}
