//! Any workload, said completely in a plan.

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::size::Size;
use likenew_core::units::{Nanos, rate, size_text};
use likenew_core::until::Until;
use likenew_core::verdict::{Findings, Line, Row, Series, Shape, Standing, Verdict};
use likenew_core::workload::{Pace, Stream, Workload};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::{LatencyColumns, row};
use crate::series::{axis, speed, speed_over_time};

/// What it asks and costs.
pub static CARD: Card = Card {
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
    #[serde(default = "one")]
    pub files: u32,
    /// Bytes of each.
    #[serde(default = "gibibyte", with = "size_text")]
    pub file_size: u64,
    /// One after the other.
    pub workload: Vec<Workload>,
}

fn one() -> u32 {
    1
}

fn gibibyte() -> u64 {
    1 << 30
}

const PREPARE_BLOCK: u32 = 1 << 20;
const PREPARE_DEPTH: u32 = 8;

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
        let bytes = u64::from(self.options.files) * self.options.file_size;
        let block = (1..=PREPARE_BLOCK.trailing_zeros()).rev().map(|shift| 1u32 << shift);
        let block = block.into_iter().find(|block| self.options.file_size.is_multiple_of(u64::from(*block)));
        let stream = Stream {
            op: Mix::Only(Op::Write),
            size: Size::fixed(block.expect("a file's size is a multiple of 4 KiB")),
            place: Place::Forward(Region::WHOLE),
            pace: Pace::Closed { depth: PREPARE_DEPTH },
            data: DataClass::Random,
        };
        Workload {
            name: "prepare".into(),
            lanes: 1,
            until: Until::bytes(bytes),
            seed: 0,
            streams: vec![stream],
        }
    }

    fn measured<'a>(&self, evidence: &'a Evidence) -> &'a [Segment] {
        let skip = usize::from(self.prepares(evidence)).min(evidence.segments.len());
        &evidence.segments[skip..]
    }
}

impl Procedure for Run {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: self.options.files, file_bytes: self.options.file_size }
    }

    fn bytes_written_max(&self) -> u64 {
        let prepare = u64::from(self.options.files).saturating_mul(self.options.file_size);
        let writing = self.options.workload.iter().filter(|workload| workload.writes());
        writing.fold(prepare, |sum, workload| {
            let by_ops = workload.until.ops.map(|ops| ops.saturating_mul(u64::from(workload.length_max())));
            let bytes = workload.until.bytes.into_iter().chain(by_ops).min().unwrap_or(u64::MAX);
            sum.saturating_add(bytes)
        })
    }

    fn workloads_expected(&self, evidence: &Evidence) -> usize {
        usize::from(self.prepares(evidence)) + self.options.workload.len()
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        let index = evidence.segments.len();
        let prepares = usize::from(self.prepares(evidence));
        let seed = evidence.plan.seed_of(index);
        if index < prepares {
            return Ok(Step::Run(Workload { seed, ..self.prepare() }));
        }
        Ok(self.options.workload.get(index - prepares).map_or(Step::Enough, |workload| {
            let seed = if workload.seed == 0 { seed } else { workload.seed };
            Step::Run(Workload { seed, ..workload.clone() })
        }))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let segments = self.measured(evidence);
        let mut findings = Findings::default();
        findings.verdicts.extend(summary(segments));
        findings.verdicts.extend(refusals(segments));
        findings.tables.insert("workloads".into(), segments.iter().flat_map(rows).collect());
        findings.series.extend(seconds(segments).map(|series| ("seconds".to_owned(), series)));
        findings
    }
}

fn summary(segments: &[Segment]) -> Option<Verdict> {
    let said: Vec<String> = segments
        .iter()
        .filter(|segment| segment.total().ios > 0)
        .map(|segment| {
            format!(
                "\"{}\" ran at {} ({:.0} IOPS)",
                segment.workload.name,
                rate(segment.bytes_per_s()),
                segment.iops()
            )
        })
        .collect();
    if said.is_empty() {
        return None;
    }
    Some(Verdict::new(format!("{}.", said.join("; ")), Standing::Holds).because("measured once each"))
}

#[derive(Serialize)]
struct WorkloadRow<'a> {
    workload: &'a str,
    stream: u16,
    op: Op,
    ios: u64,
    bytes: u64,
    bytes_per_s: f64,
    iops: f64,
    #[serde(flatten)]
    latency: LatencyColumns,
    errors: u64,
    elapsed_ns: u64,
}

fn rows(segment: &Segment) -> Vec<Row> {
    let elapsed = segment.elapsed();
    let per_second =
        |count: u64| if elapsed == Nanos::ZERO { 0.0 } else { count as f64 / elapsed.as_secs_f64() };
    let rows = segment.tallies.iter().map(|tally| {
        row(WorkloadRow {
            workload: &segment.workload.name,
            stream: tally.stream,
            op: tally.op,
            ios: tally.ios,
            bytes: tally.bytes,
            bytes_per_s: per_second(tally.bytes),
            iops: per_second(tally.ios),
            latency: tally.into(),
            errors: tally.errors + tally.short,
            elapsed_ns: elapsed.0,
        })
    });
    rows.collect()
}

/// Nothing where no course of time is known: of rests alone, and of what another program measured.
fn seconds(segments: &[Segment]) -> Option<Series> {
    let origin = segments.first()?.began;
    let lines = segments.iter().map(|segment| Line {
        name: segment.workload.name.clone(),
        points: speed_over_time(segment, origin),
    });
    let lines: Vec<Line> = lines.filter(|line| !line.points.is_empty()).collect();
    (!lines.is_empty()).then(|| Series {
        title: "How fast was it, second by second?".into(),
        shape: Shape::Line,
        x: axis("time", "ns"),
        y: speed(),
        categories: Vec::new(),
        lines,
        marks: Vec::new(),
    })
}
