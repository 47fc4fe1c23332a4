//! The options of trim.

use likenew_core::probe::ReadBack;
use likenew_core::units::{Nanos, duration_text, size_text};
use likenew_procedure_support::wording::out_of_range;
use serde::{Deserialize, Serialize};

use super::wording;

/// Bytes to free and read back are a multiple of this.
pub const BYTES_STEP: u64 = 1 << 20;
/// Each half of the span for measuring the effect is a multiple of this, in bytes.
pub const HALF_STEP: u64 = 1 << 20;
const BYTES_MAX: u64 = 64 << 30;
const PROBES_MAX: u32 = 65_536;

/// The options of trim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrimOptions {
    /// Bytes to write, free and read back; as many again are kept beside them.
    #[serde(with = "size_text")]
    pub bytes: u64,
    /// Longest wait for a file system that sends TRIM by itself, and for a drive that obeys only in idle
    /// time.
    #[serde(with = "duration_text")]
    pub wait: Nanos,
    /// Number of 4K reads timed in freed blocks, and as many in kept ones.
    pub probes: u32,
    /// Whether the temporary file's addresses may be read from the device below it.
    pub raw: bool,
    /// Whether to measure the effect of TRIM.
    pub worth: bool,
    /// Bytes of address space for that: random writes go over one half, and the other is deleted. Everything
    /// by default.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Time of each pass.
    #[serde(with = "duration_text")]
    pub time: Nanos,
    /// Random writes in flight.
    pub depth: u32,
    /// Passes with TRIM, and as many without.
    pub passes: u32,
}

impl Default for TrimOptions {
    fn default() -> Self {
        Self {
            bytes: 32 << 20,
            wait: Nanos::from_secs(10),
            probes: 256,
            raw: true,
            worth: true,
            span: None,
            time: Nanos::from_secs(4),
            depth: 8,
            passes: 4,
        }
    }
}

impl TrimOptions {
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
        // A folder's layout follows the plan; otherwise it is the drive's whole capacity.
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
