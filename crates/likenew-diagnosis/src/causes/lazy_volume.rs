//! A volume that is still in its snapshot.

use likenew_core::units::Nanos;

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::commands::device;
use super::times;

/// A fetch takes longer than this: tens of milliseconds, says AWS ("Initialize Amazon EBS volumes").
const FETCH_NS: f64 = 5e6;

/// The volume fetches each block when it is first touched.
pub(super) struct LazyVolume;

const CARD: Card = Card {
    name: "lazy_volume",
    because: "each block is fetched from a snapshot when it is touched for the first time",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::SecondIsFaster,
        Symptom::Patchy,
        Symptom::FreshIsFaster,
        Symptom::Uneven,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::ReadAnywhereDeep),
    ],
    manual: include_str!("lazy_volume.md"),
};

impl Cause for LazyVolume {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "second_read_faster",
            case.signs.again_over_first,
            1.5,
            |ratio| format!("read again, the same places are {} as fast", times(ratio)),
            "read the same places twice, past every cache",
        );
        scales.fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            |is| if is { "a hypervisor or a cloud shows it".into() } else { "no hypervisor shows it".into() },
            Hint::of_facts("look at what shows it"),
        );
        // What a host has in memory is faster when it is read again, too, and was no slow storage the first time.
        scales.sign(
            "slow_fetch",
            case.signs.access_ns,
            FETCH_NS,
            |access| {
                format!("a small read of what was not touched before takes {}", Nanos(access.value as u64))
            },
            "",
        );
        scales.sign(
            "counted_reads",
            case.signs.counted_over_read,
            0.8,
            |share| format!("the drive counted {} what was read", times(share)),
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "read the whole volume once".into(),
            command: Some(format!(
                "fio --name=once --filename={} --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --readonly",
                device(case)
            )),
            undo: None,
            risk: Risk::None,
            cost: "one read of every block",
            check: "likenew check again",
            deed: None,
        }]
    }
}
