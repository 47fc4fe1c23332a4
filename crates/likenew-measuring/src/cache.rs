//! Tells RAM from drive: measures the same I/O past the page cache, through it and to nowhere, and compares the bytes
//! with the device counters.

mod wording;

use clap::Args;
use likenew_core::drive::TargetKind;
use likenew_core::findings::{Answer, Findings, Row, Series, Shape, Standing};
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Ended, Evidence, Layout, Procedure, Steps};
use likenew_core::quantity::{Rate, Share};
use likenew_core::segment::{Segment, Stop};
use likenew_core::tally::Tally;
use likenew_core::target::{Clock, Geometry};
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_core::workload::{Access, Mix, Stream, Until, Workload};
use likenew_procedure_support::estimate::{Estimate, Verdict, grouped};
use likenew_procedure_support::failures::add_failures;
use likenew_procedure_support::fit::{Fitting, Options, Unfit, arguments};
use likenew_procedure_support::options::{check_multiple, check_range, check_span, check_time};
use likenew_procedure_support::overview::list_below_summary;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::rerun::{PASSES_FEW, PASSES_MANY, Rerun};
use likenew_procedure_support::rows::Columns as _;
use likenew_procedure_support::series::{axis, estimated_line, speed};
use likenew_procedure_support::wording::{MEASURED_ONCE, answer_as_summary, ended_early};
use likenew_procedure_support::workloads::prepare;
use serde::{Deserialize, Serialize};
use strum::VariantArray as _;

use crate::data::{Test, TestArguments, test_arguments};
pub use wording::DESCRIPTOR;
use wording::Speeds;

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

impl Options for CacheOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        if !(fitting.is_chosen)("tests") {
            self.tests = self.each.tests(&USUAL_TESTS)?;
        }
        let step = Test::block_max(&self.tests, SPAN_STEP);
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
    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn new(options: CacheOptions) -> Result<Self, String> {
        let CacheOptions { tests, span, passes, time, .. } = &options;
        Test::check_all(tests, BLOCK_MIN)?;
        tests.iter().try_for_each(|test| check_multiple("span", *span, test.block))?;
        check_multiple("span", *span, SPAN_STEP)?;
        check_range("passes", *passes, 1..=1000)?;
        check_time("time", *time)?;
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
        let step = Test::block_max(&self.options.tests, SPAN_STEP);
        check_span(self.options.span, &evidence.geometry, step)?;
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
        let is_first_read = |(level, _): &(Level, Op)| *level == Level::FirstBuffered;
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
        let most = match test.pattern {
            Pattern::Sequential => span,
            Pattern::Random => (span / RANDOM_PART).max(test.block),
        };
        let until = |bytes| Until { elapsed: Some(time), bytes: Some(bytes), ops: None };
        let until = match level {
            Level::Null => Until::elapsed(time.min(NULL_TIME)),
            // Addresses that the first read did not reach are in no cache yet.
            Level::SecondBuffered => until(read_bytes.clamp(test.block, most)),
            _ => until(most),
        };
        let block = u32::try_from(test.block).expect("a block is at most 64 MiB");
        let stream = Stream::closed(Mix::Only(op), block, test.pattern.over(0..span), test.depth, data);
        let name = format!("{} {} {op} {number}/{passes}", test.pattern, level.name());
        Workload {
            access: level.access(),
            flush: level == Level::BufferedFlushed,
            ..Workload::new(name, until, vec![stream])
        }
    }

    fn findings(&self, evidence: &Evidence, passes: &[Pass<'_>]) -> Findings {
        let levels = Levels::of(passes, &self.options);
        let answers = answers(&levels, &self.options, evidence);
        let mut findings = Findings { answers, ..Findings::default() };
        let run = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).count();
        let of_a_pass = self.options.tests.len() * cells(&evidence.geometry).len();
        let planned = usize::from(evidence.geometry.writable) + self.options.passes as usize * of_a_pass;
        let unfinished = (run < planned).then(|| ended_early(run, planned));
        add_failures(&mut findings.answers, evidence, unfinished);
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
            return direct_summary(levels, &self.options).unwrap_or(first);
        }
        let is_one_pass = levels.are_of_one_pass();
        let is_open = |answer: &Answer| answer.standing == Standing::Unknown;
        if is_one_pass && findings.answers.first().is_some_and(is_open) {
            return wording::SUMMARY_OF_ONE_PASS.into();
        }
        summary(levels, &self.options).unwrap_or(first)
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
    if drawn.is_empty() {
        return;
    }
    findings.overview.table = Some(wording::table(&drawn));
    // Open questions about RAM are left out: after failed I/Os nothing settles them; after one pass, more passes do.
    let is_about_ram =
        |answer: &Answer| answer.standing == Standing::Unknown && wording::is_about_ram(answer);
    let is_one_pass = levels.are_of_one_pass();
    let is_remark = |answer: &Answer| match answer.standing {
        Standing::Problem => true,
        Standing::Unknown => !(is_failing || is_one_pass) || !is_about_ram(answer),
        _ => false,
    };
    list_below_summary(findings, is_remark);
}

/// Where an I/O ends.
///
/// In the order from the program to the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::VariantArray)]
#[serde(rename_all = "snake_case")]
enum Level {
    /// Nowhere: the limit of likenew itself.
    Null,
    /// In the page cache.
    Buffered,
    /// In the page cache, then made durable by a flush whose time counts.
    BufferedFlushed,
    /// Through a page cache without this data, if likenew may drop its pages.
    FirstBuffered,
    /// Through the page cache again, which now holds the data.
    SecondBuffered,
    /// At the drive.
    Direct,
}

impl Level {
    /// What each pass measures for a pattern, in this order: reads come after writes have filled the page cache.
    const OF_A_PASS: [(Self, Op); 8] = [
        (Self::Null, Op::Write),
        (Self::Null, Op::Read),
        (Self::Buffered, Op::Write),
        (Self::BufferedFlushed, Op::Write),
        (Self::FirstBuffered, Op::Read),
        (Self::SecondBuffered, Op::Read),
        (Self::Direct, Op::Read),
        (Self::Direct, Op::Write),
    ];

    /// What workloads call it; tables have an identifier.
    fn name(self) -> &'static str {
        ["null", "buffered", "buffered, flushed", "first buffered", "second buffered", "direct"]
            [self as usize]
    }

    /// The path of its I/Os, as the first screen and the chart name it.
    fn path(self) -> &'static str {
        match self {
            Self::FirstBuffered => "buffered, 1st read",
            Self::SecondBuffered => "buffered, 2nd read",
            level => level.name(),
        }
    }

    fn access(self) -> Access {
        match self {
            Self::Null => Access::Null,
            Self::Direct => Access::Direct,
            _ => Access::Buffered,
        }
    }

    /// Whether it begins with an empty page cache, if likenew may empty it.
    fn is_cold(self) -> bool {
        matches!(self, Self::Buffered | Self::BufferedFlushed | Self::FirstBuffered)
    }
}

/// One pass of an operation at a level.
#[derive(Clone, Copy)]
struct Pass<'a> {
    /// Counted from 1.
    number: u32,
    test: Test,
    level: Level,
    op: Op,
    segment: &'a Segment,
}

impl Pass<'_> {
    /// Whether its speed counts. After an interruption, a second read no longer finds its data in memory.
    fn is_complete(&self) -> bool {
        let is_lost = self.segment.after_interruption && self.level == Level::SecondBuffered;
        self.segment.bytes_per_s().is_some()
            && self.bytes_moved() > 0
            && self.segment.stop == Stop::Reached
            && !is_lost
    }

    fn bytes_per_s(&self) -> f64 {
        self.segment.bytes_per_s().expect("a complete pass has a speed")
    }

    fn bytes_moved(&self) -> u64 {
        self.segment.bytes(self.op)
    }

    fn device_bytes(&self) -> Option<u64> {
        self.segment.device_counters?.bytes(self.op)
    }

    /// The share of the bytes that did not reach the device during the run; `None` for I/O to nowhere, which was not
    /// in memory either.
    fn ram(&self) -> Option<f64> {
        let device_bytes = self.device_bytes().filter(|_| self.level != Level::Null)?;
        Some((1.0 - device_bytes as f64 / self.bytes_moved() as f64).max(0.0))
    }

    fn row(&self) -> Row {
        let flush = self.segment.total_of(Op::Flush);
        Row::new()
            .with("pass", self.number)
            .with("level", self.level)
            .with("op", self.op)
            .with("pattern", self.test.pattern)
            .with("bytes_per_s", self.bytes_per_s())
            .with("moved_bytes", self.bytes_moved())
            .with("counted_bytes", self.device_bytes())
            .with("ram_percent", self.ram().map(percent))
            .with("flush_ns", (flush.ios > 0).then_some(flush.latency_ns_sum))
    }
}

/// All passes of one operation at one level.
struct MeasuredLevel<'a> {
    test: Test,
    level: Level,
    op: Op,
    passes: Vec<Pass<'a>>,
    /// Mean of the passes, in bytes a second.
    speed: Estimate,
    /// The mean share of RAM over the passes; `None` if any of them was not counted.
    ram: Option<Estimate>,
}

impl<'a> MeasuredLevel<'a> {
    /// `None` without passes.
    fn new(test: Test, level: Level, op: Op, passes: Vec<Pass<'a>>) -> Option<Self> {
        let speeds: Vec<f64> = passes.iter().map(Pass::bytes_per_s).collect();
        let rams: Option<Vec<f64>> = passes.iter().map(Pass::ram).collect();
        let ram = rams.and_then(|rams| Estimate::of_passes(&rams));
        let ram = ram.map(|ram| ram.map(|share| share.clamp(0.0, 1.0)));
        let speed = Estimate::of_passes(&speeds)?.not_negative();
        Some(Self { test, level, op, passes, speed, ram })
    }

    fn rate(&self) -> Rate {
        Rate(self.speed.value)
    }

    /// Whether its share of RAM is above or below a bound; `None` if nothing counts bytes.
    fn ram_against(&self, bound: f64) -> Option<Verdict> {
        self.ram.map(|ram| ram.against(bound))
    }

    fn row(&self) -> Row {
        let mut total = Tally::new(0, self.op);
        self.passes.iter().for_each(|pass| total.merge(&pass.segment.total_of(self.op)));
        let seconds: f64 = self.passes.iter().map(|pass| pass.segment.elapsed().as_secs_f64()).sum();
        Row::new()
            .with("level", self.level)
            .with("op", self.op)
            .with("pattern", self.test.pattern)
            .with_estimate("bytes_per_s", Some(self.speed))
            .with("iops", if seconds > 0.0 { total.done_ios() as f64 / seconds } else { 0.0 })
            .with("latency_ns_mean", total.latency_ns_mean())
            .with("latency_ns_p50", total.latency.quantile(0.5).0)
            .with("moved_bytes", total.bytes)
            .with("counted_bytes", self.passes.iter().map(Pass::device_bytes).sum::<Option<u64>>())
            .with_estimate("ram_percent", self.ram.map(|ram| ram.map(percent)))
    }
}

fn percent(share: f64) -> f64 {
    100.0 * share
}

/// Every measured level of every pattern, in the order of the table, even if the first pass lacks some.
struct Levels<'a>(Vec<MeasuredLevel<'a>>);

impl<'a> Levels<'a> {
    fn of(passes: &[Pass<'a>], options: &CacheOptions) -> Self {
        let mut levels = Vec::new();
        for test in &options.tests {
            for level in Level::VARIANTS.iter().copied() {
                for op in [Op::Read, Op::Write] {
                    let is_own = |pass: &&Pass<'_>| (pass.test, pass.level, pass.op) == (*test, level, op);
                    let passes = passes.iter().filter(is_own).copied().collect();
                    levels.extend(MeasuredLevel::new(*test, level, op, passes));
                }
            }
        }
        Self(levels)
    }

    fn get(&self, pattern: Pattern, level: Level, op: Op) -> Option<&MeasuredLevel<'a>> {
        self.0
            .iter()
            .find(|measured| (measured.test.pattern, measured.level, measured.op) == (pattern, level, op))
    }

    /// Whether nothing was measured twice, so that no speed has an interval.
    fn are_of_one_pass(&self) -> bool {
        self.0.iter().all(|level| level.speed.interval.is_none())
    }

    /// Speed from the program to the drive, on a logarithmic axis, because memory and drive differ by powers of
    /// ten; `None` if nothing was measured.
    fn chart(&self) -> Option<Series> {
        // I/O that goes nowhere is likenew's own limit, not a level on the way to the drive.
        let drawn = || self.0.iter().filter(|measured| measured.level != Level::Null);
        let mut present = Level::VARIANTS.to_vec();
        present.retain(|level| drawn().any(|measured| measured.level == *level));
        let x = |measured: &MeasuredLevel<'_>| {
            present.iter().position(|level| *level == measured.level).expect("it is one of them") as f64
        };
        let name = |measured: &MeasuredLevel<'_>| wording::line_name(measured.test.pattern, measured.op);
        let lines = grouped(drawn().map(|measured| (name(measured), measured)));
        let lines = lines.into_iter().map(|(name, line)| {
            estimated_line(name, line.into_iter().map(|measured| (x(measured), measured.speed)))
        });
        (!present.is_empty()).then(|| {
            let (level, speed) = (axis(wording::LEVEL_AXIS, ""), speed().logarithmic());
            Series::new(wording::LEVELS_TITLE, Shape::Line, level, speed)
                .categories(present.iter().map(|level| level.path()))
                .lines(lines)
        })
    }
}

/// Share of RAM, in 0..1, below which it does not matter. Chosen.
const MARGIN: f64 = 0.05;
/// Share of likenew's speed without a drive above which its overhead is part of a speed. Chosen.
const NEAR_TOOL: f64 = 0.5;

/// The first pattern's speeds of the drive and of RAM. `None` unless direct I/O reached the drive and buffered I/O
/// was all RAM.
fn summary(levels: &Levels<'_>, options: &CacheOptions) -> Option<String> {
    let pattern = options.tests.first()?.pattern;
    let measured = |level, op| levels.get(pattern, level, op);
    let is_of_drive = |level: &MeasuredLevel<'_>| level.ram_against(MARGIN) == Some(Verdict::Below);
    let is_of_ram = |level: &MeasuredLevel<'_>| level.ram_against(1.0 - MARGIN) == Some(Verdict::Above);
    let (read, write) = (measured(Level::Direct, Op::Read)?, measured(Level::Direct, Op::Write)?);
    let (repeated, buffered) =
        (measured(Level::SecondBuffered, Op::Read)?, measured(Level::Buffered, Op::Write)?);
    // Reads from memory that are slower than the drive waited for something else, such as I/Os that failed.
    let is_faster = repeated.rate() > read.rate();
    let is_clear = is_faster
        && [read, write].into_iter().all(is_of_drive)
        && [repeated, buffered].into_iter().all(is_of_ram);
    let (drive, ram) = ([read.rate(), write.rate()], [repeated.rate(), buffered.rate()]);
    is_clear.then(|| wording::summary(pattern, drive, ram))
}

/// The first pattern's direct speeds: all that is known if I/Os failed, because buffered I/O waited for the failed
/// ones.
fn direct_summary(levels: &Levels<'_>, options: &CacheOptions) -> Option<String> {
    let pattern = options.tests.first()?.pattern;
    let rate = |op| Some((op, levels.get(pattern, Level::Direct, op)?.rate()));
    let speeds = [Op::Read, Op::Write].into_iter().filter_map(rate);
    wording::direct_summary(pattern, &speeds.collect::<Vec<_>>())
}

/// Reads and writes of each pattern, then whether direct I/O is direct; if it is not, that comes first,
/// because no other number means anything then.
fn answers(levels: &Levels<'_>, options: &CacheOptions, evidence: &Evidence) -> Vec<Answer> {
    let patterns = || options.tests.iter().map(|test| test.pattern);
    let rerun = |passes: u32| {
        let again = CacheOptions { passes, ..options.clone() };
        Rerun::new(evidence, &again.arguments(evidence.geometry.capacity), Cache::new(again.clone()))
    };
    let reads = patterns().filter_map(|pattern| repeated_read(levels, pattern, &rerun));
    let writes = patterns().filter_map(|pattern| buffered_write(levels, pattern, &rerun));
    let mut answers: Vec<Answer> = reads.chain(writes).collect();
    if let Some((answer, misses_drive)) = direct(levels, &rerun) {
        let place = if misses_drive { 0 } else { answers.len() };
        answers.insert(place, answer);
    }
    answers
}

/// Makes the same run with this many passes.
type RerunWithPasses<'a> = &'a dyn Fn(u32) -> Rerun;

fn repeated_read(levels: &Levels<'_>, pattern: Pattern, rerun: RerunWithPasses<'_>) -> Option<Answer> {
    let second = levels.get(pattern, Level::SecondBuffered, Op::Read)?;
    let direct = levels.get(pattern, Level::Direct, Op::Read);
    let answer = wording::repeated_read(pattern, second.ram, speeds(second, direct));
    let mut answer = with_reasons(answer, second, rerun);
    if let Some(first) = levels.get(pattern, Level::FirstBuffered, Op::Read) {
        answer = answer.with_evidence(wording::first_read(first.rate()));
        if let Some(ram) = first.ram.filter(|ram| ram.value > 2.0 * MARGIN) {
            answer = answer.caveat(wording::first_read_was_warm(Share(ram.value)));
        }
    }
    Some(with_tool_limit(answer, levels, second))
}

fn buffered_write(levels: &Levels<'_>, pattern: Pattern, rerun: RerunWithPasses<'_>) -> Option<Answer> {
    let buffered = levels.get(pattern, Level::Buffered, Op::Write)?;
    let flushed = levels.get(pattern, Level::BufferedFlushed, Op::Write);
    let answer = wording::buffered_write(pattern, buffered.ram, speeds(buffered, flushed));
    let mut answer = with_reasons(answer, buffered, rerun);
    if let Some(direct) = levels.get(pattern, Level::Direct, Op::Write) {
        answer = answer.with_evidence(wording::direct_write(direct.rate()));
    }
    Some(with_tool_limit(answer, levels, buffered))
}

/// Whether direct I/O reached the device, and whether some certainly did not; the worst result decides.
fn direct(levels: &Levels<'_>, rerun: RerunWithPasses<'_>) -> Option<(Answer, bool)> {
    let direct = levels.0.iter().filter(|measured| measured.level == Level::Direct);
    let high = |level: &&MeasuredLevel<'_>| level.ram.and_then(|ram| ram.high()).unwrap_or(f64::INFINITY);
    let worst = direct.max_by(|one, two| high(one).total_cmp(&high(two)))?;
    let name = format!("{} {}s", worst.test.pattern, worst.op);
    let verdict = worst.ram_against(MARGIN);
    let answer = match verdict {
        Some(Verdict::Above) => wording::direct_misses_drive(&name, worst.ram),
        Some(Verdict::Below) => wording::direct_reaches_drive(&name, worst.ram),
        _ => wording::direct_is_unclear(&name, worst.ram),
    };
    Some((with_reasons(answer, worst, rerun), verdict == Some(Verdict::Above)))
}

fn speeds(level: &MeasuredLevel<'_>, nearer: Option<&MeasuredLevel<'_>>) -> Speeds {
    Speeds { rate: level.rate(), nearer: nearer.map(MeasuredLevel::rate) }
}

/// Adds the share of RAM and, if it decides nothing, why that is and which command decides.
fn with_reasons(answer: Answer, level: &MeasuredLevel<'_>, rerun: RerunWithPasses<'_>) -> Answer {
    let answer = level.ram.into_iter().fold(answer, |answer, ram| ram.map(percent).put(answer, "%"));
    match level.ram_against(MARGIN) {
        None => answer.with_evidence(wording::NOTHING_COUNTS),
        Some(Verdict::OnePass) => answer.caveat(MEASURED_ONCE).action(rerun(PASSES_FEW).more_passes()),
        Some(Verdict::Unclear) => answer.action(rerun(PASSES_MANY).more_passes()),
        Some(_) => answer,
    }
}

fn with_tool_limit(answer: Answer, levels: &Levels<'_>, level: &MeasuredLevel<'_>) -> Answer {
    let null = levels.get(level.test.pattern, Level::Null, level.op).map(MeasuredLevel::rate);
    let limit = null.filter(|null| level.rate().0 > NEAR_TOOL * null.0);
    limit.map(wording::tool_is_the_limit).into_iter().fold(answer, Answer::caveat)
}
