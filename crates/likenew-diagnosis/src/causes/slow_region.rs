//! Regions of a disk that take many read retries.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "slow_region",
    title: "failing surface",
    summary: "some regions take many read retries: the surface is failing there",
    manual: include_str!("slow_region.md"),
    kind: CauseKind::Drive,
    endangers: true,
    prior: -1.0,
    explains: &[&[SlowRegions, Stalls, Uneven, Errors, NewDataFaster], SLOW_READS],
    evidence: &[
        hard_disk(2.0, -4.0),
        measured("slow_regions", 3.0, -4.0, 1.5, |case| {
            let ratio = case.beyond_normal(Indicator::MedianOverSlowest)?;
            Some((ratio, format!("The slowest regions take {} as long as the others.", times(ratio))))
        })
        .hint(Hint::surface("Read more regions")),
        repeat_read_faster(-4.0, 1.5),
        fact("pending_sectors", 4.0, -2.0, |case| {
            either(
                case.drive()?.health.pending_sectors.get()? > 0,
                "The drive has pending sectors (SMART 197).",
                "The drive has no pending sectors (SMART 197).",
            )
        })
        .hint(Hint::root("Read its SMART data, which needs root"))
        .in_group("defects"),
        fact("reallocated_sectors", 1.5, -0.5, |case| {
            either(
                case.drive()?.counts.reallocated_sectors.get()? > 0,
                "The drive has reallocated sectors (SMART 5).",
                "The drive has no reallocated sectors (SMART 5).",
            )
        })
        .in_group("defects"),
        fact("errors", 2.0, -0.5, |case| {
            let text = match case.measurements.errors {
                0 => "No I/O failed.".into(),
                count => format!("{} I/Os failed.", Number(count as f64)),
            };
            Some((case.measurements.errors > 0, text))
        })
        .in_group("defects"),
    ],
    actions: |case| {
        let copy =
            Action::new("copy_data", "Back up now with ddrescue, which copies the readable regions first");
        let command = format!("ddrescue -n {} /ELSEWHERE/drive.img /ELSEWHERE/drive.map", device(case));
        vec![copy.command(command), Action::new("replace_drive", "Replace the drive")]
    },
    costs: &[("copy_data", "the time of a copy"), ("replace_drive", "a drive")],
    ..Cause::BLANK
};
