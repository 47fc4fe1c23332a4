//! Any workload, said completely in a plan.

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, rate, size_text};
use likenew_core::verdict::{Findings, Line, Row, Series, Shape, Standing, Verdict};
use likenew_core::workload::Workload;
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::{LatencyColumns, row};
use crate::series::{axis, speed, speed_over_time};
use crate::workloads::prepare;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "run",
    question: "What does this very workload come to?",
    writes: "what the plan says; in a folder its files are written once beforehand",
    manual: include_str!("run.md"),
};

/// The settings of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunOptions {
    /// Files that a folder is laid out as.
    #[serde(default = "default_one")]
    pub files: u32,
    /// Bytes of each.
    #[serde(default = "gibibyte", with = "size_text")]
    pub file_size: u64,
    /// One after the other.
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
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        let options: RunOptions = options("run", table)?;
        if options.workload.is_empty() {
            return Err("the options of run: workload: give at least one".into());
        }
        if options.files == 0 || options.file_size == 0 || !options.file_size.is_multiple_of(4096) {
            return Err("the options of run: files is at least 1, file_size a multiple of 4KiB".into());
        }
        Ok(Self { options })
    }

    /// In a folder, files that were never written can not be read: they are filled first.
    fn prepares(&self, evidence: &Evidence) -> bool {
        evidence.identity.kind == Kind::Folder
    }

    fn prepare(&self) -> Workload {
        let (files, each) = (u64::from(self.options.files), self.options.file_size);
        prepare(files * each, each, DataClass::Random)
    }

    fn measured_segments<'a>(&self, evidence: &'a Evidence) -> &'a [Segment] {
        let skip = usize::from(self.prepares(evidence)).min(evidence.segments.len());
        &evidence.segments[skip..]
    }
}

impl Procedure for Run {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let index = evidence.segments.len();
        let prepares = usize::from(self.prepares(evidence));
        let seed = evidence.plan.seed_of(index);
        if index < prepares {
            return Ok(Step::Run(Workload { seed, ..self.prepare() }));
        }
        Ok(self.options.workload.get(index - prepares).map_or(Step::Done, |workload| {
            let seed = if workload.seed == 0 { seed } else { workload.seed };
            Step::Run(Workload { seed, ..workload.clone() })
        }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let segments = self.measured_segments(evidence);
        let mut findings = Findings::default();
        findings.verdicts.extend(summary(segments));
        findings.verdicts.extend(refusals(segments));
        findings.tables.insert("workloads".into(), segments.iter().flat_map(rows).collect());
        findings.series.extend(seconds(segments).map(|series| ("seconds".to_owned(), series)));
        findings
    }
}

fn summary(segments: &[Segment]) -> Option<Verdict> {
    let sentences = segments.iter().filter_map(|segment| {
        let (name, iops) = (&segment.workload.name, segment.iops()?);
        Some(match segment.bytes_per_s() {
            Some(speed) => format!("\"{name}\" ran at {} ({iops:.0} IOPS)", rate(speed)),
            // A flush moves nothing.
            None => format!("\"{name}\" ran at {iops:.0} IOPS"),
        })
    });
    let sentences: Vec<String> = sentences.collect();
    if sentences.is_empty() {
        return None;
    }
    Some(
        Verdict::new(format!("{}.", sentences.join("; ")), Standing::Holds)
            .with_evidence("measured once each"),
    )
}

#[derive(Serialize)]
struct WorkloadRow<'a> {
    workload: &'a str,
    stream: u16,
    op: Op,
    ios: u64,
    bytes: u64,
    bytes_per_s: Option<f64>,
    iops: Option<f64>,
    #[serde(flatten)]
    latency: LatencyColumns,
    errors: u64,
    elapsed_ns: u64,
}

fn rows(segment: &Segment) -> Vec<Row> {
    let elapsed = segment.elapsed();
    let is_measured = segment.measurement_error().is_none();
    // fio's clock tells milliseconds apart: what took less has no rate.
    let per_second =
        |count: u64| (is_measured && elapsed > Nanos::ZERO).then(|| count as f64 / elapsed.as_secs_f64());
    let rows = segment.tallies.iter().map(|tally| {
        row(WorkloadRow {
            workload: &segment.workload.name,
            stream: tally.stream,
            op: tally.op,
            ios: tally.ios,
            bytes: tally.bytes,
            bytes_per_s: per_second(tally.bytes),
            iops: per_second(tally.done_ios()),
            latency: if is_measured { tally.into() } else { LatencyColumns::default() },
            errors: tally.errors + tally.short,
            elapsed_ns: elapsed.0,
        })
    });
    rows.collect()
}

/// Nothing where no course of time is known: of rests alone, and of what another program measured.
fn seconds(segments: &[Segment]) -> Option<Series> {
    let origin = segments.first()?.started_at;
    let line = |segment: &Segment| Line::new(&segment.workload.name, speed_over_time(segment, origin));
    let lines: Vec<Line> = segments.iter().map(line).filter(|line| !line.points.is_empty()).collect();
    let title = "How fast was it, second by second?";
    (!lines.is_empty()).then(|| Series::new(title, Shape::Line, axis("time", "ns"), speed()).lines(lines))
}
