//! What `likenew apps` takes.

use clap::Args;
use likenew_core::io::DataClass;
use likenew_core::units::{Nanos, parse_duration, parse_size};

use super::{RunArguments, TargetArguments, number, text};

#[derive(Debug, Args)]
pub(crate) struct Apps {
    #[command(flatten)]
    pub(crate) target_arguments: TargetArguments,
    /// An application or a group of them, or a file of one's own (FILE.toml); more than once for several [default: pcmark8]
    #[arg(long, value_name = "NAME|FILE.toml")]
    pub(crate) app: Vec<String>,
    /// How often to play each; with --consistency in each phase [default: 3, with --consistency 1]
    #[arg(long)]
    pub(crate) passes: Option<u32>,
    /// Part of each application's I/Os to play [default: all, or as much a pass as there is space]
    #[arg(long, value_parser = number(1e-6, 1000.0))]
    pub(crate) scale: Option<f64>,
    /// Bytes of address space that applications work in [default: 4GiB, less where there is less than four times as much]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    pub(crate) span: Option<u64>,
    /// An application ends after this time, in each pass
    #[arg(long, default_value = "300s", value_parser = parse_duration)]
    pub(crate) time: Nanos,
    /// Take as long as where an application was recorded, if that was published
    #[arg(long)]
    pub(crate) think: bool,
    /// What to write: random, zero, or the share 0..1 that it compresses to
    #[arg(long, default_value = "random", value_parser = text::<DataClass>)]
    pub(crate) data: DataClass,
    /// How does the score hold out under hours of writing? The phases of PCMark 8's consistency test
    #[arg(long)]
    pub(crate) consistency: bool,
    /// Times of that: 1 writes for 10 to 45 minutes at a time and takes about eight hours, 0.1 a tenth
    #[arg(long, default_value_t = 1.0, value_parser = number(1e-6, 100.0), requires = "consistency")]
    pub(crate) minutes: f64,
    /// Bytes of address space to write for that [default: all of it]
    #[arg(long, value_parser = parse_size, value_name = "SIZE", requires = "consistency")]
    pub(crate) space: Option<u64>,
    #[command(flatten)]
    pub(crate) run_arguments: RunArguments,
}
