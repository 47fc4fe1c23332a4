//! Encryption that keeps a processor busier than the drive.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use likenew_core::facts::LayerKind;

use super::commands::refreshed;
use super::{setting, times};

/// Bytes of a small I/O.
const SMALL_BYTES: f64 = 4096.0;
/// What one processor can do is full from here on; without encryption the kernel's part of long reads is a small share of that.
const ONE_PROCESSOR: f64 = 0.8;
/// What a cipher holds to one rate differs by less than this.
const ALIKE: f64 = 1.3;

/// Encryption is the bottleneck.
pub(super) struct Encryption;

const CARD: Card = Card {
    name: "encryption",
    because: "encrypting takes longer than the drive does",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Figure::ReadInOrder),
        Symptom::Below(Figure::WriteInOrder),
        Symptom::Below(Figure::WriteOnAndOn),
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
        let mut scales = Scales::of(CARD.name);
        let is_encrypted = case.facts.map(|facts| facts.layers_of(LayerKind::Crypt).next().is_some());
        scales.fact(
            "encrypted",
            is_encrypted,
            |is| format!("dm-crypt {} between", if is { "lies" } else { "does not lie" }),
            Hint::of_facts("look at the layers"),
        );
        scales.sign(
            "processor_busy",
            case.signs.kernel_processors,
            ONE_PROCESSOR,
            |processors| {
                format!("the kernel kept {:.2} processors busy while it was read in order", processors.value)
            },
            Hint::of_machine("watch the processors while it is read"),
        );
        // A cipher counts bytes: it does not care where they lie. A drive does. Where the processors were watched, they have said already
        // that it is not so: then queues, which count I/Os, may be what fills them.
        let is_watched = case.signs.kernel_processors.is_some();
        let deep = case.signs.figure(Figure::ReadAnywhereDeep).map(|ios| ios.times(SMALL_BYTES));
        let alike = case.signs.figure(Figure::ReadInOrder).zip(deep).map(|(read, deep)| {
            let ratio = read.over(deep);
            if ratio.value < 1.0 { deep.over(read) } else { ratio }
        });
        scales.sign(
            if is_watched { "alike_watched" } else { "alike_unwatched" },
            alike,
            ALIKE,
            |ratio| {
                format!(
                    "as bytes a second, reads in order and small reads 32 at a time differ by {}",
                    times(ratio)
                )
            },
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let queues = refreshed(case, &["--perf-no_read_workqueue", "--perf-no_write_workqueue"]);
        vec![
            setting(
                "take the queues out of the way of encryption, which pays on fast drives",
                queues,
                Risk::Low,
                "nothing",
            ),
            Cure {
                what: "choose a cipher that the processor has instructions for".into(),
                command: Some("cryptsetup benchmark".into()),
                undo: None,
                risk: Risk::Data,
                cost: "a new volume",
                check: "likenew check on the new volume",
                deed: None,
            },
        ]
    }
}
