//! A drive that throttles itself against heat.

use super::shared::*;

/// Degrees below a drive's warning temperature at which it may throttle. Chosen: drives start some degrees
/// below.
const MARGIN_C: f64 = 5.0;

/// Rate at the beginning of a load over that of the rest, as a ratio, from which it began with a burst. Chosen: above the scatter.
const BURST: f64 = 1.3;

pub(super) static CAUSE: Cause = Cause {
    name: "heat",
    title: "thermal throttling",
    summary: "the drive is too hot and throttles itself",
    manual: include_str!("heat.md"),
    kind: CauseKind::NotTheDrive,
    endangers: true,
    prior: -1.5,
    explains: &[&[SlowsUnderLoad, WriteCliff, Stalls, Uneven], SLOW],
    evidence: &[
        slower_when_warm(3.5, -3.0).hint(Hint::thorough("Load it for a minute, and again after idle time")),
        // A drive that is too hot becomes slow step by step; one rate after a burst is a limit that somebody set.
        fact("one_rate", -4.0, 0.0, |case| {
            only_if(
                case.measurements.load_burst_over_flat?.value >= BURST,
                "After the first seconds, sequential reads run at one rate to within 3%.",
            )
        }),
        throttle_count(8.0, -1.0).in_group("temperature"),
        fact("near_limit", 2.5, -2.0, |case| {
            let health = &case.drive()?.health;
            either(
                health.temperature_warning_c.get()? - health.temperature_c.get()? < MARGIN_C,
                "It is about as hot as its warning temperature.",
                "It is well below its warning temperature.",
            )
        })
        .hint(READ_THROTTLING)
        .in_group("temperature"),
        cliff_at_half_rate(-4.0, 3.0),
        virtual_disk(-5.0),
    ],
    actions: |_| {
        vec![Action::new(
            "improve_cooling",
            "Cool it: more airflow, a heat sink, or an enclosure that conducts heat",
        )]
    },
    costs: &[("improve_cooling", "little")],
    ..Cause::BLANK
};
