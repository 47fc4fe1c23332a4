//! Flash that is written with one bit a cell at first, until there is no room for that.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Shape, Symptom};

use super::{arm, times};

/// The pseudo-SLC cache is full.
pub(super) struct SlcCache;

const CARD: Card = Card {
    name: "slc_cache",
    because: "its fast cache is full and the slower flash behind it sets the pace",
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[Symptom::WritesDrop, Symptom::Below(Figure::WriteOnAndOn)],
    manual: include_str!("slc_cache.md"),
};

impl Cause for SlcCache {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let drop = case.signs.write_drop;
        scales.sign(
            "write_drop",
            drop.map(|drop| drop.ratio),
            1.3,
            |ratio| format!("writes in order fell for good, by {}", times(ratio)),
            Hint::of_writing("write more in one go"),
        );
        scales.sign(
            "drop_again",
            drop.and_then(|drop| Some(drop.again_at_bytes?.over(drop.at_bytes))),
            0.4,
            |again| format!("after a rest the drop came again, after {} as many bytes", times(again)),
            Hint::of_writing("let it rest and write as much again"),
        );
        scales.sign(
            "drop_at_half_rate",
            drop.and_then(|drop| drop.at_half_rate),
            0.75,
            |share| {
                format!(
                    "at half the rate it came after {} as many bytes: bytes bring it about, not time",
                    times(share)
                )
            },
            Hint::of_writing("write at half the rate"),
        );
        scales.sign(
            "slower_when_warm",
            case.signs.cool_over_warm,
            1.3,
            |ratio| format!("reads became slower as well, by {}", times(ratio)),
            "",
        );
        let beyond = case.beyond_usual(Shape::WriteDrop).filter(|_| !case.usual.is_empty());
        scales.sign(
            "drop_beyond_usual",
            beyond,
            1.3,
            |ratio| {
                format!(
                    "where it is as it should be it does not fall like that, but by {} less",
                    times(ratio)
                )
            },
            "",
        );
        // What a flush tells of memory, it does not where memory outlasts a loss of power.
        let is_protected = case.facts.and_then(|facts| {
            let bottom = facts.stack.iter().find(|layer| layer.on.is_empty())?;
            bottom.write_cache.value().map(|cache| cache == "write through")
        });
        scales.fact(
            "protected_memory",
            is_protected.filter(|is| *is && !case.is_disk()),
            |_| "its memory outlasts a loss of power, so that it may be memory that filled up".into(),
            "",
        );
        arm(&mut scales, case);
        let shown = case.virtual_by().map(|_| true);
        scales.fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "leave it as it is: the cache is back after a rest, and nothing but copying very much at once meets its end".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "nothing",
                check: "write again after some minutes of rest",
                deed: None,
            },
            Cure {
                what: "keep a part of the drive free, where its cache grows with free space".into(),
                command: None,
                undo: None,
                risk: Risk::None,
                cost: "space",
                check: "write as much again with more free space",
                deed: None,
            },
        ]
    }
}
