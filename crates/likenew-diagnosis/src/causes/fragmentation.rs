//! Files in many pieces.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use likenew_core::units::three_digits;

use super::commands::defragment;
use super::{arm, times};

/// A disk that turns 7200 times a minute moves 1 MiB in about as long as it takes to get to the next piece: 12 ms at 85 MB/s.
const PIECES_MANY: f64 = 1.5;

/// Files lie in many pieces.
pub(super) struct Fragmentation;

const CARD: Card = Card {
    name: "fragmentation",
    because: "files lie in many pieces, and the arm moves from one to the next",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::FreshIsFaster,
        Symptom::Patchy,
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
        Symptom::Below(Figure::WriteAnywhere),
    ],
    manual: include_str!("fragmentation.md"),
};

impl Cause for Fragmentation {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        let pieces = case.facts.and_then(|facts| facts.files.as_ref()?.extents_per_mib.get());
        scales.fact(
            "many_pieces",
            pieces.map(|pieces| pieces > PIECES_MANY),
            |is| match pieces {
                Some(pieces) if is => format!("files lie in {} pieces for each MiB", three_digits(pieces)),
                _ => "files lie in few pieces".into(),
            },
            Hint::of_facts("look how files lie"),
        );
        arm(&mut scales, case);
        scales.sign(
            "new_file_faster",
            case.signs.fresh_over_old,
            1.5,
            |ratio| {
                format!(
                    "a file that was just written is read {} as fast as those that were there",
                    times(ratio)
                )
            },
            Hint::of_writing("write a file and read it again"),
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        vec![Cure {
            what: "rewrite the files that lie in most pieces; not where snapshots or reflinks share them"
                .into(),
            command: defragment(case).map(|command| command.does),
            undo: None,
            risk: Risk::Low,
            cost: "one write of these files",
            check: "likenew facts shows fewer pieces",
            deed: None,
        }]
    }
}
