//! Replays the I/O of programs from a trace, and compares how long they would wait on this drive.

mod answers;
mod options;
mod pass;
mod pictures;
mod replay_mode;
mod summary;
mod tables;
mod wording;

use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::replay_spec::{ReplayClock, ReplaySpec, ReplayTiming, TraceTotals};
use likenew_core::target::Geometry;
use likenew_core::until::Until;
use likenew_core::workload::Workload;

use answers::ReplayInput;
use likenew_procedure_support::options::options;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rows::row;
use likenew_procedure_support::wording::span_too_large;
pub use options::ReplayOptions;
use pass::passes;
pub use replay_mode::ReplayMode;
pub use summary::TraceSummary;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "replay",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("replay.md"),
};

/// Longer reads and writes than this are split …
const LENGTH_MAX: u64 = 1 << 20;
/// … and buffers are at least this long.
const LENGTH_MIN: u64 = 64 << 10;
/// Default length of a folder's file.
const SPAN_USUAL: u64 = 1 << 30;

/// The procedure.
pub struct Replay {
    options: ReplayOptions,
}

impl Replay {
    /// From the settings of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("replay", table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: ReplayOptions) -> Result<Self, String> {
        options.check()?;
        Ok(Self { options })
    }

    fn summary(&self) -> Result<&TraceSummary, String> {
        let summary = self.options.summary.as_ref();
        summary.ok_or_else(|| wording::no_trace_summary(&self.options.trace))
    }

    /// Workloads that are run before the trace itself.
    fn prepares(&self, geometry: &Geometry) -> usize {
        usize::from(self.options.prepare && geometry.writable)
    }

    fn fits(&self, geometry: &Geometry, summary: &TraceSummary) -> Result<(), String> {
        let ReplayOptions { trace, span, reads_only, .. } = &self.options;
        if summary.replayed_ios(*reads_only) == 0 {
            return Err(wording::nothing_to_replay(trace, *reads_only));
        }
        if !geometry.writable && !reads_only && summary.changes() {
            return Err(wording::trace_writes(trace));
        }
        match span {
            Some(span) if *span > geometry.capacity => {
                Err(span_too_large(*span, geometry.capacity, LENGTH_MIN))
            }
            _ => Ok(()),
        }
    }

    fn timing(&self, summary: &TraceSummary) -> ReplayTiming {
        let ReplayOptions { mode, speed, idle_max, .. } = self.options;
        let clock =
            ReplayClock { speed, idle_max, closed: mode == ReplayMode::Dependent && summary.ends == 0 };
        match mode {
            ReplayMode::Fast => ReplayTiming::Fast,
            ReplayMode::Timed => ReplayTiming::Timed(clock),
            ReplayMode::Dependent => ReplayTiming::Dependent(clock),
        }
    }

    fn replay_spec(&self, summary: &TraceSummary, timing: ReplayTiming, geometry: &Geometry) -> ReplaySpec {
        let capacity = geometry.capacity;
        let ReplayOptions { trace, format, volume, span, fit, reads_only, data, .. } = self.options.clone();
        let region = span.map_or(Region::WHOLE, |span| Region::bytes(0..span));
        let length_max = summary.longest_bytes.next_multiple_of(LENGTH_MIN).clamp(LENGTH_MIN, LENGTH_MAX);
        let prepares = timing == ReplayTiming::Prepare;
        let moved = summary.read_bytes.saturating_add(if reads_only { 0 } else { summary.written_bytes });
        let expected = if prepares {
            // Most addresses are written several times: this is the upper bound.
            let bytes = span.unwrap_or(capacity);
            let ends =
                summary.replayed_ios(reads_only) * 2 * ReplaySpec::prepared_part(bytes, geometry.block);
            let written_bytes = moved.saturating_add(ends).min(bytes);
            TraceTotals { ios: written_bytes.div_ceil(length_max), written_bytes, ..TraceTotals::default() }
        } else {
            summary.trace_totals(reads_only, timing.clock().map(|clock| clock.speed))
        };
        ReplaySpec {
            trace,
            format,
            volume,
            digest: summary.digest.clone(),
            timing,
            depth: if prepares { PREPARE_DEPTH } else { self.options.depth },
            length_max: length_max.min(span.unwrap_or(capacity)),
            region,
            fit,
            extent: summary.extent_bytes,
            reads_only,
            data,
            applications: summary.applications.clone(),
            expected,
        }
    }

    fn until(&self) -> Until {
        Until { elapsed: self.options.time, ..Until::default() }
    }
}

const PREPARE_DEPTH: u32 = 8;

impl Procedure for Replay {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_USUAL) }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let (geometry, summary) = (&evidence.geometry, self.summary()?);
        self.fits(geometry, summary)?;
        let (done, prepares) = (evidence.segments.len(), self.prepares(geometry));
        let passes = self.options.passes as usize;
        let (name, timing, until) = if done < prepares {
            ("prepare".to_owned(), ReplayTiming::Prepare, Until::default())
        } else if done < prepares + passes {
            (format!("replay {}/{passes}", done + 1 - prepares), self.timing(summary), self.until())
        } else {
            return Ok(Step::Done);
        };
        let replay_spec = Some(Box::new(self.replay_spec(summary, timing, geometry)));
        let seed = evidence.plan.seed_of(done);
        Ok(Step::Run(Workload { replay_spec, seed, ..Workload::new(name, until, Vec::new()) }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let mut findings = Findings::default();
        let passes = passes(&evidence.segments);
        let input =
            ReplayInput { options: &self.options, passes: &passes, geometry: &evidence.geometry, evidence };
        input.put(&mut findings);
        for answer in refusals(&evidence.segments) {
            findings.overview.answers.push(answer.id.clone());
            findings.answers.push(answer);
        }
        spare_failing_drive(&mut findings.answers, evidence);
        if passes.is_empty() {
            return findings;
        }
        let names = self.options.summary.as_ref().map_or(&[][..], |summary| &summary.applications);
        let tables = &mut findings.tables;
        tables.insert("summary".into(), passes.iter().map(|pass| row(pass.row(passes.len() > 1))).collect());
        tables.insert("applications".into(), tables::applications(&passes, names));
        tables.insert("latencies".into(), tables::latencies(&passes));
        tables.insert(
            "timing".into(),
            passes.iter().filter_map(|pass| pass.timing(passes.len() > 1)).map(row).collect(),
        );
        tables.insert("slowest_ios".into(), tables::longest(&passes, names));
        findings.tables.retain(|_, rows| !rows.is_empty());
        findings.series.insert("summary".into(), pictures::latency(&passes));
        findings.series.insert("applications".into(), pictures::applications(&passes, names));
        findings
    }
}
