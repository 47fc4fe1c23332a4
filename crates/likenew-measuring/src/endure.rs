//! Loops a benchmark over a drive until it was written many times over: knees, steady state, and the share of
//! the best speed that is left.

mod answers;
mod cliff;
pub mod extent;
mod level;
mod loop_findings;
pub mod loop_test;
mod snia;
mod snia_findings;
mod snia_pictures;
pub mod snia_plan;
mod snia_results;
mod steadiness;
mod test_series;
mod wording;

use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Evidence, Layout, Procedure, Step};
use serde::{Deserialize, Serialize};

use likenew_procedure_support::options::options;
use loop_test::{LoopOptions, LoopTest};
use snia::Snia;
use snia_plan::{SniaOptions, SniaTest};

/// What the procedure measures and what it costs.
pub static DESCRIPTOR: Descriptor = Descriptor {
    name: "endure",
    question: wording::QUESTION,
    writes: wording::WRITES,
    manual: include_str!("endure.md"),
};

/// The settings, by test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "kebab-case")]
pub enum EndureOptions {
    /// A benchmark on one file after the other.
    Loop(LoopOptions),
    /// The specification's IOPS test.
    SniaIops(SniaOptions),
    /// The specification's throughput test.
    SniaThroughput(SniaOptions),
    /// The specification's latency test.
    SniaLatency(SniaOptions),
    /// The specification's write saturation test.
    SniaWsat(SniaOptions),
}

/// The procedure.
pub struct Endure {
    test: Test,
}

enum Test {
    Loop(LoopTest),
    Snia(Snia),
}

impl Endure {
    /// From the settings of a plan. A plan that names no test is a loop.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        let mut table = table.clone();
        table.entry("test").or_insert_with(|| "loop".into());
        Self::new(options("endure", &table)?)
    }

    /// With these settings.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub fn new(options: EndureOptions) -> Result<Self, String> {
        let (test, options) = match options {
            EndureOptions::Loop(options) => return Ok(Self { test: Test::Loop(LoopTest::new(options)?) }),
            EndureOptions::SniaIops(options) => (SniaTest::Iops, options),
            EndureOptions::SniaThroughput(options) => (SniaTest::Throughput, options),
            EndureOptions::SniaLatency(options) => (SniaTest::Latency, options),
            EndureOptions::SniaWsat(options) => (SniaTest::WriteSaturation, options),
        };
        Ok(Self { test: Test::Snia(Snia::new(test, options)?) })
    }
}

impl Procedure for Endure {
    fn descriptor(&self) -> &'static Descriptor {
        &DESCRIPTOR
    }

    fn layout(&self) -> Layout {
        match &self.test {
            Test::Loop(test) => test.layout(),
            Test::Snia(test) => test.layout(),
        }
    }

    fn next(&self, evidence: &Evidence) -> Result<Step, String> {
        if !evidence.geometry.writable {
            return Err(wording::target_is_read_only());
        }
        match &self.test {
            Test::Loop(test) => test.next(evidence),
            Test::Snia(test) => test.next(evidence),
        }
    }

    fn judge(&self, evidence: &Evidence) -> Findings {
        match &self.test {
            Test::Loop(test) => loop_findings::findings(test, evidence),
            Test::Snia(test) => snia_findings::findings(test, evidence),
        }
    }
}
