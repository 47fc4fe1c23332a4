//! Encryption that takes longer than the drive.

use likenew_core::answer::Action;
use likenew_core::facts::LayerKind;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Measured, Metric, Symptom, wording};

use super::commands::refresh_command;
use super::{READS_BELOW, writes_over_reads};

/// Bytes of a small I/O: those of the metrics for random I/O.
const SMALL_BYTES: f64 = 4096.0;
/// Share of one processor from which it is full; without encryption the kernel needs far less for sequential
/// reads. Chosen: a single busy thread reaches it.
const ONE_PROCESSOR: f64 = 0.8;
/// Ratio of two rates below which one cipher limits both. Chosen: a cipher is steadier than that.
const ALIKE: f64 = 1.3;

/// Encryption is the bottleneck.
pub(super) struct Encryption;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "encryption",
    title: wording::encryption::TITLE,
    summary: wording::encryption::SUMMARY,
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

/// Ratio of two delays up to which a layer adds the same to every I/O. Chosen: reads and writes of a drive differ by more.
const SAME_DELAY: f64 = 1.6;
/// Speed over its reference from which a delay is more than scatter. Chosen: the scatter of checks.
const SLOWER: f64 = 0.9;
/// Half the interval of a ratio of delays, as a share. Assumed: each is a difference of two times.
const DELAY_ERROR: f64 = 0.2;

impl Cause for Encryption {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        let is_encrypted = case.facts.map(|facts| facts.layers_of(LayerKind::Crypt).next().is_some());
        log_odds.add_fact("encrypted", is_encrypted, wording::encryption::encrypted, wording::SHOW_LAYERS);
        log_odds.add_measured(
            "processor_busy",
            case.measurements.kernel_processors,
            ONE_PROCESSOR,
            |processors| wording::encryption::processor_busy(processors.value),
            wording::encryption::WATCH_CPU,
        );
        // A cipher counts bytes wherever they are; a drive does not. If measured processor use shows that
        // encryption is not the limit, queues that count I/Os may be.
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
                if ratio.value < ALIKE {
                    wording::encryption::alike(ratio)
                } else {
                    wording::encryption::differ(ratio)
                }
            },
            Hint::NONE,
        );
        log_odds.add_measured(
            "same_delay",
            delay_ratio(case).filter(|_| is_encrypted == Some(true)),
            SAME_DELAY,
            |ratio| wording::encryption::delays(ratio, ratio.value < SAME_DELAY),
            Hint::NONE,
        );
        log_odds.add_measured(
            "reads_below_writes",
            writes_over_reads(case).filter(|_| is_encrypted == Some(true)),
            READS_BELOW,
            wording::writes_against_reads,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let queues = refresh_command(case, &["--perf-no_read_workqueue", "--perf-no_write_workqueue"]);
        let mut actions = vec![
            queues.add_to(wording::encryption::bypass_queues()),
            wording::encryption::choose_cipher().command("cryptsetup benchmark"),
        ];
        // Without the queues the cipher still runs on the processor that is full.
        if case.measurements.kernel_processors.is_some_and(|of| of.value >= ONE_PROCESSOR) {
            actions.reverse();
        }
        actions
    }
}

/// The time that a 4K random read takes longer than its reference, over the same of a write, or the reverse if that is longer; `None` if
/// one of them is not slower.
fn delay_ratio(case: &Case<'_>) -> Option<Measured> {
    let delay_ns = |metric: Metric| {
        let (share, reference) = case.shortfall(metric).filter(|(share, _)| share.value < SLOWER)?;
        Some(1e9 / reference.value * (1.0 / share.value - 1.0))
    };
    let (read, write) = (delay_ns(Metric::RandomRead)?, delay_ns(Metric::RandomWrite)?);
    let ratio = read.max(write) / read.min(write);
    Some(Measured::new(ratio, (ratio * (1.0 - DELAY_ERROR)).max(1.0), ratio * (1.0 + DELAY_ERROR)))
}
