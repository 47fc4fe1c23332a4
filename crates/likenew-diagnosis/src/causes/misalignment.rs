//! File system blocks that straddle those of the drive.

use likenew_core::answer::Action;
use likenew_core::facts::LayerKind;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

/// Drives write 4 KiB or a multiple of it (Advanced Format; pages of flash).
const UNIT: u64 = 4096;

/// Sequential over 4K random writes, each as a share of its reference, from which only small writes are slow. Chosen: above the scatter
/// of checks.
const ONLY_SMALL: f64 = 1.15;

/// The partition is misaligned.
pub(super) struct Misalignment;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "misalignment",
    title: wording::misalignment::TITLE,
    summary: wording::misalignment::SUMMARY,
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
            wording::misalignment::aligned_slower,
            wording::misalignment::WRITE_SHIFTED,
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
            wording::misalignment::partition_off,
            wording::misalignment::SHOW_START,
        );
        let shares = case.is_below(Metric::SequentialWrite).zip(case.is_below(Metric::RandomWrite));
        log_odds.add_measured(
            "only_small_writes",
            shares.map(|(sequential, random)| sequential.divide_by(random)),
            ONLY_SMALL,
            wording::misalignment::only_small_writes,
            Hint::NONE,
        );
        log_odds
    }

    fn actions(&self, _case: &Case<'_>) -> Vec<Action> {
        vec![wording::misalignment::repartition()]
    }
}
