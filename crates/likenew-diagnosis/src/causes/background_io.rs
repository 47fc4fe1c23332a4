//! Other I/O on the drive.

use likenew_core::answer::Action;
use likenew_core::drive;
use likenew_core::units::Nanos;

use super::commands::record_io;
use crate::case::BACKGROUND_SHARE_MAX;
use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// How long the I/O of other programs is recorded: periodic I/O shows within a minute.
const RECORDING: Nanos = Nanos::from_secs(60);

/// Something else uses the drive.
pub(super) struct BackgroundIo;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "background_io",
    title: wording::background_io::TITLE,
    summary: wording::background_io::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::BackgroundIo,
        Symptom::Stalls,
        Symptom::RewrittenFaster,
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
            BACKGROUND_SHARE_MAX,
            wording::background_io::busy,
            wording::background_io::COUNT_OTHERS,
        );
        log_odds.add_fact(
            "array_busy",
            case.array_is_busy().then_some(true),
            |_| wording::background_io::array_busy(),
            Hint::NONE,
        );
        log_odds.add_measured(
            "uneven_reads",
            case.measurements.read_scatter,
            0.15,
            wording::background_io::uneven_reads,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let action = wording::background_io::find_other_io();
        // Programs can only be recorded on a real drive.
        let site = case.site.filter(|site| !matches!(site.kind, drive::Kind::Simulated | drive::Kind::Nop));
        vec![match site {
            Some(site) => action.command(record_io(site.target)).time(RECORDING),
            None => action,
        }]
    }
}
