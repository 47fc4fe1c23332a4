//! A drive with hardly any free space.

use super::shared::*;

/// Percent of space in use: TechPowerUp measures at 85%, and write amplification doubles between 80 and 90%
/// by theory (X.-Y. Hu et al., SYSTOR 2009).
const FULL_PERCENT: f64 = 92.0;

pub(super) static CAUSE: Cause = Cause {
    name: "nearly_full",
    title: "nearly full",
    summary: "the drive is nearly full, so garbage collection has little free space to work with",
    manual: include_str!("nearly_full.md"),
    kind: CauseKind::NotTheDrive,
    prior: -2.0,
    explains: &[&[RewrittenFaster, WriteCliff, Stalls], SLOW_WRITES],
    evidence: &[
        fact("full", 5.0, -6.0, |case| {
            let percent = case.facts?.file_system.as_ref()?.used_percent.get()?;
            Some((percent > FULL_PERCENT, format!("The file system is {} full.", Share(percent / 100.0))))
        })
        .hint(SHOW_FILL),
        hard_disk(-4.0, 0.5),
        virtual_disk(-4.0),
    ],
    fixed_by: &[ActionKind::Fstrim, ActionKind::DiscardFree, ActionKind::Discard, ActionKind::NvmeFormat],
    actions: |case| {
        let free = Action::new(
            "free_space",
            "Free about 20% of the drive: delete or move files, then send TRIM (fstrim)",
        );
        let gentle = steps(case, CAUSE.fixed_by).into_iter().filter(|action| action.loses < Loss::Everything);
        std::iter::once(free).chain(gentle).collect()
    },
    costs: &[("free_space", "what you delete")],
    ..Cause::BLANK
};
