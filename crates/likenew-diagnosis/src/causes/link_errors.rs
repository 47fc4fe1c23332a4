//! A cable or contact that corrupts transfers.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// Errors up to this number come with plugging it in.
const CRC_SOME: u64 = 10;

/// The link has errors.
pub(super) struct LinkErrors;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "link_errors",
    title: wording::link_errors::TITLE,
    summary: wording::link_errors::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: true,
    explains: &[
        Symptom::Stalls,
        Symptom::SlowRegions,
        Symptom::NewDataFaster,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("link_errors.md"),
};

impl Cause for LinkErrors {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_count(
            "crc_during",
            case.had_link_errors(),
            wording::link_errors::during,
            wording::link_errors::COUNT,
        );
        let before = case.drive().and_then(|drive| drive.counts.crc_errors.get());
        log_odds.add_fact(
            "crc_before",
            before.map(|count| count > CRC_SOME),
            |_| before.map_or_else(String::new, wording::link_errors::before),
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::link_errors::change_cable()]
    }
}
