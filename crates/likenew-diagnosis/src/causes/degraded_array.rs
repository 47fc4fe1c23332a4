//! An array that is degraded or busy.

use super::shared::*;

pub(super) static CAUSE: Cause = Cause {
    name: "degraded_array",
    title: "degraded or busy array",
    summary: "the array is degraded, rebuilding or being checked",
    manual: include_str!("degraded_array.md"),
    kind: CauseKind::NotTheDrive,
    endangers: true,
    prior: -2.0,
    explains: &[&[BackgroundIo, Stalls, SlowRegions, SlowWhenAligned, Uneven], SLOW],
    evidence: &[fact("array_degraded", 7.0, -7.0, |case| {
        let arrays: Vec<&Layer> = case.facts?.layers_of(LayerKind::Array).collect();
        let misses = arrays.iter().any(|array| array.members_missing.get().is_some_and(|count| count > 0));
        let text = match (misses, case.array_is_busy()) {
            (true, _) => "An array has a missing member.",
            (false, true) => "An array is rebuilding, checking or reshaping.",
            (false, false) if arrays.is_empty() => "There is no array below it.",
            (false, false) => "Every array is complete and idle.",
        };
        Some((misses || case.array_is_busy(), text.into()))
    })
    .hint(SHOW_LAYERS)],
    actions: |case| {
        let watch = Action::new(
            "watch_array",
            "See what the array is doing; replace a missing member, or let the rebuild finish",
        );
        pause_check(case).into_iter().chain([watch.command("cat /proc/mdstat")]).collect()
    },
    costs: &[("pause_array_check", "a later check"), ("watch_array", "hours")],
    ..Cause::BLANK
};

/// Stops the check of an array; a rebuild is left alone.
fn pause_check(case: &Case<'_>) -> Option<Action> {
    let is_check = |doing: &str| matches!(doing, "check" | "repair");
    let mut arrays = case.facts?.layers_of(LayerKind::Array);
    let (name, doing) = arrays.find_map(|layer| {
        let doing = layer.busy_with.value().filter(|doing| is_check(doing))?;
        Some((shell_quote(&layer.name), doing))
    })?;
    let file = format!("/sys/block/{name}/md/sync_action");
    let action = Action::new("pause_array_check", "Pause the array's check while the array is in use");
    Some(action.command(format!("echo idle > {file}")).undo(format!("echo {doing} > {file}")))
}
