//! `likenew xray` and `model`: how a drive works inside.

use clap::Args;
use likenew_core::io::{DataClass, Op};
use likenew_core::units::{Nanos, parse_duration, parse_size};
use likenew_procedures::model::{ModelOptions, SPAN_OF_FOLDER, SPAN_STEP};
use likenew_procedures::xray::XrayOptions;

use super::Command;
use crate::access::Access;
use crate::arguments::{Doublings, TargetArguments, values};
use crate::exit::{Exit, Failure, Result};
use crate::measure::measure_with;
use crate::references::SequentialRates;
use crate::resolved_target::ResolvedTarget;
use crate::wording;

/// What is inside: medium, mapping, dies, caches, over-provisioning
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Xray {
    /// Address space to test, from the start [default: all; in a folder 1GiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Write at most this much [default: four times the span]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Run only these experiments; `likenew help xray` lists them [default: all]
    #[arg(long, value_delimiter = ',', value_name = "EXPERIMENT")]
    only: Vec<String>,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// The span of a folder is a multiple of this, so that I/Os divide it.
const FOLDER_STEP: u64 = 1 << 20;

impl Command for Xray {
    /// Read-only targets are only read, so nothing is refused here.
    fn run(self) -> Result<Exit> {
        measure_with(&self.arguments, "xray", Access::Read, |target| self.options(target))
    }
}

impl Xray {
    fn options(&self, target: &ResolvedTarget) -> Result<XrayOptions> {
        let usable = target.usable_bytes()?;
        let in_folder =
            target.is_folder().then(|| XrayOptions::SPAN_OF_FOLDER.min(usable - usable % FOLDER_STEP));
        Ok(XrayOptions { span: self.span.or(in_folder), bytes: self.bytes, only: self.only.clone() })
    }
}

/// Fit an access time model: seek, throughput, parallelism
#[derive(Debug, Args)]
#[command(next_help_heading = "Test")]
pub(crate) struct Model {
    /// read, write or both [default: both, or read where the target is read-only]
    #[arg(long)]
    op: Option<ModelOps>,
    /// Queue depths of small random requests, or ranges such as 1..64 [default: 1..64]
    #[arg(long, visible_alias = "iodepth", value_delimiter = ',', value_name = "N,..")]
    depth: Vec<Doublings<u32>>,
    /// Longest request, a power of two
    #[arg(long, default_value = "512MiB", value_parser = parse_size, value_name = "SIZE")]
    longest: u64,
    /// Address space to test, from the start [default: all; in a folder 384MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    span: Option<u64>,
    /// Write at most this much, and read at most as much [default: 8GiB, in a folder 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    bytes: Option<u64>,
    /// Start no new measurement after this time [default: 10min, in a folder 45s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    time: Option<Nanos>,
    /// Time limit of one measurement [default: 3s, in a folder 500ms]
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    visit: Option<Nanos>,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    data: DataClass,
    #[command(flatten)]
    pub(crate) rated: SequentialRates,
    #[command(flatten)]
    arguments: TargetArguments,
}

/// Which operations a model is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ModelOps {
    /// Reads only
    Read,
    /// Writes only
    Write,
    /// Both
    Both,
}

impl Command for Model {
    fn run(self) -> Result<Exit> {
        let access = Access::writing(matches!(self.op, Some(ModelOps::Write | ModelOps::Both)));
        measure_with(&self.arguments, "model", access, |target| self.options(target))
    }
}

impl Model {
    fn options(&self, target: &ResolvedTarget) -> Result<ModelOptions> {
        let (read, write) = self.rated.or_own(target)?;
        let ops = self.ops(target);
        let depths = values(&self.depth, ModelOptions::default().depths);
        let span = self.span(target)?;
        let Self { longest, bytes, time, visit, data, .. } = *self;
        Ok(ModelOptions {
            ops,
            depths,
            longest,
            span,
            bytes,
            time,
            visit,
            data,
            advertised_read_bytes_per_s: read,
            advertised_write_bytes_per_s: write,
        })
    }

    /// From the command line; otherwise both, or only reads on a read-only target.
    fn ops(&self, target: &ResolvedTarget) -> Vec<Op> {
        match self.op {
            Some(ModelOps::Read) => vec![Op::Read],
            Some(ModelOps::Write) => vec![Op::Write],
            None if !target.is_writable() => {
                crate::console::note(wording::READS_ONLY);
                vec![Op::Read]
            }
            Some(ModelOps::Both) | None => vec![Op::Read, Op::Write],
        }
    }

    /// From the command line; otherwise in a folder the default or what there is, and elsewhere everything.
    fn span(&self, target: &ResolvedTarget) -> Result<Option<u64>> {
        if self.span.is_some() || !target.is_folder() {
            return Ok(self.span);
        }
        let usable = target.usable_bytes()?;
        let span = SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP);
        if span == 0 {
            return Err(Failure::Usage(wording::too_small_for("a model", usable, SPAN_STEP)));
        }
        Ok(Some(span))
    }
}
