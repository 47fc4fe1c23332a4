//! What part of a number is RAM: the same I/O past the page cache, through it, and to nowhere, beside what the device counted.

mod level;
mod pictures;
mod results;
mod wording;
mod workload_plan;

use likenew_core::drive::Kind;
use likenew_core::io::DataClass;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use likenew_core::recorder::Stop;
use likenew_core::target::Clock;
use likenew_core::units::{Nanos, amount, duration_text, size_text};
use likenew_core::verdict::{Findings, Standing, Verdict};
use serde::{Deserialize, Serialize};

use crate::data::Test;
use crate::options::options;
use crate::pattern::Pattern;
use crate::refusals::refusals;
use crate::rows::row;
use results::CacheResults;
use workload_plan::WorkloadPlan;

/// What it asks and costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "cache",
    question: "What part of a number is RAM, and what is the drive's own?",
    writes: "writes its span once, then three times a pass and pattern at most; only own files in a folder",
    manual: include_str!("cache.md"),
};

/// The settings of a look at caches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CacheOptions {
    /// How it is measured; one of each pattern at most.
    pub tests: Vec<Test>,
    /// Bytes of address space, from the start of the drive.
    #[serde(with = "size_text")]
    pub span: u64,
    /// Times that everything is measured.
    pub passes: u32,
    /// Each measurement ends after this much time, or once it has moved as many bytes as the span has; random I/Os a sixteenth of
    /// them.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// What is written.
    pub data: DataClass,
}

impl Default for CacheOptions {
    /// As somebody with `dd` has it: one I/O at a time, of 1 MiB in sequence and of 4 KiB at random.
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

/// The span is a multiple of this.
pub const SPAN_STEP: u64 = 1 << 20;
const BLOCK_MAX: u64 = 64 << 20;

/// The procedure.
pub struct Cache {
    options: CacheOptions,
}

impl Cache {
    /// Out of a plan.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        Self::new(options("cache", table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: CacheOptions) -> Result<Self, String> {
        let CacheOptions { tests, span, passes, time, .. } = &options;
        let several = |pattern| tests.iter().filter(|test| test.pattern == pattern).count() > 1;
        if tests.is_empty() || several(Pattern::Sequential) || several(Pattern::Random) {
            return Err("pattern: name sequential, random or both, once each at most".into());
        }
        for Test { block, depth, .. } in tests {
            if !(4096..=BLOCK_MAX).contains(block) || !block.is_power_of_two() {
                return Err(format!("block = {block} bytes is not a power of two in 4KiB..64MiB"));
            }
            if !(1..=1024).contains(depth) {
                return Err(format!("depth = {depth} is not in 1..1024"));
            }
            if *span < *block || !span.is_multiple_of(*block) {
                return Err(format!("span = {span} bytes is not a multiple of the block of {block}"));
            }
        }
        if *span == 0 || !span.is_multiple_of(SPAN_STEP) {
            return Err(format!("span = {span} bytes is not a multiple of 1 MiB"));
        }
        if *passes == 0 || *passes > 1000 {
            return Err(format!("passes = {passes} is not in 1..1000"));
        }
        if *time < Nanos::from_millis(1) || *time > Nanos::from_secs(86_400) {
            return Err(format!("time = {time} is not in 1ms..24h"));
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
            return Err(
                "nop: has no page cache in front of it: give a folder, a file, a device or a simulated drive"
                    .into(),
            );
        }
        if evidence.geometry.clock == Clock::Virtual && evidence.geometry.carries_data {
            return Err("the simulated page cache holds no data: leave out data=on".into());
        }
        let (span, capacity) = (self.options.span, evidence.geometry.capacity);
        if span > capacity {
            return Err(format!(
                "a span of {} is more than the {} there are; give a smaller --span",
                amount(span),
                amount(capacity)
            ));
        }
        let workload_plan = WorkloadPlan::new(&self.options, evidence);
        Ok(workload_plan.workload(evidence).map_or(Step::Done, Step::Run))
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        let workload_plan = WorkloadPlan::new(&self.options, evidence);
        let measured = CacheResults::from_evidence(&self.options, &workload_plan, evidence);
        let mut findings = Findings::default();
        findings.verdicts.extend(wording::verdicts(&measured, &self.options));
        findings.verdicts.extend(refusals(&evidence.segments));
        let run = evidence.segments.iter().filter(|segment| segment.stop == Stop::Reached).count();
        if run < workload_plan.workloads() {
            let verdict = Verdict::new("Everything was measured.", Standing::Fails);
            let wanted = workload_plan.workloads();
            findings.verdicts.push(
                verdict.with_evidence(format!("{run} of {wanted} workloads had run when the run ended")),
            );
        }
        findings.tables.insert("levels".into(), measured.rows().map(row).collect());
        findings.series.extend(pictures::levels(&measured).map(|series| ("levels".to_owned(), series)));
        findings.tables.insert("passes".into(), measured.pass_rows().map(row).collect());
        findings
    }
}
