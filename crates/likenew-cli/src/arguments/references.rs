//! References of a drive on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use likenew_procedures::check::{MetricName, RatedMetric};

use crate::wording;

#[derive(Debug, Args)]
#[command(next_help_heading = "Compare with")]
pub(crate) struct ReferenceArguments {
    /// Rated speeds: read=550MB/s,write=520MB/s,random_read=95000 … [default: a simulated drive's own, or the
    /// catalog's]
    #[arg(long, value_delimiter = ',', value_name = "METRIC=VALUE")]
    pub(crate) advertised: Vec<RatedMetric>,
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
    #[arg(long, value_delimiter = ',', value_parser = sequential_rate, value_name = "METRIC=VALUE")]
    pub(crate) advertised: Vec<RatedMetric>,
}

impl SequentialRates {
    /// Bytes a second of one metric, if it was given; of several the last.
    pub(crate) fn bytes_per_s(&self, metric: MetricName) -> Option<u64> {
        let rated = self.advertised.iter().rfind(|rated| rated.metric == metric)?;
        Some(rated.per_s as u64)
    }
}

/// A rated sequential speed. Another metric would be ignored, so it is refused.
fn sequential_rate(text: &str) -> Result<RatedMetric, String> {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    match text.parse::<RatedMetric>() {
        Ok(rated) if !matches!(rated.metric, MetricName::SequentialRead | MetricName::SequentialWrite) => {
            Err(wording::metric_is_not_used(name))
        }
        Ok(rated) => Ok(rated),
        Err(_) => Err(wording::not_a_sequential_rate(text)),
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
