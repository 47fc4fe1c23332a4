//! Files in many pieces.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use likenew_core::units::three_digits;

use super::commands::defragment;
use super::{hard_disk_evidence, scale_by};

/// A disk that turns 7200 times a minute moves 1 MiB in about as long as it takes to get to the next piece: 12 ms at 85 MB/s.
const PIECES_MANY: f64 = 1.5;

/// Files lie in many pieces.
pub(super) struct Fragmentation;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "fragmentation",
    summary: "files lie in many pieces, and the arm moves from one to the next",
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
                Some(pieces) if is => format!("files lie in {} pieces for each MiB", three_digits(pieces)),
                _ => "files lie in few pieces".into(),
            },
            Hint::of_facts("look how files lie"),
        );
        hard_disk_evidence(&mut log_odds, case);
        log_odds.add_measured(
            "new_file_faster",
            case.measurements.new_over_old_data,
            1.5,
            |ratio| {
                format!(
                    "a file that was just written is read {} as fast as those that were there",
                    scale_by(ratio)
                )
            },
            Hint::of_writing("write a file and read it again"),
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description:
                "rewrite the files that lie in most pieces; not where snapshots or reflinks share them".into(),
            command: defragment(case).map(|command| command.does),
            undo: None,
            risk: Risk::Low,
            cost: "one write of these files",
            check: "likenew facts shows fewer pieces",
            action: None,
        }]
    }
}
