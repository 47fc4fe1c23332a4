//! Memory that answers in place of the drive.

use crate::{Card, Case, Cause, Cure, Hint, Kind, Risk, Scales, Symptom};

use super::times;

/// A cache answers.
pub(super) struct ReadCache;

const CARD: Card = Card {
    name: "read_cache",
    because: "a cache answers in place of the drive, so that these are no figures of it",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::TooFast,
        Symptom::SecondIsFaster,
        Symptom::FreshIsFaster,
        Symptom::SpreadCosts,
        Symptom::Tires,
        Symptom::Uneven,
    ],
    manual: include_str!("read_cache.md"),
};

impl Cause for ReadCache {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "counted_reads",
            case.signs.counted_over_read,
            0.8,
            |share| format!("the drive counted {} what was read", times(share)),
            Hint::of_machine("compare the drive's counters with what was read"),
        );
        scales.sign(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            |of| format!("some reads in order reach {} what the link carries", times(of)),
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "read past the cache, or more than it holds; a host's cache in front of a virtual disk is switched off there".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "likenew cache",
                deed: None,
            },
        ]
    }
}
