//! Blocks of the file system that lie across those of the drive.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use likenew_core::facts::LayerKind;

use super::scale_by;

/// Drives write 4 KiB or a multiple of it (Advanced Format; pages of flash).
const UNIT: u64 = 4096;

/// The partition is misaligned.
pub(super) struct Misalignment;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "misalignment",
    summary: "each block of the file system lies across two of the drive",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::SlowWhenAligned,
        Symptom::Below(Metric::RandomWrite),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
    ],
    manual: include_str!("misalignment.md"),
};

impl Cause for Misalignment {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "aligned_slower",
            case.measurements.aligned_over_shifted,
            1.3,
            |ratio| {
                format!("small writes take {} as long at multiples of 4 KiB as beside them", scale_by(ratio))
            },
            Hint::of_writing("write small blocks at shifted addresses"),
        );
        let start = case.facts.and_then(|facts| {
            facts.layers_of(LayerKind::Partition).find_map(|layer| layer.misaligned_by(UNIT))
        });
        let offset = case
            .facts
            .and_then(|facts| facts.stack.iter().find_map(|layer| layer.alignment_offset_bytes.get()));
        let is_off = match (start, offset) {
            (None, None) => None,
            (start, offset) => {
                Some(start.is_some_and(|bytes| bytes > 0) || offset.is_some_and(|bytes| bytes != 0))
            }
        };
        log_odds.add_fact(
            "partition_off",
            is_off,
            |is| {
                if is {
                    "the partition does not begin at a multiple of 4 KiB of the drive".into()
                } else {
                    "everything begins at multiples of 4 KiB".into()
                }
            },
            Hint::of_facts("look where the partition begins"),
        );
        log_odds
    }

    fn fixes(&self, _case: &Case<'_>) -> Vec<Fix> {
        vec![Fix {
            description:
                "make the partition anew, beginning at a multiple of 1 MiB, and restore it from a backup"
                    .into(),
            command: None,
            undo: None,
            risk: Risk::Data,
            cost: "a backup and hours",
            check: "likenew facts shows where it begins, and likenew check again",
            action: None,
        }]
    }
}
