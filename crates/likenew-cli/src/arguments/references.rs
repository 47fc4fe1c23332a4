//! References of a drive on the command line.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use likenew_procedures::check::RatedMetric;

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
