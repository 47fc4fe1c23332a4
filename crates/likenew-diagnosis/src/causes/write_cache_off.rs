//! A drive that may not say "done" before it is.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Sign, Symptom};

use super::commands::write_cache_on;
use super::{percent, setting, times};

/// The write cache is off.
pub(super) struct WriteCacheOff;

const CARD: Card = Card {
    name: "write_cache_off",
    because: "its write cache is switched off, so that each write waits for the medium",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
    ],
    manual: include_str!("write_cache_off.md"),
};

impl Cause for WriteCacheOff {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let cache =
            case.facts.and_then(|facts| facts.stack.iter().rev().find_map(|layer| layer.write_cache.value()));
        scales.fact(
            "write_through",
            cache.map(|cache| cache == "write through"),
            |is| {
                if is {
                    "the kernel says that it has no write cache, or that it is off".into()
                } else {
                    "its write cache is on".into()
                }
            },
            Hint::of_facts("look at its write cache"),
        );
        // Flash without a cache is as fast as flash is; an arm has to go to each place.
        let each = case.signs.figure(Figure::WriteAnywhere).zip(case.signs.access_ns);
        let each = each.filter(|_| case.is_disk());
        scales.sign(
            "cached_writes",
            each.map(|(writes, access)| Sign::within(1e9, 0.0).over(writes).over(access)),
            0.3,
            |ratio| format!("a small write takes {} as long as a small read", times(ratio)),
            Hint::of_writing("write small blocks at random places"),
        );
        scales.sign(
            "writes_below",
            case.is_below(Figure::WriteAnywhere),
            0.7,
            |share| format!("small writes are at {} of what they should be", percent(share)),
            "give what its small writes should be",
        );
        let shown = case.virtual_by().map(|_| true);
        scales.fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let what = "switch it on, if the data can bear a loss of power or the drive is protected against it";
        vec![setting(what, write_cache_on(case), Risk::Low, "nothing")]
    }
}
