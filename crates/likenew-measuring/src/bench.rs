//! The table that most benchmarks show: sequential and random, deep and shallow queues, reads and writes.

mod wording;

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Lead, Line, Row, Series, Shape};
use likenew_core::io::{DataClass, Op};
use likenew_core::probe::Probe;
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::{Iops, Rate, Share, Size};
use likenew_core::segment::Segment;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::{Estimate, Passes, distinct, grouped};
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments, mix_of_reads};
use likenew_procedure_support::options::{
    DAY, check_idle, check_multiple, check_ops, check_range, check_span, check_time, check_writable,
};
use likenew_procedure_support::precision_goal::{self, MeanPrecision, PrecisionGoal};
use likenew_procedure_support::profile::{Profile, Test};
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, speed};
use likenew_procedure_support::workloads::prepare;
use likenew_rated::{Figure, Usual, usual_for};
use likenew_stats::interval::{Goal, Interval, Precision, precision};
use likenew_stats::summary::{maximum, minimum};
use serde::{Deserialize, Serialize};
pub use wording::DESCRIPTOR;
use wording::TableRow;

use crate::commits::{self, CommitBy, CommitTest, Commits};

/// Sequential and random speed in one table
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct BenchOptions {
    /// Which tests to run
    #[arg(long, default_value = "default", value_name = "NAME")]
    pub profile: Profile,
    /// Operations: read, write, mix:70 (70% reads) [default: read,write; read where the target is read-only]
    #[arg(
        long = "op",
        value_delimiter = ',',
        default_value = "read,write",
        hide_default_value = true,
        value_name = "OP,.."
    )]
    pub ops: Vec<Mix>,
    /// Same as --op mix:PERCENT, as fio spells it
    #[arg(long, value_parser = mix_of_reads, value_name = "PERCENT", conflicts_with = "ops", hide_short_help = true)]
    #[serde(skip)]
    pub rwmixread: Option<Mix>,
    /// Address space to test [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", default_value = "1GiB", hide_default_value = true, value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Passes of each test
    #[arg(long, default_value_t = 5, value_name = "N")]
    pub passes: u32,
    /// Instead, repeat short passes until the mean of each test is known this well, such as 2%
    #[arg(long, value_name = "PERCENT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub precise: Option<PrecisionGoal>,
    /// At most this many passes of a test with --precise
    #[arg(long, requires = "precise", default_value_t = 50, value_name = "N")]
    pub passes_max: u32,
    /// Time limit of a pass; it also ends once it has moved as many bytes as the span holds
    #[arg(long, visible_alias = "runtime", default_value = "5s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Idle time before each pass
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// How the durable writes are made that follow plain writes
    #[arg(long, value_enum, value_delimiter = ',', default_value = "fdatasync", value_name = "CALL,..")]
    #[serde(skip_serializing_if = "is_usual")]
    pub by: Vec<CommitBy>,
}

fn is_usual(by: &[CommitBy]) -> bool {
    matches!(by, [by] if by.is_usual())
}

impl BenchOptions {
    /// The options that an advised command leaves out. Without `precise`, it always names its passes.
    fn usual(&self) -> Self {
        let defaults = Self::default();
        let passes = if self.precise.is_some() { defaults.passes } else { 0 };
        Self { passes, ..defaults }
    }
}

impl Options for BenchOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        fitting.ops(&mut self.ops, self.rwmixread.take())?;
        fitting.span(&mut self.span, SPAN_MIN)
    }
}

/// The span is at least this: the largest block times the deepest queue.
pub const SPAN_MIN: u64 = 8 << 20;
/// Ratio of the fastest pass to the slowest from which a test is unsteady. Chosen.
const UNSTEADY_RATIO: f64 = 1.25;
/// Share of its span that a pass must cover, or it counts as cut short. Chosen: the rest is rounding to whole blocks.
const COVERAGE_MIN: f64 = 0.99;

/// Most bytes of address space for durable writes, as suits takes by default.
const COMMIT_SPAN_MAX: u64 = 64 << 20;

/// Queue depth from which sequential speeds compare with rated ones, as in CrystalDiskMark's SEQ1M Q8T1.
const DEEP: u32 = 8;

/// The procedure.
pub struct Bench {
    options: BenchOptions,
}

impl Bench {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: BenchOptions) -> Result<Self, String> {
        let BenchOptions { passes, passes_max, time, idle, span, .. } = options;
        check_range("passes", passes, 1..=1000)?;
        if options.precise.is_some() {
            check_range("passes_max", passes_max, passes..=1000)?;
        }
        check_time("time", time)?;
        check_idle(idle)?;
        check_multiple("span", span, SPAN_MIN)?;
        check_ops(&options.ops)?;
        Ok(Self { options })
    }

    /// The lines of the table, from top to bottom.
    fn tests(&self) -> impl Iterator<Item = (Mix, &'static Test)> {
        self.options
            .ops
            .iter()
            .flat_map(|op| self.options.profile.tests().iter().map(move |test| (*op, test)))
    }

    /// The precision of each mean, if one was asked for.
    fn goal(&self) -> Option<Goal> {
        let BenchOptions { precise, passes, passes_max, .. } = &self.options;
        precise.map(|precise| precise.goal(*passes as usize, *passes_max as usize))
    }

    fn is_enough(&self, passes: &[&Segment]) -> bool {
        let Some(goal) = self.goal() else { return passes.len() >= self.options.passes as usize };
        // A failed pass counts as a pass, but has no speed.
        let speeds: Vec<f64> = passes.iter().filter_map(|segment| segment.bytes_per_s()).collect();
        let is_precise = || precision(&speeds, &goal) != Precision::More;
        passes.len() >= goal.passes_min && (is_precise() || passes.len() >= goal.passes_max)
    }

    /// The next pass of a test. Passes that repeat until their mean is precise are short, and go through the span
    /// piece by piece.
    fn pass(&self, test: &Test, op: Mix, done: usize) -> Workload {
        let BenchOptions { span, time, passes, data, .. } = self.options;
        let (piece, time, name) = match self.options.precise {
            None => (span, time, format!("{test} {op} {}/{passes}", done + 1)),
            Some(_) => (piece(span), Nanos(time.0 / PIECE_TIME_PART), format!("{test} {op} #{}", done + 1)),
        };
        let start = done as u64 % (span / piece) * piece;
        let place = test.over(if test.random { 0..span } else { start..start + piece });
        let stream = Stream::closed(op, test.block, place, test.depth, data);
        let until = Until { elapsed: Some(time), bytes: Some(piece), ops: None };
        Workload { lanes: test.threads, ..Workload::new(name, until, vec![stream]) }
    }
}

/// Bytes of a short pass: a sixteenth of the span, or the next larger part that consists of whole blocks.
fn piece(span: u64) -> u64 {
    const PIECES: u64 = 16;
    (1..=PIECES)
        .rev()
        .map(|pieces| span / pieces)
        .find(|piece| span.is_multiple_of(*piece) && piece.is_multiple_of(SPAN_MIN))
        .unwrap_or(span)
}

/// Time limit of a whole pass over that of a short one.
const PIECE_TIME_PART: u64 = 5;

impl Procedure for Bench {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let geometry = &steps.evidence().geometry;
        check_span(self.options.span, geometry, SPAN_MIN)?;
        check_writable(&self.options.ops, geometry)?;
        let (mut measured, mut commits) = (Vec::new(), Vec::new());
        let _ended =
            self.measure(steps, &mut measured).and_then(|()| self.measure_commits(steps, &mut commits));
        Ok(steps.conclude(|evidence| {
            let goal = self.goal();
            let line = |(op, test, passes)| ResultLine::new(test, op, passes, goal.as_ref());
            let lines: Vec<ResultLine<'_>> = measured.into_iter().filter_map(line).collect();
            let commits = commits.iter().filter_map(|(test, passes)| Commits::new(*test, passes));
            self.findings(evidence, &lines, &commits.collect::<Vec<_>>())
        }))
    }
}

/// A line of the table and its passes.
type MeasuredTest<'a> = (Mix, &'static Test, Vec<&'a Segment>);
/// A test of durable writes and its passes.
type MeasuredCommits<'a> = (CommitTest, Vec<&'a Segment>);

impl Bench {
    /// Writes the span once, if it may; then goes through the table, with all passes of a test together.
    fn measure<'a>(&self, steps: &mut Steps<'a>, measured: &mut Vec<MeasuredTest<'a>>) -> Result<(), Ended> {
        let BenchOptions { span, idle, data, .. } = self.options;
        if steps.evidence().identity.kind != TargetKind::Simulated {
            steps.probe_or_skip(Probe::Facts)?;
        }
        if steps.evidence().geometry.writable {
            steps.run_seeded(|| prepare(span, span, data))?;
        }
        for (op, test) in self.tests() {
            measured.push((op, test, Vec::new()));
            let (.., passes) = measured.last_mut().expect("one was just added");
            while !self.is_enough(passes) {
                steps.rest(idle)?;
                passes.push(steps.run_seeded(|| self.pass(test, op, passes.len()))?);
            }
        }
        Ok(())
    }

    /// If plain writes are tested: writes that are durable one by one, of one writer and of several.
    fn measure_commits<'a>(
        &self,
        steps: &mut Steps<'a>,
        measured: &mut Vec<MeasuredCommits<'a>>,
    ) -> Result<(), Ended> {
        let BenchOptions { span, passes, time, idle, ref by, .. } = self.options;
        if !self.options.ops.contains(&Mix::Only(Op::Write)) {
            return Ok(());
        }
        let (kind, region) = (steps.evidence().identity.kind, 0..span.min(COMMIT_SPAN_MAX));
        let until = Until { elapsed: Some(time), bytes: Some(region.end), ops: Some(commits::COMMITS_MAX) };
        for (by, writers) in by.iter().flat_map(|by| [(*by, 1), (*by, commits::WRITERS)]) {
            let test = CommitTest { by, writers, block: commits::BLOCK };
            measured.push((test, Vec::new()));
            for pass in 1..=passes {
                steps.rest(idle)?;
                let name = format!("{} {pass}/{passes}", test.name());
                let segment = steps.run_seeded(|| test.workload(name, kind, region.clone(), until))?;
                measured.last_mut().expect("one was just added").1.push(segment);
            }
        }
        Ok(())
    }

    fn findings(&self, evidence: &Evidence, lines: &[ResultLine<'_>], commits: &[Commits]) -> Findings {
        let mut findings = Findings::default();
        findings.overview.lead = Lead::Table;
        if !lines.is_empty() {
            let tests = headline(lines);
            findings.summary = wording::summary(&tests);
            findings.answers.push(speed_answer(lines, &tests));
            findings.answers.push(match self.goal() {
                None => self.repeatability(lines, evidence),
                Some(goal) => self.precision(lines, &goal, evidence),
            });
            let facts = evidence.observations.iter().find_map(|observation| observation.result.facts());
            let to_usual = |line: &ResultLine<'_>| usual_for(facts?, line.figure()?);
            let usual: Vec<Option<Usual>> = lines.iter().map(to_usual).collect();
            if let Some(first) = usual.iter().flatten().next() {
                findings.overview.answers.push(wording::USUAL.to_owned());
                findings.answers.push(wording::usual(first));
                let rows = lines
                    .iter()
                    .zip(&usual)
                    .filter_map(|(line, usual)| Some(line.usual_row(usual.as_ref()?)));
                findings.tables.insert("usual".into(), rows.collect());
            }
            let rows = lines.iter().zip(&usual).map(|(line, usual)| line.table_row(usual.as_ref()));
            findings.overview.table = Some(wording::table(rows.chain(commits.iter().map(TableRow::from))));
            findings.series.insert("bandwidth".into(), bandwidth(lines));
        }
        let coverage = if self.options.precise.is_none() { self.coverage(lines) } else { None };
        add_failures(&mut findings.answers, evidence, coverage);
        findings.tables.insert("results".into(), lines.iter().map(ResultLine::row).collect());
        findings.tables.insert("passes".into(), lines.iter().flat_map(ResultLine::pass_rows).collect());
        if !commits.is_empty() {
            findings.tables.insert("commits".into(), commits.iter().map(Commits::row).collect());
        }
        findings
    }
}

/// The speeds that the summary names: of the first test and the last, each with all of its operations.
fn headline<'a>(lines: &[ResultLine<'a>]) -> Vec<(&'a Test, Vec<wording::OpSpeed>)> {
    let mut tests = vec![lines[0].test, lines[lines.len() - 1].test];
    tests.dedup();
    let speed = |line: &ResultLine<'_>| wording::OpSpeed {
        op: line.op,
        rate: Rate(line.passes.rate.value),
        iops: Iops(line.iops()),
    };
    let of_test = |test: &'a Test| lines.iter().filter(|line| line.test == test).map(speed).collect();
    tests.into_iter().map(|test| (test, of_test(test))).collect()
}

fn speed_answer(lines: &[ResultLine<'_>], tests: &[(&Test, Vec<wording::OpSpeed>)]) -> Answer {
    let passes = || lines.iter().map(|line| line.passes.speeds.len() as u64);
    let answer = wording::speed(tests, (passes().min().unwrap_or(0), passes().max().unwrap_or(0)));
    lines[0].passes.rate.not_negative().put(answer, "bytes/s")
}

fn bandwidth(lines: &[ResultLine<'_>]) -> Series {
    let categories: Vec<String> = distinct(lines.iter().map(|line| line.test.to_string()));
    let point = |line: &ResultLine<'_>| {
        let test = line.test.to_string();
        let x = categories.iter().position(|known| *known == test).expect("it is one of them");
        (line.op.to_string(), [x as f64, line.passes.rate.value])
    };
    let drawn = grouped(lines.iter().map(point)).into_iter().map(|(op, points)| Line::new(op, points));
    Series::new(wording::BANDWIDTH_TITLE, Shape::Bars, axis("test", ""), speed())
        .lines(drawn.collect::<Vec<Line>>())
        .categories(categories)
}

impl Bench {
    /// Whether the passes of each test agree.
    fn repeatability(&self, lines: &[ResultLine<'_>], evidence: &Evidence) -> Answer {
        if lines.iter().all(|line| line.passes.is_one()) {
            let again = BenchOptions { passes: BenchOptions::default().passes, ..self.options.clone() };
            return wording::measured_once(&rerun(evidence, again));
        }
        let unsteady: Vec<&ResultLine<'_>> =
            lines.iter().filter(|line| line.ratio() > UNSTEADY_RATIO).collect();
        let Some(worst) = unsteady.iter().max_by(|a, b| a.ratio().total_cmp(&b.ratio())) else {
            let spread = lines.iter().map(ResultLine::ratio).fold(1.0, f64::max) - 1.0;
            return wording::passes_agree(Share(spread));
        };
        let (slowest, fastest) = (Rate(worst.slowest()), Rate(worst.fastest()));
        let (name, limit) = (worst.name(), Share(UNSTEADY_RATIO - 1.0));
        let answer = wording::passes_disagree(unsteady.len(), lines.len(), limit, &name, slowest, fastest);
        // The answer itself names the test if only one is unsteady.
        unsteady.iter().filter(|_| unsteady.len() > 1).fold(answer, |answer, line| {
            let (slowest, fastest) = (Rate(line.slowest()), Rate(line.fastest()));
            answer.with_evidence(wording::unsteady_test(&line.name(), slowest, fastest))
        })
    }

    /// Whether the means are as precise as asked for.
    fn precision(&self, lines: &[ResultLine<'_>], goal: &Goal, evidence: &Evidence) -> Answer {
        let means: Vec<MeanPrecision> = lines.iter().map(ResultLine::precision).collect();
        let answer = precision_goal::answer(goal, &means);
        // The width of an interval falls with the root of the number of passes.
        let needed = |mean: &MeanPrecision| mean.passes as f64 * (mean.share / goal.share).powi(2);
        let Some(passes) = means.iter().filter(|mean| !mean.enough).map(needed).reduce(f64::max) else {
            return answer;
        };
        let passes = (MARGIN * passes).ceil();
        let (id, why, again) = if passes <= 1000.0 {
            let again = BenchOptions { passes_max: passes as u32, ..self.options.clone() };
            ("more_passes", wording::REACH_PRECISION, again)
        } else {
            let span = self.options.span.saturating_mul(LONGER);
            let span = if span <= evidence.geometry.capacity { span } else { self.options.span };
            let time = Nanos(self.options.time.0 * LONGER).min(DAY);
            ("longer_passes", wording::VARY_LESS, BenchOptions { span, time, ..self.options.clone() })
        };
        answer.action(rerun(evidence, again).action(id, why))
    }

    /// Reports passes that were too short for their span: of a large span, they may show only the drive's cache.
    fn coverage(&self, lines: &[ResultLine<'_>]) -> Option<Answer> {
        let sequential: Vec<&ResultLine<'_>> = lines.iter().filter(|line| !line.test.random).collect();
        let is_cut = |line: &&&ResultLine<'_>| {
            line.coverage_min() < COVERAGE_MIN && line.reached_time(self.options.time)
        };
        let cut: Vec<&ResultLine<'_>> = sequential.iter().filter(is_cut).copied().collect();
        let least = cut.iter().min_by(|a, b| a.coverage_min().total_cmp(&b.coverage_min()))?;
        // A limit in the plan is no fault of the drive.
        let (time, span, share) = (self.options.time, Size(self.options.span), Share(least.coverage_min()));
        let answer = wording::passes_cut_short(cut.len(), sequential.len(), time, span, &least.name(), share);
        Some(cut.iter().fold(answer, |answer, line| {
            answer.with_evidence(wording::covered(&line.name(), Share(line.coverage_min())))
        }))
    }
}

fn rerun(evidence: &Evidence, options: BenchOptions) -> Rerun {
    Rerun::new(evidence, &arguments(&options, &options.usual()), Bench::new(options.clone()))
}

/// Factor on the expected number of passes, because passes vary. Chosen.
const MARGIN: f64 = 1.5;
/// Factor on the time of passes that vary too much. Chosen.
const LONGER: u64 = 4;

/// One line of the table: a test, an operation, and all its passes.
struct ResultLine<'a> {
    test: &'a Test,
    op: Mix,
    passes: Passes<'a>,
    /// The number of each pass, from 1, failed ones included.
    numbers: Vec<usize>,
}

impl<'a> ResultLine<'a> {
    /// `None` if no pass measured anything.
    fn new(test: &'a Test, op: Mix, segments: Vec<&'a Segment>, goal: Option<&Goal>) -> Option<Self> {
        let passes = Passes::new(segments.iter().copied(), goal)?;
        let numbered = (1..).zip(&segments).filter(|(_, segment)| segment.bytes_per_s().is_some());
        Some(Self { test, op, passes, numbers: numbered.map(|(number, _)| number).collect() })
    }

    fn precision(&self) -> MeanPrecision {
        let Passes { speeds, rate, precision, .. } = &self.passes;
        MeanPrecision {
            name: self.name(),
            passes: speeds.len(),
            share: rate.half_width().unwrap_or(f64::INFINITY) / rate.value,
            enough: matches!(precision, Some(Precision::Reached(_))),
        }
    }

    fn name(&self) -> String {
        format!("{} {}", self.test, self.op)
    }

    /// The rated or reviewed figure that is measured alike: sequential with a deep queue, or 4 KiB at QD1.
    fn figure(&self) -> Option<Figure> {
        let Test { random, block, depth, threads } = *self.test;
        match (random, depth * threads, block, self.op) {
            (false, DEEP.., _, Mix::Only(Op::Read)) => Some(Figure::Read),
            (false, DEEP.., _, Mix::Only(Op::Write)) => Some(Figure::Write),
            (true, 1, 4096, Mix::Only(Op::Read)) => Some(Figure::SmallRead),
            (true, 1, 4096, Mix::Only(Op::Write)) => Some(Figure::SmallWrite),
            _ => None,
        }
    }

    /// The median of what new drives of its class reach, and the range of four in five of them, in bytes a second.
    fn usual_row(&self, usual: &Usual) -> Row {
        let bytes = match usual.figure {
            Figure::Read | Figure::Write => 1.0,
            Figure::SmallRead | Figure::SmallWrite => f64::from(self.test.block),
        };
        let (low, high) = usual.range();
        let usual_speed = Estimate { value: usual.median(), interval: Some(Interval { low, high }) };
        let columns =
            self.columns().with_estimate("bytes_per_s", Some(usual_speed.map(|speed| speed * bytes)));
        columns.with("models", usual.values.len())
    }

    fn iops(&self) -> f64 {
        self.passes.iops().value
    }

    /// Its row on the first screen.
    fn table_row(&self, usual: Option<&Usual>) -> TableRow {
        let (name, speed) = (self.name(), self.passes.rate.not_negative());
        let (iops, latency) = (self.iops(), (&self.passes.total).into());
        TableRow { name, speed, iops, latency, usual: usual.map(Usual::to_string) }
    }

    fn columns(&self) -> Row {
        Row::new().with("test", self.test.to_string()).with("op", self.op.to_string())
    }

    fn row(&self) -> Row {
        let columns = self.columns().with_estimate("bytes_per_s", Some(self.passes.rate.not_negative()));
        columns.with("iops", self.iops()).with_latency(&self.passes.total)
    }

    fn pass_rows(&self) -> impl Iterator<Item = Row> {
        self.numbers.iter().zip(&self.passes.segments).map(|(number, segment)| {
            let columns = self.columns().with("pass", number).with_pass(segment);
            columns.with("covered_percent", coverage(segment) * 100.0)
        })
    }

    fn slowest(&self) -> f64 {
        minimum(&self.passes.speeds).expect("a line has a pass")
    }

    fn fastest(&self) -> f64 {
        maximum(&self.passes.speeds).expect("a line has a pass")
    }

    /// Whether a pass ran into its time limit; failed I/Os also make a pass cover less than its span.
    fn reached_time(&self, time: Nanos) -> bool {
        self.passes.segments.iter().any(|segment| segment.elapsed() >= time)
    }

    /// The smallest share of the span that one of its passes covered.
    fn coverage_min(&self) -> f64 {
        self.passes.segments.iter().map(|segment| coverage(segment)).fold(1.0, f64::min)
    }

    /// Fastest pass over slowest; infinite when a pass moved nothing.
    fn ratio(&self) -> f64 {
        let (slowest, fastest) = (self.slowest(), self.fastest());
        if slowest > 0.0 { fastest / slowest } else { f64::INFINITY }
    }
}

/// The share of the span's bytes that a pass moved.
fn coverage(segment: &Segment) -> f64 {
    let share = |bytes: u64| segment.total().bytes as f64 / bytes as f64;
    segment.workload.until.bytes.map_or(1.0, share)
}
