//! Encryption that keeps a processor busier than the drive.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use likenew_core::facts::LayerKind;

use super::commands::refresh_command;
use super::{scale_by, setting};

/// Bytes of a small I/O.
const SMALL_BYTES: f64 = 4096.0;
/// What one processor can do is full from here on; without encryption the kernel's part of long reads is a small share of that.
const ONE_PROCESSOR: f64 = 0.8;
/// What a cipher holds to one rate differs by less than this.
const ALIKE: f64 = 1.3;

/// Encryption is the bottleneck.
pub(super) struct Encryption;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "encryption",
    summary: "encrypting takes longer than the drive does",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::Below(Metric::SequentialRead),
        Symptom::Below(Metric::SequentialWrite),
        Symptom::Below(Metric::SustainedWrite),
        Symptom::Below(Metric::RandomReadQd32),
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("encryption.md"),
};

impl Cause for Encryption {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let is_encrypted = case.facts.map(|facts| facts.layers_of(LayerKind::Crypt).next().is_some());
        log_odds.add_fact(
            "encrypted",
            is_encrypted,
            |is| format!("dm-crypt {} between", if is { "lies" } else { "does not lie" }),
            Hint::of_facts("look at the layers"),
        );
        log_odds.add_measured(
            "processor_busy",
            case.measurements.kernel_processors,
            ONE_PROCESSOR,
            |processors| {
                format!("the kernel kept {:.2} processors busy while it was read in order", processors.value)
            },
            Hint::of_machine("watch the processors while it is read"),
        );
        // A cipher counts bytes: it does not care where they lie. A drive does. Where the processors were watched, they have said already
        // that it is not so: then queues, which count I/Os, may be what fills them.
        let is_watched = case.measurements.kernel_processors.is_some();
        let deep = case.measurements.metric(Metric::RandomReadQd32).map(|ios| ios.scale_by(SMALL_BYTES));
        let alike = case.measurements.metric(Metric::SequentialRead).zip(deep).map(|(read, deep)| {
            let ratio = read.divide_by(deep);
            if ratio.value < 1.0 { deep.divide_by(read) } else { ratio }
        });
        log_odds.add_measured(
            if is_watched { "alike_visible" } else { "alike_hidden" },
            alike,
            ALIKE,
            |ratio| {
                format!(
                    "as bytes a second, reads in order and small reads 32 at a time differ by {}",
                    scale_by(ratio)
                )
            },
            "",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let queues = refresh_command(case, &["--perf-no_read_workqueue", "--perf-no_write_workqueue"]);
        vec![
            setting(
                "take the queues out of the way of encryption, which pays on fast drives",
                queues,
                Risk::Low,
                "nothing",
            ),
            Fix {
                description: "choose a cipher that the processor has instructions for".into(),
                command: Some("cryptsetup benchmark".into()),
                undo: None,
                risk: Risk::Data,
                cost: "a new volume",
                check: "likenew check on the new volume",
                action: None,
            },
        ]
    }
}
