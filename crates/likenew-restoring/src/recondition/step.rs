//! One step: something that may restore a drive, its cost, what it loses, and what it did.

use std::ops::Range;

use likenew_core::drive::Kind;
use likenew_core::facts::Facts;
use likenew_core::findings::Loss;
use likenew_core::fix::{ActionKind, Feasibility, Fix, FixEnd, FixReport};
use likenew_core::io::Op;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, PastSteps, Steps};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_diagnosis::{Metric, Site};
use serde::{Deserialize, Serialize};

use super::passes::Rewrite;
use super::passes::{Overwrite, OverwriteAll, WritePass};
use super::recondition_options::{Erase, ReconditionOptions};
use super::refresh::Refresh;
use super::wording::{self, RewriteEnd};
use crate::site::{free_space, site, used_space};

/// Overwriting less free space than this, in bytes, gains nothing (assumed, as in the diagnosis).
const OVERWRITTEN_LEAST: u64 = 64 << 20;

/// The steps, the gentlest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StepName {
    /// TRIM for all free space.
    Trim,
    /// TRIM for what no partition covers.
    DiscardUnused,
    /// Rewrite slow data in place.
    Refresh,
    /// Overwrite free space until another pass changes nothing.
    Overwrite,
    /// Rewrite everything in place.
    Rewrite,
    /// Erase everything with TRIM.
    Discard,
    /// Overwrite everything until another pass changes nothing.
    OverwriteAll,
    /// Have the drive format itself.
    Format,
}

impl StepName {
    /// All of them, in the order in which they are tried.
    pub const ALL: [Self; 8] = [
        Self::Trim,
        Self::DiscardUnused,
        Self::Refresh,
        Self::Overwrite,
        Self::Rewrite,
        Self::Discard,
        Self::OverwriteAll,
        Self::Format,
    ];

    /// The name on the command line.
    pub fn text(self) -> &'static str {
        match self {
            Self::Trim => "trim",
            Self::DiscardUnused => "discard-unused",
            Self::Refresh => "refresh",
            Self::Overwrite => "overwrite",
            Self::Rewrite => "rewrite",
            Self::Discard => "discard",
            Self::OverwriteAll => "overwrite-all",
            Self::Format => "format",
        }
    }

    /// What it loses, as programs read it.
    pub fn data_lost(self) -> &'static str {
        match (self, self.loses()) {
            (Self::DiscardUnused, _) => "unpartitioned_space",
            (_, Loss::Nothing) => "nothing",
            (_, Loss::DeletedFiles) => "deleted_files",
            (_, Loss::Everything) => "everything",
        }
    }

    /// Whether it loses files of the owner, so that it runs only if named.
    pub fn destroys(self) -> bool {
        self.loses() == Loss::Everything
    }

    /// What it loses.
    pub fn loses(self) -> Loss {
        match self {
            Self::Refresh | Self::Rewrite => Loss::Nothing,
            Self::Trim | Self::DiscardUnused | Self::Overwrite => Loss::DeletedFiles,
            Self::Discard | Self::OverwriteAll | Self::Format => Loss::Everything,
        }
    }

    /// The action behind it.
    pub fn action(self) -> ActionKind {
        match self {
            Self::Trim => ActionKind::Fstrim,
            Self::DiscardUnused => ActionKind::DiscardFree,
            Self::Refresh => ActionKind::Refresh,
            Self::Overwrite => ActionKind::OverwriteFree,
            Self::Rewrite => ActionKind::Rewrite,
            Self::Discard => ActionKind::Discard,
            Self::OverwriteAll => ActionKind::Overwrite,
            Self::Format => ActionKind::NvmeFormat,
        }
    }

    /// The name of one of its workloads.
    pub(super) fn step(self, part: &str) -> String {
        format!("{}: {part}", self.text())
    }
}

/// A step.
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

    /// Takes it from its beginning, and keeps its passes in `attempt`.
    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended>;
}

/// What runs under this name.
pub(super) fn implementation(name: StepName) -> &'static dyn ReconditionStep {
    match name {
        StepName::Trim => &OneFix { name: StepName::Trim, fix: |_| Fix::TrimFree },
        StepName::DiscardUnused => &OneFix { name: StepName::DiscardUnused, fix: |_| Fix::DiscardUnused },
        StepName::Refresh => &Refresh,
        StepName::Overwrite => &Overwrite,
        StepName::Rewrite => &Rewrite,
        StepName::Discard => &OneFix { name: StepName::Discard, fix: |_| Fix::Discard },
        StepName::OverwriteAll => &OverwriteAll,
        StepName::Format => &OneFix {
            name: StepName::Format,
            fix: |options| Fix::Format { crypto: options.erase == Erase::Key },
        },
    }
}

/// A step that is one command to the drive or the file system, and idle time after it.
struct OneFix {
    name: StepName,
    fix: fn(&ReconditionOptions) -> Fix,
}

impl ReconditionStep for OneFix {
    /// What is unpartitioned may hold something; only the owner knows.
    fn caveat(&self, context: &StepContext<'_>) -> Option<String> {
        let unused = context.feasibility.and_then(|feasibility| feasibility.unused_bytes.get());
        (self.name == StepName::DiscardUnused).then(|| wording::owner_must_agree(unused))
    }

    fn bytes(&self, _context: &StepContext<'_>) -> Option<u64> {
        Some(0)
    }

    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended> {
        apply(steps, || (self.fix)(attempt.context.options))?;
        attempt.idle_if_fixed(steps)
    }
}

/// Applies a fix, again where it was stopped.
pub(super) fn apply<'a>(steps: &mut Steps<'a>, fix: impl Fn() -> Fix) -> Result<&'a ProbeResult, Ended> {
    loop {
        let result = steps.probe(|| Probe::Fix(fix()))?;
        if result.fix_report().is_none_or(|report| report.end != FixEnd::Stopped) {
            return Ok(result);
        }
    }
}

/// A step that was tried.
pub(super) struct Attempt<'a> {
    pub(super) name: StepName,
    /// What was known when it began.
    pub(super) context: StepContext<'a>,
    /// How many checks were before it.
    pub(super) checks: usize,
    before: PastSteps<'a>,
    /// What it did.
    pub(super) past: PastSteps<'a>,
    /// Its passes, if it overwrites or rewrites.
    pub(super) passes: Vec<WritePass>,
    /// How the rewriting of everything ended; none of another step.
    pub(super) rewrite_end: Option<RewriteEnd>,
}

impl<'a> Attempt<'a> {
    /// At the beginning of a step.
    pub(super) fn new(
        name: StepName,
        context: StepContext<'a>,
        checks: usize,
        before: PastSteps<'a>,
    ) -> Self {
        let past = PastSteps::default();
        Self { name, context, checks, before, past, passes: Vec::new(), rewrite_end: None }
    }

    /// Takes the step.
    pub(super) fn run<'b: 'a>(&mut self, steps: &mut Steps<'b>) -> Result<(), Ended> {
        let end = implementation(self.name).run(self, steps);
        self.past = steps.past().since(self.before);
        // What was rewritten in several passes may be zeros, which are not written.
        let is_rewriting = self.rewrite_end.is_some();
        self.passes.retain(|pass| pass.bytes > 0 || !is_rewriting);
        end
    }

    /// Idle time, for the drive to finish its work.
    pub(super) fn idle(&self, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let idle = self.context.options.idle;
        if idle > Nanos::ZERO {
            steps.run_seeded(|| Workload { name: self.name.step("idle"), ..Workload::rest(idle) })?;
        }
        Ok(())
    }

    /// The same, unless its fix was refused.
    pub(super) fn idle_if_fixed(&self, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let done = steps.past().since(self.before).observations;
        if done.iter().any(|observation| observation.result.fix_report().is_some()) {
            self.idle(steps)?;
        }
        Ok(())
    }

    /// Whether anything of it was recorded.
    pub(super) fn is_begun(&self) -> bool {
        !self.past.segments.is_empty() || !self.past.observations.is_empty()
    }

    /// The reports of its fixes.
    pub(super) fn fix_reports(&self) -> impl Iterator<Item = &'a FixReport> {
        self.past.observations.iter().filter_map(|observation| observation.result.fix_report())
    }

    /// Its passes, unless it rewrites.
    pub(super) fn overwritten(&self) -> &[WritePass] {
        if self.rewrite_end.is_none() { &self.passes } else { &[] }
    }

    /// Whether it changed the drive: wrote to it, or sent TRIM. A step that was refused or found nothing to
    /// do gets no credit, whatever is measured afterwards.
    pub(super) fn has_run(&self) -> bool {
        let has_written = |segment: &Segment| segment.bytes(Op::Write) + segment.bytes(Op::Trim) > 0;
        let has_fixed = |observation: &Observation| match (&observation.probe, &observation.result) {
            // Zeros are dealt with, and not written.
            (
                Probe::Fix(
                    Fix::Refresh { .. }
                    | Fix::RefreshFiles { .. }
                    | Fix::Rewrite { .. }
                    | Fix::RewriteFiles { .. },
                ),
                ProbeResult::FixReport(report),
            ) => report.bytes_written > 0,
            // A format reports no bytes.
            (Probe::Fix(Fix::Format { .. }), ProbeResult::FixReport(report)) => {
                report.end == FixEnd::Complete
            }
            (_, ProbeResult::FixReport(report)) => report.bytes > 0 || report.bytes_written > 0,
            _ => false,
        };
        self.past.segments.iter().any(has_written) || self.past.observations.iter().any(has_fixed)
    }

    /// What ended it before its work was done, if not the user.
    pub(super) fn failure(&self) -> Option<&'a str> {
        let failed = self.fix_reports().find(|report| report.end == FixEnd::Failed)?;
        failed.skips.last().map(|left| &*left.reason)
    }

    /// Why it was refused.
    pub(super) fn refusal(&self) -> Option<&'a str> {
        self.past.observations.iter().find_map(|observation| {
            match (&observation.probe, &observation.result) {
                (Probe::Fix(_), ProbeResult::Unknown(reason)) => Some(reason.as_str()),
                _ => None,
            }
        })
    }

    /// Why it changed nothing; none if it did.
    pub(super) fn idle_reason(&self) -> Option<&'a str> {
        let failed = || self.failure().map(|_| wording::FAILED);
        (!self.has_run()).then(|| self.refusal().or_else(failed).unwrap_or(wording::NOTHING_TO_DO))
    }
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
