//! Charge that has leaked since data was written.

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Indicator, Kind, LogOdds, Metric, Risk, Symptom};

use super::{hard_disk_evidence, percent, scale_by};

/// Older than this, retries begin on the worst drives (Samsung 840 EVO: six to eight weeks, PC Perspective 2015).
const MONTH_S: u64 = 30 * 24 * 3600;

/// Nothing that is younger has ever been reported.
const WEEK_S: u64 = 7 * 24 * 3600;

/// Old data is read with retries.
pub(super) struct OldData;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "old_data",
    summary: "what was written long ago has to be read several times until it is right",
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
            |ratio| format!("what was just written is read {} as fast as what was there", scale_by(ratio)),
            Hint::of_writing("write a sample and read it again after a rest"),
        );
        log_odds.add_measured(
            "repeat_read_faster",
            case.measurements.repeat_over_first,
            1.4,
            |ratio| format!("read again, slow places are {} as fast", scale_by(ratio)),
            "read slow places again",
        );
        log_odds.add_measured(
            "background_io",
            case.measurements.background_share,
            0.05,
            |share| format!("others kept it busy for {} of the time, now more and now less", percent(share)),
            "",
        );
        log_odds.add_measured(
            "faster_than_link",
            case.fastest_over_link(),
            1.05,
            |of| {
                format!(
                    "some reads reach {} what the link carries, so that memory answered them",
                    scale_by(of)
                )
            },
            "",
        );
        let age_s = case.facts.and_then(|facts| facts.files.as_ref()?.inode_age_s_p90.get());
        log_odds.add_fact(
            "older_than_a_month",
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
        log_odds.add_fact(
            "written_this_week",
            age_s.map(|age| age < WEEK_S).filter(|is_young| *is_young),
            |_| "nearly all of it was written within a week".into(),
            "",
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| "a hypervisor or a cloud shows it".into(), "");
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let update = Fix {
            description: "update the firmware, where its maker lists a fix for reads of old data".into(),
            command: None,
            undo: None,
            risk: Risk::Low,
            cost: "minutes; not every drive has one",
            check: "likenew check again",
            action: None,
        };
        [update].into_iter().chain(steps(case, DESCRIPTOR.name)).collect()
    }
}
