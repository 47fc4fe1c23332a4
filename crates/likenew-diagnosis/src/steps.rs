//! The steps of `likenew recondition` as actions: the causes that each fixes, its command for one target, and
//! why it is not possible there.

use likenew_core::answer::Action;
use likenew_core::drive::Kind;
use likenew_core::feasibility::ActionKind;
use likenew_core::shell::shell_quote;
use likenew_core::units::Nanos;

use crate::{Case, Metric, Possibility, Site, wording};

/// Fewest passes of a step that overwrites: it ends once another pass changes nothing.
const OVERWRITE_PASSES: u64 = 2;

/// The causes that a step fixes.
struct FixStep {
    kind: ActionKind,
    /// Names of causes.
    causes: &'static [&'static str],
}

/// All steps, the gentlest first.
const STEPS: [FixStep; 8] = [
    FixStep { kind: ActionKind::Fstrim, causes: &["no_trim", "scattered_data", "nearly_full"] },
    FixStep { kind: ActionKind::DiscardFree, causes: &["no_trim", "scattered_data", "nearly_full"] },
    FixStep { kind: ActionKind::Refresh, causes: &["old_data"] },
    FixStep { kind: ActionKind::OverwriteFree, causes: &["no_trim", "scattered_data"] },
    FixStep { kind: ActionKind::Rewrite, causes: &["no_trim", "scattered_data"] },
    FixStep { kind: ActionKind::Discard, causes: &["no_trim", "scattered_data", "nearly_full", "old_data"] },
    FixStep { kind: ActionKind::Overwrite, causes: &["no_trim", "scattered_data", "old_data"] },
    FixStep {
        kind: ActionKind::NvmeFormat,
        causes: &["no_trim", "scattered_data", "nearly_full", "old_data"],
    },
];

/// A step that fixes a cause, on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct HelpingStep {
    /// The step.
    pub kind: ActionKind,
    /// Its action, with the command for this target.
    pub action: Action,
    /// Whether it is possible there, and if not, why.
    pub possibility: Possibility,
}

/// A step that would help and is not possible now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockedStep {
    /// The step.
    pub kind: ActionKind,
    /// Its effect, as an imperative without a full stop.
    pub why: &'static str,
    /// Why it is not possible: a clause without a full stop.
    pub reason: String,
}

/// The causes that a step fixes, by their names in JSON.
pub fn causes_fixed_by(kind: ActionKind) -> &'static [&'static str] {
    STEPS.iter().find(|step| step.kind == kind).map_or(&[], |step| step.causes)
}

/// The id of the action for a step of `likenew recondition`; `None` for other actions.
pub fn step_action_id(kind: ActionKind) -> Option<String> {
    wording::step_name(kind).map(|name| format!("recondition_{}", name.replace('-', "_")))
}

/// The step of an action, if it is one.
pub fn step_kind(action: &Action) -> Option<ActionKind> {
    ActionKind::ALL.into_iter().find(|kind| step_action_id(*kind).as_deref() == Some(&action.id))
}

/// Every step that fixes a cause, possible here or not, the gentlest first; empty if nothing is known of the
/// target.
pub fn helping_steps(case: &Case<'_>, cause: &str) -> Vec<HelpingStep> {
    let Some(site) = &case.site else { return Vec::new() };
    let of = |kind| HelpingStep {
        kind,
        action: step_action(case, site, kind),
        possibility: site.possibility(kind),
    };
    kinds(site, cause).map(of).collect()
}

/// The steps that fix a cause and are possible on this target, the gentlest first. Rewriting everything is included if nothing
/// gentler is possible, a step that erases if that is not possible either, and neither if a gentler one only has to wait.
pub(crate) fn steps(case: &Case<'_>, cause: &str) -> Vec<Action> {
    // The owner has to agree to losses on a device; the command asks for that.
    let possible =
        helping_steps(case, cause).into_iter().filter(|step| !matches!(step.possibility, Possibility::No(_)));
    let (lossy, keeping): (Vec<_>, Vec<_>) = possible.partition(|step| step.kind.destroys());
    let (all, gentle): (Vec<_>, Vec<_>) =
        keeping.into_iter().partition(|step| step.kind == ActionKind::Rewrite);
    let waits = blocked_steps(case, cause).iter().any(|step| step.kind != ActionKind::Rewrite);
    let chosen = match (gentle.is_empty(), waits, all.is_empty()) {
        (false, ..) => gentle,
        (true, true, _) => Vec::new(),
        (true, false, false) => all,
        (true, false, true) if blocked_steps(case, cause).is_empty() => lossy,
        (true, false, true) => Vec::new(),
    };
    chosen.into_iter().map(|step| step.action).collect()
}

/// The gentle steps that would fix a cause and that only the drive's state prevents.
pub(crate) fn blocked_steps(case: &Case<'_>, cause: &str) -> Vec<BlockedStep> {
    let Some(site) = &case.site else { return Vec::new() };
    let calm = Site { feasibility: None, ..*site };
    let blocked = |kind: ActionKind| match (calm.possibility(kind), site.possibility(kind)) {
        (Possibility::Yes, Possibility::No(reason)) => {
            Some(BlockedStep { kind, why: wording::step_why(kind), reason })
        }
        _ => None,
    };
    kinds(site, cause).filter(|kind| !kind.destroys()).filter_map(blocked).collect()
}

fn kinds<'a>(site: &'a Site<'_>, cause: &'a str) -> impl Iterator<Item = ActionKind> + 'a {
    let helpful = STEPS.iter().filter(move |step| step.causes.contains(&cause)).map(|step| step.kind);
    helpful.filter(|kind| match kind {
        ActionKind::DiscardFree => false,
        ActionKind::NvmeFormat => site.is_nvme() == Some(true),
        _ => true,
    })
}

fn step_action(case: &Case<'_>, site: &Site<'_>, kind: ActionKind) -> Action {
    let name = wording::step_name(kind).expect("only steps of recondition are in the list");
    let id = step_action_id(kind).expect("only steps of recondition are in the list");
    // File system commands need root.
    let rights = match site.facts.and_then(|facts| facts.machine.root.get()) {
        Some(false) if site.kind != Kind::Simulated && kind != ActionKind::OverwriteFree => "sudo ",
        _ => "",
    };
    let command = format!("{rights}likenew recondition {} --step {name}", shell_quote(site.target));
    let bytes = match kind {
        ActionKind::OverwriteFree => site.free_bytes.map(|bytes| bytes.saturating_mul(OVERWRITE_PASSES)),
        ActionKind::Overwrite => Some(site.used_bytes + site.free_bytes.unwrap_or(0))
            .filter(|bytes| *bytes > 0)
            .map(|bytes| bytes.saturating_mul(OVERWRITE_PASSES)),
        ActionKind::Rewrite => bytes_in_use(site),
        _ => None,
    };
    let why = match bytes.filter(|_| kind == ActionKind::Rewrite).and_then(|bytes| wear_percent(site, bytes))
    {
        Some(percent) => wording::rewrite_with_wear(percent),
        None => wording::step_why(kind).to_owned(),
    };
    let action = Action::new(id, why).command(command).loses(wording::step_loses(kind));
    let Some(bytes) = bytes else { return action };
    match time(case, kind, bytes) {
        Some(time) => action.bytes_written(bytes).time(time),
        None => action.bytes_written(bytes),
    }
}

/// How long a step takes that writes so many bytes, at the speed of now; it becomes faster meanwhile.
fn time(case: &Case<'_>, kind: ActionKind, bytes: u64) -> Option<Nanos> {
    let first_of = |metrics: [Metric; 2]| {
        metrics.into_iter().find_map(|metric| case.measurements.metric(metric)).map(|rate| rate.value)
    };
    let write = bytes as f64 / first_of([Metric::SustainedWrite, Metric::SequentialWrite])?;
    // What is rewritten is read before, and read back after.
    let read = match kind {
        ActionKind::Rewrite => 2.0 * bytes as f64 / case.measurements.metric(Metric::SequentialRead)?.value,
        _ => 0.0,
    };
    Some(Nanos::from_secs_f64(write + read))
}

/// What holds data: of a folder, what its file system has in use.
fn bytes_in_use(site: &Site<'_>) -> Option<u64> {
    let bytes = match site.kind {
        Kind::Folder => site.facts?.file_system.as_ref()?.used_bytes.get()?,
        _ => site.used_bytes,
    };
    (bytes > 0).then_some(bytes)
}

/// The share of the rated endurance that so many bytes use up, by what the drive says that all bytes so far have used; none where it
/// does not say both, or less than a percent, which it counts in whole ones.
fn wear_percent(site: &Site<'_>, bytes: u64) -> Option<f64> {
    let [drive] = site.facts?.drives.as_slice() else { return None };
    let used = drive.health.used_percent.get().filter(|percent| *percent >= 1.0)?;
    let written = drive.counts.lifetime_bytes_written.get().filter(|written| *written > 0)?;
    Some(used * bytes as f64 / written as f64)
}
