//! Somebody else who uses the drive.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::{percent, scale_by};

/// Something else uses the drive.
pub(super) struct BackgroundIo;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "background_io",
    summary: "something else uses the drive at the same time",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::BackgroundIo,
        Symptom::Stalls,
        Symptom::SlowRegions,
        Symptom::SlowWhenAligned,
        Symptom::Uneven,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::RandomReadQd32),
    ],
    manual: include_str!("background_io.md"),
};

impl Cause for BackgroundIo {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "background_io",
            case.measurements.background_share,
            0.05,
            |share| {
                format!("while nothing was measured, others kept it busy for {} of the time", percent(share))
            },
            Hint::of_machine("count what others do meanwhile").with_command("likenew watch"),
        );
        log_odds.add_fact(
            "array_busy",
            case.array_is_busy().then_some(true),
            |_| "the array below it is busy with itself, and asks for that".into(),
            "",
        );
        log_odds.add_measured(
            "uneven_reads",
            case.measurements.read_scatter,
            0.15,
            |scatter| format!("reads in order scatter by {} from moment to moment", scale_by(scatter)),
            "",
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description: "see who it is, and measure again without it".into(),
            command: Some("likenew watch".into()),
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "likenew check again",
            action: None,
        }]
    }
}
