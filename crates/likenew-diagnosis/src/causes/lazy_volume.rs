//! A volume that is still in its snapshot.

use likenew_core::units::Nanos;

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::commands::device;
use super::scale_by;

/// A fetch takes longer than this: tens of milliseconds, says AWS ("Initialize Amazon EBS volumes").
const FETCH_NS: f64 = 5e6;

/// The volume fetches each block when it is first touched.
pub(super) struct LazyVolume;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "lazy_volume",
    summary: "each block is fetched from a snapshot when it is touched for the first time",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::RepeatReadFaster,
        Symptom::SlowRegions,
        Symptom::NewDataFaster,
        Symptom::Uneven,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("lazy_volume.md"),
};

impl Cause for LazyVolume {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.5,
            |ratio| format!("read again, the same places are {} as fast", scale_by(ratio)),
            "read the same places twice, past every cache",
        );
        log_odds.add_fact(
            "virtual",
            case.drive().map(|_| case.virtual_by().is_some()),
            |is| if is { "a hypervisor or a cloud shows it".into() } else { "no hypervisor shows it".into() },
            Hint::of_facts("look at what shows it"),
        );
        // What a host has in memory is faster when it is read again, too, and was no slow storage the first time.
        log_odds.add_measured(
            "slow_fetch",
            case.measurements.access_ns,
            FETCH_NS,
            |access| {
                format!("a small read of what was not touched before takes {}", Nanos(access.value as u64))
            },
            "",
        );
        log_odds.add_measured(
            "counted_reads",
            case.measurements.counted_over_read,
            0.8,
            |share| format!("the drive counted {} what was read", scale_by(share)),
            "",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "read the whole volume once".into(),
            command: Some(format!(
                "fio --name=once --filename={} --rw=read --bs=1M --iodepth=32 --ioengine=libaio --direct=1 --readonly",
                device(case)
            )),
            undo: None,
            risk: Risk::None,
            cost: "one read of every block",
            check: "likenew check again",
            action: None,
        }]
    }
}
