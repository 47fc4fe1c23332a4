//! Firmware that is known to be bad.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

/// The firmware is known to be bad.
pub(super) struct Firmware;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "firmware",
    summary: "its firmware is known to be faulty",
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
            |is| match warning {
                Some(Some(text)) if is => format!("smartmontools' database warns of it: {text}"),
                _ => "smartmontools' database warns of nothing".into(),
            },
            Hint::of_machine("install smartmontools, whose database knows faulty firmware"),
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "make a backup, then update the firmware by its maker's tool".into(),
            command: Some("fwupdmgr get-updates".into()),
            undo: None,
            risk: Risk::Low,
            cost: "minutes",
            check: "likenew facts shows the new version",
            action: None,
        }]
    }
}
