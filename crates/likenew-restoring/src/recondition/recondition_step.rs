//! One step: something that may restore a drive, what it costs and what it loses.

use std::ops::Range;

use likenew_core::answer::Loss;
use likenew_core::drive::Kind;
use likenew_core::facts::Facts;
use likenew_core::feasibility::{ActionKind, Feasibility};
use likenew_core::fix::{Fix, FixEnd};
use likenew_core::probe::{Probe, ProbeResult};
use likenew_core::procedure::{Evidence, PastStep, Step};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_diagnosis::Site;
use serde::{Deserialize, Serialize};

use super::discard::Discard;
use super::discard_unused::DiscardUnused;
use super::format::Format;
use super::overwrite::{Overwrite, OverwriteAll};
use super::recondition_options::ReconditionOptions;
use super::refresh::Refresh;
use super::rewrite::Rewrite;
use super::trim_free::TrimFree;
use super::wording;
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

    /// As typed.
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

    /// What it is.
    pub(super) fn implementation(self) -> &'static dyn ReconditionStep {
        match self {
            Self::Trim => &TrimFree,
            Self::DiscardUnused => &DiscardUnused,
            Self::Refresh => &Refresh,
            Self::Overwrite => &Overwrite,
            Self::Rewrite => &Rewrite,
            Self::Discard => &Discard,
            Self::OverwriteAll => &OverwriteAll,
            Self::Format => &Format,
        }
    }

    /// Whether files of the owner are lost by it, so that only a person can ask for it.
    pub fn destroys(self) -> bool {
        self.loses() == Loss::Everything
    }

    /// What it takes away for good.
    pub fn loses(self) -> Loss {
        match self {
            Self::Refresh | Self::Rewrite => Loss::Nothing,
            Self::Trim | Self::DiscardUnused | Self::Overwrite => Loss::DeletedFiles,
            Self::Discard | Self::OverwriteAll | Self::Format => Loss::Everything,
        }
    }

    /// What that is, among all that can be done to a drive.
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

    /// The step that something recorded belongs to; none for parts of a check, and for what may belong to either.
    pub(super) fn from_past(past_step: PastStep<'_>) -> Option<Self> {
        match past_step {
            PastStep::Segment(segment) => {
                let (step, _) = segment.workload.name.split_once(": ")?;
                Self::ALL.into_iter().find(|name| name.text() == step)
            }
            PastStep::Observation(observation) => match &observation.probe {
                Probe::Fix(Fix::TrimFree) => Some(Self::Trim),
                Probe::Fix(Fix::DiscardUnused) => Some(Self::DiscardUnused),
                Probe::Fix(Fix::Refresh { .. } | Fix::RefreshFiles { .. }) => Some(Self::Refresh),
                Probe::Fix(Fix::Rewrite { .. } | Fix::RewriteFiles { .. }) => Some(Self::Rewrite),
                Probe::Fix(Fix::Discard) => Some(Self::Discard),
                Probe::Fix(Fix::Format { .. }) => Some(Self::Format),
                _ => None,
            },
        }
    }

    /// What one of its workloads is called.
    pub(super) fn step(self, part: &str) -> String {
        format!("{}: {part}", self.text())
    }
}

/// A step. Holds nothing: what it does next follows from what it has done.
pub(super) trait ReconditionStep: Sync {
    /// Why it is not run unless it is named, if there is a reason: a clause without a full stop.
    fn caveat(&self, _context: &StepContext<'_>) -> Option<String> {
        None
    }

    /// Bytes that it writes at most, as far as known beforehand.
    fn bytes(&self, context: &StepContext<'_>) -> Option<u64>;

    /// What it does next after what it has `done`; nothing when it is through.
    fn next(&self, context: &StepContext<'_>, done: &Evidence) -> Option<Step>;
}

/// What a step is applied to.
#[derive(Clone, Copy)]
pub(super) struct StepContext<'a> {
    pub(super) options: &'a ReconditionOptions,
    /// Everything.
    pub(super) evidence: &'a Evidence,
    /// What the system knew last.
    pub(super) facts: Option<&'a Facts>,
    /// What forbids which step, as it was asked last.
    pub(super) feasibility: Option<&'a Feasibility>,
    /// How fast fresh data was read in order when it was measured last, in bytes a second.
    pub(super) fresh_bytes_per_s: Option<f64>,
    /// How long a small read of fresh data took then, one at a time, in nanoseconds.
    pub(super) fresh_small_ns: Option<f64>,
    /// How fast sustained writes should be, in bytes a second, where that is known.
    pub(super) sustained_goal_bytes_per_s: Option<f64>,
}

impl StepContext<'_> {
    /// Why a step cannot be run here, if it cannot: by the kind of target, or by the state of the drive.
    pub(super) fn obstacle(&self, name: StepName) -> Option<String> {
        // A folder without room is not opened for writing; its owner need not be told to give a folder.
        if self.is_folder() && name == StepName::Overwrite && !self.evidence.geometry.writable {
            let is_full = self.options.space.is_none_or(|space| space < OVERWRITTEN_LEAST);
            return Some(if is_full { wording::folder_is_full() } else { wording::folder_is_read_only() });
        }
        // The facts of a simulated drive may be hidden; what it is made of is not. Virtual drives claim to rotate as their host likes.
        if name == StepName::Rewrite && self.is_simulated() && self.evidence.identity.rotates() {
            return Some(wording::hard_disk_gains_nothing());
        }
        self.site().possibility(name.action()).obstacle()
    }

    /// What a step would be applied to.
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

    /// What no file of the owner lies on, in whole MiB; of a folder that is all that our own files take.
    pub(super) fn free(&self) -> Option<Range<u64>> {
        free_space(self.evidence, self.options.free)
    }

    /// What may hold files of the owner, of a target that is no folder.
    pub(super) fn in_use(&self) -> Range<u64> {
        used_space(self.evidence, self.options.free)
    }

    /// Who shows the drive, if a hypervisor or a cloud does.
    pub(super) fn virtual_by(&self) -> Option<&str> {
        match self.facts?.drives.as_slice() {
            [drive] => drive.identity.virtual_by.value()?.as_deref(),
            _ => None,
        }
    }
}

/// A rest after a step.
pub(super) fn rest(context: &StepContext<'_>, done: &Evidence, step: StepName) -> Option<Step> {
    let name = step.step("rest");
    let rested = done.segments.iter().any(|segment| segment.workload.name == name);
    let rest = Workload::rest(context.options.rest);
    (!rested && context.options.rest > Nanos::ZERO).then_some(Step::Run(Workload { name, ..rest }))
}

/// Results of its probes that came to an end: one that was stopped is run again.
pub(super) fn ends(done: &Evidence) -> impl Iterator<Item = &ProbeResult> {
    let is_stopped = |result: &ProbeResult| matches!(result, ProbeResult::FixReport(report) if report.end == FixEnd::Stopped);
    done.observations.iter().map(|observation| &observation.result).filter(move |result| !is_stopped(result))
}

/// How many of its probes came to an end.
pub(super) fn probe_count(done: &Evidence) -> usize {
    ends(done).count()
}

/// Whether its fix was applied.
pub(super) fn was_fixed(done: &Evidence) -> bool {
    done.observations.iter().any(|observation| matches!(observation.result, ProbeResult::FixReport(_)))
}
