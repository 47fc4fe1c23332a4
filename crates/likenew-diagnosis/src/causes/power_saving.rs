//! A drive or link that sleeps between I/Os.

use crate::{Card, Case, Cause, Cure, Figure, Hint, Kind, Risk, Scales, Symptom};

use super::commands::awake;
use super::{setting, times};

/// Saving power costs time.
pub(super) struct PowerSaving;

const CARD: Card = Card {
    name: "power_saving",
    because: "it falls asleep between I/Os and takes time to wake",
    kind: Kind::NotTheDrive,
    endangers: false,
    explains: &[
        Symptom::PausesCost,
        Symptom::Below(Figure::ReadAnywhere),
        Symptom::Below(Figure::WriteAnywhere),
    ],
    manual: include_str!("power_saving.md"),
};

impl Cause for PowerSaving {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn weigh(&self, case: &Case<'_>) -> Scales {
        let mut scales = Scales::of(CARD.name);
        scales.sign(
            "pauses_cost",
            case.signs.paused_over_busy,
            1.5,
            |ratio| format!("after a pause a read takes {} as long", times(ratio)),
            "read after pauses and without",
        );
        let power = case.drive().map(|drive| &drive.power);
        let wakes = power.and_then(|power| power.wake_us_max.get()).map(|us| us > 0);
        let policy = |text: &String| text.contains("power") || text.contains("dipm");
        let policies =
            power.and_then(|power| power.aspm_policy.value().or(power.link_policy.value()).map(policy));
        scales.fact(
            "sleeps",
            wakes.or(policies),
            |is| if is { "it is set to save power".into() } else { "it is set not to save power".into() },
            Hint::of_facts("look at its policies"),
        );
        let shown = case.virtual_by().map(|_| true);
        scales.fact(
            "virtual",
            shown,
            |_| "a hypervisor or a cloud shows it, whose machine may have slept".into(),
            "",
        );
        scales
    }

    fn cures(&self, case: &Case<'_>) -> Vec<Cure> {
        let leave = Cure {
            what: "leave it, unless each small read counts: under load nothing sleeps".into(),
            command: None,
            undo: None,
            risk: Risk::None,
            cost: "nothing",
            check: "likenew check again",
            deed: None,
        };
        let awake = awake(case).into_iter();
        let cures = awake.map(|(what, command)| setting(what, command, Risk::Low, "battery and heat"));
        std::iter::once(leave).chain(cures).collect()
    }
}
