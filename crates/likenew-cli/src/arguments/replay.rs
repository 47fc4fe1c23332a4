//! What `likenew replay` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::replay_spec::Fit;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::replay::ReplayMode;

use super::{RUN, RunArguments, number, text};

#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Replay {
    /// Folders, files, block devices or simulated drives; each is measured separately
    #[arg(required = true, value_name = "TARGET", help_heading = Option::<&'static str>::None)]
    pub(crate) targets: Vec<String>,
    /// The trace, in any format that `likenew import trace` reads
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: String,
    /// Its format, if it is not recognized
    #[arg(long, value_name = "NAME")]
    pub(crate) format: Option<String>,
    /// Which volume, if the trace holds several
    #[arg(long, value_name = "ID")]
    pub(crate) volume: Option<String>,
    /// When I/Os start: dependent (after those that had ended before, plus think time), timed (as recorded), fast (as
    /// soon as possible)
    #[arg(long, default_value = "dependent", value_parser = text::<ReplayMode>, value_name = "NAME")]
    pub(crate) mode: ReplayMode,
    /// Speed-up of the recorded times
    #[arg(long, default_value_t = 1.0, value_parser = number(0.001, 1e6), value_name = "FACTOR")]
    pub(crate) speed: f64,
    /// Shorten pauses without I/O to this [default: keep them]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle_max: Option<Nanos>,
    /// Largest queue depth
    #[arg(long, visible_alias = "iodepth", default_value_t = 256, value_name = "N")]
    pub(crate) depth: u32,
    /// Where recorded addresses beyond the target go: modulo (wrap around) or scale (in proportion)
    #[arg(long, default_value = "modulo", value_parser = text::<Fit>, value_name = "NAME")]
    pub(crate) fit: Fit,
    /// Address space to use, from the start [default: all; in a folder what the trace reaches, at most 8GiB]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Replay reads only
    #[arg(long)]
    pub(crate) reads_only: bool,
    /// Do not write beforehand what the trace reads
    #[arg(long)]
    pub(crate) no_prepare: bool,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// Number of replays
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(crate) passes: u32,
    /// Time limit of a replay
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    pub(crate) time: Option<Nanos>,
    /// Random seed
    #[arg(long, default_value_t = 0, value_name = "N", help_heading = RUN, hide_short_help = true)]
    pub(crate) seed: u64,
    /// Print the plan as TOML and stop
    #[arg(long, help_heading = RUN)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
