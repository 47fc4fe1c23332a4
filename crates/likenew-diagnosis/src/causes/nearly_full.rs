//! A drive with hardly any free space.

use likenew_core::answer::{Action, Loss};

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Kind, LogOdds, Metric, Symptom, wording};

use super::hard_disk_evidence;

/// Percent of space in use: TechPowerUp measures at 85%, and write amplification doubles between 80 and 90%
/// by theory (X.-Y. Hu et al., SYSTOR 2009).
const FULL_PERCENT: f64 = 92.0;

/// The drive is nearly full.
pub(super) struct NearlyFull;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "nearly_full",
    title: wording::nearly_full::TITLE,
    summary: wording::nearly_full::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::RewrittenFaster,
        Symptom::WriteCliff,
        Symptom::Stalls,
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("nearly_full.md"),
};

impl Cause for NearlyFull {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let used = case.facts.and_then(|facts| facts.file_system.as_ref()?.used_percent.get());
        log_odds.add_fact(
            "full",
            used.map(|used| used > FULL_PERCENT),
            |_| used.map_or_else(String::new, wording::nearly_full::full),
            wording::nearly_full::SHOW_FILL,
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, wording::virtual_disk, crate::Hint::NONE);
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let gentle =
            steps(case, DESCRIPTOR.name).into_iter().filter(|action| action.loses < Loss::Everything);
        std::iter::once(wording::nearly_full::free_space()).chain(gentle).collect()
    }
}
