//! Writes a drive many times over: where its speed changes, whether it becomes steady, and what is left of the best
//! speed. The writes are a looped benchmark or a test of SNIA's specification.

mod levels;
pub mod loop_test;
pub mod snia;
mod snia_findings;
mod test_series;
mod wording;

use likenew_core::findings::Findings;
use likenew_core::procedure::{Descriptor, Layout, Procedure, Steps};
use likenew_core::units::parse_size;
use likenew_procedure_support::options::options;
use likenew_procedure_support::wording::writes_to_read_only;
use serde::{Deserialize, Serialize};

use loop_test::{LoopOptions, LoopTest};
use snia::{Snia, SniaOptions, SniaTest};
pub use wording::DESCRIPTOR;

/// The options, by test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "test", rename_all = "kebab-case")]
pub enum EndureOptions {
    /// A benchmark on one file after the other.
    Loop(LoopOptions),
    /// SNIA's IOPS test.
    SniaIops(SniaOptions),
    /// SNIA's throughput test.
    SniaThroughput(SniaOptions),
    /// SNIA's latency test.
    SniaLatency(SniaOptions),
    /// SNIA's write saturation test.
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
    /// From the options of a plan. A plan that names no test is a loop.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
    pub fn from_options(table: &toml::Table) -> Result<Self, String> {
        let mut table = table.clone();
        table.entry("test").or_insert_with(|| "loop".into());
        Self::new(options("endure", &table)?)
    }

    /// With these options.
    ///
    /// # Errors
    /// A sentence that names the option and what it may be.
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

    fn run(&self, steps: &mut Steps<'_>) -> Result<Findings, String> {
        if !steps.evidence().geometry.writable {
            return Err(writes_to_read_only(DESCRIPTOR.name));
        }
        match &self.test {
            Test::Loop(test) => test.run(steps),
            Test::Snia(test) => {
                let phases = test.run(steps)?;
                Ok(steps.conclude(|evidence| snia_findings::findings(test, evidence, phases)))
            }
        }
    }
}

/// A part of the address space from its start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// Bytes.
    Bytes(u64),
    /// Percent of the address space.
    Percent(f64),
}

impl std::str::FromStr for Extent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let extent = match text.strip_suffix('%') {
            _ if text == "whole" => Some(Self::Percent(100.0)),
            Some(percent) => {
                let percent = percent.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
                percent.map(Self::Percent)
            }
            None => parse_size(text).ok().map(Self::Bytes),
        };
        extent.ok_or_else(|| wording::unknown_extent(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extents_are_sizes_shares_or_all() {
        for (text, extent) in [
            ("whole", Extent::Percent(100.0)),
            ("12.5%", Extent::Percent(12.5)),
            ("8GiB", Extent::Bytes(8 << 30)),
        ] {
            assert_eq!(text.parse(), Ok(extent), "{text}");
        }
        for text in ["", "%", "101%", "-1%", "NaN%", "half"] {
            assert!(text.parse::<Extent>().unwrap_err().contains("8GiB"), "{text}");
        }
    }
}
