//! Charge that has leaked since data was written.

use crate::{Card, Case, Cause, Cure, Figure, Kind, Risk, Scales, Shape, Symptom};

use super::commands::{device, mount_point};
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
    explains: &[
        Symptom::FreshIsFaster,
        Symptom::Patchy,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("old_data.md"),
};

/// What writes it again where it lies: old files of a folder, or a whole device, by its own consent.
fn rewrite(case: &Case<'_>) -> String {
    match case.facts.and_then(|facts| facts.file_system.as_ref()) {
        Some(_) => format!("likenew recondition {}", mount_point(case)),
        None => format!("likenew recondition {} --rung refresh --dry-run", device(case)),
    }
}

impl Cause for OldData {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-0.5);
        let shapes = [Shape::FreshOverOld, Shape::FreshSmallOverOld];
        let fresh = shapes.into_iter().filter_map(|shape| case.beyond_usual(shape));
        scales.sign(
            fresh.max_by(|one, other| one.value.total_cmp(&other.value)),
            1.5,
            (5.0, -5.0),
            |ratio| format!("what was just written is read {} as fast as what was there", times(ratio)),
            "write a sample and read it again after a rest",
        );
        scales.sign(
            case.signs.again_over_first,
            1.4,
            (-4.0, 1.5),
            |ratio| format!("read again, slow places are {} as fast", times(ratio)),
            "read slow places again",
        );
        scales.sign(
            case.signs.others_share,
            0.05,
            (-3.0, 0.0),
            |share| format!("others kept it busy for {} of the time, now more and now less", percent(share)),
            "",
        );
        scales.sign(
            case.fastest_over_link(),
            1.05,
            (-4.0, 0.0),
            |of| {
                format!("some reads reach {} what the link carries, so that memory answered them", times(of))
            },
            "",
        );
        let age_s = case.facts.and_then(|facts| facts.files.as_ref()?.inode_age_s_p90.get());
        scales.fact(
            age_s.map(|age| age > MONTH_S),
            (1.5, -1.0),
            |is_old| {
                if is_old {
                    "one file in ten has lain there for a month or longer".into()
                } else {
                    "hardly any file is a month old".into()
                }
            },
            "look at the age of the files: likenew facts",
        );
        scales.fact(
            age_s.map(|age| age < WEEK_S).filter(|is_young| *is_young),
            (-4.0, 0.0),
            |_| "nearly all of it was written within a week".into(),
            "",
        );
        arm(&mut scales, case, (-6.0, 0.5));
        let shown = case.virtual_by().map(|_| true);
        scales.fact(shown, (-6.0, 0.0), |_| "a hypervisor or a cloud shows it".into(), "");
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "update the firmware, where its maker lists a fix for reads of old data".into(),
                command: None,
                undo: None,
                risk: Risk::Low,
                cost: "minutes; not every drive has one",
                check: "likenew check again",
            },
            Cure {
                what: "rewrite what is slow; later, let the drive refresh it by itself by leaving it powered"
                    .into(),
                command: Some(rewrite(case)),
                undo: None,
                risk: Risk::Low,
                cost: "one write of each byte that is slow",
                check: "compare reads before and after: likenew surface",
            },
        ]
    }
}
