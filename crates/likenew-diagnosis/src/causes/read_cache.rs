//! Memory that answers in place of the drive.

use crate::{Card, Case, Cause, Cure, Figure, Kind, Risk, Scales, Sign, Symptom};

use super::times;

/// A cache answers.
pub(super) struct ReadCache;

const CARD: Card = Card {
    name: "read_cache",
    because: "a cache answers in place of the drive, so that these are no figures of it",
    kind: Kind::NotTheDrive,
    explains: &[Symptom::TooFast, Symptom::SecondIsFaster],
    manual: include_str!("read_cache.md"),
};

impl Cause for ReadCache {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-0.5);
        scales.sign(
            case.signs.counted_over_read,
            0.8,
            (-4.0, 5.0),
            |share| format!("the drive counted {} what was read", times(share)),
            "compare the drive's counters with what was read",
        );
        let read = case.signs.figure(Figure::ReadInOrder);
        let ceiling = case
            .drive()
            .and_then(|drive| drive.link.ceiling_bytes_per_s.get())
            .filter(|ceiling| *ceiling > 0);
        scales.sign(
            read.zip(ceiling).map(|(read, ceiling)| read.over(Sign::within(ceiling as f64, 0.0))),
            1.05,
            (6.0, -1.0),
            |of| format!("reads in order reach {} what the link carries", times(of)),
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "read past the cache, or more than it holds; a host's cache in front of a virtual disk is switched off there".into(),
                command: None,
                risk: Risk::None,
                cost: "nothing",
                check: "likenew cache",
            },
        ]
    }
}
