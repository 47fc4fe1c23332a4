//! A disk whose tracks overlap.

use super::shared::*;

/// Latency of a write over that of a read, as a ratio, below which no arm has moved, even in the best order.
/// Chosen: well below an ordered queue.
const AT_ONCE: f64 = 0.08;

/// Latency of a write over that of a read, as a ratio, above which no seek explains it. Chosen: without a cache a write
/// waits for a seek and half a revolution, as a read does, and a whole revolution more if it is verified.
const BEYOND_SEEK: f64 = 4.0;

pub(super) static CAUSE: Cause = Cause {
    name: "shingled",
    title: "shingled disk (SMR)",
    summary: "the disk is shingled (SMR), so random writes end in rewriting whole zones",
    manual: include_str!("shingled.md"),
    kind: CauseKind::ByDesign,
    prior: -2.0,
    explains: &[&[
        WriteCliff,
        Stalls,
        Below(Metric::RandomWrite),
        Below(Metric::SequentialWrite),
        Below(Metric::SustainedWrite),
    ]],
    evidence: &[
        hard_disk(2.0, -8.0),
        virtual_disk(-6.0),
        // A database without this entry says nothing.
        fact("database", 6.0, 0.0, |case| {
            only_if(
                case.drive()?.database.shingled.get()?,
                "The smartmontools database lists this family as shingled.",
            )
        })
        .hint(Hint::machine("Install smartmontools, whose database lists shingled disks")),
        fact("knows_trim", 3.0, -0.5, |case| {
            either(
                case.drive()?.identity.knows_trim.get()?,
                "It is a hard disk that supports TRIM, as shingled disks do.",
                "It does not support TRIM.",
            )
        }),
        measured("write_cliff", 3.0, -1.5, 3.0, |case| {
            let ratio = case.measurements.write_cliff?.ratio;
            let times = times(ratio);
            Some((ratio, format!("Writes dropped after some bytes: they were {times} as fast before.")))
        })
        .hint(Hint::thorough_writing("Write at random for longer")),
        // A shingled disk writes random data to one place at first, without moving the arm.
        small_writes("cached_writes", -1.0, 4.0, AT_ONCE),
        small_writes("writes_beyond_seek", 6.0, 0.0, BEYOND_SEEK),
    ],
    actions: |_| {
        vec![
            Action::new(
                "give_idle_time",
                "Give it idle time between writes, in which it empties its buffer zone",
            ),
            Action::new("use_other_disk", "Use another disk for arrays and for random writes"),
        ]
    },
    costs: &[("give_idle_time", "hours after long writes"), ("use_other_disk", "a disk")],
    ..Cause::BLANK
};
