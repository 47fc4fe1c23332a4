//! Places of a disk that it can hardly read.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Indicator, Kind, LogOdds, Metric, Risk, Symptom};

use super::commands::device;
use super::{hard_disk_evidence, scale_by};

/// Some places of a disk are failing.
pub(super) struct SlowRegionCause;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slow_region",
    summary: "some places can only be read with many retries: the surface is failing there",
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::SlowRegions,
        Symptom::Stalls,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::NewDataFaster,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("slow_region.md"),
};

impl Cause for SlowRegionCause {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        hard_disk_evidence(&mut log_odds, case);
        log_odds.add_measured(
            "slow_regions",
            case.beyond_normal(Indicator::MedianOverSlowest),
            1.5,
            |ratio| format!("the slowest places take {} as long as the others", scale_by(ratio)),
            Hint::from("read more places").with_command("likenew surface {}"),
        );
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.4,
            |ratio| format!("read again, slow places are {} as fast", scale_by(ratio)),
            "read slow places again",
        );
        let drive = case.drive();
        let some =
            |is: bool, count: &str| format!("the drive {} {count}", if is { "counts" } else { "counts no" });
        log_odds.add_fact(
            "pending_sectors",
            drive.and_then(|drive| drive.health.pending_sectors.get()).map(|sectors| sectors > 0),
            |is| some(is, "sectors that wait to be read (SMART 197)"),
            Hint::of_root("read its SMART as root"),
        );
        log_odds.add_fact(
            "reallocated_sectors",
            drive.and_then(|drive| drive.counts.reallocated_sectors.get()).map(|sectors| sectors > 0),
            |is| some(is, "sectors that were replaced (SMART 5)"),
            "",
        );
        log_odds.add_fact(
            "errors",
            Some(case.measurements.errors > 0),
            |is| {
                if is {
                    format!("{} I/Os were refused", case.measurements.errors)
                } else {
                    "every I/O was answered".into()
                }
            },
            "",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        vec![
            Fix {
                description: "copy what you can not lose elsewhere, now, the good places first".into(),
                command: Some(format!("ddrescue -n {} /ELSEWHERE/drive.img /ELSEWHERE/drive.map", device(case))),
                undo: None,
                risk: Risk::None,
                cost: "the time of a copy",
                check: "the copy can be read",
                action: None,
            },
            Fix {
                description: "replace the drive; overwriting the weak places can make the drive replace their sectors, and destroys what is there".into(),
                command: None,
                undo: None,
                risk: Risk::Data,
                cost: "a drive",
                check: "likenew surface on the new one",
                action: None,
            },
        ]
    }
}
