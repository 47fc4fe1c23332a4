//! Speed over compressibility, and what that means for the files somebody has.

mod conclusion;
mod curve;
mod expected_speed;
pub mod files;
mod workload_plan;

use crate::pattern::Pattern;

use likenew_core::io::Op;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::units::{Nanos, amount, duration_text, size_text};
use likenew_core::verdict::{Axis, Findings, Line, Mark, Series, Shape, Standing, Verdict};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::refusals::refusals;
use crate::rows::row;
use crate::series::speed;
use conclusion::{Conclusion, attribution, indifference};
use curve::Curve;
use expected_speed::ExpectedSpeed;
use files::FileScan;
use workload_plan::WorkloadPlan;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "data",
    question: "Does it matter how compressible the data is, and what does that mean for your files?",
    writes: "writes its span once, then once a pass of every write test at most; only own files in a folder",
    manual: include_str!("data.md"),
};

/// How each step is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Test {
    /// The order of addresses.
    pub pattern: Pattern,
    /// Bytes of one I/O: a power of two.
    #[serde(with = "size_text")]
    pub block: u64,
    /// I/Os in flight.
    pub depth: u32,
}

impl Test {
    /// 1 MiB with 8 in flight in sequence, 4 KiB with 32 in flight at random: the deep lines of the familiar table.
    pub fn default_test(pattern: Pattern) -> Self {
        match pattern {
            Pattern::Sequential => Self { pattern, block: 1 << 20, depth: 8 },
            Pattern::Random => Self { pattern, block: 4096, depth: 32 },
        }
    }
}

/// The settings of a look at compressibility.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DataOptions {
    /// Classes of data from zeros to random, at equal distances. 0 measures nothing: then only the files are told of.
    pub steps: u32,
    /// Read and write, in order.
    pub ops: Vec<Op>,
    /// How each step is measured; one of each pattern at most.
    pub tests: Vec<Test>,
    /// Bytes of address space, from the start of the drive. Each step has an equal part of it for itself.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Times that everything is measured.
    pub passes: u32,
    /// A pass of one step ends after this much time, or once it has moved as many bytes as its part of the span has.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Rest before each pass of a step.
    #[serde(with = "duration_text")]
    pub interval: Nanos,
    /// What the maker says of sequential reads, in bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_read_bytes_per_s: Option<u64>,
    /// What the maker says of sequential writes, in bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_write_bytes_per_s: Option<u64>,
    /// What somebody's files are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileScan>,
}

impl Default for DataOptions {
    /// Eleven steps, as AS SSD's graph has marks, and a second for each of three passes.
    fn default() -> Self {
        Self {
            steps: 11,
            ops: vec![Op::Write, Op::Read],
            tests: vec![Test::default_test(Pattern::Sequential), Test::default_test(Pattern::Random)],
            span: 1 << 30,
            passes: 3,
            time: Nanos::from_secs(1),
            interval: Nanos::ZERO,
            advertised_read_bytes_per_s: None,
            advertised_write_bytes_per_s: None,
            files: None,
        }
    }
}

/// Each step's part of the span is a multiple of this, and of the longest block.
pub const PART_MIN: u64 = 1 << 20;
const STEPS_MAX: u32 = 101;
const BLOCK_MAX: u64 = 64 << 20;

/// The procedure.
pub struct Data {
    options: DataOptions,
}

impl Data {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("data", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: DataOptions) -> Result<Self, String> {
        options.files.as_ref().map_or(Ok(()), FileScan::check)?;
        if options.steps == 0 {
            return if options.files.is_some() {
                Ok(Self { options })
            } else {
                Err("steps = 0 measures nothing, and no files were looked at: give 2..101".into())
            };
        }
        if !(2..=STEPS_MAX).contains(&options.steps) {
            return Err(format!("steps = {} is not in 2..{STEPS_MAX}", options.steps));
        }
        check_tests(&options)?;
        if options.passes == 0 || options.passes > 1000 {
            return Err(format!("passes = {} is not in 1..1000", options.passes));
        }
        if options.time < Nanos::from_millis(1) || options.time > Nanos::from_secs(86_400) {
            return Err(format!("time = {} is not in 1ms..24h", options.time));
        }
        if options.interval > Nanos::from_secs(86_400) {
            return Err(format!("interval = {} is not in 0..24h", options.interval));
        }
        if WorkloadPlan::new(&options).part() == 0 {
            let least = u64::from(options.steps) * workload_plan::unit(&options);
            return Err(format!(
                "span = {} is too little for {} steps: at least {} are needed",
                amount(options.span),
                options.steps,
                amount(least)
            ));
        }
        Ok(Self { options })
    }

    /// Whether it measures anything.
    fn measures(&self) -> bool {
        self.options.steps > 0
    }

    /// Each operation of each test with what was measured of it.
    fn curves(&self, evidence: &Evidence) -> Vec<Curve> {
        let workload_plan = WorkloadPlan::new(&self.options);
        let mut curves = Vec::new();
        for (test_index, test) in self.options.tests.iter().enumerate() {
            for (op_index, op) in self.options.ops.iter().enumerate() {
                let passes = workload_plan.passes_of(evidence, test_index, op_index);
                curves.push(Curve::new(*test, *op, self.options.steps, passes));
            }
        }
        curves.retain(|curve| !curve.passes.is_empty());
        curves
    }

    fn advertised_rate(&self, curve: &Curve) -> Option<f64> {
        let metric = match (curve.test.pattern, curve.op) {
            (Pattern::Sequential, Op::Read) => self.options.advertised_read_bytes_per_s,
            (Pattern::Sequential, Op::Write) => self.options.advertised_write_bytes_per_s,
            _ => None,
        };
        metric.map(|bytes_per_s| bytes_per_s as f64)
    }
}

fn check_tests(options: &DataOptions) -> Result<(), String> {
    let DataOptions { ops, tests, .. } = options;
    let twice = |pattern| tests.iter().filter(|test| test.pattern == pattern).count() > 1;
    if ops.is_empty() || ops.iter().any(|op| !matches!(op, Op::Read | Op::Write)) {
        return Err("op: name read, write or both".into());
    }
    if ops.len() > 2 || (ops.len() == 2 && ops[0] == ops[1]) {
        return Err("op: name read and write once each at most".into());
    }
    if tests.is_empty() || twice(Pattern::Sequential) || twice(Pattern::Random) {
        return Err("pattern: name sequential, random or both, once each at most".into());
    }
    for Test { block, depth, .. } in tests {
        if !(512..=BLOCK_MAX).contains(block) || !block.is_power_of_two() {
            return Err(format!("block = {block} bytes is not a power of two in 512..64MiB"));
        }
        if !(1..=1024).contains(depth) {
            return Err(format!("depth = {depth} is not in 1..1024"));
        }
    }
    Ok(())
}

impl Procedure for Data {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        if !self.measures() {
            return Layout { files: 1, file_bytes: PART_MIN };
        }
        Layout { files: self.options.steps, file_bytes: WorkloadPlan::new(&self.options).part() }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if !self.measures() {
            return Ok(Step::Done);
        }
        if !evidence.geometry.writable {
            return Err("it writes what it reads, and this target may only be read: give a folder".into());
        }
        let workload_plan = WorkloadPlan::new(&self.options);
        let (needed, capacity) =
            (workload_plan.part() * u64::from(self.options.steps), evidence.geometry.capacity);
        if needed > capacity {
            let (span, capacity) = (amount(needed), amount(capacity));
            return Err(format!(
                "a span of {span} is more than the {capacity} there are; give a smaller --span"
            ));
        }
        Ok(workload_plan.workload(&evidence.plan, evidence.segments.len()).map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let curves = self.curves(evidence);
        let files = self.options.files.as_ref();
        let conclusions: Vec<(&Curve, Conclusion)> =
            curves.iter().map(|curve| (curve, Conclusion::from_curve(curve))).collect();
        let expected: Vec<ExpectedSpeed> = files
            .into_iter()
            .flat_map(|files| curves.iter().filter_map(|curve| ExpectedSpeed::from_curve(curve, files)))
            .collect();
        let mut findings = Findings::default();
        let who = attribution(&evidence.identity);
        findings.verdicts.extend(conclusions.iter().filter_map(|(curve, found)| found.verdict(curve, &who)));
        findings.verdicts.extend(indifference(&conclusions, files.is_some()));
        findings.verdicts.extend(files.map(FileScan::verdict));
        for (curve, found) in &conclusions {
            let expected = expected.iter().find(|expected| expected.matches(curve));
            if found.is_significant() {
                let advertised = self.advertised_rate(curve);
                let share = files.and_then(FileScan::compresses_to);
                findings
                    .verdicts
                    .extend(expected.zip(share).map(|(expected, share)| expected.verdict(share, advertised)));
            }
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(self.remainder(evidence));
        self.add_tables(&mut findings, &curves, &expected);
        findings
    }
}

impl Data {
    fn add_tables(&self, findings: &mut Findings, curves: &[Curve], expected: &[ExpectedSpeed]) {
        let files = self.options.files.as_ref();
        if self.measures() {
            let rows = curves.iter().flat_map(Curve::rows).map(row).collect();
            findings.tables.insert("compressibility".into(), rows);
        }
        if !curves.is_empty() {
            findings.series.insert("compressibility".into(), graph(curves, files));
        }
        if self.measures() && files.is_some() {
            let of = |expected: &ExpectedSpeed| {
                let curve = curves.iter().find(|curve| expected.matches(curve));
                row(expected.row(curve.and_then(|curve| self.advertised_rate(curve))))
            };
            findings.tables.insert("expected".into(), expected.iter().map(of).collect());
        }
        if let Some(files) = files {
            findings.tables.insert("file_types".into(), files.rows().into_iter().map(row).collect());
            findings.series.extend(files.series().map(|series| ("file_types".to_owned(), series)));
        }
        if !curves.is_empty() {
            let rows = curves.iter().flat_map(Curve::pass_rows).map(row).collect();
            findings.tables.insert("passes".into(), rows);
        }
    }

    /// Says so when the run ended early.
    fn remainder(&self, evidence: &Evidence) -> Option<Verdict> {
        let wanted = self.measures().then(|| WorkloadPlan::new(&self.options).workloads())?;
        let reached = likenew_core::recorder::Stop::Reached;
        let run = evidence.segments.iter().filter(|segment| segment.stop == reached).count();
        (run < wanted).then(|| {
            Verdict::new("Everything was measured.", Standing::Fails)
                .with_evidence(format!("{run} of {wanted} workloads had run when the run ended"))
        })
    }
}

/// Speed over compressibility, 0 % compressible on the left, as AS SSD draws it.
fn graph(curves: &[Curve], files: Option<&FileScan>) -> Series {
    let lines = curves.iter().map(|curve| {
        let steps = curve.steps.iter().enumerate().rev();
        let points = steps.filter_map(|(step, of)| Some([100.0 - curve.percent(step), of.bytes_per_s()?]));
        let steps = curve.steps.iter().enumerate().rev();
        let band = steps.filter_map(|(step, of)| {
            let interval = of.interval()?;
            Some([100.0 - curve.percent(step), interval.low, interval.high])
        });
        Line::new(format!("{} {}", curve.test.pattern, curve.op), points.collect()).band(band.collect())
    });
    let mark = files
        .and_then(FileScan::compresses_to)
        .map(|share| Mark { x: 100.0 - 100.0 * share.value, label: "your files".into() });
    let x = Axis::new("compressible", "%");
    Series::new("Does it matter how compressible the data is?", Shape::Line, x, speed())
        .lines(lines)
        .marks(mark)
}
