//! Firmware that is known to be faulty.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "firmware",
    title: "faulty firmware",
    summary: "this firmware version is known to be faulty",
    manual: include_str!("firmware.md"),
    kind: CauseKind::Drive,
    endangers: true,
    prior: -2.5,
    explains: &[&[NewDataFaster, Stalls, SlowRegions, Uneven, Errors], SLOW],
    evidence: &[fact("known_bug", 6.0, -3.0, |case| {
        if let Some(fault) = case.firmware_fault {
            return Some((true, format!("{fault}.")));
        }
        let warning = case.drive()?.database.warning.value()?;
        let text = match warning {
            Some(text) => format!("The smartmontools database warns: {}.", text.trim_end_matches('.')),
            None => "The smartmontools database has no warning for it.".into(),
        };
        Some((warning.is_some(), text))
    })
    .hint(Hint::machine("Install smartmontools, whose database lists faulty firmware"))],
    actions: |_| {
        let text = "Back up, then update the firmware with fwupd or the manufacturer's tool";
        vec![Action::new("update_firmware", text).command("fwupdmgr get-updates")]
    },
    costs: &[("update_firmware", "minutes")],
    ..Cause::BLANK
};
