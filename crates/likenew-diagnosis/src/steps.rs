//! The steps of `likenew recondition` as actions: what each does, its command for one target, and why it is not
//! possible there.

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Action, Loss};
use likenew_core::fix::ActionKind;
use likenew_core::shell::shell_quote;
use likenew_core::units::Nanos;

use crate::{Case, Measurements, Metric, Possibility, Site};

/// Fewest passes of a step that overwrites: it ends once another pass changes nothing.
const OVERWRITE_PASSES: u64 = 2;

/// A step of `likenew recondition`.
struct Step {
    kind: ActionKind,
    name: &'static str,
    /// Its effect, as an imperative without a full stop.
    why: &'static str,
    loses: Loss,
    /// What it costs, for a table.
    cost: &'static str,
}

/// All steps, the gentlest first.
const STEPS: [Step; 8] = [
    Step {
        kind: ActionKind::Fstrim,
        name: "trim",
        why: "Send TRIM for all free space, then leave the drive idle for ten minutes",
        loses: Loss::DeletedFiles,
        cost: "seconds",
    },
    Step {
        kind: ActionKind::DiscardFree,
        name: "discard-unused",
        why: "Send TRIM for unpartitioned space",
        loses: Loss::DeletedFiles,
        cost: "seconds",
    },
    Step {
        kind: ActionKind::Refresh,
        name: "refresh",
        why: "Rewrite slow data in place",
        loses: Loss::Nothing,
        cost: "one write of each slow byte",
    },
    Step {
        kind: ActionKind::OverwriteFree,
        name: "overwrite",
        why: "Overwrite free space until another pass changes nothing",
        loses: Loss::DeletedFiles,
        cost: "several writes of all free space",
    },
    Step {
        kind: ActionKind::Rewrite,
        name: "rewrite",
        why: "Rewrite all data in place",
        loses: Loss::Nothing,
        cost: "one write of all data, two at most",
    },
    Step {
        kind: ActionKind::Discard,
        name: "discard",
        why: "Erase the whole drive with TRIM",
        loses: Loss::Everything,
        cost: "seconds, and restoring your data",
    },
    Step {
        kind: ActionKind::Overwrite,
        name: "overwrite-all",
        why: "Overwrite the whole drive until another pass changes nothing",
        loses: Loss::Everything,
        cost: "several writes of the whole drive, and restoring your data",
    },
    Step {
        kind: ActionKind::NvmeFormat,
        name: "format",
        why: "Have the drive format itself",
        loses: Loss::Everything,
        cost: "minutes, and restoring your data",
    },
];

impl Step {
    fn find(kind: ActionKind) -> &'static Self {
        STEPS.iter().find(|step| step.kind == kind).expect("only steps of recondition fix a cause")
    }

    /// The id of its action.
    fn id(&self) -> String {
        format!("recondition_{}", self.name.replace('-', "_"))
    }
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

/// The step of an action, if it is one.
pub fn step_kind(action: &Action) -> Option<ActionKind> {
    STEPS.iter().find(|step| step.id() == action.id).map(|step| step.kind)
}

/// What a step costs, by its action.
pub(crate) fn step_cost(action: &Action) -> Option<&'static str> {
    STEPS.iter().find(|step| step.id() == action.id).map(|step| step.cost)
}

/// The steps that fix a cause and are possible on this target, the gentlest first. `rewrite` is among them only if nothing
/// gentler is possible, and erasing only if `rewrite` is not. Neither is included if a gentler step only has to wait.
pub(crate) fn steps(case: &Case<'_>, fixed_by: &[ActionKind]) -> Vec<Action> {
    let Some(site) = &case.site else { return Vec::new() };
    // The owner has to agree to losses on a device; the command asks for that.
    let is_possible = |kind: &ActionKind| !matches!(site.possibility(*kind), Possibility::No(_));
    let (lossy, keeping): (Vec<_>, Vec<_>) =
        kinds(site, fixed_by).filter(is_possible).partition(|kind| kind.destroys());
    let (rewrites, gentle): (Vec<_>, Vec<_>) =
        keeping.into_iter().partition(|kind| *kind == ActionKind::Rewrite);
    let blocked = blocked_steps(case, fixed_by);
    let waits = blocked.iter().any(|step| step.kind != ActionKind::Rewrite);
    let chosen = match (gentle.is_empty(), waits, rewrites.is_empty()) {
        (false, ..) => gentle,
        (true, true, _) => Vec::new(),
        (true, false, false) => rewrites,
        (true, false, true) if blocked.is_empty() => lossy,
        (true, false, true) => Vec::new(),
    };
    chosen.into_iter().map(|kind| step_action(case.measurements, site, kind)).collect()
}

/// The gentle steps that would fix a cause and that only the drive's state prevents.
pub(crate) fn blocked_steps(case: &Case<'_>, fixed_by: &[ActionKind]) -> Vec<BlockedStep> {
    let Some(site) = &case.site else { return Vec::new() };
    let calm = Site { feasibility: None, ..*site };
    let blocked = |kind: ActionKind| match (calm.possibility(kind), site.possibility(kind)) {
        (Possibility::Yes, Possibility::No(reason)) => {
            Some(BlockedStep { kind, why: Step::find(kind).why, reason })
        }
        _ => None,
    };
    kinds(site, fixed_by).filter(|kind| !kind.destroys()).filter_map(blocked).collect()
}

fn kinds(site: &Site<'_>, fixed_by: &[ActionKind]) -> impl Iterator<Item = ActionKind> {
    let is_nvme = site.is_nvme() == Some(true);
    fixed_by.iter().copied().filter(move |kind| match kind {
        ActionKind::DiscardFree => false,
        ActionKind::NvmeFormat => is_nvme,
        _ => true,
    })
}

/// A step as an action on a target, with its time as far as speeds are known.
pub fn step_action(measurements: &Measurements, site: &Site<'_>, kind: ActionKind) -> Action {
    let step = Step::find(kind);
    // File system commands need root.
    let rights = match site.facts.and_then(|facts| facts.machine.root.get()) {
        Some(false) if site.kind != TargetKind::Simulated && kind != ActionKind::OverwriteFree => "sudo ",
        _ => "",
    };
    let command = format!("{rights}likenew recondition {} --step {}", shell_quote(site.target), step.name);
    let bytes = match kind {
        ActionKind::OverwriteFree => site.free_bytes.map(|bytes| bytes.saturating_mul(OVERWRITE_PASSES)),
        ActionKind::Overwrite => Some(site.used_bytes + site.free_bytes.unwrap_or(0))
            .filter(|bytes| *bytes > 0)
            .map(|bytes| bytes.saturating_mul(OVERWRITE_PASSES)),
        ActionKind::Rewrite => bytes_in_use(site),
        _ => None,
    };
    let wear = bytes.filter(|_| kind == ActionKind::Rewrite).and_then(|bytes| wear_percent(site, bytes));
    let why = match wear {
        Some(percent) => {
            let percent = if percent < 0.1 { "under 0.1".to_owned() } else { format!("{percent:.1}") };
            format!("Rewrite all data in place (uses {percent}% of the rated endurance)")
        }
        None => step.why.to_owned(),
    };
    let action = Action::new(step.id(), why).command(command).loses(step.loses);
    let Some(bytes) = bytes else { return action };
    match time(measurements, kind, bytes) {
        Some(time) => action.bytes_written(bytes).time(time),
        None => action.bytes_written(bytes),
    }
}

/// How long a step takes to write `bytes` at the speed of now, though it becomes faster meanwhile.
fn time(measurements: &Measurements, kind: ActionKind, bytes: u64) -> Option<Nanos> {
    let first_of = |metrics: [Metric; 2]| {
        metrics.into_iter().find_map(|metric| measurements.metric(metric)).map(|rate| rate.value)
    };
    let write = bytes as f64 / first_of([Metric::SustainedWrite, Metric::SequentialWrite])?;
    // Rewritten data is read before, and read back after.
    let read = match kind {
        ActionKind::Rewrite => 2.0 * bytes as f64 / measurements.metric(Metric::SequentialRead)?.value,
        _ => 0.0,
    };
    Some(Nanos::from_secs_f64(write + read))
}

/// Bytes that hold data; in a folder, what its file system has in use.
fn bytes_in_use(site: &Site<'_>) -> Option<u64> {
    let bytes = match site.kind {
        TargetKind::Folder => site.facts?.file_system.as_ref()?.used_bytes.get()?,
        _ => site.used_bytes,
    };
    (bytes > 0).then_some(bytes)
}

/// Percent of the rated endurance that `bytes` use up, in proportion to all bytes written so far. `None` if
/// the drive does not report both, or reports less than 1%, because it counts whole percents.
pub fn wear_percent(site: &Site<'_>, bytes: u64) -> Option<f64> {
    let [drive] = site.facts?.drives.as_slice() else { return None };
    // A disk of a volume is written less than the volume.
    let drive = Some(drive).filter(|drive| !drive.is_volume())?;
    let used = drive.health.used_percent.get().filter(|percent| *percent >= 1.0)?;
    let written = drive.counts.lifetime_bytes_written.get().filter(|written| *written > 0)?;
    Some(used * bytes as f64 / written as f64)
}
