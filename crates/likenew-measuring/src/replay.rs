//! Replays the I/O of programs from a trace, and compares how long they waited then and wait on this drive.

mod results;
mod wording;

use clap::ArgAction::SetFalse;
use clap::Args;
use likenew_core::findings::Findings;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::serde_as_text;
use likenew_core::target::Geometry;
use likenew_core::trace::{Fit, ReplayClock, ReplaySpec, ReplayTiming, TraceSource, TraceTotals};
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{Until, Workload};
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::fit::{number, typed};
use likenew_procedure_support::options::{check_multiple, check_range, check_span, options};
use likenew_procedure_support::wording::out_of_range;
use serde::{Deserialize, Serialize};

use results::{Pass, ReplayInput, passes};
pub use wording::DESCRIPTOR;

/// Longer reads and writes than this are split.
const LENGTH_MAX: u64 = 1 << 20;
/// Buffers are at least this long.
const LENGTH_MIN: u64 = 64 << 10;
/// Default length of a folder's file.
const SPAN_USUAL: u64 = 1 << 30;

/// The procedure.
pub struct Replay {
    options: ReplayOptions,
}

impl Replay {
    /// From the options of a plan.
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

    fn fits(&self, geometry: &Geometry, summary: &TraceSummary) -> Result<(), String> {
        let ReplayOptions { trace, span, reads_only, .. } = &self.options;
        if summary.replayed_ios(*reads_only) == 0 {
            return Err(wording::nothing_to_replay(trace, *reads_only));
        }
        if !geometry.writable && !reads_only && summary.changes() {
            return Err(wording::trace_writes(trace));
        }
        span.map_or(Ok(()), |span| check_span(span, geometry, LENGTH_MIN))
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
        let length_max = summary.longest_bytes.clamp(LENGTH_MIN, LENGTH_MAX).next_multiple_of(LENGTH_MIN);
        let prepares = timing == ReplayTiming::Prepare;
        let moved = summary.read_bytes.saturating_add(if reads_only { 0 } else { summary.written_bytes });
        let expected = if prepares {
            // The upper bound, because most addresses are written several times.
            let bytes = span.unwrap_or(capacity);
            let ends = 2 * ReplaySpec::prepared_part(bytes, geometry.block);
            let widened = summary.replayed_ios(reads_only).saturating_mul(ends);
            let written_bytes = moved.saturating_add(widened).min(bytes);
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
}

const PREPARE_DEPTH: u32 = 8;

impl Procedure for Replay {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span.unwrap_or(SPAN_USUAL) }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let summary = self.summary()?;
        self.fits(&steps.evidence().geometry, summary)?;
        let mut replays = Vec::new();
        let _ended = self.measure(steps, summary, &mut replays);
        Ok(steps.conclude(|evidence| self.findings(evidence, &passes(replays))))
    }
}

impl Replay {
    fn measure<'a>(
        &self,
        steps: &mut Steps<'a>,
        summary: &TraceSummary,
        replays: &mut Vec<&'a Segment>,
    ) -> Result<(), Ended> {
        let ReplayOptions { prepare, passes, time, .. } = self.options;
        let geometry = &steps.evidence().geometry;
        let workload = |name: String, timing, until| Workload {
            replay_spec: Some(Box::new(self.replay_spec(summary, timing, geometry))),
            ..Workload::new(name, until, Vec::new())
        };
        if prepare && geometry.writable {
            steps.run_seeded(|| workload("prepare".into(), ReplayTiming::Prepare, Until::default()))?;
        }
        let until = Until { elapsed: time, ..Until::default() };
        for pass in 1..=passes {
            let name = format!("replay {pass}/{passes}");
            replays.push(steps.run_seeded(|| workload(name, self.timing(summary), until))?);
        }
        Ok(())
    }

    fn findings(&self, evidence: &Evidence, passes: &[Pass<'_>]) -> Findings {
        let mut findings = Findings::default();
        let input = ReplayInput { options: &self.options, passes, evidence };
        input.put(&mut findings);
        for answer in failure_answers(&evidence.segments) {
            findings.overview.answers.push(answer.id.clone());
            findings.answers.push(answer);
        }
        spare_failing_drive(&mut findings.answers, evidence);
        if passes.is_empty() {
            return findings;
        }
        let names = self.options.applications();
        let tables = &mut findings.tables;
        tables.insert("summary".into(), passes.iter().map(|pass| pass.row(passes.len() > 1)).collect());
        tables.insert("applications".into(), results::applications(passes, names));
        tables.insert("latencies".into(), results::latencies(passes));
        let timing = passes.iter().filter_map(|pass| pass.timing(passes.len() > 1));
        tables.insert("timing".into(), timing.collect());
        tables.insert("slowest_ios".into(), results::longest(passes, names));
        findings.tables.retain(|_, rows| !rows.is_empty());
        findings.series.extend(results::latency_series(passes).map(|series| ("summary".to_owned(), series)));
        findings.series.insert("applications".into(), results::applications_series(passes, names));
        findings
    }
}

/// The options of a replay.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct ReplayOptions {
    /// The trace, in any format that `likenew import trace` reads
    #[arg(long, value_name = "FILE")]
    pub trace: String,
    /// Its format, if it is not recognized
    #[arg(long, value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Which volume, if the trace holds several
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<String>,
    /// When I/Os start: dependent (after those that had ended before, plus think time), timed (as recorded), fast (as
    /// soon as possible)
    #[arg(long, default_value = "dependent", value_name = "NAME")]
    pub mode: ReplayMode,
    /// Speed-up of the recorded times
    #[arg(long, default_value_t = 1.0, value_parser = number(0.001, 1e6), value_name = "FACTOR")]
    pub speed: f64,
    /// Shorten pauses without I/O to this [default: keep them]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub idle_max: Option<Nanos>,
    /// Largest queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 256, value_name = "N")]
    pub depth: u32,
    /// Where recorded addresses beyond the target go: modulo (wrap around) or scale (in proportion)
    #[arg(long, default_value = "modulo", value_name = "NAME")]
    pub fit: Fit,
    /// Address space to use, from the start [default: all; in a folder what the trace reaches, at most 8GiB]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Replay reads only
    #[arg(long)]
    pub reads_only: bool,
    /// Do not write beforehand what the trace reads
    #[arg(long = "no-prepare", action = SetFalse)]
    pub prepare: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// Number of replays
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub passes: u32,
    /// Time limit of a replay
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// The content of the trace. `likenew replay` and `likenew run` determine it if it is missing.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<TraceSummary>,
}

impl Default for ReplayOptions {
    /// Options without a trace yet.
    fn default() -> Self {
        Self { trace: String::new(), ..typed(["--trace", "none"]) }
    }
}

impl ReplayOptions {
    /// A replay of this file with default options.
    pub fn new(trace: impl Into<String>) -> Self {
        Self { trace: trace.into(), ..Self::default() }
    }

    /// The names of the applications in the trace, as far as they are told apart.
    fn applications(&self) -> &[String] {
        self.summary.as_ref().map_or(&[], |summary| &summary.applications)
    }

    fn check(&self) -> Result<(), String> {
        if self.trace.is_empty() {
            return Err(wording::no_trace());
        }
        check_range("passes", self.passes, 1..=1000)?;
        check_range("depth", self.depth, 1..=4096)?;
        if !(self.speed >= 1e-3 && self.speed <= 1e6) {
            return Err(out_of_range("speed", self.speed, 0.001, 1_000_000));
        }
        if self.mode == ReplayMode::Fast && (self.speed != 1.0 || self.idle_max.is_some()) {
            return Err(wording::fast_keeps_no_times());
        }
        self.summary.iter().try_for_each(TraceSummary::check)?;
        self.span.map_or(Ok(()), |span| check_multiple("span", span, LENGTH_MIN))
    }
}

/// When the I/Os of a trace leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, strum::Display, strum::EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = String, parse_err_fn = wording::unknown_mode)]
pub enum ReplayMode {
    /// As fast as the target takes them.
    Fast,
    /// At the recorded times.
    Timed,
    /// As long as recorded after the I/Os that had ended before them.
    #[default]
    Dependent,
}

serde_as_text!(ReplayMode);

/// The content of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceSummary {
    /// Digest of the file's bytes, which shows if the file is replaced.
    pub digest: String,
    /// I/Os that read.
    pub reads: u64,
    /// I/Os that write.
    pub writes: u64,
    /// I/Os that discard.
    pub trims: u64,
    /// I/Os that make writes durable.
    pub flushes: u64,
    /// Bytes that were read.
    #[serde(with = "size_text")]
    pub read_bytes: u64,
    /// Bytes that were written.
    #[serde(with = "size_text")]
    pub written_bytes: u64,
    /// The longest read or write.
    #[serde(with = "size_text")]
    pub longest_bytes: u64,
    /// The capacity of the recorded drive, or the end of the highest address used.
    #[serde(with = "size_text")]
    pub extent_bytes: u64,
    /// I/Os with a known completion time.
    pub ends: u64,
    /// From the first departure to the last completion.
    #[serde(with = "duration_text")]
    pub elapsed: Nanos,
    /// Time by which pauses exceed the limit, if there is one.
    #[serde(with = "duration_text")]
    pub idle_cut: Nanos,
    /// Total of the pauses, before any limit.
    #[serde(with = "duration_text")]
    pub pauses: Nanos,
    /// The limits of the trace, as clauses without a full stop.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The named applications with most I/Os, most first, as many as are told apart.
    pub applications: Vec<String>,
}

/// Most I/Os or bytes of a trace: 1 EiB, the most that a run may count.
const COUNT_MAX: u64 = 1 << 60;

impl TraceSummary {
    /// Whether the sums of its counts fit.
    fn check(&self) -> Result<(), String> {
        let counts = [
            ("reads", self.reads),
            ("writes", self.writes),
            ("trims", self.trims),
            ("flushes", self.flushes),
            ("read_bytes", self.read_bytes),
            ("written_bytes", self.written_bytes),
            ("longest_bytes", self.longest_bytes),
        ];
        let absurd = counts.into_iter().find(|(_, count)| *count > COUNT_MAX);
        absurd.map_or(Ok(()), |(name, count)| Err(wording::absurd_summary(name, count)))
    }

    /// Reads a trace to its end; the caller, who knows the file, adds its digest and notes. Pauses are
    /// limited to `idle_max`.
    ///
    /// # Errors
    /// What is wrong with the trace, and where.
    pub fn read(source: &mut dyn TraceSource, idle_max: Option<Nanos>) -> Result<Self, String> {
        let mut summary = Self::default();
        let (mut counts, mut quiet_since): (Vec<u64>, _) = (Vec::new(), Nanos::ZERO);
        while let Some(io) = source.next_io()? {
            let mut uncounted = 0;
            let (count, bytes) = match io.op {
                Op::Read => (&mut summary.reads, &mut summary.read_bytes),
                Op::Write => (&mut summary.writes, &mut summary.written_bytes),
                Op::Trim => (&mut summary.trims, &mut uncounted),
                Op::Flush => (&mut summary.flushes, &mut uncounted),
            };
            (*count, *bytes) = (*count + 1, bytes.saturating_add(io.length));
            if matches!(io.op, Op::Read | Op::Write) {
                summary.longest_bytes = summary.longest_bytes.max(io.length);
            }
            summary.extent_bytes = summary.extent_bytes.max(io.offset.saturating_add(io.length));
            summary.ends += u64::from(io.latency.is_some());
            let pause = io.at.since(quiet_since);
            summary.pauses += pause;
            summary.idle_cut += pause.since(idle_max.unwrap_or(Nanos::NEVER));
            quiet_since = quiet_since.max(io.at + io.latency.unwrap_or_default());
            let application = usize::from(io.application);
            if application >= counts.len() {
                counts.resize(application + 1, 0);
            }
            counts[application] += 1;
        }
        summary.elapsed = quiet_since;
        summary.extent_bytes = source.capacity().unwrap_or(0).max(summary.extent_bytes);
        summary.applications = top_applications(&counts, source.applications());
        Ok(summary)
    }

    /// I/Os that a replay runs.
    pub fn replayed_ios(&self, reads_only: bool) -> u64 {
        let others = [self.writes, self.trims, self.flushes].into_iter().filter(|_| !reads_only);
        others.fold(self.reads, u64::saturating_add)
    }

    /// Pauses left in a replay of this mode.
    pub fn pauses(&self, mode: ReplayMode) -> Nanos {
        if mode == ReplayMode::Fast { Nanos::ZERO } else { self.pauses.since(self.idle_cut) }
    }

    /// Whether it changes data on the drive.
    pub fn changes(&self) -> bool {
        self.writes > 0 || self.trims > 0
    }

    fn trace_totals(&self, reads_only: bool, speed: Option<f64>) -> TraceTotals {
        let clocked = |speed: f64| Nanos((self.elapsed.since(self.idle_cut).0 as f64 / speed) as u64);
        TraceTotals {
            ios: self.replayed_ios(reads_only),
            read_bytes: self.read_bytes,
            written_bytes: if reads_only { 0 } else { self.written_bytes },
            trims: if reads_only { 0 } else { self.trims },
            elapsed: speed.map_or(Nanos::ZERO, clocked),
        }
    }
}

/// The names with the highest counts, highest first; of equal ones the first to appear.
fn top_applications(counts: &[u64], names: &[String]) -> Vec<String> {
    let mut named: Vec<(u64, &String)> =
        counts.iter().copied().zip(names).filter(|(count, name)| *count > 0 && !name.is_empty()).collect();
    named.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    named.into_iter().take(ReplaySpec::APPLICATIONS_MAX).map(|(_, name)| name.clone()).collect()
}
