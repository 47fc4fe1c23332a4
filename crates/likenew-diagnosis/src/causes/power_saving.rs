//! A drive or link that sleeps between I/Os.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "power_saving",
    title: "power saving",
    summary: "the drive or its link sleeps between I/Os and takes time to wake",
    manual: include_str!("power_saving.md"),
    kind: Kind::NotTheDrive,
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
        let awake = case.drive().map(keep_awake).unwrap_or_default();
        if !awake.is_empty() {
            return awake;
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

/// Keeps the drive, its link and the kernel from power saving, as far as each supports it.
fn keep_awake(drive: &Drive) -> Vec<Action> {
    let (power, mut actions) = (&drive.power, Vec::new());
    if let Some(wake) = power.wake_us_max.get().filter(|wake| *wake > 0)
        && let Some(controller) = controller(drive)
    {
        // The latency tolerance of one controller; the module parameter is for controllers found later.
        let file = format!("/sys/class/nvme/{controller}/power/pm_qos_latency_tolerance_us");
        actions.push(
            Action::new("keep_drive_awake", "Keep the drive out of deep sleep until the next boot")
                .command(format!("echo 0 > {file}"))
                .undo(format!("echo {wake} > {file}")),
        );
    }
    let set = |action: Action, fact: &Fact<String>, best: &str, is_slow: fn(&str) -> bool| {
        let (value, file) = (fact.value()?, fact.origin()?);
        let (old, path) = (shell_quote(value), shell_quote(file));
        let action = action.command(format!("echo {best} > {path}")).undo(format!("echo {old} > {path}"));
        (file.starts_with("/sys/") && is_slow(value)).then_some(action)
    };
    let link = Action::new("keep_link_awake", "Keep its link awake until the next boot");
    let lanes = Action::new("keep_pcie_awake", "Keep all PCIe links awake until the next boot");
    let runtime = Action::new("forbid_suspend", "Stop the kernel from suspending it until the next boot");
    actions.extend(set(link, &power.link_policy, "max_performance", |policy| policy != "max_performance"));
    actions.extend(set(lanes, &power.aspm_policy, "performance", |policy| policy.contains("powersave")));
    actions.extend(set(runtime, &power.runtime, "on", |control| control == "auto"));
    actions
}

/// `nvme0` of `nvme0n1`. With several paths to one drive this is the name of its subsystem, and the
/// controller is unknown.
fn controller(drive: &Drive) -> Option<String> {
    let rest = drive.name.strip_prefix("nvme")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (!digits.is_empty()).then(|| format!("nvme{digits}"))
}
