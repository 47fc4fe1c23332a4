//! A drive with hardly any free space.

use crate::steps::steps;
use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::hard_disk_evidence;

/// Where reviewers look for it: TechPowerUp measures at 85 %, and write amplification doubles between 80 and 90 % by theory
/// (X.-Y. Hu et al., SYSTOR 2009).
const FULL_PERCENT: f64 = 92.0;

/// The drive is nearly full.
pub(super) struct NearlyFull;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "nearly_full",
    summary: "it is nearly full, so that it has little room to collect free blocks in",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
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
            |_| used.map_or_else(String::new, |used| format!("the file system is {used:.0} % full")),
            Hint::of_facts("look how full it is"),
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let room = Fix {
            description: "make room: delete or move away a fifth of it".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "what you delete",
            check: "likenew check again",
            action: None,
        };
        [room]
            .into_iter()
            .chain(steps(case, DESCRIPTOR.name).into_iter().filter(|fix| fix.risk < Risk::Data))
            .collect()
    }
}
