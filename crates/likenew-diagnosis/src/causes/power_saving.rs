//! A drive or link that sleeps between I/Os.

use crate::{Case, Cause, CauseDescriptor, Fix, Hint, Kind, LogOdds, Metric, Risk, Symptom};

use super::commands::keep_awake_commands;
use super::{scale_by, setting};

/// Saving power costs time.
pub(super) struct PowerSaving;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "power_saving",
    summary: "it falls asleep between I/Os and takes time to wake",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::SlowAfterIdle,
        Symptom::Below(Metric::RandomRead),
        Symptom::Below(Metric::RandomWrite),
    ],
    manual: include_str!("power_saving.md"),
};

impl Cause for PowerSaving {
    fn descriptor(&self) -> &'static CauseDescriptor {
        &DESCRIPTOR
    }

    fn score(&self, case: &Case<'_>) -> LogOdds {
        let mut log_odds = LogOdds::for_cause(DESCRIPTOR.name);
        log_odds.add_measured(
            "pauses_cost",
            case.measurements.idle_over_busy,
            1.5,
            |ratio| format!("after a pause a read takes {} as long", scale_by(ratio)),
            "read after pauses and without",
        );
        let power = case.drive().map(|drive| &drive.power);
        let wakes = power.and_then(|power| power.wake_us_max.get()).map(|us| us > 0);
        let policy = |text: &String| text.contains("power") || text.contains("dipm");
        let policies =
            power.and_then(|power| power.aspm_policy.value().or(power.link_policy.value()).map(policy));
        log_odds.add_fact(
            "sleeps",
            wakes.or(policies),
            |is| if is { "it is set to save power".into() } else { "it is set not to save power".into() },
            Hint::of_facts("look at its policies"),
        );
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact(
            "virtual",
            shown,
            |_| "a hypervisor or a cloud shows it, whose machine may have slept".into(),
            "",
        );
        log_odds
    }

    fn fixes(&self, case: &Case<'_>) -> Vec<Fix> {
        let leave = Fix {
            description: "leave it, unless each small read counts: under load nothing sleeps".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "likenew check again",
            action: None,
        };
        let awake = keep_awake_commands(case).into_iter();
        let fixes = awake.map(|(what, command)| setting(what, command, Risk::Low, "battery and heat"));
        std::iter::once(leave).chain(fixes).collect()
    }
}
