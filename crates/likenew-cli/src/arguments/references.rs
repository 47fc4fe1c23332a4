//! References of a drive on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use likenew_procedures::check::{Metric, RatedMetrics};

use crate::wording;

#[derive(Debug, Args)]
#[command(next_help_heading = "Compare with")]
pub(crate) struct ReferenceArguments {
    /// Rated speeds: read=550MB/s,write=520MB/s,random_read=95000 … [default: a simulated drive's own, or the
    /// catalog's]
    #[arg(long, value_name = "METRIC=VALUE")]
    pub(crate) advertised: Option<RatedMetrics>,
    /// Run folder of an earlier check to compare with, or none [default: for a real drive, its first
    /// check; a simulated drive is compared with itself when new]
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<Baseline>,
}

/// Rated speeds for procedures that only compare sequential ones.
#[derive(Debug, Args)]
#[command(next_help_heading = "Compare with")]
pub(crate) struct SequentialRates {
    /// Rated speeds: read=550MB/s,write=500MB/s [default: a simulated drive's own]
    #[arg(long, value_parser = sequential_rates, value_name = "METRIC=VALUE")]
    pub(crate) advertised: Option<RatedMetrics>,
}

impl SequentialRates {
    /// Bytes a second of one metric, if it was given.
    pub(crate) fn bytes_per_s(&self, metric: Metric) -> Option<u64> {
        let RatedMetrics(rated) = self.advertised.as_ref()?;
        Some(rated.iter().find(|rated| rated.metric == metric)?.per_s as u64)
    }
}

/// Rated sequential speeds. Other metrics would be ignored, so they are refused.
fn sequential_rates(text: &str) -> Result<RatedMetrics, String> {
    let rated: RatedMetrics = text.parse()?;
    let is_used = |metric| matches!(metric, Metric::SequentialRead | Metric::SequentialWrite);
    match rated.0.iter().find(|rated| !is_used(rated.metric)) {
        Some(other) => Err(wording::metric_is_not_used(other.name())),
        None => Ok(rated),
    }
}

/// An earlier check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Baseline {
    /// No earlier check.
    None,
    /// The run in this folder.
    Run(PathBuf),
}

impl From<OsString> for Baseline {
    fn from(text: OsString) -> Self {
        if text == "none" { Self::None } else { Self::Run(text.into()) }
    }
}
