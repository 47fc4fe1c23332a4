//! Encryption that keeps a processor busier than the drive.

use crate::{Card, Case, Cause, Cure, Figure, Kind, Risk, Scales, Symptom};

use likenew_core::facts::LayerKind;

use super::times;

/// Encryption is the bottleneck.
pub(super) struct Encryption;

const CARD: Card = Card {
    name: "encryption",
    because: "encrypting takes longer than the drive does",
    kind: Kind::NotTheDrive,
    explains: &[
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::ReadAnywhereDeep),
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
    ],
    manual: include_str!("encryption.md"),
};

impl Cause for Encryption {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::new(-1.0);
        let is_encrypted = case.facts.map(|facts| facts.layers_of(LayerKind::Crypt).next().is_some());
        scales.fact(
            is_encrypted,
            (2.0, -8.0),
            |is| format!("dm-crypt {} between", if is { "lies" } else { "does not lie" }),
            "look at the layers: likenew facts",
        );
        scales.sign(
            case.signs.processor_share,
            0.9,
            (4.0, -2.5),
            |share| format!("a processor was busy for {} the time of the reads", times(share)),
            "watch the processors while it is read",
        );
        let alike = case.signs.figure(Figure::ReadInOrder).zip(case.signs.figure(Figure::WriteInOrder));
        scales.sign(
            alike.map(|(read, write)| read.over(write)),
            2.0,
            (-2.0, 1.5),
            |ratio| format!("reads in order are {} as fast as writes", times(ratio)),
            "",
        );
        scales
    }

    fn cures(&self, _case: &Case<'_>) -> Vec<Cure> {
        vec![
            Cure {
                what: "take the queues out of the way of encryption, which pays on fast drives".into(),
                command: Some(
                    "cryptsetup --perf-no_read_workqueue --perf-no_write_workqueue --persistent refresh NAME"
                        .into(),
                ),
                risk: Risk::Low,
                cost: "nothing",
                check: "likenew check again",
            },
            Cure {
                what: "choose a cipher that the processor has instructions for".into(),
                command: Some("cryptsetup benchmark".into()),
                risk: Risk::Data,
                cost: "a new volume",
                check: "likenew check on the new volume",
            },
        ]
    }
}
