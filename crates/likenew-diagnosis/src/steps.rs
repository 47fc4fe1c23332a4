//! The steps of `likenew recondition` as cures: what each helps against, and its command for one target.

use likenew_core::drive::Kind;
use likenew_core::feasibility::ActionKind;

use crate::causes::shell_quote;
use crate::{Case, Fix, Possibility, Risk, Site};

/// A step, as cures name it.
struct FixStep {
    action: ActionKind,
    /// As typed after `--step`.
    name: &'static str,
    /// Causes that it helps against, by their names in JSON.
    causes_fixed_by: &'static [&'static str],
    /// What it does, as an instruction; what it destroys is a part of it.
    description: &'static str,
    cost: &'static str,
}

/// All of them, the gentlest first.
const STEPS: [FixStep; 7] = [
    FixStep {
        action: ActionKind::Fstrim,
        name: "trim",
        causes_fixed_by: &["no_trim", "nearly_full"],
        description: "run TRIM over all that is free, then leave the drive idle for ten minutes",
        cost: "seconds; what was deleted can not be recovered any more",
    },
    FixStep {
        action: ActionKind::DiscardFree,
        name: "discard-unused",
        causes_fixed_by: &["no_trim", "nearly_full"],
        description: "run TRIM over what no partition covers; what may lie there is lost",
        cost: "seconds",
    },
    FixStep {
        action: ActionKind::Refresh,
        name: "refresh",
        causes_fixed_by: &["old_data"],
        description: "rewrite what is read slowly, where it lies",
        cost: "one write of each byte that is slow",
    },
    FixStep {
        action: ActionKind::OverwriteFree,
        name: "overwrite",
        causes_fixed_by: &["no_trim"],
        description: "write over what is free until another pass changes nothing",
        cost: "some writes of all that is free; what was deleted can not be recovered any more",
    },
    FixStep {
        action: ActionKind::Discard,
        name: "discard",
        causes_fixed_by: &["no_trim", "nearly_full", "old_data"],
        description: "erase all of it by TRIM: everything on it is lost",
        cost: "seconds, and restoring your data",
    },
    FixStep {
        action: ActionKind::Overwrite,
        name: "overwrite-all",
        causes_fixed_by: &["no_trim", "old_data"],
        description: "write over all of it until another pass changes nothing: everything on it is lost",
        cost: "some writes of the whole drive, and restoring your data",
    },
    FixStep {
        action: ActionKind::NvmeFormat,
        name: "format",
        causes_fixed_by: &["no_trim", "nearly_full", "old_data"],
        description: "have the drive format itself: everything on it is lost",
        cost: "minutes, and restoring your data",
    },
];

/// The causes that a step helps against, by their names in JSON.
pub fn causes_fixed_by(action: ActionKind) -> &'static [&'static str] {
    STEPS.iter().find(|step| step.action == action).map_or(&[], |step| step.causes_fixed_by)
}

impl FixStep {
    fn fix(&self, site: &Site<'_>) -> Fix {
        let target = shell_quote(site.target);
        // What is done to a file system needs the rights of root.
        let rights = match site.facts.and_then(|facts| facts.machine.root.get()) {
            Some(false) if site.kind != Kind::Simulated && self.action != ActionKind::OverwriteFree => {
                "sudo "
            }
            _ => "",
        };
        Fix {
            description: self.description.to_owned(),
            command: Some(format!("{rights}likenew recondition {target} --step {}", self.name)),
            undo: None,
            risk: if self.action.destroys() || self.action == ActionKind::DiscardFree {
                Risk::Data
            } else {
                Risk::Low
            },
            cost: self.cost,
            check: "likenew check again",
            action: Some(self.action),
        }
    }
}

/// The steps that help against a cause and are possible on this target, the gentlest first. What only its owner knows to be of no use is
/// left to its owner, and what destroys is named where nothing gentler is possible: not where that only has to wait.
pub(crate) fn steps(case: &Case<'_>, cause: &str) -> Vec<Fix> {
    let Some(site) = &case.site else { return Vec::new() };
    // What a device loses its owner has to agree to, which the command asks for.
    let possible = helping_steps(site, cause)
        .filter(|step| !matches!(site.possibility(step.action), Possibility::No(_)));
    let (lossy, gentle): (Vec<&FixStep>, Vec<&FixStep>) = possible.partition(|step| step.action.destroys());
    let waits = obstacles(case, cause);
    let chosen = if gentle.is_empty() && waits.is_empty() { lossy } else { gentle };
    chosen.into_iter().map(|step| step.fix(site)).collect()
}

/// The gentle steps that would help against a cause and are only forbidden by the state of the drive, each with why.
pub(crate) fn obstacles(case: &Case<'_>, cause: &str) -> Vec<String> {
    let Some(site) = &case.site else { return Vec::new() };
    let calm = Site { feasibility: None, ..*site };
    let gentle = helping_steps(site, cause).filter(|step| !step.action.destroys());
    let text = |step: &FixStep| match (calm.possibility(step.action), site.possibility(step.action)) {
        (Possibility::Yes, Possibility::No(reason)) => Some(format!("{} ({reason})", step.description)),
        _ => None,
    };
    gentle.filter_map(text).collect()
}

fn helping_steps<'a>(site: &'a Site<'_>, cause: &'a str) -> impl Iterator<Item = &'static FixStep> + 'a {
    let helpful = STEPS.iter().filter(move |step| step.causes_fixed_by.contains(&cause));
    helpful.filter(|step| match step.action {
        ActionKind::DiscardFree => false,
        ActionKind::NvmeFormat => site.is_nvme() == Some(true),
        _ => true,
    })
}
