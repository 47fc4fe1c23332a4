//! A cable or contact that damages what it carries.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

/// A few come with plugging it in.
const CRC_SOME: u64 = 10;

/// The link has errors.
pub(super) struct LinkErrors;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "link_errors",
    summary: "its link damages what it carries, so that it has to be sent again",
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
        let counts = case.delta.map(|since| &since.counts);
        let during = counts.and_then(|counts| {
            let each = [
                &counts.crc_errors,
                &counts.pcie_corrected_errors,
                &counts.log_link_errors,
                &counts.log_resets,
                &counts.link_downshifts,
            ];
            each.into_iter().filter_map(|count| count.get()).reduce(|one, other| one + other)
        });
        log_odds.add_count(
            "crc_during",
            during.map(|count| count > 0),
            |is| {
                if is {
                    "errors of the link were counted during the measurement".into()
                } else {
                    "no error of the link was counted during the measurement".into()
                }
            },
            Hint::of_root("count its errors as root"),
        );
        let before = case.drive().and_then(|drive| drive.counts.crc_errors.get());
        log_odds.add_fact(
            "crc_before",
            before.map(|count| count > CRC_SOME),
            |_| {
                before.map_or_else(String::new, |count| {
                    format!("the drive counts {count} transfers with a wrong checksum since it was made")
                })
            },
            "",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "take another cable, seat it again, or use another port".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "a cable",
            check: "the counters stand still: likenew facts",
            action: None,
        }]
    }
}
