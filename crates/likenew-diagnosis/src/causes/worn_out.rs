//! Flash at the end of its life.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::hard_disk_evidence;

/// Of the rated endurance.
const WORN_PERCENT: f64 = 90.0;

/// The flash is worn out.
pub(super) struct WornOut;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "worn_out",
    summary: "its flash is worn out",
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
            |_| {
                used.map_or_else(String::new, |used| {
                    format!("it says that {used:.0} % of its endurance is used")
                })
            },
            Hint::of_root("ask the drive as root"),
        );
        let spare = health.and_then(|health| {
            Some((health.spare_percent.get()?, health.spare_threshold_percent.get().unwrap_or(10.0)))
        });
        log_odds.add_fact(
            "spare_low",
            spare.map(|(left, least)| left <= least),
            |_| spare.map_or_else(String::new, |(left, _)| format!("{left:.0} % of its spare is left")),
            "",
        );
        log_odds.add_fact(
            "failing",
            health.and_then(|health| health.failing.get()),
            |is| {
                if is {
                    "it says itself that it is failing".into()
                } else {
                    "it does not say that it is failing".into()
                }
            },
            "",
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "copy what you can not lose elsewhere, now, and replace it".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "a drive",
            check: "likenew check on the new one",
            action: None,
        }]
    }
}
