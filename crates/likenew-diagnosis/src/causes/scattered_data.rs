//! Data whose pages are scattered over all erase blocks, each of which holds both current and outdated ones.

use super::shared::*;

/// Share of a file system in use, in percent, from which hardly anything is left to trim. Chosen: the same as
/// of a drive that is nearly full.
const IN_USE_PERCENT: f64 = 90.0;
/// Speed of a second sequential pass over that of the end of the first, from which the first one paid for
/// garbage collection. Chosen: the smallest drop that counts as a write cliff.
const FASTER: f64 = 1.3;

/// Share of its reference from which a random read is as fast as when new. Chosen: the scatter of a check.
const AS_NEW: f64 = 0.9;

/// Writes over reads, each as a share of its reference, that little but garbage collection leaves. Chosen: misaligned writes still reach
/// half.
const FAR_BELOW: f64 = 0.35;

pub(super) static CAUSE: Cause = Cause {
    name: "scattered_data",
    title: "scattered data",
    summary: "data is scattered over all erase blocks, so garbage collection copies it before every write",
    manual: include_str!("scattered_data.md"),
    kind: CauseKind::Drive,
    prior: -1.5,
    explains: &[&[RewrittenFaster, WriteCliff], SLOW_WRITES, &[Below(Metric::SequentialRead), Stalls]],
    // Data that was written in small pieces lies on some dies more than on others, which slows down sequential reads and no random
    // ones.
    explains_here: |case, symptom| {
        let reads = || [Metric::RandomRead, Metric::RandomReadQd32].map(|metric| case.shortfall(metric));
        symptom != Below(Metric::SequentialRead)
            || reads().iter().flatten().all(|(share, _)| share.value >= AS_NEW)
                && reads().iter().any(Option::is_some)
                && !case.reads_fill_link()
    },
    evidence: &[
        measured("rewritten_faster", 4.0, -3.0, FASTER, |case| {
            rewritten_faster(case.measurements.rewritten_over_first?)
        })
        .hint(WRITE_TWICE),
        measured("trim_helps", -3.0, 1.0, FASTER, |case| trim_helps(case.measurements.trimmed_over_rested?))
            .hint(TRIM_AND_WRITE),
        fact("trim_arrives", 0.5, -2.0, |case| {
            either(
                case.receives_trim()?,
                "TRIM is sent and reaches the drive, so it keeps no deleted data.",
                "TRIM does not reach the drive, so it may keep deleted data.",
            )
        })
        .hint(SHOW_TIMER),
        fact("nothing_free", 1.5, -0.5, |case| {
            either(
                case.facts?.file_system.as_ref()?.used_percent.get()? >= IN_USE_PERCENT,
                "Hardly anything is free that TRIM could release.",
                "There is free space.",
            )
        })
        .hint(SHOW_FILL)
        .in_group("room"),
        other_io(-4.0).in_group("disturbance"),
        link_errors_during_check(-3.0, 0.0).in_group("disturbance"),
        hard_disk(-8.0, 0.5),
        virtual_disk(-4.0),
        writes_below_reads(-0.5, 2.0),
        // Writes that are too slow to be written twice.
        measured("writes_far_below", 0.0, 1.7, FAR_BELOW, |case| {
            let is_written_once = case.measurements.rewritten_over_first.is_none();
            writes_against_reads(slowest_writes(case).filter(|_| is_written_once)?)
        })
        .in_group("room"),
        slower_when_warm(-3.0, 0.0),
        throttle_count(-4.0, 0.0),
    ],
    fixed_by: &[
        ActionKind::Fstrim,
        ActionKind::DiscardFree,
        ActionKind::OverwriteFree,
        ActionKind::Rewrite,
        ActionKind::Discard,
        ActionKind::Overwrite,
        ActionKind::NvmeFormat,
    ],
    actions: |case| steps(case, CAUSE.fixed_by),
    statement: Some(|_| {
        "data scattered over all erase blocks, so garbage collection copies it before every write".into()
    }),
    ..Cause::BLANK
};
