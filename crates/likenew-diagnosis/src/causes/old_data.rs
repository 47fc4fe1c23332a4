//! Charge that has leaked since data was written.

use likenew_core::answer::Action;

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Hint, Indicator, Kind, LogOdds, Metric, Symptom, wording};

use super::{background_evidence, hard_disk_evidence};

/// Age in seconds from which retries begin on the worst drives (Samsung 840 EVO: six to eight weeks, PC
/// Perspective 2015).
const MONTH_S: u64 = 30 * 24 * 3600;

/// Age in seconds below which no case has ever been reported.
const WEEK_S: u64 = 7 * 24 * 3600;

/// Old data is read with retries.
pub(super) struct OldData;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "old_data",
    title: wording::old_data::TITLE,
    summary: wording::old_data::SUMMARY,
    kind: Kind::Drive,
    endangers: false,
    explains: &[
        Symptom::NewDataFaster,
        Symptom::SlowRegions,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("old_data.md"),
};

impl Cause for OldData {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let indicators = [Indicator::NewOverOldData, Indicator::NewOverOldDataRandom];
        let fresh = indicators.into_iter().filter_map(|indicator| case.beyond_normal(indicator));
        log_odds.add_measured(
            "new_data_faster",
            fresh.max_by(|one, other| one.value.total_cmp(&other.value)),
            1.5,
            wording::old_data::new_data_faster,
            wording::WRITE_AND_READ_BACK,
        );
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.4,
            wording::repeat_read_faster,
            wording::READ_SLOW_AGAIN,
        );
        background_evidence(&mut log_odds, case);
        log_odds.add_measured(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            wording::old_data::faster_than_link,
            Hint::NONE,
        );
        let age_s = case.facts.and_then(|facts| facts.files.as_ref()?.inode_age_s_p90.get());
        log_odds.add_fact(
            "older_than_a_month",
            age_s.map(|age| age > MONTH_S),
            wording::old_data::older_than_a_month,
            wording::old_data::SHOW_AGE,
        );
        log_odds.add_fact(
            "written_this_week",
            age_s.map(|age| age < WEEK_S).filter(|is_young| *is_young),
            |_| wording::old_data::written_this_week(),
            Hint::NONE,
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        std::iter::once(wording::old_data::update_firmware()).chain(steps(case, DESCRIPTOR.name)).collect()
    }
}
