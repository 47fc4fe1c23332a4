//! Runs the workloads that a plan describes.

mod wording;

use likenew_core::drive::TargetKind;
use likenew_core::findings::{Findings, Lead, Line, Row, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::{Iops, Rate};
use likenew_core::segment::Segment;
use likenew_core::tally::Tally;
use likenew_core::units::{Nanos, size_text};
use likenew_core::workload::Workload;
use serde::{Deserialize, Serialize};

use likenew_procedure_support::estimate::Estimate;
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::options::options;
use likenew_procedure_support::rows::{Columns as _, LatencyColumns};
use likenew_procedure_support::series::{axis, speed, speed_over_time};
use likenew_procedure_support::workloads::prepare;
use likenew_stats::interval::{CONFIDENCE_95, window_interval};
pub use wording::DESCRIPTOR;
use wording::{OpSpeed, WorkloadSpeed};

/// The options of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// Files in a folder.
    #[serde(default = "default_one")]
    pub files: u32,
    /// Bytes of each file.
    #[serde(default = "gibibyte", with = "size_text")]
    pub file_size: u64,
    /// The workloads, in the order they run.
    pub workload: Vec<Workload>,
}

fn default_one() -> u32 {
    1
}

fn gibibyte() -> u64 {
    1 << 30
}

/// The procedure.
pub struct Run {
    options: RunOptions,
}

impl Run {
    /// From the options of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        let options: RunOptions = options("run", table)?;
        if options.workload.is_empty() {
            return Err(wording::no_workload());
        }
        if options.files == 0 || options.file_size == 0 || !options.file_size.is_multiple_of(4096) {
            return Err(wording::wrong_files(options.file_size));
        }
        Ok(Self { options })
    }
}

impl Procedure for Run {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let _ended = self.measure(steps);
        Ok(steps.conclude(|evidence| {
            let prepared = usize::from(is_prepared(evidence));
            findings(evidence, evidence.segments.get(prepared..).unwrap_or_default())
        }))
    }
}

/// Whether files are filled first: in a folder, files without data cannot be read.
fn is_prepared(evidence: &Evidence) -> bool {
    evidence.identity.kind == TargetKind::Folder
}

impl Run {
    fn measure(&self, steps: &mut Steps<'_>) -> Result<(), Ended> {
        let RunOptions { files, file_size, ref workload } = self.options;
        if is_prepared(steps.evidence()) {
            steps.run_seeded(|| prepare(u64::from(files) * file_size, file_size, DataClass::Random))?;
        }
        for workload in workload {
            let seed = if workload.seed == 0 { steps.seed(0) } else { workload.seed };
            steps.run(|| Workload { seed, ..workload.clone() })?;
        }
        Ok(())
    }
}

fn findings(evidence: &Evidence, segments: &[Segment]) -> Findings {
    let mut findings = Findings::default();
    findings.overview.lead = Lead::Table;
    let speeds: Vec<WorkloadSpeed<'_>> = segments.iter().filter_map(workload_speed).collect();
    if !speeds.is_empty() {
        findings.summary = wording::summary(&speeds);
        findings.answers.extend(speeds.iter().map(WorkloadSpeed::answer));
        findings.answers[0].caveats.push(wording::MEASURED_ONCE.into());
        findings.overview.table = Some(wording::table(segments));
        findings.overview.series = Some("seconds".into());
    }
    findings.answers.extend(failure_answers(segments));
    spare_failing_drive(&mut findings.answers, evidence);
    findings.tables.insert("workloads".into(), segments.iter().flat_map(rows).collect());
    findings.series.extend(seconds(segments).map(|series| ("seconds".to_owned(), series)));
    findings
}

/// The speed of each operation; a flush has one only if it is alone.
fn workload_speed(segment: &Segment) -> Option<WorkloadSpeed<'_>> {
    segment.iops()?;
    let mut totals: Vec<Tally> = Op::ALL.map(|op| segment.total_of(op)).into();
    totals.retain(|total| total.ios > 0);
    if totals.len() > 1 {
        totals.retain(|total| total.op != Op::Flush);
    }
    let speed = |total: &Tally| OpSpeed {
        op: total.op.name(),
        rate: per_second(segment, total.bytes).filter(|rate| *rate > 0.0).map(Rate),
        iops: Iops(per_second(segment, total.done_ios()).unwrap_or(0.0)),
    };
    Some(WorkloadSpeed { name: &segment.workload.name, speeds: totals.iter().map(speed).collect() })
}

/// Events per second; `None` for a segment without measurements, or shorter than the clock's resolution:
/// fio's is a millisecond.
fn per_second(segment: &Segment, events: u64) -> Option<f64> {
    let elapsed = segment.elapsed();
    let is_measured = segment.measurement_error().is_none() && elapsed > Nanos::ZERO;
    is_measured.then(|| events as f64 / elapsed.as_secs_f64())
}

/// Bytes a second. The interval comes from the seconds of a workload that moves data with one operation only.
fn speed_of(segment: &Segment, tally: &Tally) -> Option<Estimate> {
    let value = per_second(segment, tally.bytes)?;
    let mut seconds: Vec<f64> =
        speed_over_time(segment, segment.started_at).iter().map(|[_, speed]| *speed).collect();
    // The last second is not a whole one.
    seconds.pop();
    let is_one = segment.tallies.iter().filter(|other| other.bytes > 0).count() == 1;
    let interval = if is_one { window_interval(&seconds, CONFIDENCE_95) } else { None };
    Some(Estimate { value, interval }.not_negative())
}

fn rows(segment: &Segment) -> Vec<Row> {
    let is_measured = segment.measurement_error().is_none();
    let rows = segment.tallies.iter().map(|tally| {
        let latency = if is_measured { tally.into() } else { LatencyColumns::default() };
        Row::new()
            .with("workload", &segment.workload.name)
            .with("stream", tally.stream)
            .with("op", tally.op)
            .with("ios", tally.ios)
            .with("bytes", tally.bytes)
            .with_estimate("bytes_per_s", speed_of(segment, tally))
            .with("iops", per_second(segment, tally.done_ios()))
            .with_latency(latency)
            .with("errors", tally.errors + tally.short)
            .with("elapsed_ns", segment.elapsed().0)
    });
    rows.collect()
}

/// `None` if speed over time is unknown: for rests, and for imported measurements.
fn seconds(segments: &[Segment]) -> Option<Series> {
    let origin = segments.first()?.started_at;
    let line = |segment: &Segment| Line::new(&segment.workload.name, speed_over_time(segment, origin));
    let lines: Vec<Line> = segments.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let title = wording::SECONDS_TITLE;
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, axis("time", "ns"), speed()).lines(lines))
}
