//! One step: something that may restore a drive, its cost and what it loses.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::facts::Facts;
use likenew_core::fix::{Feasibility, FixEnd, FixReport};
use likenew_core::probe::ProbeResult;
use likenew_core::procedure::{Evidence, Step};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_diagnosis::{Metric, Site};

use super::recondition_options::ReconditionOptions;
use super::step_name::StepName;
use super::wording;
use crate::site::{free_space, site, used_space};

/// Overwriting less free space than this, in bytes, gains nothing (assumed, as in the diagnosis).
const OVERWRITTEN_LEAST: u64 = 64 << 20;

/// A step. It has no state: what to do next follows from what it has done.
pub(super) trait ReconditionStep: Sync {
    /// Why it runs only if named, if there is a reason: a clause without a full stop.
    fn caveat(&self, _context: &StepContext<'_>) -> Option<String> {
        None
    }

    /// Most bytes that it writes, as far as known beforehand.
    fn bytes(&self, context: &StepContext<'_>) -> Option<u64>;

    /// What it writes if one round is enough, where that is less than `bytes` and known.
    fn bytes_least(&self, _context: &StepContext<'_>) -> Option<u64> {
        None
    }

    /// Its next action after what it has `done`; `None` at its end.
    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step>;
}

/// The state that a step works on.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub(super) options: &'a ReconditionOptions,
    /// All evidence.
    pub(super) evidence: &'a Evidence,
    /// The latest facts of the system.
    pub(super) facts: Option<&'a Facts>,
    /// The latest feasibility: what prevents each step.
    pub(super) feasibility: Option<&'a Feasibility>,
    /// Latest rate of sequential reads of fresh data, in bytes a second.
    pub(super) fresh_bytes_per_s: Option<f64>,
    /// Latest latency of small reads of fresh data at QD1, in nanoseconds.
    pub(super) fresh_small_ns: Option<f64>,
    /// How fast sustained writes should be, in bytes a second, where that is known.
    pub(super) sustained_goal_bytes_per_s: Option<f64>,
    /// Which writes were slow in the latest check.
    pub(super) slow_writes: SlowWrites,
    /// What the checks have shown by writing places again.
    pub(super) trial: Trial,
}

/// What writing places again showed: a trial that needs neither a cause nor a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trial {
    /// Nothing was written again, or too little to tell.
    Unknown,
    /// Places are not faster written again.
    NoGain,
    /// Places became faster by it, up to this speed, and others are not that fast yet.
    Gain { bytes_per_s: f64 },
}

/// Which writes are slower than they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SlowWrites {
    /// None, as far as is known.
    None,
    /// 4K random writes alone, so that sequential writes do not show what a step gains.
    SmallOnly,
    /// Sequential or sustained writes.
    Sequential,
}

impl SlowWrites {
    pub(super) fn from_metrics(metrics: &[Metric]) -> Self {
        match metrics {
            [] => Self::None,
            [Metric::RandomWrite] => Self::SmallOnly,
            _ => Self::Sequential,
        }
    }
}

impl StepContext<'_> {
    /// How fast writes can become by what the trial showed, in bytes a second.
    pub(super) fn rewritten_bytes_per_s(&self) -> Option<f64> {
        match self.trial {
            Trial::Gain { bytes_per_s } => Some(bytes_per_s),
            Trial::Unknown | Trial::NoGain => None,
        }
    }

    /// Why a step cannot run here, from the kind of target or the state of the drive; `None` if it can.
    pub(super) fn obstacle(&self, name: StepName) -> Option<String> {
        // A folder without room is not opened for writing, and none is in a dry run; giving a folder would not help.
        if self.is_folder() && name == StepName::Overwrite && !self.evidence.geometry.writable {
            if self.options.overwrite_max.is_none_or(|most| most < OVERWRITTEN_LEAST) {
                return Some(wording::folder_is_full());
            }
            if !self.options.dry_run {
                return Some(wording::folder_is_read_only());
            }
        }
        // The facts of a simulated drive may be hidden; what it is made of is not. Virtual drives claim to rotate as their host likes.
        if name == StepName::Rewrite && self.is_simulated() && self.evidence.identity.rotates() {
            return Some(wording::hard_disk_gains_nothing());
        }
        self.site().possibility(name.action()).obstacle()
    }

    /// The site that a step would be applied to.
    pub(super) fn site(&self) -> Site<'_> {
        site(self.evidence, self.options.free, self.facts, self.feasibility)
    }

    pub(super) fn is_folder(&self) -> bool {
        self.evidence.identity.kind == Kind::Folder
    }

    /// Whether nothing is done, and nobody knows what would be found.
    pub(super) fn is_dry_run(&self) -> bool {
        self.evidence.segments.iter().any(Segment::is_dry_run)
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.evidence.identity.kind == Kind::Simulated
    }

    /// Space without files of the owner, in whole MiB; in a folder, that of the temporary files.
    pub(super) fn free(&self) -> Option<Range<u64>> {
        free_space(self.evidence, self.options.free)
    }

    /// The share of its rated endurance that a drive has used up, if that is all of it.
    pub(super) fn worn_out(&self) -> Option<f64> {
        let [drive] = self.facts?.drives.as_slice() else { return None };
        drive.health.used_percent.get().map(|percent| percent / 100.0).filter(|used| *used >= 1.0)
    }

    /// Space that may hold files of the owner, on a target other than a folder.
    pub(super) fn in_use(&self) -> Range<u64> {
        used_space(self.evidence, self.options.free)
    }

    /// The hypervisor or cloud that provides the drive, if any.
    pub(super) fn virtual_by(&self) -> Option<&str> {
        match self.facts?.drives.as_slice() {
            [drive] => drive.identity.virtual_by.value()?.as_deref(),
            _ => None,
        }
    }
}

/// Idle time after a step.
pub(super) fn idle(context: &StepContext<'_>, done: &Evidence, step: StepName) -> Option<Step> {
    let name = step.step("idle");
    let was_idle = done.segments.iter().any(|segment| segment.workload.name == name);
    let idle = Workload::rest(context.options.idle);
    (!was_idle && context.options.idle > Nanos::ZERO).then_some(Step::Run(Workload { name, ..idle }))
}

/// Results of its completed probes; an interrupted one runs again.
pub(super) fn ends(done: &Evidence) -> impl Iterator<Item = &ProbeResult> {
    let is_stopped = |result: &ProbeResult| matches!(result, ProbeResult::FixReport(report) if report.end == FixEnd::Stopped);
    done.observations.iter().map(|observation| &observation.result).filter(move |result| !is_stopped(result))
}

/// Number of its completed probes.
pub(super) fn probe_count(done: &Evidence) -> usize {
    ends(done).count()
}

/// Whether its fix was applied.
pub(super) fn was_fixed(done: &Evidence) -> bool {
    done.observations.iter().any(|observation| matches!(observation.result, ProbeResult::FixReport(_)))
}

/// The reports of its fixes.
pub(super) fn fix_reports(done: &Evidence) -> impl Iterator<Item = &FixReport> {
    done.observations.iter().filter_map(|observation| match &observation.result {
        ProbeResult::FixReport(report) => Some(report),
        _ => None,
    })
}
