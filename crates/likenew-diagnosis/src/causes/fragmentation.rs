//! Files in many fragments.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::defragment;
use super::hard_disk_evidence;

/// Pieces per MiB from which a file is fragmented: a disk at 7,200 rpm moves 1 MiB in about the time to reach
/// the next piece, 12 ms at 85 MB/s.
const PIECES_MANY: f64 = 1.5;

/// Files lie in many pieces.
pub(super) struct Fragmentation;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "fragmentation",
    title: wording::fragmentation::TITLE,
    summary: wording::fragmentation::SUMMARY,
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::NewDataFaster,
        Symptom::SlowRegions,
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("fragmentation.md"),
};

impl Cause for Fragmentation {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let pieces = case.facts.and_then(|facts| facts.files.as_ref()?.extents_per_mib.get());
        log_odds.add_fact(
            "many_pieces",
            pieces.map(|pieces| pieces > PIECES_MANY),
            |is| match pieces {
                Some(pieces) if is => wording::fragmentation::many(pieces),
                _ => wording::fragmentation::few(),
            },
            wording::fragmentation::SHOW_FRAGMENTS,
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds.add_measured(
            "new_file_faster",
            case.measurements.new_over_old_data,
            1.5,
            wording::fragmentation::new_file_faster,
            wording::WRITE_AND_READ_BACK,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let command = defragment(case).map(|command| command.does);
        vec![Action { command, ..wording::fragmentation::defragment() }]
    }
}
