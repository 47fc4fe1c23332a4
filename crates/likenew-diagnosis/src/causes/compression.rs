//! A controller that compresses.

use likenew_core::answer::Action;
use likenew_core::drive;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::measure_files;
use super::hard_disk_evidence;

/// The controller is fast only with compressible data.
pub(super) struct Compression;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "compression",
    title: wording::compression::TITLE,
    summary: wording::compression::SUMMARY,
    kind: Kind::ByDesign,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("compression.md"),
};

impl Cause for Compression {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "zeros_faster",
            case.measurements.zeros_over_random,
            1.4,
            wording::compression::zeros_faster,
            wording::compression::WRITE_ZEROS,
        );
        hard_disk_evidence(&mut log_odds, case);
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| wording::compression::virtual_disk(), Hint::NONE);
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let folder = case.site.filter(|site| site.kind == drive::Kind::Folder);
        let command = folder.map(|folder| measure_files(folder.target));
        vec![Action { command, ..wording::compression::test_own_files() }]
    }
}
