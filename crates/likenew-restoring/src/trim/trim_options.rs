//! The options of trim.

use clap::ArgAction::SetFalse;
use clap::Args;
use likenew_core::probe::ReadBack;
use likenew_core::procedure::Descriptor;
use likenew_core::units::{Nanos, duration_text, parse_duration, parse_size, size_text};
use likenew_procedure_support::fit::{Fitting, Options, Unfit, defaults};
use likenew_procedure_support::wording::out_of_range;
use serde::{Deserialize, Serialize};

use super::{DESCRIPTOR, wording};

/// Bytes to free and read back are a multiple of this.
pub const BYTES_STEP: u64 = 1 << 20;
/// Each half of the span for measuring the effect is a multiple of this, in bytes.
pub const HALF_STEP: u64 = 1 << 20;
const BYTES_MAX: u64 = 64 << 30;
const PROBES_MAX: u32 = 65_536;

/// Does TRIM reach the drive, and what does it gain?
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[command(next_help_heading = "Test")]
#[serde(deny_unknown_fields, default)]
pub struct TrimOptions {
    /// Bytes to write, trim and read back, beside as many that are kept [default: 32MiB]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[arg(default_value = "32MiB", hide_default_value = true)]
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// How long to wait for a file system that sends TRIM on its own, and for the drive to act on it
    #[arg(long, default_value = "10s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub wait: Nanos,
    /// Timed reads of trimmed and of kept data, each
    #[arg(long, default_value_t = 256, value_name = "N")]
    pub probes: u32,
    /// Do not read the device below the folder
    #[arg(long = "no-raw", action = SetFalse)]
    pub raw: bool,
    /// Skip measuring how much TRIM gains
    #[arg(long = "no-worth", action = SetFalse, conflicts_with_all = ["span", "time", "depth", "passes"])]
    pub worth: bool,
    /// Address space for measuring the gain, half of it trimmed [default: up to 64GiB of a simulated drive; in a folder
    /// 1GiB, or twice --bytes if that is given]
    #[arg(long, value_parser = parse_size, value_name = "SIZE")]
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Time of each pass of random writes
    #[arg(long, visible_alias = "runtime", default_value = "4s", value_parser = parse_duration, value_name = "TIME")]
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Queue depth of the random writes
    #[arg(long, visible_alias = "iodepth", default_value_t = 8, value_name = "N")]
    pub depth: u32,
    /// Passes with TRIM, and as many without
    #[arg(long, default_value_t = 4, value_name = "N")]
    pub passes: u32,
}

impl Default for TrimOptions {
    fn default() -> Self {
        defaults()
    }
}

/// A file or a device is only queried, which needs no permission to write.
impl Options for TrimOptions {
    const DESCRIPTOR: &'static Descriptor = &DESCRIPTOR;

    fn fit(&mut self, fitting: &mut Fitting<'_>) -> Result<(), Unfit> {
        self.worth &= fitting.is_writable;
        self.span = if self.worth { self.fitting_span(fitting)? } else { None };
        Ok(())
    }
}

impl TrimOptions {
    /// The span that fits the target; `None` for a simulated drive that is used as a whole.
    fn fitting_span(&self, fitting: &Fitting<'_>) -> Result<Option<u64>, Unfit> {
        /// Span of a folder, which is written again and again.
        const SPAN_OF_FOLDER: u64 = 1 << 30;
        /// Largest span of a simulated drive, which already takes long to fill.
        const SPAN_OF_DRIVE: u64 = 64 << 30;
        const STEP: u64 = 2 * HALF_STEP;
        let (usable, is_folder) = (fitting.usable()?, fitting.is_folder);
        // The file that is read back needs space as well.
        let (default_span, left) = if is_folder {
            (SPAN_OF_FOLDER, usable.saturating_sub(self.bytes.saturating_mul(2)))
        } else {
            (SPAN_OF_DRIVE, usable)
        };
        let half = self.bytes - self.bytes % HALF_STEP;
        let twice_bytes =
            (is_folder && (fitting.is_chosen)("bytes")).then(|| half.max(HALF_STEP).saturating_mul(2));
        match self.span.or(twice_bytes) {
            Some(span) => Ok(Some(span)),
            None if !is_folder && usable <= default_span => Ok(None),
            None if left < STEP => Err(wording::trim_does_not_fit(usable, STEP).into()),
            None => Ok(Some(default_span.min(left - left % STEP))),
        }
    }

    /// Refuses what makes no sense.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.bytes.is_multiple_of(BYTES_STEP) || !(BYTES_STEP..=BYTES_MAX).contains(&self.bytes) {
            return Err(wording::bad_bytes(self.bytes));
        }
        if self.wait > Nanos::from_secs(3600) {
            return Err(out_of_range("wait", self.wait, "0s", "1h"));
        }
        if self.probes > PROBES_MAX {
            return Err(out_of_range("probes", self.probes, 0, PROBES_MAX));
        }
        if self.time < Nanos::from_millis(1) || self.time > Nanos::from_secs(86_400) {
            return Err(out_of_range("time", self.time, "1ms", "24h"));
        }
        if !(1..=1024).contains(&self.depth) {
            return Err(out_of_range("depth", self.depth, 1, 1024));
        }
        if !(1..=1000).contains(&self.passes) {
            return Err(out_of_range("passes", self.passes, 1, 1000));
        }
        if self.worth && self.span.is_some_and(|span| span < 2 * HALF_STEP) {
            return Err(wording::small_span());
        }
        Ok(())
    }

    /// Bytes of each half.
    pub(super) fn half(&self, capacity: u64) -> u64 {
        // Without a span, the layout of a folder has the smallest one, and a drive is used as a whole.
        let span = self.span.unwrap_or(if capacity == u64::MAX { 2 * HALF_STEP } else { capacity });
        let half = span / 2;
        half - half % HALF_STEP
    }

    /// The settings for reading back.
    pub(super) fn read_back(&self, seed: u64) -> ReadBack {
        let Self { bytes, wait, probes, raw, .. } = *self;
        ReadBack { seed, bytes, wait, probes, raw }
    }
}
