//! Memory that serves reads in place of the drive.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "read_cache",
    title: "cached reads",
    summary: "a cache served these reads; they don't measure the drive",
    manual: include_str!("read_cache.md"),
    kind: CauseKind::NotTheDrive,
    prior: -0.5,
    explains: &[&[FasterThanLink, RepeatReadFaster, NewDataFaster, SlowOverWideSpan, SlowsUnderLoad, Uneven]],
    evidence: &[
        counted_reads(-0.5, 5.0).hint(Hint::machine("Compare the drive's counters with what was read")),
        measured("faster_than_link", 6.0, -1.0, 1.05, |case| {
            let ratio = case.fastest_over_link()?;
            Some((ratio, format!("Some sequential reads reach {} the link's limit.", times(ratio))))
        }),
        // A snapshot that is fetched on first access makes first reads slow, a cache only second ones fast.
        measured("repeat_read_faster", 5.0, -0.5, 2.0, |case| {
            let is_fast = case.reads_at_full_speed() == Some(true);
            let ratio = case.measurements.repeat_over_first.filter(|_| is_fast)?;
            let times = times(ratio);
            let text = format!(
                "Read again, the same addresses are {times} as fast, and the first reads are not slow."
            );
            Some((ratio, text))
        }),
        other_io(-1.0).in_group("disturbance"),
        link_errors_during_check(-4.0, 0.0).in_group("disturbance"),
    ],
    actions: |_| {
        vec![Action::new(
            "bypass_cache",
            "Read more than the cache holds, or turn off the host's cache of this disk",
        )]
    },
    ..Cause::BLANK
};
