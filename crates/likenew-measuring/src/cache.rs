//! How much of a speed is RAM: the same I/O past the page cache, through it and to nowhere, compared with the
//! device counters.

mod answers;
mod level;
mod pictures;
mod results;
mod wording;
mod workload_plan;

use likenew_core::answer::{Answer, Standing};
use likenew_core::drive::Kind;
use likenew_core::findings::Findings;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::quantity::Rate;
use likenew_core::recorder::Stop;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, duration_text, exact_duration, exact_size, size_text};
use serde::{Deserialize, Serialize};

use crate::data::{Test, test_arguments};
use level::Level;
use likenew_procedure_support::options::options;
use likenew_procedure_support::pattern::Pattern;
use likenew_procedure_support::refusals::{refusals, spare_failing_drive};
use likenew_procedure_support::rows::row;
use likenew_procedure_support::wording::{
    answer_as_summary, ended_early, not_a_multiple, not_a_power_of_two, out_of_range, patterns_once,
    span_too_large,
};
use results::{CacheResults, MeasuredLevel};
use workload_plan::WorkloadPlan;

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "cache",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("cache.md"),
};

/// The options of cache.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheOptions {
    /// The tests; one of each pattern at most.
    pub tests: Vec<Test>,
    /// Bytes of address space, from the start of the drive.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Passes of everything.
    pub passes: u32,
    /// Each test ends after this much time, or once it has moved as many bytes as the span has; random I/O a sixteenth
    /// of them.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Content of writes.
    pub data: DataClass,
}

impl Default for CacheOptions {
    /// Like `dd`: QD1, 1 MiB sequential and 4 KiB random.
    fn default() -> Self {
        let test = |pattern, block| Test { pattern, block, depth: 1 };
        Self {
            tests: vec![test(Pattern::Sequential, 1 << 20), test(Pattern::Random, 4096)],
            span: 256 << 20,
            passes: 3,
            time: Nanos::from_secs(2),
            data: DataClass::Random,
        }
    }
}

impl CacheOptions {
    /// The options of the command line that differ from its defaults; `capacity` bounds the usual span.
    fn arguments(&self, capacity: u64) -> String {
        let usual = Self::default();
        let mut arguments = test_arguments(&self.tests, &usual.tests);
        let mut add = |differs: bool, name: &str, value: String| {
            if differs {
                arguments.push(format!("--{name} {value}"));
            }
        };
        add(self.span != usual.span.min(capacity), "span", exact_size(self.span));
        add(self.time != usual.time, "time", exact_duration(self.time));
        add(self.data != usual.data, "data", self.data.to_string());
        add(self.passes != usual.passes, "passes", self.passes.to_string());
        arguments.join(" ")
    }
}

/// The span is a multiple of this.
pub const SPAN_STEP: u64 = 1 << 20;
const BLOCK_MIN: u64 = 4 << 10;
const BLOCK_MAX: u64 = 64 << 20;
/// Longest time of a test. Chosen: longer is a mistake.
const DAY: Nanos = Nanos::from_secs(86_400);

/// The procedure.
pub struct Cache {
    options: CacheOptions,
}

impl Cache {
    /// From the settings of a plan.
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

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if evidence.identity.kind == Kind::Nop {
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
        let workload_plan = WorkloadPlan::new(&self.options, evidence);
        Ok(workload_plan.workload(evidence).map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let workload_plan = WorkloadPlan::new(&self.options, evidence);
        let measured = CacheResults::from_evidence(&self.options, &workload_plan, evidence);
        let mut findings =
            Findings { answers: answers::answers(&measured, &self.options, evidence), ..Findings::default() };
        findings.answers.extend(refusals(&evidence.segments));
        let run = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).count();
        if run < workload_plan.workloads() {
            findings.answers.push(ended_early(run, workload_plan.workloads()));
        }
        spare_failing_drive(&mut findings.answers, evidence);
        let is_failing = evidence.segments.iter().any(|segment| segment.errors() > 0);
        findings.summary = self.summary(&findings, &measured, is_failing);
        add_overview(&mut findings, &measured, is_failing);
        findings.tables.insert("levels".into(), measured.rows().map(row).collect());
        findings.series.extend(pictures::levels(&measured).map(|series| ("levels".to_owned(), series)));
        findings.tables.insert("passes".into(), measured.pass_rows().map(row).collect());
        findings
    }
}

impl Cache {
    fn summary(&self, findings: &Findings, measured: &CacheResults<'_>, is_failing: bool) -> String {
        let first = findings.answers.first().map(answer_as_summary).unwrap_or_default();
        if is_failing {
            return answers::direct_summary(measured, &self.options).unwrap_or(first);
        }
        let is_one_pass = measured.levels.iter().all(|level| level.speed_interval().is_none());
        let is_open = |answer: &Answer| answer.standing == Standing::Unknown;
        if is_one_pass && findings.answers.first().is_some_and(is_open) {
            return wording::summary_of_one_pass().into();
        }
        answers::summary(measured, &self.options).unwrap_or(first)
    }
}

/// The table of levels, of each pattern and operation nearest to the drive last, and below the summary whatever else is a problem or open.
/// Where I/Os failed, only direct I/O is a speed of the drive.
fn add_overview(findings: &mut Findings, measured: &CacheResults<'_>, is_failing: bool) {
    let is_drawn = |of: &&MeasuredLevel<'_>| match of.cell.level {
        Level::Null => false,
        Level::Direct => true,
        _ => !is_failing,
    };
    let mut drawn: Vec<_> = measured.levels.iter().filter(is_drawn).collect();
    drawn.sort_by_key(|of| (of.test.pattern == Pattern::Random, of.cell.op == Op::Read));
    let rows = drawn.into_iter().map(|of| wording::TableRow {
        pattern: of.test.pattern,
        op: of.cell.op,
        path: of.cell.level.path(),
        rate: Rate(of.speed()),
        interval: of.speed_interval(),
        ram: of.ram(),
    });
    let table = wording::table(rows);
    if table.rows.is_empty() {
        return;
    }
    findings.overview.table = Some(table);
    // Open questions of RAM are settled by nothing where I/Os failed, and all at once by more passes.
    let is_about_ram =
        |answer: &Answer| answer.standing == Standing::Unknown && wording::is_about_ram(answer);
    let is_one_pass = measured.levels.iter().all(|level| level.speed_interval().is_none());
    let is_remark = |answer: &&Answer| match answer.standing {
        Standing::Problem => true,
        Standing::Unknown => !(is_failing || is_one_pass) || !is_about_ram(answer),
        _ => false,
    };
    let remarks = findings.answers.iter().skip(1).filter(is_remark);
    findings.overview.answers = remarks.map(|answer| answer.id.clone()).collect();
}
