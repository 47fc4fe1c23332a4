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
const STEPS: [FixStep; 7] = [
    FixStep { kind: ActionKind::Fstrim, causes: &["no_trim", "nearly_full"] },
    FixStep { kind: ActionKind::DiscardFree, causes: &["no_trim", "nearly_full"] },
    FixStep { kind: ActionKind::Refresh, causes: &["old_data"] },
    FixStep { kind: ActionKind::OverwriteFree, causes: &["no_trim"] },
    FixStep { kind: ActionKind::Discard, causes: &["no_trim", "nearly_full", "old_data"] },
    FixStep { kind: ActionKind::Overwrite, causes: &["no_trim", "old_data"] },
    FixStep { kind: ActionKind::NvmeFormat, causes: &["no_trim", "nearly_full", "old_data"] },
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

/// The steps that fix a cause and are possible on this target, the gentlest first. A step that erases is
/// included if nothing gentler is possible, but not if a gentler one only has to wait.
pub(crate) fn steps(case: &Case<'_>, cause: &str) -> Vec<Action> {
    // The owner has to agree to losses on a device; the command asks for that.
    let possible =
        helping_steps(case, cause).into_iter().filter(|step| !matches!(step.possibility, Possibility::No(_)));
    let (lossy, gentle): (Vec<_>, Vec<_>) = possible.partition(|step| step.kind.destroys());
    let chosen = if gentle.is_empty() && blocked_steps(case, cause).is_empty() { lossy } else { gentle };
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
    let action = Action::new(id, wording::step_why(kind)).command(command).loses(wording::step_loses(kind));
    let bytes = match kind {
        ActionKind::OverwriteFree => site.free_bytes,
        ActionKind::Overwrite => {
            Some(site.used_bytes + site.free_bytes.unwrap_or(0)).filter(|bytes| *bytes > 0)
        }
        _ => None,
    };
    let Some(bytes) = bytes.map(|bytes| bytes.saturating_mul(OVERWRITE_PASSES)) else { return action };
    let rate = [Metric::SustainedWrite, Metric::SequentialWrite]
        .into_iter()
        .find_map(|metric| case.measurements.metric(metric));
    match rate {
        Some(rate) => action.bytes_written(bytes).time(Nanos::from_secs_f64(bytes as f64 / rate.value)),
        None => action.bytes_written(bytes),
    }
}
