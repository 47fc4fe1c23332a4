//! Blocks of the file system that lie across those of the drive.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use likenew_core::facts::LayerKind;

use super::times;

/// Drives write 4 KiB or a multiple of it (Advanced Format; pages of flash).
const UNIT: u64 = 4096;

/// The partition is misaligned.
pub(super) struct Misalignment;

const CARD: Card = Card {
    name: "misalignment",
    because: "each block of the file system lies across two of the drive",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::AlignmentCosts,
        Symptom::Below(Figure::WriteAnywhere),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
    ],
    manual: include_str!("misalignment.md"),
};

impl Cause for Misalignment {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "aligned_slower",
            case.signs.aligned_over_shifted,
            1.3,
            |ratio| {
                format!("small writes take {} as long at multiples of 4 KiB as beside them", times(ratio))
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
        scales.fact(
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
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "make the partition anew, beginning at a multiple of 1 MiB, and restore it from a backup"
                .into(),
            command: None,
            undo: None,
            risk: Risk::Data,
            cost: "a backup and hours",
            check: "likenew facts shows where it begins, and likenew check again",
            deed: None,
        }]
    }
}
