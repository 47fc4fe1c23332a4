//! Regions of a disk that take many read retries.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Indicator, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::device;
use super::hard_disk_evidence;

/// Some regions of a disk are failing.
pub(super) struct SlowRegionCause;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "slow_region",
    title: wording::slow_region::TITLE,
    summary: wording::slow_region::SUMMARY,
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
            wording::slow_region::slow_regions,
            wording::slow_region::MAP_SURFACE,
        );
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.4,
            wording::repeat_read_faster,
            wording::READ_SLOW_AGAIN,
        );
        let drive = case.drive();
        log_odds.add_fact(
            "pending_sectors",
            drive.and_then(|drive| drive.health.pending_sectors.get()).map(|sectors| sectors > 0),
            wording::slow_region::pending_sectors,
            wording::slow_region::READ_SMART,
        );
        log_odds.add_fact(
            "reallocated_sectors",
            drive.and_then(|drive| drive.counts.reallocated_sectors.get()).map(|sectors| sectors > 0),
            wording::slow_region::reallocated_sectors,
            Hint::NONE,
        );
        log_odds.add_fact(
            "errors",
            Some(case.measurements.errors > 0),
            |_| wording::slow_region::errors(case.measurements.errors),
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let copy = format!("ddrescue -n {} /ELSEWHERE/drive.img /ELSEWHERE/drive.map", device(case));
        vec![wording::slow_region::copy_data().command(copy), wording::slow_region::replace()]
    }
}
