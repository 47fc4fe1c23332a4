//! The familiar table: sequential and random, deep and shallow, reads and writes, every pass kept.

mod result_line;

use likenew_core::access_pattern::AccessPattern;
use likenew_core::io::{DataClass, Op};
use likenew_core::mix::Mix;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::region::Region;
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, amount, duration_text, rate, size_text};
use likenew_core::until::Until;
use likenew_core::verdict::{Findings, Line, Series, Shape, Standing, Verdict};
use likenew_core::workload::{Stream, Workload};
use likenew_stats::precision::{Goal, Precision, precision};
use likenew_stats::summary::{maximum, minimum};
use serde::{Deserialize, Serialize};

use crate::options::options;
use crate::precision_goal::{self, PrecisionGoal};
use crate::profile::{Profile, Test};
use crate::refusals::refusals;
use crate::rows::row;
use crate::series::{axis, speed};
use crate::workloads::prepare;
use result_line::ResultLine;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
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
    /// Instead, every test is repeated until its mean is known to this share, in passes that are shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precise: Option<PrecisionGoal>,
    /// But not more often than this.
    pub passes_max: u32,
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
            precise: None,
            passes_max: Goal::PASSES_MAX as u32,
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
        if options.precise.is_some() && !(options.passes..=1000).contains(&options.passes_max) {
            return Err(format!("passes_max = {} is not in {}..1000", options.passes_max, options.passes));
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

    /// The lines of the table, in order.
    fn tests(&self) -> impl Iterator<Item = (Mix, &'static Test)> {
        self.options
            .ops
            .iter()
            .flat_map(|op| self.options.profile.tests().iter().map(move |test| (*op, test)))
    }

    /// How precisely each mean is wanted, if that was asked for.
    fn goal(&self) -> Option<Goal> {
        let BenchOptions { precise, passes, passes_max, .. } = &self.options;
        precise.map(|precise| precise.goal(*passes as usize, *passes_max as usize))
    }

    fn is_enough(&self, passes: &[&Segment]) -> bool {
        let Some(goal) = self.goal() else { return passes.len() >= self.options.passes as usize };
        // What failed is a pass, and says nothing of how precisely the others are known.
        let speeds: Vec<f64> = passes.iter().filter_map(|segment| segment.bytes_per_s()).collect();
        let is_precise = || precision(&speeds, &goal) != Precision::More;
        passes.len() >= goal.passes_min && (is_precise() || passes.len() >= goal.passes_max)
    }

    /// The next pass of a test after so many. Passes that are repeated until they agree are short, and go through the
    /// span piece by piece.
    fn pass(&self, test: &Test, op: Mix, done: usize) -> Workload {
        let BenchOptions { span, time, passes, data, .. } = self.options;
        let (piece, time, name) = match self.options.precise {
            None => (span, time, format!("{test} {op} {}/{passes}", done + 1)),
            Some(_) => (piece(span), Nanos(time.0 / PIECE_TIME_PART), format!("{test} {op} #{}", done + 1)),
        };
        let start = done as u64 % (span / piece) * piece;
        let place = if test.random {
            AccessPattern::Random(Region::bytes(0..span))
        } else {
            AccessPattern::Sequential(Region::bytes(start..start + piece))
        };
        let stream = Stream::closed(op, test.block, place, test.depth, data);
        let until = Until { elapsed: Some(time), bytes: Some(piece), ops: None };
        Workload { lanes: test.threads, ..Workload::new(name, until, vec![stream]) }
    }

    fn passes<'a>(&self, evidence: &'a Evidence, op: Mix, test: &Test) -> Vec<&'a Segment> {
        let prefix = format!("{test} {op} ");
        evidence.segments.iter().filter(|segment| segment.workload.name.starts_with(&prefix)).collect()
    }

    /// Each line of the table that has at least one pass that measured something.
    fn lines<'a>(&'a self, evidence: &'a Evidence) -> Vec<ResultLine<'a>> {
        let lines = self.tests().map(|(op, test)| (op, test, self.passes(evidence, op, test)));
        lines.filter_map(|(op, test, passes)| ResultLine::new(test, op, &passes, self.goal())).collect()
    }
}

/// What one of the passes that are repeated until they agree moves: a sixteenth of the span, or the next larger part of it
/// that is made of whole blocks.
fn piece(span: u64) -> u64 {
    const PIECES: u64 = 16;
    (1..=PIECES)
        .rev()
        .map(|pieces| span / pieces)
        .find(|piece| span.is_multiple_of(*piece) && piece.is_multiple_of(SPAN_MIN))
        .unwrap_or(span)
}

/// And each of them takes at most this part of the time of a whole pass.
const PIECE_TIME_PART: u64 = 5;

impl Procedure for Bench {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
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
        let (done, span) = (evidence.segments.len(), self.options.span);
        let run = |workload| Ok(Step::Run(Workload { seed: evidence.plan.seed_of(done), ..workload }));
        if done == 0 && evidence.geometry.writable {
            return run(prepare(span, span, self.options.data));
        }
        let rested = evidence.segments.last().is_some_and(|segment| segment.workload.streams.is_empty());
        for (op, test) in self.tests() {
            let passes = self.passes(evidence, op, test);
            if !self.is_enough(&passes) {
                let rest = self.options.interval > Nanos::ZERO && !rested;
                return run(if rest {
                    Workload::rest(self.options.interval)
                } else {
                    self.pass(test, op, passes.len())
                });
            }
        }
        Ok(Step::Done)
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let lines = self.lines(evidence);
        let mut findings = Findings::default();
        if !lines.is_empty() {
            findings.verdicts.push(summary(&lines));
            findings.verdicts.push(match self.goal() {
                None => agreement(&lines),
                Some(goal) => precision_goal::verdict(
                    &goal,
                    &lines.iter().map(ResultLine::precision).collect::<Vec<_>>(),
                ),
            });
            findings.series.insert("bandwidth".into(), bandwidth(&lines));
        }
        findings.verdicts.extend(refusals(&evidence.segments));
        if self.options.precise.is_none() {
            findings.verdicts.extend(self.coverage(&lines));
        }
        findings.tables.insert("results".into(), lines.iter().map(|line| row(line.result())).collect());
        findings.tables.insert("passes".into(), lines.iter().flat_map(ResultLine::rows).map(row).collect());
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
        let message = |line: &ResultLine<'_>| format!("{} ({})", rate(line.mean_speed()), line.test);
        let mut sentence = format!("{word} at {}", message(of[0]));
        if of.len() > 1 {
            sentence.push_str(&format!(" and at {}", message(of[of.len() - 1])));
        }
        parts.push(sentence);
    }
    let first = &lines[0];
    let counts = || lines.iter().map(|line| line.speeds.len());
    let (fewest, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
    let passes = if fewest == most { most.to_string() } else { format!("{fewest} to {most}") };
    let verdict = Verdict::new(format!("It {}.", parts.join("; it ")), Standing::Holds).with_evidence(
        format!("each is the mean of {passes} passes; every pass stands in the table of passes"),
    );
    match first.interval {
        Some(interval) => {
            verdict.estimate(first.mean_speed(), interval.low.max(0.0), interval.high, "bytes/s")
        }
        None => verdict.caveat("measured once: nothing says how the next pass would differ"),
    }
}

fn agreement(lines: &[ResultLine<'_>]) -> Verdict {
    let claim = "The passes of each test agree.";
    if lines.iter().all(|line| line.speeds.len() < 2) {
        return Verdict::new(claim, Standing::Undecided).with_evidence("there is one pass of each test");
    }
    let unsteady: Vec<&ResultLine<'_>> = lines.iter().filter(|line| line.ratio() > UNSTEADY_RATIO).collect();
    if unsteady.is_empty() {
        let most = lines.iter().map(ResultLine::ratio).fold(1.0, f64::max);
        let percent = (most - 1.0) * 100.0;
        return Verdict::new(claim, Standing::Holds).with_evidence(format!(
            "the fastest pass of any test is at most {percent:.1} % faster than its slowest"
        ));
    }
    unsteady.iter().fold(Verdict::new(claim, Standing::Fails), |verdict, line| {
        let slowest = minimum(&line.speeds).expect("a line has a pass");
        let fastest = maximum(&line.speeds).expect("a line has a pass");
        verdict.with_evidence(format!(
            "{}: passes between {} and {}",
            line.name(),
            rate(slowest),
            rate(fastest)
        ))
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
        const COVERAGE_MIN: f64 = 0.99;
        let cut: Vec<&ResultLine<'_>> = lines
            .iter()
            .filter(|line| {
                !line.test.random && line.passes.iter().any(|pass| line.coverage(pass.segment) < COVERAGE_MIN)
            })
            .collect();
        if cut.is_empty() {
            return None;
        }
        // A limit that was part of the plan is no fault of the drive.
        let claim = format!(
            "The time limit of {} ended sequential passes before they covered the span of {}.",
            self.options.time,
            amount(self.options.span)
        );
        Some(cut.iter().fold(Verdict::new(claim, Standing::Holds), |verdict, line| {
            let least = line.passes.iter().map(|pass| line.coverage(pass.segment)).fold(1.0, f64::min);
            verdict.with_evidence(format!("{}: {:.0} % covered at least", line.name(), least * 100.0))
        }))
    }
}
