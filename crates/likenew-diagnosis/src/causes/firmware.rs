//! Firmware that is known to be faulty.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Kind, LogOdds, Metric, Symptom, wording};

/// The firmware is known to be bad.
pub(super) struct Firmware;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "firmware",
    title: wording::firmware::TITLE,
    summary: wording::firmware::SUMMARY,
    kind: Kind::Drive,
    endangers: true,
    explains: &[
        Symptom::NewDataFaster,
        Symptom::Stalls,
        Symptom::SlowRegions,
        Symptom::Uneven,
        Symptom::Errors,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("firmware.md"),
};

impl Cause for Firmware {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let warning = case.drive().and_then(|drive| drive.database.warning.value());
        log_odds.add_fact(
            "known_bug",
            warning.map(Option::is_some),
            |is| {
                let text = warning.and_then(|warning| warning.as_deref()).filter(|_| is);
                wording::firmware::known_bug(text)
            },
            wording::firmware::INSTALL_DATABASE,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::firmware::update().command("fwupdmgr get-updates")]
    }
}
