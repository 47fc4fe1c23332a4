//! The steps of `likenew recondition` as cures: what each helps against, and its command for one target.

use likenew_core::drive::Kind;
use likenew_core::outlook::Deed;

use crate::causes::quoted;
use crate::{Case, Cure, Possibility, Risk, Site};

/// A step, as cures name it.
struct Step {
    deed: Deed,
    /// As typed after `--rung`.
    name: &'static str,
    /// Causes that it helps against, by their names in JSON.
    helps: &'static [&'static str],
    /// What it does, as an instruction; what it destroys is a part of it.
    what: &'static str,
    cost: &'static str,
}

/// All of them, the gentlest first.
const STEPS: [Step; 7] = [
    Step {
        deed: Deed::Fstrim,
        name: "trim",
        helps: &["no_trim", "nearly_full"],
        what: "run TRIM over all that is free, then leave the drive idle for ten minutes",
        cost: "seconds; what was deleted can not be recovered any more",
    },
    Step {
        deed: Deed::DiscardFree,
        name: "discard-unused",
        helps: &["no_trim", "nearly_full"],
        what: "run TRIM over what no partition covers; what may lie there is lost",
        cost: "seconds",
    },
    Step {
        deed: Deed::Refresh,
        name: "refresh",
        helps: &["old_data"],
        what: "rewrite what is read slowly, where it lies",
        cost: "one write of each byte that is slow",
    },
    Step {
        deed: Deed::OverwriteFree,
        name: "overwrite",
        helps: &["no_trim"],
        what: "write over what is free until another pass changes nothing",
        cost: "some writes of all that is free; what was deleted can not be recovered any more",
    },
    Step {
        deed: Deed::Discard,
        name: "discard",
        helps: &["no_trim", "nearly_full", "old_data"],
        what: "erase all of it by TRIM: everything on it is lost",
        cost: "seconds, and restoring your data",
    },
    Step {
        deed: Deed::Overwrite,
        name: "overwrite-all",
        helps: &["no_trim", "old_data"],
        what: "write over all of it until another pass changes nothing: everything on it is lost",
        cost: "some writes of the whole drive, and restoring your data",
    },
    Step {
        deed: Deed::NvmeFormat,
        name: "format",
        helps: &["no_trim", "nearly_full", "old_data"],
        what: "have the drive format itself: everything on it is lost",
        cost: "minutes, and restoring your data",
    },
];

/// The causes that a step helps against, by their names in JSON.
pub fn helps(deed: Deed) -> &'static [&'static str] {
    STEPS.iter().find(|step| step.deed == deed).map_or(&[], |step| step.helps)
}

impl Step {
    fn cure(&self, site: &Site<'_>) -> Cure {
        let target = quoted(site.target);
        // What is done to a file system needs the rights of root.
        let rights = match site.facts.and_then(|facts| facts.machine.root.get()) {
            Some(false) if site.kind != Kind::Simulated && self.deed != Deed::OverwriteFree => "sudo ",
            _ => "",
        };
        Cure {
            what: self.what.to_owned(),
            command: Some(format!("{rights}likenew recondition {target} --rung {}", self.name)),
            undo: None,
            risk: if self.deed.destroys() || self.deed == Deed::DiscardFree { Risk::Data } else { Risk::Low },
            cost: self.cost,
            check: "likenew check again",
            deed: Some(self.deed),
        }
    }
}

/// The steps that help against a cause and are possible on this target, the gentlest first. What only its owner knows to be of no use is
/// left to its owner, and what destroys is named where nothing gentler is possible: not where that only has to wait.
pub(crate) fn steps(case: &Case<'_>, cause: &str) -> Vec<Cure> {
    let Some(site) = &case.site else { return Vec::new() };
    // What a device loses its owner has to agree to, which the command asks for.
    let possible =
        helpful(site, cause).filter(|step| !matches!(site.possibility(step.deed), Possibility::No(_)));
    let (lossy, gentle): (Vec<&Step>, Vec<&Step>) = possible.partition(|step| step.deed.destroys());
    let waits = hindered(case, cause);
    let chosen = if gentle.is_empty() && waits.is_empty() { lossy } else { gentle };
    chosen.into_iter().map(|step| step.cure(site)).collect()
}

/// The gentle steps that would help against a cause and are only forbidden by the state of the drive, each with why.
pub(crate) fn hindered(case: &Case<'_>, cause: &str) -> Vec<String> {
    let Some(site) = &case.site else { return Vec::new() };
    let calm = Site { outlook: None, ..*site };
    let gentle = helpful(site, cause).filter(|step| !step.deed.destroys());
    let told = |step: &Step| match (calm.possibility(step.deed), site.possibility(step.deed)) {
        (Possibility::Yes, Possibility::No(why)) => Some(format!("{} ({why})", step.what)),
        _ => None,
    };
    gentle.filter_map(told).collect()
}

fn helpful<'a>(site: &'a Site<'_>, cause: &'a str) -> impl Iterator<Item = &'static Step> + 'a {
    let helpful = STEPS.iter().filter(move |step| step.helps.contains(&cause));
    helpful.filter(|step| match step.deed {
        Deed::DiscardFree => false,
        Deed::NvmeFormat => site.is_nvme() == Some(true),
        _ => true,
    })
}
