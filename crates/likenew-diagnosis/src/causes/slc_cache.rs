//! A pseudo-SLC cache: flash that is written with one bit a cell until it is full.

use super::shared::*;

/// Speed of writing the same addresses again over their first write, beyond the drop, from which the
/// addresses were slow, and not the amount of data. Chosen: the smallest drop that counts as a write cliff.
const REWRITTEN_FASTER: f64 = 1.3;

/// Ratio below which two speeds count as equal in a sentence. Chosen: twice the usual scatter of a check.
const NO_DIFFERENCE: f64 = 1.1;

pub(super) static CAUSE: Cause = Cause {
    name: "slc_cache",
    title: "SLC cache full",
    summary: "the SLC cache is full, so writes run at the speed of the slower flash behind it",
    manual: include_str!("slc_cache.md"),
    kind: CauseKind::ByDesign,
    prior: 0.0,
    explains: &[&[WriteCliff, Below(Metric::SustainedWrite)]],
    evidence: &[
        measured("write_cliff", 3.0, -4.0, 1.3, |case| {
            let ratio = case.measurements.write_cliff?.ratio;
            let text =
                format!("Sequential writes dropped for good: they were {} as fast before.", times(ratio));
            Some((ratio, text))
        })
        .hint(Hint::thorough_writing("Write more in one run")),
        // A cache fills after the same bytes again, or after fewer if it was not empty. A drop that comes
        // much later belongs to the addresses.
        measured("cliff_repeats", 3.0, -3.0, 0.4, |case| {
            let drop = case.measurements.write_cliff?;
            let again = drop.again_at_bytes?.divide_by(drop.at_bytes);
            let alike = if again.value > 1.0 { again.inverse() } else { again };
            Some((
                alike,
                format!("After idle time, writes dropped again after {} of the bytes.", share(again)),
            ))
        })
        .hint(Hint::thorough_writing("Leave the drive idle and write as much again")),
        cache_trimmed(5.0),
        measured("rewritten_faster", -6.0, 0.0, REWRITTEN_FASTER, |case| {
            case.measurements.write_cliff?;
            rewritten_faster(case.measurements.rewritten_over_first?)
        }),
        cliff_at_half_rate(3.0, -5.0),
        measured("slower_when_warm", -2.0, 0.0, 1.3, |case| {
            let ratio = case.measurements.rested_over_loaded?;
            let times = times(ratio);
            let text = if ratio.value < NO_DIFFERENCE {
                format!("Reads did not slow down: after idle time they are {times} as fast.")
            } else {
                format!("Reads slowed down, too: after idle time they are {times} as fast.")
            };
            Some((ratio, text))
        }),
        measured("cliff_beyond_normal", -6.0, 1.0, 1.3, |case| {
            let ratio = case.beyond_normal(Indicator::WriteCliff).filter(|_| !case.normal.is_empty())?;
            Some((ratio, format!("The drop is {} that of a healthy drive of this kind.", times(ratio))))
        }),
        // Memory that survives a power loss need not be flushed, so the flush shows nothing of it.
        fact("protected_memory", -8.0, 0.0, |case| {
            let bottom = case.facts?.stack.iter().find(|layer| layer.on.is_empty())?;
            only_if(
                bottom.write_cache.value()? == "write through" && !case.is_disk(),
                "The kernel reports no volatile write cache, so a cache of protected memory may have filled up instead.",
            )
        }),
        hard_disk(-8.0, 1.0),
        virtual_disk(-3.0),
    ],
    actions: |_| {
        vec![
            Action::new(
                "leave_as_is",
                "Leave it: the cache empties when idle, and only very large copies fill it",
            ),
            Action::new(
                "keep_free_space",
                "Keep part of the drive free, as many of these caches grow with free space",
            ),
        ]
    },
    costs: &[("keep_free_space", "space")],
    ..Cause::BLANK
};
