//! The settings of a model, and which of them make sense.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use likenew_core::drive::TargetKind;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::{Descriptor, Evidence};
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_procedure_support::fit::{Fitting, List, Options, Unfit, defaults, doublings};
use likenew_procedure_support::wording::too_small_for;
use serde::{Deserialize, Serialize};

use super::{DESCRIPTOR, wording};

/// The options of a model.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    /// read, write or both [default: both, or read where the target is read-only]
    #[arg(long = "op", value_name = "OP", value_parser = reads_and_writes(), default_value = "both", hide_default_value = true)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: List<Op>,
    /// Queue depths of small random requests, or ranges such as 1..64 [default: 1..64]
    #[arg(long = "depth", visible_alias = "iodepth", value_parser = doublings::<u32>, value_name = "N,..")]
    #[arg(default_value = "1..64", hide_default_value = true)]
    pub depths: List<u32>,
    /// Longest request, a power of two
    // As in the study of a drive that this automates.
    #[arg(long, default_value = "512MiB", value_parser = parse_size, value_name = "SIZE")]
    #[serde(with = "size_text")]
    pub longest: u64,
    /// Address space to test, from the start [default: all; in a folder 384MiB, or what there is]
    #[arg(long, visible_alias = "size", value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Write at most this much, and read at most as much [default: 8GiB, in a folder 1GiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// Start no new measurement after this time [default: 10min, in a folder 45s]
    #[arg(long, visible_alias = "runtime", value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// Time limit of one measurement [default: 3s, in a folder 500ms]
    // Or its first request, if that takes longer.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub visit: Option<Nanos>,
    /// Data to write: random, zero, or what it compresses to, such as 0.5 for half
    #[arg(long, default_value = "random")]
    pub data: DataClass,
    /// Rated sequential read, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_read_bytes_per_s: Option<u64>,
    /// Rated sequential write, in bytes a second.
    #[arg(skip)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_write_bytes_per_s: Option<u64>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        // A plan that names no operation leaves the choice to the target.
        let mut options: Self = defaults();
        options.ops.clear();
        options
    }
}

/// Parses the operations that a model is made of.
fn reads_and_writes() -> impl TypedValueParser<Value = List<Op>> {
    let value = |(name, help)| PossibleValue::new(name).help(help);
    let values = [("read", wording::READS), ("write", wording::WRITES_ALONE), ("both", wording::BOTH)];
    PossibleValuesParser::new(values.map(value)).map(|name| match name.as_str() {
        "read" => vec![Op::Read],
        "write" => vec![Op::Write],
        _ => vec![Op::Read, Op::Write],
    })
}

impl Options for ModelOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn writes(&self, is_chosen: &dyn Fn(&str) -> bool) -> bool {
        is_chosen("ops") && self.ops.contains(&Op::Write)
    }

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        if !fitting.is_writable && !(fitting.is_chosen)("ops") {
            fitting.note_reads_only();
            self.ops = vec![Op::Read];
        }
        if fitting.is_folder && self.span.is_none() {
            let usable = fitting.usable()?;
            self.span = Some(SPAN_OF_FOLDER.min(usable - usable % SPAN_STEP));
            if self.span == Some(0) {
                return Err(too_small_for("a model", usable, SPAN_STEP).into());
            }
        }
        Ok(())
    }
}

/// Divisible by powers of two and by three, so that requests of both kinds divide a folder's file.
pub const SPAN_STEP: u64 = 48 << 20;
/// Default span of a folder: divisible by powers of two and by three.
pub const SPAN_OF_FOLDER: u64 = 8 * SPAN_STEP;
/// Default limits of the bytes moved.
const BYTES_OF_FOLDER: u64 = 1 << 30;
const BYTES_USUAL: u64 = 8 << 30;
/// Default time of a run in a folder. Chosen: short enough to wait for.
const TIME_OF_FOLDER: Nanos = Nanos::from_secs(45);
/// Default time of a run elsewhere. Chosen: enough for every first point and the points that decide between
/// models.
const TIME_USUAL: Nanos = Nanos::from_secs(600);
/// Default time of a visit in a folder. Chosen: 90 visits fit into the default time.
const VISIT_OF_FOLDER: Nanos = Nanos::from_millis(500);
/// Default time of a visit elsewhere. Chosen: long enough to outlast a drive's memory at the usual rates.
const VISIT_USUAL: Nanos = Nanos::from_secs(3);
const BYTES_LEAST: u64 = 16 << 20;
const DEPTHS_MAX: usize = 32;
const DEPTH_MAX: u32 = 1024;

impl ModelOptions {
    /// Whether these settings make sense, whatever the drive.
    ///
    /// # Errors
    /// A sentence that names the setting and what it may be.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.ops.iter().any(|op| !matches!(op, Op::Read | Op::Write)) {
            return Err(wording::other_operations());
        }
        if self.depths.len() > DEPTHS_MAX || self.depths.iter().any(|depth| !(1..=DEPTH_MAX).contains(depth))
        {
            return Err(wording::depths_out_of_range(DEPTHS_MAX, DEPTH_MAX));
        }
        if !(1 << 20..=1 << 40).contains(&self.longest) || !self.longest.is_power_of_two() {
            return Err(wording::longest_out_of_range(self.longest));
        }
        if self.bytes.is_some_and(|bytes| bytes < BYTES_LEAST) {
            return Err(wording::too_few_bytes(BYTES_LEAST));
        }
        let day = Nanos::from_secs(86_400);
        for (name, time) in [("time", self.time), ("visit", self.visit)] {
            if let Some(time) = time.filter(|time| *time < Nanos::from_millis(10) || *time > day) {
                return Err(wording::time_out_of_range(name, time));
            }
        }
        Ok(())
    }

    /// Whether an operation is measured: by default reads, and writes if the target is writable.
    pub(super) fn includes(&self, op: Op, writable: bool) -> bool {
        if self.ops.is_empty() { op == Op::Read || writable } else { self.ops.contains(&op) }
    }

    /// Most bytes to write, and as many to read.
    pub(super) fn bytes_on(&self, evidence: &Evidence) -> u64 {
        let default_bytes = match evidence.identity.kind {
            TargetKind::Folder => BYTES_OF_FOLDER,
            _ => BYTES_USUAL.min(evidence.geometry.capacity).max(BYTES_LEAST),
        };
        self.bytes.unwrap_or(default_bytes)
    }

    /// Time after which no visit starts.
    pub(super) fn time_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == TargetKind::Folder;
        self.time.unwrap_or(if is_folder { TIME_OF_FOLDER } else { TIME_USUAL })
    }

    /// Time of one visit.
    pub(super) fn visit_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == TargetKind::Folder;
        self.visit.unwrap_or(if is_folder { VISIT_OF_FOLDER } else { VISIT_USUAL })
    }

    /// Rated sequential rate of an operation, in bytes a second.
    pub(super) fn advertised_rate(&self, op: Op) -> Option<f64> {
        let rate = match op {
            Op::Read => self.advertised_read_bytes_per_s,
            _ => self.advertised_write_bytes_per_s,
        };
        rate.map(|bytes_per_s| bytes_per_s as f64)
    }
}
