//! Charge that has leaked since data was written.

use super::shared::*;

/// Age in seconds from which retries begin on the worst drives (Samsung 840 EVO: six to eight weeks, PC
/// Perspective 2015).
const MONTH_S: u64 = 30 * 24 * 3600;

/// Age in seconds below which no case has ever been reported.
const WEEK_S: u64 = 7 * 24 * 3600;

pub(super) static CAUSE: Cause = Cause {
    name: "old_data",
    title: "old data slow to read",
    summary: "data written long ago takes several read retries",
    manual: include_str!("old_data.md"),
    kind: CauseKind::Drive,
    prior: -0.5,
    explains: &[&[NewDataFaster, SlowRegions], SLOW_READS],
    evidence: &[
        measured("new_data_faster", 5.0, -5.0, 1.5, |case| {
            let indicators = [Indicator::NewOverOldData, Indicator::NewOverOldDataRandom];
            let ratios = indicators.into_iter().filter_map(|indicator| case.beyond_normal(indicator));
            new_data_faster(ratios.max_by(|one, other| one.value.total_cmp(&other.value))?)
        })
        .hint(WRITE_AND_READ_BACK),
        repeat_read_faster(-4.0, 1.0),
        other_io(-3.0),
        measured("faster_than_link", -4.0, 0.0, 1.05, |case| {
            let ratio = case.fastest_over_link()?;
            Some((
                ratio,
                format!("Some reads reach {} the link's limit, so a cache served them.", times(ratio)),
            ))
        }),
        fact("older_than_a_month", 1.5, -1.0, |case| {
            either(
                age_s(case)? > MONTH_S,
                "At least one file in ten is a month old or older.",
                "Hardly any file is a month old.",
            )
        })
        .hint(Hint::facts("See how old the files are"))
        .in_group("age"),
        fact("written_this_week", -4.0, 0.0, |case| {
            only_if(age_s(case)? < WEEK_S, "Nearly all files were written within the last week.")
        })
        .in_group("age"),
        hard_disk(-6.0, 0.5),
        virtual_disk(-6.0),
    ],
    fixed_by: &[ActionKind::Refresh, ActionKind::Discard, ActionKind::Overwrite, ActionKind::NvmeFormat],
    actions: |case| {
        let update = Action::new(
            "update_firmware_for_old_data",
            "Update the firmware, if the manufacturer lists a fix for slow reads of old data",
        );
        std::iter::once(update).chain(steps(case, CAUSE.fixed_by)).collect()
    },
    costs: &[("update_firmware_for_old_data", "minutes; not every drive has an update")],
    ..Cause::BLANK
};

/// Age of the oldest tenth of the files.
fn age_s(case: &Case<'_>) -> Option<u64> {
    case.facts?.files.as_ref()?.inode_age_s_p90.get()
}
