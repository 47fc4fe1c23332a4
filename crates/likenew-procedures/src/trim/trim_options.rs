//! The settings of the question whether TRIM reaches the flash.

use likenew_core::trim::ReadBack;
use likenew_core::units::{Nanos, amount, duration_text, size_text};
use serde::{Deserialize, Serialize};

/// What is given up and read back is a multiple of this.
pub const SIZE_STEP: u64 = 1 << 20;
/// The halves of the space in which TRIM's worth is measured are multiples of this.
pub const HALF_STEP: u64 = 1 << 20;
const SIZE_MAX: u64 = 64 << 30;
const PROBES_MAX: u32 = 65_536;

/// The settings of the question whether TRIM reaches the flash.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TrimOptions {
    /// Bytes that are written, given up and read back; as many again are kept beside them.
    #[serde(with = "size_text")]
    pub size: u64,
    /// How long to wait for a file system that sends TRIM by itself, and for a drive that obeys only in idle time.
    #[serde(with = "duration_text")]
    pub wait: Nanos,
    /// Single reads of 4 KiB that are timed in what was given up, and as many in what was kept.
    pub probes: u32,
    /// Whether the addresses of our own file may be read from the device below it.
    pub raw: bool,
    /// Whether to measure what TRIM is worth.
    pub worth: bool,
    /// Bytes of address space for that: random writes go over one half, and the other is what is deleted. All there is, if not
    /// said.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub space: Option<u64>,
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
            size: 32 << 20,
            wait: Nanos::from_secs(10),
            probes: 256,
            raw: true,
            worth: true,
            space: None,
            time: Nanos::from_secs(4),
            depth: 8,
            passes: 4,
        }
    }
}

impl TrimOptions {
    /// Refuses what makes no sense.
    pub(super) fn check(&self) -> Result<(), String> {
        if !self.size.is_multiple_of(SIZE_STEP) || !(SIZE_STEP..=SIZE_MAX).contains(&self.size) {
            return Err(format!("size = {} is not a multiple of 1 MiB in 1MiB..64GiB", amount(self.size)));
        }
        if self.wait > Nanos::from_secs(3600) {
            return Err(format!("wait = {} is not in 0..1h", self.wait));
        }
        if self.probes > PROBES_MAX {
            return Err(format!("probes = {} is not in 0..{PROBES_MAX}", self.probes));
        }
        if self.time < Nanos::from_millis(1) || self.time > Nanos::from_secs(86_400) {
            return Err(format!("time = {} is not in 1ms..24h", self.time));
        }
        if !(1..=1024).contains(&self.depth) {
            return Err(format!("depth = {} is not in 1..1024", self.depth));
        }
        if !(1..=1000).contains(&self.passes) {
            return Err(format!("passes = {} is not in 1..1000", self.passes));
        }
        if self.worth && self.space.is_some_and(|space| space < 2 * HALF_STEP) {
            return Err("space: at least 2MiB are needed, one half to write over and one to give up".into());
        }
        Ok(())
    }

    /// Bytes of either half, where there are so many in all.
    pub(super) fn half(&self, capacity: u64) -> u64 {
        // A folder is laid out as its plan says; what no plan says is all of a drive that has a capacity of its own.
        let space = self.space.unwrap_or(if capacity == u64::MAX { 2 * HALF_STEP } else { capacity });
        let half = space / 2;
        half - half % HALF_STEP
    }

    /// How the reading back is asked for.
    pub(super) fn read_back(&self, seed: u64) -> ReadBack {
        let Self { size: bytes, wait, probes, raw, .. } = *self;
        ReadBack { seed, bytes, wait, probes, raw }
    }
}
