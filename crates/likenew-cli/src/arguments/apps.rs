//! What `likenew apps` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments, number, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Apps {
    /// An application, a group, or your own FILE.toml; can be given several times [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) app: Vec<String>,
    /// Runs of each application; with --consistency per phase [default: 3, with --consistency 1]
    #[arg(long, value_name = "N")]
    pub(crate) passes: Option<u32>,
    /// Share of each application's I/Os to replay [default: all, or what fits]
    #[arg(long, value_parser = number(1e-6, 1000.0), value_name = "FACTOR")]
    pub(crate) scale: Option<f64>,
    /// Address space that applications use [default: 4GiB, at most a quarter of the target or of --writing-span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Time limit of one application in one pass
    #[arg(long, visible_alias = "runtime", default_value = "300s", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Nanos,
    /// Keep the published think times, where an application has them
    #[arg(long)]
    pub(crate) think: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// Also measure how the score holds up under hours of writing: the phases of PCMark 8's consistency test
    #[arg(long)]
    pub(crate) consistency: bool,
    /// Scale of all phase lengths: 1 is the published 10 to 45 minutes each, about 8 hours in all; 0.1 takes 48
    /// minutes
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR", value_parser = number(1e-6, 100.0), requires = "consistency")]
    pub(crate) minutes: f64,
    /// Address space for the writing phases [default: all of it]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", requires = "consistency")]
    pub(crate) writing_span: Option<u64>,
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
