//! A drive or link that sleeps between I/Os.

use super::shared::*;
use crate::settings::{Change, power_saving};

pub(super) static CAUSE: Cause = Cause {
    name: "power_saving",
    title: "power saving",
    summary: "the drive or its link sleeps between I/Os and takes time to wake",
    manual: include_str!("power_saving.md"),
    kind: CauseKind::NotTheDrive,
    prior: -0.5,
    explains: &[&[SlowAfterIdle, Below(Metric::RandomRead), Below(Metric::RandomWrite)]],
    evidence: &[
        measured("pauses_cost", 4.0, -5.0, 1.5, |case| {
            let ratio = case.measurements.idle_over_busy?;
            Some((ratio, format!("A read after a pause takes {} as long.", times(ratio))))
        })
        .hint(Hint::thorough("Compare reads after pauses with reads without")),
        fact("sleeps", 1.5, -2.0, |case| {
            let power = &case.drive()?.power;
            let policy = || power.aspm_policy.value().or(power.link_policy.value());
            let saves = |policy: &String| policy.contains("power") || policy.contains("dipm");
            let wakes = power.wake_us_max.get().map(|us| us > 0);
            either(
                wakes.or_else(|| policy().map(saves))?,
                "It is set to save power.",
                "It is set not to save power.",
            )
        })
        .hint(Hint::facts("Look at its power settings")),
        fact("virtual", -4.0, 0.0, |case| {
            only_if(case.virtual_by().is_some(), "This is a virtual disk, whose host may have slept.")
        }),
    ],
    actions: |case| {
        let awake = case.drive().map(power_saving).unwrap_or_default();
        if !awake.is_empty() {
            return awake.iter().flat_map(Change::actions).collect();
        }
        let turn_off = Action::new(
            "turn_off_power_saving",
            "If single reads must be fast, turn off power saving of the drive and its link",
        );
        unless_virtual(case, [turn_off])
    },
    costs: &[
        ("turn_off_power_saving", COST),
        ("keep_drive_awake", COST),
        ("keep_link_awake", COST),
        ("keep_pcie_awake", COST),
        ("forbid_suspend", COST),
    ],
    ..Cause::BLANK
};

const COST: &str = "battery and heat";
