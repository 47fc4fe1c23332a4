//! What `likenew replay` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::replay_spec::Fit;
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::replay::ReplayMode;

use super::{RunArguments, number, text};

#[derive(Debug, Args)]
pub(crate) struct Replay {
    /// Folders, files, block devices, or simulated drives: each is measured by itself, one after the other
    #[arg(required = true, value_name = "TARGET")]
    pub(crate) targets: Vec<String>,
    /// The recording, in any format that likenew import trace reads
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: String,
    /// The format of the recording, where it does not show
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<String>,
    /// Which volume of the recording, where it holds several
    #[arg(long, value_name = "NAME")]
    pub(crate) volume: Option<String>,
    /// When the I/Os leave: dependent (once what had ended before them has ended, with the recorded think times), timed (when
    /// they had left) or fast (as fast as the target takes them)
    #[arg(long, default_value = "dependent", value_parser = text::<ReplayMode>)]
    pub(crate) mode: ReplayMode,
    /// Recorded time over the time of the replay
    #[arg(long, default_value_t = 1.0, value_parser = number(0.001, 1e6))]
    pub(crate) speed: f64,
    /// Pauses in which nothing was in flight are cut to this [default: they are kept]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub(crate) idle_max: Option<Nanos>,
    /// I/Os in flight at most
    #[arg(long, default_value_t = 256)]
    pub(crate) depth: u32,
    /// How recorded addresses become the target's: modulo (they begin anew where it ends) or scale (in proportion)
    #[arg(long, default_value = "modulo", value_parser = text::<Fit>)]
    pub(crate) fit: Fit,
    /// Bytes of address space, from the start [default: all; in a folder what the recording reaches, at most 8GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// Leave out everything but reads
    #[arg(long)]
    pub(crate) reads_only: bool,
    /// Do not write what the recording touches beforehand
    #[arg(long)]
    pub(crate) no_prepare: bool,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// How often it is replayed
    #[arg(long, default_value_t = 1)]
    pub(crate) passes: u32,
    /// A pass ends after this time, wherever it is
    #[arg(long, value_parser = parse_duration)]
    pub(crate) time: Option<Nanos>,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 0)]
    pub(crate) seed: u64,
    /// Print the plan as TOML and stop
    #[arg(long)]
    pub(crate) plan: bool,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
