//! Tells RAM from drive: measures the same I/O past the page cache, through it and to nowhere, and compares the bytes
//! with the device counters.

mod answers;
mod levels;
mod wording;

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::Rate;
use likenew_core::region::Region;
use likenew_core::segment::Stop;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{AccessPattern, Mix, Stream, Until, Workload};
use serde::{Deserialize, Serialize};

use crate::data::{Test, TestArguments, test_arguments};
use levels::{Level, Levels, MeasuredLevel, Pass};
use likenew_procedure_support::failures::{failure_answers, spare_failing_drive};
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments, defaults};
use likenew_procedure_support::options::options;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::wording::{
    answer_as_summary, ended_early, not_a_multiple, not_a_power_of_two, out_of_range, patterns_once,
    span_too_large,
};
use likenew_procedure_support::workloads::prepare;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "cache",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("cache.md"),
};

/// How much of the speed is the page cache or the drive's cache?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test", mut_arg("depth", |depth| depth.help(wording::DEPTHS)))]
#[serde(deny_unknown_fields, default)]
pub struct CacheOptions {
    // A doc comment here would become the command's.
    #[allow(missing_docs, reason = "it is part of the command line alone")]
    #[command(flatten)]
    #[serde(skip)]
    pub each: TestArguments,
    /// The tests; one of each pattern at most.
    #[arg(skip = USUAL_TESTS)]
    pub tests: Vec<Test>,
    /// Address space to test [default: 256MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "256MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub span: u64,
    /// Passes of each test
    #[arg(long, default_value_t = 3, value_name = "N")]
    pub passes: u32,
    /// Time limit of a pass; it also ends after moving the span once, random I/O a sixteenth of it
    #[arg(long, visible_alias = "runtime", default_value = "2s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
}

/// Like `dd`: QD1, 1 MiB sequential and 4 KiB random.
const USUAL_TESTS: [Test; 2] = [
    Test { pattern: Pattern::Sequential, block: 1 << 20, depth: 1 },
    Test { pattern: Pattern::Random, block: 4096, depth: 1 },
];

impl Default for CacheOptions {
    fn default() -> Self {
        defaults()
    }
}

impl Options for CacheOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        if !(fitting.is_chosen)("tests") {
            self.tests = self.each.tests(&USUAL_TESTS)?;
        }
        let step = self.tests.iter().map(|test| test.block).fold(SPAN_STEP, u64::max);
        if !(fitting.is_chosen)("span") {
            self.span = self.span.max(step);
        }
        fitting.span(&mut self.span, step)
    }
}

impl CacheOptions {
    /// The options that differ from their defaults, as a command line; `capacity` bounds the default span.
    fn arguments(&self, capacity: u64) -> String {
        let defaults = Self::default();
        let defaults = Self { span: defaults.span.min(capacity), ..defaults };
        [test_arguments(&self.tests, &USUAL_TESTS), arguments(self, &defaults)].join(" ").trim().to_owned()
    }
}

/// The span is a multiple of this.
pub const SPAN_STEP: u64 = 1 << 20;
const BLOCK_MIN: u64 = 4 << 10;
const BLOCK_MAX: u64 = 64 << 20;
/// Longest time of a test. Chosen: longer is a mistake.
const DAY: Nanos = Nanos::from_secs(86_400);

/// Time of a test without a drive. Chosen: its speed is steady, so this is long enough.
const NULL_TIME: Nanos = Nanos::from_millis(100);
/// Random I/O moves the span divided by this, so that only one in 32 repeats an address and a first read is really
/// the first.
const RANDOM_PART: u64 = 16;

/// The procedure.
pub struct Cache {
    options: CacheOptions,
}

impl Cache {
    /// From the options of a plan.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("cache", table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: CacheOptions) -> Result<Self, String> {
        let CacheOptions { tests, span, passes, time, .. } = &options;
        let several = |pattern| tests.iter().filter(|test| test.pattern == pattern).count() > 1;
        if tests.is_empty() || several(Pattern::Sequential) || several(Pattern::Random) {
            return Err(patterns_once());
        }
        for Test { block, depth, .. } in tests {
            if !(BLOCK_MIN..=BLOCK_MAX).contains(block) || !block.is_power_of_two() {
                return Err(not_a_power_of_two("block", *block, BLOCK_MIN, BLOCK_MAX));
            }
            if !(1..=1024).contains(depth) {
                return Err(out_of_range("depth", depth, 1, 1024));
            }
            if *span < *block || !span.is_multiple_of(*block) {
                return Err(not_a_multiple("span", *span, *block));
            }
        }
        if *span == 0 || !span.is_multiple_of(SPAN_STEP) {
            return Err(not_a_multiple("span", *span, SPAN_STEP));
        }
        if !(1..=1000).contains(passes) {
            return Err(out_of_range("passes", passes, 1, 1000));
        }
        if !(Nanos::from_millis(1)..=DAY).contains(time) {
            return Err(out_of_range("time", time, "1ms", "24h"));
        }
        Ok(Self { options })
    }
}

impl Procedure for Cache {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        Layout { files: 1, file_bytes: self.options.span }
    }

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        let evidence = steps.evidence();
        if evidence.identity.kind == TargetKind::Nop {
            return Err(wording::nop_has_no_cache());
        }
        if evidence.geometry.clock == Clock::Virtual && evidence.geometry.carries_data {
            return Err(wording::simulated_cache_holds_no_data());
        }
        let (span, capacity) = (self.options.span, evidence.geometry.capacity);
        if span > capacity {
            let step = self.options.tests.iter().map(|test| test.block).fold(SPAN_STEP, u64::max);
            return Err(span_too_large(span, capacity, step));
        }
        let mut passes = Vec::new();
        let _ended = self.measure(steps, &mut passes);
        passes.retain(Pass::is_complete);
        Ok(steps.conclude(|evidence| self.findings(evidence, &passes)))
    }
}

impl Cache {
    /// Writes the span once, if it may; then each pass takes the patterns in turn, each through all levels.
    fn measure<'a>(&self, steps: &mut Steps<'a>, passes: &mut Vec<Pass<'a>>) -> Result<(), Ended> {
        let CacheOptions { ref tests, span, data, .. } = self.options;
        let geometry = &steps.evidence().geometry;
        let cells = cells(geometry);
        let is_first_read = |(level, _): &(Level, Op)| *level == Level::First;
        let first_read = cells.iter().position(is_first_read).expect("every pass has a first read");
        if geometry.writable {
            steps.run_seeded(|| prepare(span, span, data))?;
        }
        for number in 1..=self.options.passes {
            for test in tests {
                // Reads go to the same addresses in the same order; each write has its own.
                let seed_of_reads = steps.seed(first_read);
                let mut read_bytes = 0;
                for (level, op) in &cells {
                    let seed = if *op == Op::Read { seed_of_reads } else { steps.seed(0) };
                    let segment = steps.run(|| Workload {
                        seed,
                        cold: level.is_cold() && geometry.writable,
                        ..self.workload(number, *test, *level, *op, read_bytes)
                    })?;
                    read_bytes = segment.bytes(Op::Read);
                    passes.push(Pass { number, test: *test, level: *level, op: *op, segment });
                }
            }
        }
        Ok(())
    }

    /// `read_bytes`: bytes that the workload before it read.
    fn workload(&self, number: u32, test: Test, level: Level, op: Op, read_bytes: u64) -> Workload {
        let CacheOptions { span, time, data, passes, .. } = self.options;
        let region = Region::bytes(0..span);
        let (place, most) = match test.pattern {
            Pattern::Sequential => (AccessPattern::Sequential(region), span),
            Pattern::Random => (AccessPattern::Random(region), (span / RANDOM_PART).max(test.block)),
        };
        let until = |bytes| Until { elapsed: Some(time), bytes: Some(bytes), ops: None };
        let until = match level {
            Level::Null => Until::elapsed(time.min(NULL_TIME)),
            // Addresses that the first read did not reach are in no cache yet.
            Level::Second => until(read_bytes.clamp(test.block, most)),
            _ => until(most),
        };
        let block = u32::try_from(test.block).expect("a block is at most 64 MiB");
        let stream = Stream::closed(Mix::Only(op), block, place, test.depth, data);
        let name = format!("{} {} {op} {number}/{passes}", test.pattern, level.name());
        Workload {
            access: level.access(),
            flush: level == Level::Flushed,
            ..Workload::new(name, until, vec![stream])
        }
    }

    fn findings(&self, evidence: &Evidence, passes: &[Pass<'_>]) -> Findings {
        let levels = Levels::of(passes, &self.options);
        let answers = answers::answers(&levels, &self.options, evidence);
        let mut findings = Findings { answers, ..Findings::default() };
        findings.answers.extend(failure_answers(&evidence.segments));
        let run = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).count();
        let of_a_pass = self.options.tests.len() * cells(&evidence.geometry).len();
        let planned = usize::from(evidence.geometry.writable) + self.options.passes as usize * of_a_pass;
        if run < planned {
            findings.answers.push(ended_early(run, planned));
        }
        spare_failing_drive(&mut findings.answers, evidence);
        let is_failing = evidence.segments.iter().any(|segment| segment.errors() > 0);
        findings.summary = self.summary(&findings, &levels, is_failing);
        add_overview(&mut findings, &levels, is_failing);
        findings.tables.insert("levels".into(), levels.0.iter().map(MeasuredLevel::row).collect());
        findings.series.extend(levels.chart().map(|series| ("levels".to_owned(), series)));
        findings.tables.insert("passes".into(), passes.iter().map(Pass::row).collect());
        findings
    }

    fn summary(&self, findings: &Findings, levels: &Levels<'_>, is_failing: bool) -> String {
        let first = findings.answers.first().map(answer_as_summary).unwrap_or_default();
        if is_failing {
            return answers::direct_summary(levels, &self.options).unwrap_or(first);
        }
        let is_one_pass = levels.are_of_one_pass();
        let is_open = |answer: &Answer| answer.standing == Standing::Unknown;
        if is_one_pass && findings.answers.first().is_some_and(is_open) {
            return wording::SUMMARY_OF_ONE_PASS.into();
        }
        answers::summary(levels, &self.options).unwrap_or(first)
    }
}

/// What each pass measures for a pattern. In virtual time likenew itself takes no time, so its limit is not measured;
/// a read-only target has no writes.
fn cells(geometry: &Geometry) -> Vec<(Level, Op)> {
    let is_measured = |(level, op): &(Level, Op)| {
        (*level != Level::Null || geometry.clock == Clock::Wall) && (*op == Op::Read || geometry.writable)
    };
    Level::OF_A_PASS.into_iter().filter(is_measured).collect()
}

/// Adds the table of levels, with the one nearest to the drive last; below the summary, every other problem or open
/// question. If I/Os failed, only direct I/O is a speed of the drive.
fn add_overview(findings: &mut Findings, levels: &Levels<'_>, is_failing: bool) {
    let is_drawn = |measured: &&MeasuredLevel<'_>| match measured.level {
        Level::Null => false,
        Level::Direct => true,
        _ => !is_failing,
    };
    let mut drawn: Vec<_> = levels.0.iter().filter(is_drawn).collect();
    drawn.sort_by_key(|measured| (measured.test.pattern == Pattern::Random, measured.op == Op::Read));
    let rows = drawn.into_iter().map(|measured| wording::TableRow {
        pattern: measured.test.pattern,
        op: measured.op,
        path: measured.level.path(),
        rate: Rate(measured.speed()),
        interval: measured.speed_interval(),
        ram: measured.ram(),
    });
    let table = wording::table(rows);
    if table.rows.is_empty() {
        return;
    }
    findings.overview.table = Some(table);
    // Open questions about RAM are left out: after failed I/Os nothing settles them; after one pass, more passes do.
    let is_about_ram =
        |answer: &Answer| answer.standing == Standing::Unknown && wording::is_about_ram(answer);
    let is_one_pass = levels.are_of_one_pass();
    let is_remark = |answer: &&Answer| match answer.standing {
        Standing::Problem => true,
        Standing::Unknown => !(is_failing || is_one_pass) || !is_about_ram(answer),
        _ => false,
    };
    let remarks = findings.answers.iter().skip(1).filter(is_remark);
    findings.overview.answers = remarks.map(|answer| answer.id.clone()).collect();
}
