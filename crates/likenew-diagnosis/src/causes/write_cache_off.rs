//! A drive without a write cache.

use super::shared::*;

/// Time of a 4K random write over that of a read above which nothing caches it. Chosen: an arm has to move for each.
const CACHED: f64 = 0.3;

pub(super) static CAUSE: Cause = Cause {
    name: "write_cache_off",
    title: "write cache off",
    summary: "the write cache is off, so each write waits for the medium",
    manual: include_str!("write_cache_off.md"),
    kind: Kind::NotTheDrive,
    prior: -1.5,
    explains: &[&[Below(Metric::RandomWrite), Below(Metric::SequentialWrite), Below(Metric::SustainedWrite)]],
    evidence: &[
        fact("write_through", 3.0, -7.0, |case| {
            let cache = case.facts?.stack.iter().rev().find_map(|layer| layer.write_cache.value())?;
            either(
                cache == "write through",
                "The kernel reports no write cache, or that it is off.",
                "Its write cache is on.",
            )
        })
        .hint(Hint::facts("See whether its write cache is on")),
        small_writes("cached_writes", 3.0, -3.0, CACHED),
        measured("writes_below", -4.0, 2.0, 0.7, |case| {
            let below = case.is_below(Metric::RandomWrite)?;
            Some((below, format!("4K random writes reach {} of their reference.", share(below))))
        })
        .hint(Hint::here("Give its rated IOPS with --advertised random_write=IOPS")),
        other_io(-4.0),
        virtual_disk(-5.0),
    ],
    actions: |case| {
        let action = Action::new(
            "enable_write_cache",
            "Turn its write cache on; without a battery, a power failure then loses the last writes",
        );
        vec![match commands(case) {
            Some([does, undoes]) => action.command(does).undo(undoes),
            None => action,
        }]
    },
    ..Cause::BLANK
};

/// Switches the write cache of the drive on, and off again; `None` where no command does.
fn commands(case: &Case<'_>) -> Option<[String; 2]> {
    let device = device(case);
    Some(match case.drive().map(|drive| drive.kind) {
        // Feature 06h, Volatile Write Cache (NVMe base specification).
        Some(DriveKind::Nvme) => {
            [1, 0].map(|value| format!("nvme set-feature {device} --feature-id=6 --value={value}"))
        }
        Some(DriveKind::Scsi) => [1, 0].map(|value| format!("sdparm --set=WCE={value} --save {device}")),
        Some(DriveKind::Virtual | DriveKind::Memory | DriveKind::Network | DriveKind::Card) => return None,
        _ => [1, 0].map(|value| format!("hdparm -W{value} {device}")),
    })
}
