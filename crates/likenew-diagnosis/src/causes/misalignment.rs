//! File system blocks that straddle those of the drive.

use super::shared::*;
use crate::settings::REPARTITION;

/// Drives write 4 KiB or a multiple of it (Advanced Format; pages of flash).
const UNIT: u64 = 4096;

/// Sequential over 4K random writes, each as a share of its reference, from which only small writes are slow.
/// Chosen: above the scatter of checks.
const ONLY_SMALL: f64 = 1.15;

pub(super) static CAUSE: Cause = Cause {
    name: "misalignment",
    title: "misaligned partition",
    summary: "the partition is misaligned, so each 4K write touches two of the drive's blocks",
    manual: include_str!("misalignment.md"),
    kind: CauseKind::NotTheDrive,
    prior: -2.0,
    explains: &[&[
        SlowWhenAligned,
        Below(Metric::RandomWrite),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
    ]],
    evidence: &[
        measured("aligned_slower", 5.0, -4.0, 1.3, |case| {
            let ratio = case.measurements.aligned_over_shifted?;
            let times = times(ratio);
            let text =
                format!("4K random writes at multiples of 4 KiB take {times} as long as shifted ones.");
            Some((ratio, text))
        })
        .hint(Hint::thorough_writing("Compare aligned with shifted 4K writes")),
        fact("partition_off", 4.0, -5.0, |case| {
            let facts = case.facts?;
            let mut partitions = facts.layers_of(LayerKind::Partition);
            let start = partitions.find_map(|layer| layer.misaligned_by(UNIT)).map(|bytes| bytes > 0);
            let offset = facts.stack.iter().find_map(|layer| layer.alignment_offset_bytes.get());
            let offset = offset.map(|bytes| bytes != 0);
            start.or(offset)?;
            either(
                start == Some(true) || offset == Some(true),
                "The partition does not start at a multiple of 4 KiB of the drive.",
                "Everything starts at multiples of 4 KiB.",
            )
        })
        .hint(Hint::facts("See where the partition starts")),
        measured("only_small_writes", 1.5, -1.0, ONLY_SMALL, |case| {
            let sequential = case.is_below(Metric::SequentialWrite)?;
            let ratio = sequential.divide_by(case.is_below(Metric::RandomWrite)?);
            let times = times(ratio);
            let text = format!(
                "Against their references, sequential writes are {times} as fast as 4K random writes."
            );
            Some((ratio, text))
        }),
    ],
    actions: |_| vec![Action::new("repartition", REPARTITION).loses(Loss::Everything)],
    costs: &[("repartition", "a backup and hours")],
    ..Cause::BLANK
};
