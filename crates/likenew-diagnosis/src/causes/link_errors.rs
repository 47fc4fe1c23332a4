//! A cable or contact that corrupts transfers.

use super::shared::*;

/// CRC errors up to this number come from plugging the drive in.
const CRC_SOME: u64 = 10;

pub(super) static CAUSE: Cause = Cause {
    name: "link_errors",
    title: "link errors",
    summary: "the link corrupts transfers, which have to be repeated",
    manual: include_str!("link_errors.md"),
    kind: CauseKind::NotTheDrive,
    endangers: true,
    prior: -2.0,
    explains: &[&[Stalls, SlowRegions, NewDataFaster, Uneven, Errors], SLOW],
    evidence: &[
        link_errors_during_check(6.0, -2.5)
            .hint(Hint::root("Count link errors during a check, which needs root"))
            .in_group("crc"),
        fact("crc_before", 2.0, -0.5, |case| {
            let count = case.drive()?.counts.crc_errors.get()?;
            let transfers = Number(count as f64);
            let text =
                format!("The drive has counted {transfers} transfers with a wrong checksum in its life.");
            Some((count > CRC_SOME, text))
        })
        .in_group("crc"),
    ],
    actions: |case| {
        let action = Action::new("change_cable", "Reseat or replace the cable, or use another port");
        unless_virtual(case, [action])
    },
    costs: &[("change_cable", "a cable")],
    ..Cause::BLANK
};
