//! Flash at the end of its life.

use super::shared::*;

/// Percent of the rated endurance from which a drive is worn. Chosen: a tenth is left.
const WORN_PERCENT: f64 = 90.0;

/// Percent of the rated endurance from which on reads may need retries. Chosen: the simulator's flash does then.
const HALF_PERCENT: f64 = 50.0;

pub(super) static CAUSE: Cause = Cause {
    name: "worn_out",
    title: "worn-out flash",
    summary: "the flash is worn out",
    manual: include_str!("worn_out.md"),
    kind: CauseKind::Drive,
    endangers: true,
    prior: -2.0,
    explains: &[&[SlowRegions, Stalls, Errors], SLOW],
    // Slowness alone does not show wear: failed I/Os or health data have to.
    explains_here: |case, _| {
        let shows_wear = |health: &Health| {
            health.used_percent.get().is_some_and(|used| used >= HALF_PERCENT)
                || health.failing.get() == Some(true)
                || spare(health).is_some_and(|(left, least)| left <= least)
        };
        case.measurements.errors > 0 || case.drive().is_some_and(|drive| shows_wear(&drive.health))
    },
    evidence: &[
        fact("endurance_used", 6.0, -4.0, |case| endurance_used(case, WORN_PERCENT))
            .hint(Hint::root("Read its health data, which needs root"))
            .in_group("wear"),
        fact("endurance_half_used", 2.0, 0.0, |case| endurance_used(case, HALF_PERCENT)).in_group("wear"),
        // Retries take time in reads of all data, new data included, and none in writes.
        measured("reads_below_writes", 3.0, -0.5, READS_BELOW, |case| {
            writes_against_reads(writes_over_reads(case)?)
        }),
        measured("new_data_faster", -2.0, 0.5, 1.3, |case| {
            new_data_faster(case.measurements.new_over_old_data?)
        }),
        fact("spare_low", 5.0, -0.5, |case| {
            let (left, least) = spare(&case.drive()?.health)?;
            let text =
                format!("{} reports {} of its spare flash left.", reporter(case)?, Share(left / 100.0));
            Some((left <= least, text))
        })
        .in_group("wear"),
        fact("failing", 3.0, -0.2, |case| {
            let (is_failing, reporter) = (case.drive()?.health.failing.get()?, reporter(case)?);
            let verb = if is_failing { "reports" } else { "does not report" };
            Some((is_failing, format!("{reporter} {verb} that it is failing.")))
        })
        .in_group("wear"),
        other_io(-2.0).in_group("disturbance"),
        link_errors_during_check(-3.0, 0.0).in_group("disturbance"),
        hard_disk(-6.0, 0.0),
        // Encryption slows down reads, too, and writes less, as a cache takes them.
        encrypted(-1.5, 0.0),
        virtual_disk(-5.0),
    ],
    actions: |_| vec![Action::new("copy_and_replace", "Back up now, then replace the drive")],
    costs: &[("copy_and_replace", "a drive")],
    statement: Some(|case| match used_percent(case) {
        Some(percent) if percent >= 100.0 => "the flash has used up its rated endurance".into(),
        Some(percent) if percent >= WORN_PERCENT => {
            let used = Share(percent / 100.0);
            format!("the flash is near the end of its rated endurance ({used} used)")
        }
        _ => CAUSE.summary.to_owned(),
    }),
    ..Cause::BLANK
};

/// The subject of known wear and health: the drive, or one disk of a volume.
fn reporter(case: &Case<'_>) -> Option<String> {
    let drive = case.drive()?;
    Some(if drive.is_volume() { drive.health_subject() } else { "The drive".to_owned() })
}

fn used_percent(case: &Case<'_>) -> Option<f64> {
    case.drive()?.health.used_percent.get()
}

fn endurance_used(case: &Case<'_>, least_percent: f64) -> Option<(bool, String)> {
    let used = used_percent(case)?;
    let text = format!("{} reports {} of its endurance used.", reporter(case)?, Share(used / 100.0));
    Some((used >= least_percent, text))
}

/// Percent of the spare blocks that is left, and the percent below which a drive counts as worn.
fn spare(health: &Health) -> Option<(f64, f64)> {
    Some((health.spare_percent.get()?, health.spare_threshold_percent.get().unwrap_or(10.0)))
}
