//! A drive or link that sleeps between I/Os.

use likenew_core::answer::Action;

use crate::{Case, Cause, CauseDescriptor, Hint, Kind, LogOdds, Metric, Symptom, wording};

use super::commands::keep_awake_commands;

/// Power saving costs time.
pub(super) struct PowerSaving;

const DESCRIPTOR: CauseDescriptor = CauseDescriptor {
    name: "power_saving",
    title: wording::power_saving::TITLE,
    summary: wording::power_saving::SUMMARY,
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
            wording::power_saving::pauses_cost,
            wording::power_saving::READ_WITH_PAUSES,
        );
        let power = case.drive().map(|drive| &drive.power);
        let wakes = power.and_then(|power| power.wake_us_max.get()).map(|us| us > 0);
        let policy = |text: &String| text.contains("power") || text.contains("dipm");
        let policies =
            power.and_then(|power| power.aspm_policy.value().or(power.link_policy.value()).map(policy));
        log_odds.add_fact(
            "sleeps",
            wakes.or(policies),
            wording::power_saving::sleeps,
            wording::power_saving::SHOW_POLICIES,
        );
        let shown = case.virtual_by().map(|_| true);
        log_odds.add_fact("virtual", shown, |_| wording::power_saving::virtual_disk(), Hint::NONE);
        log_odds
    }

    fn actions(&self, case: &Case<'_>) -> Vec<Action> {
        let awake: Vec<Action> =
            keep_awake_commands(case).into_iter().map(|(action, command)| command.add_to(action)).collect();
        if awake.is_empty() { vec![wording::power_saving::turn_off()] } else { awake }
    }
}
