//! One step: something that may restore a drive, its cost, and what it did.

use std::ops::Range;

use likenew_core::drive::TargetKind;
use likenew_core::facts::Facts;
use likenew_core::fix::{Feasibility, Fix, FixEnd, FixReport, WriteSpeed};
use likenew_core::io::Op;
use likenew_core::probe::{Observation, Probe, ProbeResult};
use likenew_core::procedure::{Ended, Evidence, PastSteps, Place, Steps};
use likenew_core::segment::Segment;
use likenew_core::units::Nanos;
use likenew_core::workload::Workload;
use likenew_diagnosis::{Metric, Site};

use super::ReconditionOptions;
use super::step_name::StepName;
use super::wording::{self, RewriteEnd};
use crate::site::{free_space, site, used_space};

/// Overwriting less free space than this, in bytes, gains nothing (assumed, as in the diagnosis).
const OVERWRITTEN_LEAST: u64 = 64 << 20;

/// A step.
pub(super) trait ReconditionStep: Sync {
    /// Why it runs only if named, if there is a reason: a clause without a full stop.
    fn caveat(&self, _context: &StepContext<'_>) -> Option<String> {
        None
    }

    /// Most bytes that it writes, as far as known beforehand.
    fn bytes(&self, context: &StepContext<'_>) -> Option<u64>;

    /// Bytes that it writes if one pass is enough, if that is known and less than `bytes`.
    fn bytes_least(&self, _context: &StepContext<'_>) -> Option<u64> {
        None
    }

    /// Runs the step from its beginning, and keeps its passes in `attempt`.
    fn run(&self, attempt: &mut Attempt<'_>, steps: &mut Steps<'_>) -> Result<(), Ended>;
}

/// Applies a fix, and again each time it was stopped before its end.
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
    before: Place,
    /// What it did.
    pub(super) past: PastSteps<'a>,
    /// Its passes, if it overwrites or rewrites.
    pub(super) passes: Vec<WritePass>,
    /// How rewriting all data ended; `None` for other steps.
    pub(super) rewrite_end: Option<RewriteEnd>,
}

impl<'a> Attempt<'a> {
    /// At the beginning of a step.
    pub(super) fn new(name: StepName, context: StepContext<'a>, checks: usize, before: Place) -> Self {
        let past = PastSteps::default();
        Self { name, context, checks, before, past, passes: Vec::new(), rewrite_end: None }
    }

    /// Runs the step.
    pub(super) fn run<'b: 'a>(
        &mut self,
        step: &dyn ReconditionStep,
        steps: &mut Steps<'b>,
    ) -> Result<(), Ended> {
        let end = step.run(self, steps);
        self.past = steps.since(self.before);
        // A pass of rewriting that met only zeros wrote nothing, and does not count.
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

    /// Idle time, unless the fix was refused.
    pub(super) fn idle_if_fixed(&self, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let done = steps.since(self.before).observations;
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

    /// Bytes that it wrote.
    pub(super) fn bytes_written(&self) -> u64 {
        let passes = self.overwritten().iter().map(|pass| pass.bytes);
        self.fix_reports().map(|report| report.bytes_written).chain(passes).sum()
    }

    /// How long its fixes and workloads took.
    pub(super) fn elapsed(&self) -> Nanos {
        let segments = self.past.segments.iter().map(|segment| segment.elapsed().0);
        Nanos(self.fix_reports().map(|report| report.elapsed.0).chain(segments).sum())
    }

    /// Whether it changed the drive: wrote to it, or sent TRIM. A step that was refused or found nothing to
    /// do gets no credit, whatever is measured afterwards.
    pub(super) fn has_run(&self) -> bool {
        let has_written = |segment: &Segment| segment.bytes(Op::Write) + segment.bytes(Op::Trim) > 0;
        let has_fixed = |observation: &Observation| match (&observation.probe, &observation.result) {
            // Zeros count as rewritten, though they are not written.
            (Probe::Fix(fix), ProbeResult::FixReport(report)) if fix.rewrites() => report.bytes_written > 0,
            // A format reports no bytes.
            (Probe::Fix(Fix::Format { .. }), ProbeResult::FixReport(report)) => {
                report.end == FixEnd::Complete
            }
            (_, ProbeResult::FixReport(report)) => report.bytes > 0 || report.bytes_written > 0,
            _ => false,
        };
        self.past.segments.iter().copied().any(has_written)
            || self.past.observations.iter().copied().any(has_fixed)
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
    pub(super) fn idle_reason(&self) -> Option<String> {
        if self.has_run() {
            return None;
        }
        let failed = || self.failure().map(|_| wording::FAILED);
        let skips = || self.fix_reports().flat_map(|report| &report.skips).filter(|left| left.bytes > 0);
        Some(match (self.refusal().or_else(failed), skips().max_by_key(|left| left.bytes)) {
            (Some(reason), _) => reason.to_owned(),
            (None, Some(left)) => wording::nothing_done(left),
            (None, None) => wording::NOTHING_TO_DO.to_owned(),
        })
    }
}

/// A pass over all addresses of a step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct WritePass {
    /// The speed against bytes written in address order.
    pub(super) speeds: Vec<WriteSpeed>,
    /// Bytes written within `elapsed_ns`.
    pub(super) bytes: u64,
    pub(super) elapsed_ns: u64,
    /// The speed of the probe of each span, in bytes a second.
    pub(super) probes: Vec<Option<f64>>,
    /// Spans that were fast already.
    pub(super) fast_spans: usize,
    /// The longest I/O, where single ones were measured.
    pub(super) latency_max: Option<Nanos>,
}

impl WritePass {
    /// Adds what was rewritten in place.
    pub(super) fn add(&mut self, report: &FixReport) {
        self.speeds.extend(report.write_speeds.points());
        self.bytes += report.bytes_written;
        self.elapsed_ns += report.elapsed.0;
    }

    /// Adds sequential writes; failed ones add no speed.
    pub(super) fn add_segment(&mut self, segment: &Segment) {
        self.bytes += segment.total().bytes;
        self.elapsed_ns += segment.elapsed().0;
        if segment.measurement_error().is_some() {
            return;
        }
        self.latency_max = self.latency_max.max(Some(segment.latencies().max()));
        let mut from = segment.started_at;
        for cell in segment.gigabytes.cells.iter().filter(|cell| cell.bytes > 0) {
            let last = cell.last.max(from);
            self.speeds.push(WriteSpeed { bytes: cell.bytes, elapsed: last.since(from) });
            from = last;
        }
        // The flush belongs to what was written before it.
        if let Some(last) = self.speeds.last_mut() {
            last.elapsed += segment.ended_at.since(from);
        }
    }

    /// Speed of the whole pass, in bytes a second.
    pub(super) fn bytes_per_s(&self) -> Option<f64> {
        let (bytes, ns) =
            self.speeds.iter().fold((0, 0), |(bytes, ns), point| (bytes + point.bytes, ns + point.elapsed.0));
        (ns > 0).then(|| bytes as f64 / (ns as f64 * 1e-9))
    }

    /// Points of speed, in bytes a second, against the bytes written in this pass up to each point's end.
    pub(super) fn points(&self) -> Vec<[f64; 2]> {
        let mut written = 0;
        let mut points = Vec::with_capacity(self.speeds.len());
        for point in &self.speeds {
            written += point.bytes;
            points.extend(point.bytes_per_s().map(|speed| [written as f64, speed]));
        }
        points
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
    /// What the checks have shown by writing the same addresses again.
    pub(super) trial: Trial,
    /// Whether the latest check was faster after TRIM of what it wrote; `None` if that is unclear or was not measured, or if
    /// something else says how fast it should be.
    pub(super) trim_gains: Option<bool>,
}

/// What writing the same addresses again showed: a test that needs neither a cause nor a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Trial {
    /// Nothing was written again, or too little to tell.
    Unknown,
    /// Addresses are not faster when written again.
    NoGain,
    /// Addresses became faster by it, up to this speed, and others are not that fast yet.
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
        // A full folder and a dry run's folder are not opened for writing, so the advice to give a folder would not help.
        if self.is_folder() && name == StepName::Overwrite && !self.evidence.geometry.writable {
            if self.options.overwrite_max.is_none_or(|most| most < OVERWRITTEN_LEAST) {
                return Some(wording::folder_is_full());
            }
            if !self.options.dry_run {
                return Some(wording::folder_is_read_only());
            }
        }
        // A simulated drive may hide its facts, but not its medium. A virtual drive claims to rotate as its host likes.
        if name == StepName::Rewrite && self.is_simulated() && self.evidence.identity.rotates() {
            return Some(wording::hard_disk_gains_nothing());
        }
        self.site().possibility(name.action()).obstacle()
    }

    /// The site that a step would be applied to.
    pub(super) fn site(&self) -> Site<'_> {
        let site = site(self.evidence, self.options.free, self.facts, self.feasibility);
        if site.writable || !self.options.dry_run || !self.is_folder() {
            return site;
        }
        // A dry run makes no files, so only the options say how much they could take.
        Site { writable: true, free_bytes: self.options.overwrite_max, ..site }
    }

    pub(super) fn is_folder(&self) -> bool {
        self.evidence.identity.kind == TargetKind::Folder
    }

    pub(super) fn is_simulated(&self) -> bool {
        self.evidence.identity.kind == TargetKind::Simulated
    }

    /// Space without files of the owner, in whole MiB; in a folder, that of the temporary files.
    pub(super) fn free(&self) -> Option<Range<u64>> {
        free_space(self.evidence, self.options.free)
    }

    /// The share of its rated endurance that a drive has used up, if it has used up all.
    pub(super) fn worn_out(&self) -> Option<f64> {
        let [drive] = self.facts?.drives.as_slice() else { return None };
        drive.health.used_percent.get().map(|percent| percent / 100.0).filter(|used| *used >= 1.0)
    }

    /// Bytes that the owner's files in a folder can have, or only the old ones: as counted, else what the
    /// file system has in use.
    pub(super) fn file_bytes(&self, only_old: bool) -> Option<u64> {
        let counted = self.feasibility.and_then(|feasibility| {
            if only_old { feasibility.old_file_bytes.get() } else { feasibility.file_bytes.get() }
        });
        counted.or_else(|| self.facts?.file_system.as_ref()?.used_bytes.get())
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
