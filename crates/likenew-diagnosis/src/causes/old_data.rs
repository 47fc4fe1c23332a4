//! Charge that has leaked since data was written.

use crate::steps::steps;
use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Shape, Symptom};

use super::{arm, percent, times};

/// Older than this, retries begin on the worst drives (Samsung 840 EVO: six to eight weeks, PC Perspective 2015).
const MONTH_S: u64 = 30 * 24 * 3600;

/// Nothing that is younger has ever been reported.
const WEEK_S: u64 = 7 * 24 * 3600;

/// Old data is read with retries.
pub(super) struct OldData;

const CARD: Card = Card {
    name: "old_data",
    because: "what was written long ago has to be read several times until it is right",
    kind: Kind::Drive,
    endangers: false,
    explains: &[
        Symptom::FreshIsFaster,
        Symptom::Patchy,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("old_data.md"),
};

impl Cause for OldData {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let shapes = [Shape::FreshOverOld, Shape::FreshSmallOverOld];
        let fresh = shapes.into_iter().filter_map(|shape| case.beyond_usual(shape));
        scales.sign(
            "fresh_faster",
            fresh.max_by(|one, other| one.value.total_cmp(&other.value)),
            1.5,
            |ratio| format!("what was just written is read {} as fast as what was there", times(ratio)),
            Hint::of_writing("write a sample and read it again after a rest"),
        );
        scales.sign(
            "second_read_faster",
            case.signs.again_over_first,
            1.4,
            |ratio| format!("read again, slow places are {} as fast", times(ratio)),
            "read slow places again",
        );
        scales.sign(
            "others_busy",
            case.signs.others_share,
            0.05,
            |share| format!("others kept it busy for {} of the time, now more and now less", percent(share)),
            "",
        );
        scales.sign(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            |of| {
                format!("some reads reach {} what the link carries, so that memory answered them", times(of))
            },
            "",
        );
        let age_s = case.facts.and_then(|facts| facts.files.as_ref()?.inode_age_s_p90.get());
        scales.fact(
            "month_old",
            age_s.map(|age| age > MONTH_S),
            |is_old| {
                if is_old {
                    "one file in ten has lain there for a month or longer".into()
                } else {
                    "hardly any file is a month old".into()
                }
            },
            Hint::of_facts("look at the age of the files"),
        );
        scales.fact(
            "week_young",
            age_s.map(|age| age < WEEK_S).filter(|is_young| *is_young),
            |_| "nearly all of it was written within a week".into(),
            "",
        );
        arm(&mut scales, case);
        let shown = case.virtual_by().map(|_| true);
        scales.fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let update = Cure {
            what: "update the firmware, where its maker lists a fix for reads of old data".into(),
            command: None,
            undo: None,
            risk: Risk::Low,
            cost: "minutes; not every drive has one",
            check: "likenew check again",
            deed: None,
        };
        [update].into_iter().chain(steps(case, CARD.name)).collect()
    }
}
