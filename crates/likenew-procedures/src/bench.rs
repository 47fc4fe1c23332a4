//! The familiar table: sequential and random, deep and shallow, reads and writes, every pass kept.

mod result_line;

use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::place::Place;
use likenew_core::procedure::{Card, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, duration_text, rate, size_text};
use likenew_core::until::Until;
use likenew_core::verdict::{Findings, Line, Series, Shape, Standing, Verdict};
use likenew_core::workload::{Stream, Workload};
use likenew_stats::interval::mean_interval;
use likenew_stats::summary::{maximum, minimum};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::profile::{Profile, Test};
use crate::refusals::refusals;
use crate::rows::row;
use crate::series::{axis, speed};
use crate::workloads::prepare;
use result_line::{CONFIDENCE, ResultLine};

/// What it asks and costs.
pub static CARD: Card = Card {
    name: "bench",
    question: "How fast is it, in the familiar table?",
    writes: "writes its span once, then once a pass of every write test at most; only own files in a folder",
    manual: include_str!("bench.md"),
};

/// The settings of a bench.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BenchOptions {
    /// Which tests.
    pub profile: Profile,
    /// Which operations, in order.
    pub ops: Vec<Mix>,
    /// Bytes of address space that are tested, from the start of the drive.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Times that every test is repeated.
    pub passes: u32,
    /// A pass ends after this much time, or once it has moved as many bytes as the span has.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Rest before every pass.
    #[serde(with = "duration_text")]
    pub interval: Nanos,
    /// What is written.
    pub data: DataClass,
}

impl Default for BenchOptions {
    /// CrystalDiskMark's: 1 GiB, 5 passes, 5 s a pass, random data.
    fn default() -> Self {
        Self {
            profile: Profile::Default,
            ops: vec![Mix::Only(Op::Read), Mix::Only(Op::Write)],
            span: 1 << 30,
            passes: 5,
            time: Nanos::from_secs(5),
            interval: Nanos::ZERO,
            data: DataClass::Random,
        }
    }
}

/// The span is at least this: the largest block times the deepest queue.
pub const SPAN_MIN: u64 = 8 << 20;
/// Passes that differ by more than this, slowest to fastest, are called unsteady.
const UNSTEADY_RATIO: f64 = 1.25;

/// The procedure.
pub struct Bench {
    options: BenchOptions,
}

impl Bench {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("bench", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: BenchOptions) -> Result<Self, String> {
        if options.passes == 0 || options.passes > 1000 {
            return Err(format!("passes = {} is not in 1..1000", options.passes));
        }
        if options.time < Nanos::from_millis(1) || options.time > Nanos::from_secs(86_400) {
            return Err(format!("time = {} is not in 1ms..24h", options.time));
        }
        if options.interval > Nanos::from_secs(86_400) {
            return Err(format!("interval = {} is not in 0..24h", options.interval));
        }
        if options.span < SPAN_MIN || !options.span.is_multiple_of(SPAN_MIN) {
            return Err(format!("span = {} bytes is not a multiple of 8 MiB", options.span));
        }
        if options.ops.is_empty() || options.ops.contains(&Mix::Only(Op::Trim)) {
            return Err("op: name read, write or a mix such as mix:70".into());
        }
        Ok(Self { options })
    }

    fn writes(&self) -> bool {
        self.options.ops.iter().any(|op| op.writes())
    }

    /// Everything it would run on this drive, in order.
    fn workloads(&self, evidence: &Evidence) -> Vec<Workload> {
        let mut workloads = Vec::new();
        if evidence.geometry.writable {
            workloads.push(prepare(self.options.span, self.options.span, self.options.data));
        }
        for op in &self.options.ops {
            for test in self.options.profile.tests() {
                for pass in 1..=self.options.passes {
                    if self.options.interval > Nanos::ZERO {
                        workloads.push(Workload::rest(self.options.interval));
                    }
                    workloads.push(self.pass(test, *op, pass));
                }
            }
        }
        for (index, workload) in workloads.iter_mut().enumerate() {
            workload.seed = evidence.plan.seed_of(index);
        }
        workloads
    }

    fn pass(&self, test: &Test, op: Mix, pass: u32) -> Workload {
        let region = Region::bytes(0..self.options.span);
        let place = if test.random { Place::Uniform(region) } else { Place::Forward(region) };
        let stream = Stream::closed(op, test.block, place, test.depth, self.options.data);
        let until = Until { elapsed: Some(self.options.time), bytes: Some(self.options.span), ops: None };
        let name = format!("{test} {op} {pass}/{}", self.options.passes);
        Workload { lanes: test.threads, ..Workload::new(name, until, vec![stream]) }
    }

    /// Each line of the table that has at least one pass.
    fn lines<'a>(&'a self, evidence: &'a Evidence) -> Vec<ResultLine<'a>> {
        let mut lines = Vec::new();
        for op in &self.options.ops {
            for test in self.options.profile.tests() {
                let prefix = format!("{test} {op} ");
                let belongs = |segment: &&Segment| segment.workload.name.starts_with(&prefix);
                let passes: Vec<&Segment> = evidence.segments.iter().filter(belongs).collect();
                if !passes.is_empty() {
                    lines.push(ResultLine::new(test, *op, passes));
                }
            }
        }
        lines
    }
}

impl Procedure for Bench {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if self.options.span > evidence.geometry.capacity {
            let (span, capacity) = (amount(self.options.span), amount(evidence.geometry.capacity));
            return Err(format!(
                "a span of {span} is more than the {capacity} there are; give a smaller --span"
            ));
        }
        if self.writes() && !evidence.geometry.writable {
            return Err(
                "it would write, and this target may only be read: add --op read, or give a folder".into()
            );
        }
        let next = self.workloads(evidence).into_iter().nth(evidence.segments.len());
        Ok(next.map_or(Step::Enough, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let lines = self.lines(evidence);
        let mut findings = Findings::default();
        if !lines.is_empty() {
            findings.verdicts.push(summary(&lines));
            findings.verdicts.push(agreement(&lines));
            findings.series.insert("bandwidth".into(), bandwidth(&lines));
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        findings.verdicts.extend(self.coverage(&lines));
        findings.tables.insert("results".into(), lines.iter().map(|line| row(line.result())).collect());
        findings.tables.insert("passes".into(), lines.iter().flat_map(ResultLine::passes).map(row).collect());
        findings
    }
}

/// The sentence that a reader takes away: the first line of each operation, and its last.
fn summary(lines: &[ResultLine<'_>]) -> Verdict {
    let mut parts = Vec::new();
    let mut ops: Vec<Mix> = lines.iter().map(|line| line.op).collect();
    ops.dedup();
    for op in ops {
        let of: Vec<&ResultLine<'_>> = lines.iter().filter(|line| line.op == op).collect();
        let word = match op {
            Mix::Only(Op::Read) => "reads".to_owned(),
            Mix::Only(Op::Write) => "writes".to_owned(),
            other => format!("{other}"),
        };
        let said = |line: &ResultLine<'_>| format!("{} ({})", rate(line.mean_speed()), line.test);
        let mut sentence = format!("{word} at {}", said(of[0]));
        if of.len() > 1 {
            sentence.push_str(&format!(" and at {}", said(of[of.len() - 1])));
        }
        parts.push(sentence);
    }
    let first = &lines[0];
    let verdict = Verdict::new(format!("It {}.", parts.join("; it ")), Standing::Holds).because(format!(
        "each is the mean of {} passes; every pass stands in the table of passes",
        first.speeds.len()
    ));
    match mean_interval(&first.speeds, CONFIDENCE) {
        Some(interval) => {
            verdict.estimate(first.mean_speed(), interval.low.max(0.0), interval.high, "bytes/s")
        }
        None => verdict.caveat("measured once: nothing says how the next pass would differ"),
    }
}

fn agreement(lines: &[ResultLine<'_>]) -> Verdict {
    let claim = "The passes of each test agree.";
    if lines.iter().all(|line| line.speeds.len() < 2) {
        return Verdict::new(claim, Standing::Undecided).because("there is one pass of each test");
    }
    let unsteady: Vec<&ResultLine<'_>> = lines.iter().filter(|line| line.ratio() > UNSTEADY_RATIO).collect();
    if unsteady.is_empty() {
        let most = lines.iter().map(ResultLine::ratio).fold(1.0, f64::max);
        let percent = (most - 1.0) * 100.0;
        return Verdict::new(claim, Standing::Holds).because(format!(
            "the fastest pass of any test is at most {percent:.1} % faster than its slowest"
        ));
    }
    unsteady.iter().fold(Verdict::new(claim, Standing::Fails), |verdict, line| {
        let slowest = minimum(&line.speeds).expect("a line has a pass");
        let fastest = maximum(&line.speeds).expect("a line has a pass");
        verdict.because(format!("{}: passes between {} and {}", line.name(), rate(slowest), rate(fastest)))
    })
}

fn bandwidth(lines: &[ResultLine<'_>]) -> Series {
    let mut categories: Vec<String> = Vec::new();
    let mut drawn: Vec<Line> = Vec::new();
    for line in lines {
        let (test, op) = (line.test.to_string(), line.op.to_string());
        let x = categories.iter().position(|known| *known == test).unwrap_or_else(|| {
            categories.push(test);
            categories.len() - 1
        });
        let point = [x as f64, line.mean_speed()];
        match drawn.iter_mut().find(|known| known.name == op) {
            Some(known) => known.points.push(point),
            None => drawn.push(Line::new(op, vec![point])),
        }
    }
    Series::new("How fast is each test?", Shape::Bars, axis("test", ""), speed())
        .categories(categories)
        .lines(drawn)
}

impl Bench {
    /// Says so when the time of a pass did not suffice for its span: a large span then shows only a drive's cache.
    fn coverage(&self, lines: &[ResultLine<'_>]) -> Option<Verdict> {
        const COVERED: f64 = 0.99;
        let cut: Vec<&ResultLine<'_>> = lines
            .iter()
            .filter(|line| {
                !line.test.random && line.segments.iter().any(|segment| line.covered(segment) < COVERED)
            })
            .collect();
        let claim = format!("Every sequential pass covered the whole span of {}.", amount(self.options.span));
        if cut.is_empty() {
            return None;
        }
        Some(cut.iter().fold(Verdict::new(claim, Standing::Fails), |verdict, line| {
            let least = line.segments.iter().map(|segment| line.covered(segment)).fold(1.0, f64::min);
            let name = line.name();
            verdict.because(format!(
                "{name}: {} ended a pass at {:.0} % of it",
                self.options.time,
                least * 100.0
            ))
        }))
    }
}
