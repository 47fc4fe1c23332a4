//! What a drive is held against, as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use likenew_procedures::check::RatedMetric;

#[derive(Debug, Args)]
pub(crate) struct ReferenceArguments {
    /// What the maker says: read=550MB/s,write=520MB/s,random_read=95000 … [default: what a simulated drive's file says]
    #[arg(long, value_delimiter = ',', value_name = "FIGURE=VALUE")]
    pub(crate) advertised: Vec<RatedMetric>,
    /// The kept run of an earlier check that it is held against, or "none" [default: the first one of the same real drive]
    #[arg(long, value_name = "RUN")]
    pub(crate) baseline: Option<Baseline>,
}

/// An earlier check.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Baseline {
    /// Not even the first one.
    None,
    /// The run in this folder.
    Run(PathBuf),
}

impl From<OsString> for Baseline {
    fn from(text: OsString) -> Self {
        if text == "none" { Self::None } else { Self::Run(text.into()) }
    }
}
