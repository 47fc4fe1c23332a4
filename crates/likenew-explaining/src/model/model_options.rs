//! The settings of a model, and which of them make sense.

use likenew_core::drive::Kind;
use likenew_core::io::{DataClass, Op};
use likenew_core::procedure::Evidence;
use likenew_core::units::{Nanos, duration_text, size_text};
use serde::{Deserialize, Serialize};

use super::wording;

/// The settings of a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ModelOptions {
    /// Read, write or both; by default both if the target may be written.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<Op>,
    /// Queue depths of small random I/Os; long requests run at QD1.
    pub depths: Vec<u32>,
    /// The longest request, if it fits.
    #[serde(with = "size_text")]
    pub longest: u64,
    /// Bytes of address space, from the start of the drive; all of it by default.
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub span: Option<u64>,
    /// Most bytes to write, preparation included, and most to read; by default 1 GiB in a folder, otherwise 8
    /// GiB or what the drive holds.
    #[serde(skip_serializing_if = "Option::is_none", with = "size_text::optional")]
    pub bytes: Option<u64>,
    /// No visit starts after this much time; by default ten minutes, in a folder 45 seconds.
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub time: Option<Nanos>,
    /// Length of one visit of a point, or of its first request if that takes longer; by default three
    /// seconds, in a folder half of one.
    #[serde(skip_serializing_if = "Option::is_none", with = "duration_text::optional")]
    pub visit: Option<Nanos>,
    /// Content of writes.
    pub data: DataClass,
    /// Rated sequential read, in bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_read_bytes_per_s: Option<u64>,
    /// Rated sequential write, in bytes a second.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advertised_write_bytes_per_s: Option<u64>,
}

impl Default for ModelOptions {
    /// Requests from one block to 512 MiB, as in the study of a drive that this automates.
    fn default() -> Self {
        Self {
            ops: Vec::new(),
            depths: (0..7).map(|power| 1 << power).collect(),
            longest: 512 << 20,
            span: None,
            bytes: None,
            time: None,
            visit: None,
            data: DataClass::Random,
            advertised_read_bytes_per_s: None,
            advertised_write_bytes_per_s: None,
        }
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

    /// Whether an operation is asked for, of a target that may be written or not.
    pub(super) fn includes(&self, op: Op, writable: bool) -> bool {
        if self.ops.is_empty() { op == Op::Read || writable } else { self.ops.contains(&op) }
    }

    /// Bytes that may be written, and bytes that may be read.
    pub(super) fn bytes_on(&self, evidence: &Evidence) -> u64 {
        let usual = match evidence.identity.kind {
            Kind::Folder => BYTES_OF_FOLDER,
            _ => BYTES_USUAL.min(evidence.geometry.capacity).max(BYTES_LEAST),
        };
        self.bytes.unwrap_or(usual)
    }

    /// Time after which no visit starts.
    pub(super) fn time_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == Kind::Folder;
        self.time.unwrap_or(if is_folder { TIME_OF_FOLDER } else { TIME_USUAL })
    }

    /// Time of one visit.
    pub(super) fn visit_on(&self, evidence: &Evidence) -> Nanos {
        let is_folder = evidence.identity.kind == Kind::Folder;
        self.visit.unwrap_or(if is_folder { VISIT_OF_FOLDER } else { VISIT_USUAL })
    }

    /// Rated sequential rate of an operation, in bytes a second.
    pub(super) fn advertised_rate(&self, op: Op) -> Option<f64> {
        let metric = match op {
            Op::Read => self.advertised_read_bytes_per_s,
            _ => self.advertised_write_bytes_per_s,
        };
        metric.map(|bytes_per_s| bytes_per_s as f64)
    }
}
