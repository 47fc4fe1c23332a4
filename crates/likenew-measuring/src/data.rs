//! Measures speed by how compressible the data is, and what that means for a user's files.

mod curve;
pub mod files;
mod wording;

use std::ops::Range;

use clap::{Args, value_parser};
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Axis, Findings, Mark, Series, Shape, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Plan, Procedure, Steps};
use likenew_core::quantity::{Share, Size};
use likenew_core::segment::Stop;
use likenew_core::units::{Nanos, duration_text, exact_size, parse_duration, parse_size, size_text};
use likenew_core::workload::{Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::distinct;
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments};
use likenew_procedure_support::options::{check_idle, check_range, check_span, check_time};
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::Rerun;
use likenew_procedure_support::rows::row;
use likenew_procedure_support::series::{estimated_line, speed};
use likenew_procedure_support::wording::{answer_as_summary, ended_early, not_a_power_of_two, patterns_once};
use likenew_procedure_support::workloads::sequential_write;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use curve::{Conclusion, Curve, ExpectedSpeed, compressor};
use files::FileScan;
pub use wording::DESCRIPTOR;
use wording::Subject;

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

/// 1 MiB sequential at QD8 and 4 KiB random at QD32, as in bench.
const USUAL_TESTS: [Test; 2] = [
    Test { pattern: Pattern::Sequential, block: 1 << 20, depth: 8 },
    Test { pattern: Pattern::Random, block: 4096, depth: 32 },
];

/// Tests as they are typed: one block or depth is for all patterns, several are for the patterns in their order.
#[derive(Args, Clone, Debug, Default, PartialEq)]
pub struct TestArguments {
    /// Access patterns: sequential, random
    #[arg(long, value_delimiter = ',', default_value = "sequential,random", value_name = "PATTERN,..")]
    pattern: Vec<Pattern>,
    /// Block size, one for all patterns or one for each [default: 1MiB sequential, 4KiB random]
    #[arg(long, visible_alias = "bs", value_delimiter = ',', value_parser = parse_size, value_name = "SIZE,..")]
    block: Vec<u64>,
    /// Queue depth, one for all patterns or one for each
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    depth: Vec<u32>,
}

impl TestArguments {
    /// A test for each pattern; what the user did not choose comes from `defaults`.
    pub(crate) fn tests(&self, defaults: &[Test]) -> Result<Vec<Test>, String> {
        let Self { pattern: patterns, block: blocks, depth: depths } = self;
        for (name, count) in [("block", blocks.len()), ("depth", depths.len())] {
            if count > 1 && count != patterns.len() {
                return Err(wording::values_for_patterns(name, count, patterns.len()));
            }
        }
        let test = |(index, pattern): (usize, &Pattern)| {
            let fallback = defaults.iter().find(|test| test.pattern == *pattern);
            let fallback = fallback.expect("there is a usual test of every pattern");
            Test {
                pattern: *pattern,
                block: blocks.get(index).or(blocks.first()).copied().unwrap_or(fallback.block),
                depth: depths.get(index).or(depths.first()).copied().unwrap_or(fallback.depth),
            }
        };
        Ok(patterns.iter().enumerate().map(test).collect())
    }
}

/// The options of data.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test", mut_arg("depth", |depth| depth.help(wording::DEPTHS)))]
#[serde(deny_unknown_fields, default)]
pub struct DataOptions {
    /// Steps from zeros to incompressible data, from 2 to 101
    // In a plan, 0 measures nothing and only describes the files.
    #[arg(long, default_value_t = 11, value_parser = value_parser!(u32).range(2..=101), value_name = "N")]
    pub steps: u32,
    /// Operations: write, read
    #[arg(long = "op", value_delimiter = ',', default_value = "write,read", value_parser = read_or_write, value_name = "OP,..")]
    pub ops: Vec<Op>,
    // A doc comment here would become the command's.
    #[allow(missing_docs, reason = "it is part of the command line alone")]
    #[command(flatten)]
    #[serde(skip)]
    pub each: TestArguments,
    /// How each step is measured; one of each pattern at most.
    #[arg(skip = USUAL_TESTS)]
    pub tests: Vec<Test>,
    /// Address space to test, divided among the steps [default: 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "1GiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Passes, each through the steps in another order
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub passes: u32,
    /// Time limit of a step in one pass; it also ends after moving its part of the span
    #[arg(long, visible_alias = "runtime", default_value = "1s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Idle time before each step
    #[arg(long, default_value = "0s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub idle: Nanos,
    /// The rated speed of sequential reads, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_read_bytes_per_s: Option<u64>,
    /// The rated speed of sequential writes, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_write_bytes_per_s: Option<u64>,
    /// The user's files.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FileScan>,
}

impl Options for DataOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        if !(fitting.is_chosen)("tests") {
            self.tests = self.each.tests(&USUAL_TESTS)?;
        }
        if (fitting.is_chosen)("span") || self.steps == 0 {
            return Ok(());
        }
        let usable = fitting.usable()?;
        let least = u64::from(self.steps).saturating_mul(self.unit());
        if usable < least {
            return Err(wording::steps_do_not_fit(usable, self.steps, least).into());
        }
        self.span = self.span.max(least).min(usable);
        Ok(())
    }
}

fn read_or_write(text: &str) -> Result<Op, String> {
    match text {
        "read" => Ok(Op::Read),
        "write" => Ok(Op::Write),
        _ => Err(wording::not_read_or_write(text)),
    }
}

impl DataOptions {
    /// The options that differ from their defaults, as a command line; `capacity` bounds the default span. The rated
    /// speeds of a simulated drive are known without them.
    fn arguments(&self, capacity: u64, is_simulated: bool) -> String {
        let defaults = Self::default();
        let defaults = Self { span: defaults.span.min(capacity), ..defaults };
        let rates =
            [("read", self.advertised_read_bytes_per_s), ("write", self.advertised_write_bytes_per_s)];
        let rates = rates.map(|(metric, rate)| Some(format!("{metric}={}/s", exact_rate(rate?))));
        let rates: Vec<String> = rates.into_iter().flatten().filter(|_| !is_simulated).collect();
        let mut words = vec![test_arguments(&self.tests, &USUAL_TESTS), arguments(self, &defaults)];
        if !rates.is_empty() {
            words.push(format!("--advertised {}", rates.join(",")));
        }
        words.retain(|word| !word.is_empty());
        words.join(" ")
    }
}

/// A rate for the command line: `550MB`, or plain bytes if it is not a whole number of MB.
fn exact_rate(bytes_per_s: u64) -> String {
    const MEGABYTE: u64 = 1_000_000;
    if bytes_per_s.is_multiple_of(MEGABYTE) {
        return format!("{}MB", bytes_per_s / MEGABYTE);
    }
    bytes_per_s.to_string()
}

/// Patterns, blocks and depths of tests that differ from the defaults, as a command line.
pub(crate) fn test_arguments(tests: &[Test], defaults: &[Test]) -> String {
    let patterns = |tests: &[Test]| tests.iter().map(|test| test.pattern).collect::<Vec<Pattern>>();
    let default_of = |test: &Test| defaults.iter().find(|default| default.pattern == test.pattern);
    let differs = |part: fn(&Test) -> u64| {
        tests.iter().any(|test| default_of(test).is_none_or(|default| part(default) != part(test)))
    };
    let list = |value: &dyn Fn(&Test) -> String| tests.iter().map(value).collect::<Vec<String>>().join(",");
    let mut arguments = Vec::new();
    if patterns(tests) != patterns(defaults) {
        arguments.push(format!("--pattern {}", list(&|test| test.pattern.to_string())));
    }
    if differs(|test| test.block) {
        arguments.push(format!("--block {}", list(&|test| exact_size(test.block))));
    }
    if differs(|test| test.depth.into()) {
        arguments.push(format!("--depth {}", list(&|test| test.depth.to_string())));
    }
    arguments.join(" ")
}

/// Each step's part of the span is a multiple of this, and of the longest block.
pub const PART_MIN: u64 = 1 << 20;
const STEPS_MAX: u32 = 101;
const BLOCK_MIN: u64 = 512;
const BLOCK_MAX: u64 = 64 << 20;

/// The procedure.
pub struct Data {
    options: DataOptions,
}

impl Data {
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: DataOptions) -> Result<Self, String> {
        options.files.as_ref().map_or(Ok(()), FileScan::check)?;
        if options.steps == 0 {
            return if options.files.is_some() {
                Ok(Self { options })
            } else {
                Err(wording::nothing_to_do(STEPS_MAX))
            };
        }
        check_range("steps", options.steps, 2..=STEPS_MAX)?;
        check_ops(&options.ops)?;
        Test::check_all(&options.tests, BLOCK_MIN)?;
        check_range("passes", options.passes, 1..=1000)?;
        check_time("time", options.time)?;
        check_idle(options.idle)?;
        if options.part() == 0 {
            let needed = u64::from(options.steps) * options.unit();
            return Err(wording::span_too_small(Size(options.span), options.steps, Size(needed)));
        }
        Ok(Self { options })
    }

    /// Whether it measures anything.
    fn measures(&self) -> bool {
        self.options.steps > 0
    }

    /// The rated speed, in bytes a second.
    fn rated(&self, subject: Subject) -> Option<f64> {
        let metric = match (subject.test.pattern, subject.op) {
            (Pattern::Sequential, Op::Read) => self.options.advertised_read_bytes_per_s,
            (Pattern::Sequential, Op::Write) => self.options.advertised_write_bytes_per_s,
            _ => None,
        };
        metric.map(|bytes_per_s| bytes_per_s as f64)
    }
}

fn check_ops(ops: &[Op]) -> Result<(), String> {
    let is_wrong = ops.is_empty() || ops.iter().any(|op| !matches!(op, Op::Read | Op::Write));
    if is_wrong || distinct(ops).len() < ops.len() { Err(wording::read_or_write_once()) } else { Ok(()) }
}

impl Test {
    /// Whether these are tests of each pattern once at most, with blocks of at least `block_min` bytes.
    pub(crate) fn check_all(tests: &[Self], block_min: u64) -> Result<(), String> {
        let patterns = distinct(tests.iter().map(|test| test.pattern));
        if tests.is_empty() || patterns.len() < tests.len() {
            return Err(patterns_once());
        }
        for Self { block, depth, .. } in tests {
            if !(block_min..=BLOCK_MAX).contains(block) || !block.is_power_of_two() {
                return Err(not_a_power_of_two("block", *block, block_min, BLOCK_MAX));
            }
            check_range("depth", *depth, 1..=1024)?;
        }
        Ok(())
    }

    /// The largest block of any of these, and at least `least`.
    pub(crate) fn block_max(tests: &[Self], least: u64) -> u64 {
        tests.iter().map(|test| test.block).fold(least, u64::max)
    }
}

impl Procedure for Data {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        if !self.measures() {
            return Layout { files: 1, file_bytes: PART_MIN };
        }
        Layout { files: self.options.steps, file_bytes: self.options.part() }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let mut curves = Vec::new();
        if self.measures() {
            let geometry = &steps.evidence().geometry;
            if !geometry.writable {
                return Err(wording::writes_what_it_reads());
            }
            check_span(self.options.part() * u64::from(self.options.steps), geometry, PART_MIN)?;
            let DataOptions { tests, ops, .. } = &self.options;
            let subjects =
                tests.iter().flat_map(|test| ops.iter().map(|op| Subject { test: *test, op: *op }));
            curves.extend(subjects.map(|subject| (subject, Vec::new())));
            let _ended = self.measure(steps, &mut curves);
        }
        Ok(steps.conclude(|evidence| {
            curves.retain(|(_, passes)| !passes.is_empty());
            let results = curves.into_iter().map(|(subject, passes)| self.result(subject, passes));
            self.findings(evidence, &results.collect::<Vec<_>>())
        }))
    }
}

impl Data {
    /// Writes each step's part of the span once with its class of data. In each pass, every test and operation then
    /// visits all steps, in the order of the pass.
    fn measure(&self, steps: &mut Steps<'_>, curves: &mut [(Subject, Vec<Pass>)]) -> Result<(), Ended> {
        let options = &self.options;
        for step in 0..options.steps {
            steps.run_seeded(|| options.prepare(step))?;
        }
        for pass in 1..=options.passes {
            let order = options.order(&steps.evidence().plan, pass);
            for (subject, passes) in &mut *curves {
                for (turn, step) in (1..).zip(order.iter().copied()) {
                    steps.rest(options.idle)?;
                    let segment = steps.run_seeded(|| options.measurement(pass, *subject, step))?;
                    if let (Some(bytes_per_s), Stop::Reached) = (segment.bytes_per_s(), segment.stop) {
                        passes.push(Pass { pass, turn, step, bytes_per_s });
                    }
                }
            }
        }
        Ok(())
    }

    fn result(&self, subject: Subject, passes: Vec<Pass>) -> CurveResult {
        let curve = Curve::new(subject, self.options.steps, passes);
        let conclusion = Conclusion::from_curve(&curve);
        let files = self.options.files.as_ref();
        let expected = files.and_then(|files| ExpectedSpeed::from_curve(&curve, files, self.rated(subject)));
        CurveResult { curve, conclusion, expected }
    }

    fn findings(&self, evidence: &Evidence, results: &[CurveResult]) -> Findings {
        let files = self.options.files.as_ref();
        // Significant conclusions first, then open ones.
        let mut ranked: Vec<&CurveResult> = results.iter().collect();
        ranked.sort_by_key(|result| (!result.conclusion.is_significant(), !result.conclusion.is_open()));
        let compressor = compressor(&evidence.identity);
        let mut findings = Findings::default();
        let again = |change: &dyn Fn(&mut DataOptions)| self.rerun(evidence, change);
        let answer = |result: &&CurveResult| result.conclusion.answer(&result.curve, compressor, &again);
        findings.answers.extend(ranked.iter().map(answer));
        findings.answers.extend(files.map(FileScan::answer));
        let significant = ranked.iter().filter(|result| result.conclusion.is_significant());
        let expected = significant.filter_map(|result| result.expected.as_ref());
        findings.answers.extend(expected.map(ExpectedSpeed::answer));
        add_failures(&mut findings.answers, evidence, self.ended_early(evidence));
        findings.summary = summary(&findings.answers, &ranked, files);
        self.add_overview(&mut findings, results);
        self.add_tables(&mut findings, results);
        findings
    }
}

/// What one operation of one test shows.
struct CurveResult {
    curve: Curve,
    conclusion: Conclusion,
    /// `None` if no files were read.
    expected: Option<ExpectedSpeed>,
}

/// The first answer as a sentence and, if the data matters, what that means for the files.
fn summary(answers: &[Answer], ranked: &[&CurveResult], files: Option<&FileScan>) -> String {
    let Some(first) = answers.first() else { return String::new() };
    let share = files.and_then(FileScan::compresses_to).map(|share| Share(share.value));
    let Some(CurveResult { curve, conclusion, expected }) = ranked.first() else {
        let of_scan = share.filter(|_| first.id == "files").map(wording::summary_of_scan);
        return of_scan.unwrap_or_else(|| answer_as_summary(first));
    };
    if conclusion.is_significant() {
        let difference = wording::summary_of_difference(first, curve.ends());
        return match share.zip(expected.as_ref()) {
            Some((share, expected)) => {
                let of_files = wording::summary_of_files(share, curve.subject, expected.rate());
                format!("{difference} {of_files}")
            }
            None => difference,
        };
    }
    let within: Option<Vec<f64>> = ranked.iter().map(|result| result.conclusion.indifference()).collect();
    if let Some(within) = within {
        return wording::summary_of_indifference(Share(within.into_iter().fold(0.0, f64::max)));
    }
    let subjects = |is_wanted: &dyn Fn(&Conclusion) -> bool| -> Vec<Subject> {
        let wanted = ranked.iter().filter(|result| is_wanted(&result.conclusion));
        wanted.map(|result| result.curve.subject).collect()
    };
    let decided = subjects(&|conclusion| conclusion.indifference().is_some());
    let open = subjects(&Conclusion::is_open);
    let is_one_pass = ranked.iter().all(|result| result.curve.steps[0].values().len() < 2);
    match (decided.is_empty(), open.len()) {
        (false, _) => wording::summary_of_part(&decided, &open),
        (true, 2..) if is_one_pass => wording::SUMMARY_OF_ONE_PASS.into(),
        (true, 2..) => wording::SUMMARY_OF_NOTHING_DECIDED.into(),
        _ => answer_as_summary(first),
    }
}

impl Data {
    /// The same run with changed options, without reading the user's files again.
    fn rerun(&self, evidence: &Evidence, change: &dyn Fn(&mut DataOptions)) -> Rerun {
        let mut options = DataOptions { files: None, ..self.options.clone() };
        change(&mut options);
        let is_simulated = evidence.identity.kind == TargetKind::Simulated;
        let arguments = options.arguments(evidence.geometry.capacity, is_simulated);
        Rerun::new(evidence, &arguments, Self::new(options.clone()))
    }

    /// Adds the table of zeros and random data; below the summary, every other problem or open question.
    fn add_overview(&self, findings: &mut Findings, results: &[CurveResult]) {
        let files = self.options.files.as_ref();
        let overview = &mut findings.overview;
        if results.is_empty() {
            overview.table = files.map(FileScan::table).filter(|table| !table.rows.is_empty());
        } else {
            let rows = results.iter().map(|CurveResult { curve, expected, .. }| wording::TableRow {
                subject: curve.subject,
                ends: curve.ends(),
                expected: expected.as_ref().map(ExpectedSpeed::rate),
            });
            let has_files = results.iter().any(|result| result.expected.is_some());
            overview.table = Some(wording::table(rows, has_files));
            overview.series = Some("compressibility".into());
        }
        // Open tests are left out: the summary says once that they are open, and the table has their numbers.
        let open: Vec<String> = results.iter().map(|result| result.curve.subject.id()).collect();
        list_below_summary(findings, |answer| match answer.standing {
            Standing::Problem => true,
            Standing::Unknown => !open.contains(&answer.id),
            _ => answer.id == "files",
        });
    }

    fn add_tables(&self, findings: &mut Findings, results: &[CurveResult]) {
        let files = self.options.files.as_ref();
        let curves = || results.iter().map(|result| &result.curve);
        if self.measures() {
            findings.tables.insert("compressibility".into(), curves().flat_map(Curve::rows).collect());
        }
        if !results.is_empty() {
            findings.series.insert("compressibility".into(), graph(curves(), files));
        }
        if self.measures() && files.is_some() {
            let expected = results.iter().filter_map(|result| result.expected.as_ref());
            findings.tables.insert("expected".into(), expected.map(ExpectedSpeed::row).collect());
        }
        if let Some(files) = files {
            findings.tables.insert("file_types".into(), files.rows().into_iter().map(row).collect());
            findings.series.extend(files.series().map(|series| ("file_types".to_owned(), series)));
        }
        if !results.is_empty() {
            findings.tables.insert("passes".into(), curves().flat_map(Curve::pass_rows).collect());
        }
    }

    fn ended_early(&self, evidence: &Evidence) -> Option<Answer> {
        let planned = self.measures().then(|| self.options.workloads())?;
        let done = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).count();
        (done < planned).then(|| ended_early(done, planned))
    }
}

/// Speed by compressibility, with 0% compressible on the left, as AS SSD draws it.
fn graph<'a>(curves: impl Iterator<Item = &'a Curve>, files: Option<&FileScan>) -> Series {
    let lines = curves.map(|curve| {
        let steps = curve.steps.iter().enumerate().rev();
        let speeds =
            steps.filter_map(|(step, speeds)| Some((100.0 - curve.percent(step), speeds.estimate()?)));
        estimated_line(curve.subject.name(), speeds)
    });
    let mark = files
        .and_then(FileScan::compresses_to)
        .map(|share| Mark { x: 100.0 - 100.0 * share.value, label: wording::FILES_MARK.into() });
    let x = Axis::new(wording::CURVE_AXIS, "%");
    Series::new(wording::CURVE_TITLE, Shape::Line, x, speed()).lines(lines).marks(mark)
}

const PREPARE_BLOCK: u32 = 1 << 20;
const PREPARE_DEPTH: u32 = 8;

/// One pass of one step as it was measured.
#[derive(Clone, Copy)]
struct Pass {
    /// Counted from 1.
    pass: u32,
    /// Its place in the order of the pass, counted from 1.
    turn: u32,
    step: u32,
    bytes_per_s: f64,
}

/// The class of a step: 0 is zeros, the last is random data.
fn class(step: u32, steps: u32) -> DataClass {
    match step {
        0 => DataClass::Zero,
        last if last + 1 == steps => DataClass::Random,
        step => DataClass::Ratio(step as f32 / (steps - 1) as f32),
    }
}

impl DataOptions {
    /// Each part of the span is a multiple of this.
    fn unit(&self) -> u64 {
        Test::block_max(&self.tests, PART_MIN)
    }

    /// Bytes of each step's part of the span.
    fn part(&self) -> u64 {
        let each = self.span / u64::from(self.steps);
        each - each % self.unit()
    }

    /// How many workloads there are.
    fn workloads(&self) -> usize {
        let Self { steps, passes, ref tests, ref ops, idle, .. } = *self;
        let of_each = if idle > Nanos::ZERO { 2 } else { 1 };
        steps as usize * (1 + passes as usize * tests.len() * ops.len() * of_each)
    }

    /// The steps in the order of a pass, counted from 1. Complete blocks in random order keep changes over time from
    /// looking like compressibility (Fisher, "The Design of Experiments", 1935). Every second pass reverses the one
    /// before it, so that a steady drift cancels.
    fn order(&self, plan: &Plan, pass: u32) -> Vec<u32> {
        let pair = (pass - 1) / 2;
        let mut order: Vec<u32> = (0..self.steps).collect();
        // Workloads take seeds from 0 up, so orders take them from the top down.
        let seed = plan.seed_of(usize::MAX - 1 - pair as usize);
        order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
        if pass.is_multiple_of(2) {
            order.reverse();
        }
        order
    }

    fn range(&self, step: u32) -> Range<u64> {
        let start = u64::from(step) * self.part();
        start..start + self.part()
    }

    fn prepare(&self, step: u32) -> Workload {
        let data = class(step, self.steps);
        let name = format!("prepare {data}");
        sequential_write(name, self.range(step), PREPARE_BLOCK, PREPARE_DEPTH, data)
    }

    fn measurement(&self, pass: u32, subject: Subject, step: u32) -> Workload {
        let Subject { test: Test { pattern, block, depth }, op } = subject;
        let data = class(step, self.steps);
        let block = u32::try_from(block).expect("a block is at most 64 MiB");
        let stream = Stream::closed(Mix::Only(op), block, pattern.over(self.range(step)), depth, data);
        let until = Until { elapsed: Some(self.time), bytes: Some(self.part()), ops: None };
        let passes = self.passes;
        Workload::new(format!("{pattern} {op} {data} {pass}/{passes}"), until, vec![stream])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(seed: u64) -> Plan {
        Plan::new("data", None, seed, toml::Table::new())
    }

    #[test]
    fn every_pass_visits_every_step_once_and_the_next_one_backwards() {
        let options = DataOptions { steps: 11, ..DataOptions::default() };
        let orders: Vec<Vec<u32>> = (1..=4).map(|pass| options.order(&plan(7), pass)).collect();
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..11).collect::<Vec<_>>());
        }
        assert!(orders[0].iter().eq(orders[1].iter().rev()) && orders[2].iter().eq(orders[3].iter().rev()));
        assert_ne!(orders[0], orders[2]);
        assert_ne!(orders[0], options.order(&plan(8), 1));
    }
}
