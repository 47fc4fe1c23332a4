//! Data whose pages are scattered over all erase blocks, each of which holds both current and outdated ones.

use super::shared::*;

/// Share of a file system in use, in percent, from which TRIM has hardly anything left to free. Chosen: the
/// same as of a drive that is nearly full.
const IN_USE_PERCENT: f64 = 90.0;
/// Speed of a second sequential pass over that of the end of the first, from which the first one paid for
/// garbage collection. Chosen: the smallest drop that counts as a write cliff.
const FASTER: f64 = 1.3;

/// Share of its reference from which a speed is as when new. Chosen: the scatter of a check.
const AS_NEW: f64 = 0.9;

/// Writes over reads, each as a share of its reference, below which hardly anything but garbage collection
/// explains it. Chosen: misaligned writes still reach half.
const FAR_BELOW: f64 = 0.35;

/// Sequential over random reads, each as a share of its reference, below which only sequential reads are
/// slow. Chosen: the scatter of two speeds of a check.
const IN_ORDER_BELOW: f64 = 0.8;

/// The slowest random reads as a share of what the drive could do, if they are as fast as when new.
fn random_reads_as_new(case: &Case<'_>) -> Option<Measured> {
    slowest(case, &[Metric::RandomRead, Metric::RandomReadQd32]).filter(|share| share.value >= AS_NEW)
}

/// Whether sequential reads read old data, and no link holds them back. In a folder they read what was just written.
fn reads_old_data(case: &Case<'_>) -> bool {
    !case.site.is_some_and(|site| site.kind == drive::TargetKind::Folder) && !case.reads_fill_link()
}

/// Whether all writes are as fast as when new: then they say nothing of garbage collection, however scattered the data is.
fn writes_as_new(case: &Case<'_>) -> bool {
    slowest(case, &WRITES).is_some_and(|share| share.value >= AS_NEW)
}

/// Whether nothing but sequential reads is slower than when new.
fn reads_alone(case: &Case<'_>) -> bool {
    writes_as_new(case) && slowest(case, &[Metric::SequentialRead]).is_some_and(|share| share.value < AS_NEW)
}

pub(super) static CAUSE: Cause = Cause {
    name: "scattered_data",
    title: "scattered data",
    summary: "data is scattered over all erase blocks, so garbage collection copies it before every write",
    manual: include_str!("scattered_data.md"),
    kind: CauseKind::Drive,
    prior: -1.5,
    explains: &[&[RewrittenFaster, WriteCliff], SLOW_WRITES, &[Below(Metric::SequentialRead), Stalls]],
    // Data written in small pieces lies on some dies more than on others, which slows sequential reads but
    // not random ones.
    explains_here: |case, symptom| {
        symptom != Below(Metric::SequentialRead)
            || random_reads_as_new(case).is_some() && reads_old_data(case)
    },
    evidence: &[
        measured("rewritten_faster", 4.0, -3.0, FASTER, |case| {
            rewritten_faster(case.measurements.rewritten_over_first.filter(|_| !writes_as_new(case))?)
        })
        .hint_if(|case| !writes_as_new(case), WRITE_TWICE),
        measured("trim_helps", -3.0, 1.0, FASTER, |case| {
            trim_helps(case.measurements.trimmed_over_rested.filter(|_| !writes_as_new(case))?)
        })
        .hint_if(|case| !writes_as_new(case), TRIM_AND_WRITE),
        // Data sheets rate sequential and random reads by other tests than these.
        measured("reads_in_order_below", 0.0, 4.5, IN_ORDER_BELOW, |case| {
            let (in_order, reference) = case.shortfall(Metric::SequentialRead)?;
            let did_so = matches!(reference.origin, Origin::Baseline | Origin::Simulated);
            (did_so && reads_old_data(case)).then_some(())?;
            let ratio = in_order.divide_by(random_reads_as_new(case)?);
            let text = format!(
                "Against their references, sequential reads reach {} of the share that random reads reach.",
                share(ratio)
            );
            Some((ratio, text))
        }),
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
        // A drive whose writes are too slow is not written twice.
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
    // Freeing blocks restores writes. No step has been seen to restore reads alone.
    fixed_here: Some(|case| if reads_alone(case) { &[] } else { CAUSE.fixed_by }),
    actions: |case| steps(case, CAUSE.fixed_here(case)),
    statement: Some(|case| {
        let effect = if reads_alone(case) {
            "data scattered over the dies, so sequential reads wait for the busiest of them"
        } else {
            "data scattered over all erase blocks, so garbage collection copies it before every write"
        };
        effect.into()
    }),
    ..Cause::BLANK
};
