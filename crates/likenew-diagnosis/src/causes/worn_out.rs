//! Flash at the end of its life.

use likenew_core::answer::Action;
use likenew_core::facts::{Health, LayerKind};

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::{READS_BELOW, disturbance_evidence, hard_disk_evidence, writes_over_reads};

/// Percent of the rated endurance. Chosen: a tenth is left.
const WORN_PERCENT: f64 = 90.0;

/// Percent of the rated endurance from which on reads may need retries. Chosen: the simulator's flash does then.
const HALF_PERCENT: f64 = 50.0;

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

/// Percent of the spare blocks that is left, and below which a drive counts as worn.
fn spare(health: &Health) -> Option<(f64, f64)> {
    Some((health.spare_percent.get()?, health.spare_threshold_percent.get().unwrap_or(10.0)))
}

impl Cause for WornOut {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    /// Nothing is called worn because it is slow: something has to say that it is.
    fn explains(&self, case: &Case<'_>, symptom: Symptom) -> bool {
        let shows_wear = || {
            let Some(health) = case.drive().map(|drive| &drive.health) else { return false };
            health.used_percent.get().is_some_and(|used| used >= HALF_PERCENT)
                || health.failing.get() == Some(true)
                || spare(health).is_some_and(|(left, least)| left <= least)
        };
        DESCRIPTOR.explains.contains(&symptom) && (case.measurements.errors > 0 || shows_wear())
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
        log_odds.add_fact(
            "endurance_half_used",
            used.map(|used| used >= HALF_PERCENT),
            |_| used.map_or_else(String::new, wording::worn_out::endurance_used),
            Hint::NONE,
        );
        // Retries take time in reads of all data, new data included, and none in writes.
        log_odds.add_measured(
            "reads_below_writes",
            writes_over_reads(case),
            READS_BELOW,
            wording::writes_against_reads,
            Hint::NONE,
        );
        log_odds.add_measured(
            "new_data_faster",
            case.measurements.new_over_old_data,
            1.3,
            wording::old_data::new_data_faster,
            Hint::NONE,
        );
        let spare = health.and_then(spare);
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
        disturbance_evidence(&mut log_odds, case);
        hard_disk_evidence(&mut log_odds, case);
        // Encryption slows down reads, too, and writes less, as a cache takes them.
        let is_encrypted = case.facts.map(|facts| facts.layers_of(LayerKind::Crypt).next().is_some());
        log_odds.add_fact("encrypted", is_encrypted, wording::encryption::encrypted, Hint::NONE);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, Hint::NONE);
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::worn_out::replace()]
    }

    fn statement(&self, case: &Case<'_>) -> String {
        let used = case.drive().and_then(|drive| drive.health.used_percent.get());
        used.filter(|used| *used >= WORN_PERCENT)
            .map_or_else(|| DESCRIPTOR.summary.to_owned(), wording::worn_out::near_end)
    }
}
