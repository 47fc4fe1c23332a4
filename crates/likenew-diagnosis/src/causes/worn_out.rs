//! Flash at the end of its life.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::hard_disk_evidence;

/// Percent of the rated endurance. Chosen: a tenth is left.
const WORN_PERCENT: f64 = 90.0;

/// The flash is worn out.
pub(super) struct WornOut;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "worn_out",
    title: wording::worn_out::TITLE,
    summary: wording::worn_out::SUMMARY,
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::SlowRegions,
        Symptom::Stalls,
        Symptom::Errors,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("worn_out.md"),
};

impl Cause for WornOut {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let health = case.drive().map(|drive| &drive.health);
        let used = health.and_then(|health| health.used_percent.get());
        log_odds.add_fact(
            "endurance_used",
            used.map(|used| used >= WORN_PERCENT),
            |_| used.map_or_else(String::new, wording::worn_out::endurance_used),
            wording::worn_out::READ_HEALTH,
        );
        let spare = health.and_then(|health| {
            Some((health.spare_percent.get()?, health.spare_threshold_percent.get().unwrap_or(10.0)))
        });
        log_odds.add_fact(
            "spare_low",
            spare.map(|(left, least)| left <= least),
            |_| spare.map_or_else(String::new, |(left, _)| wording::worn_out::spare_left(left)),
            Hint::NONE,
        );
        log_odds.add_fact(
            "failing",
            health.and_then(|health| health.failing.get()),
            wording::worn_out::failing,
            Hint::NONE,
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::worn_out::replace()]
    }

    fn statement(&self, case: &Case<'_>) -> String {
        let used = case.drive().and_then(|drive| drive.health.used_percent.get());
        used.filter(|used| *used >= WORN_PERCENT)
            .map_or_else(|| DESCRIPTOR.summary.to_owned(), wording::worn_out::statement)
    }
}
