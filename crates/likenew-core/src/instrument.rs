//! What the program measured of itself before it measured anything else.

use serde::{Deserialize, Serialize};

use crate::target::Clock;

/// The program's own limits. On a virtual clock the program adds no time, so nothing is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instrument {
    /// Version of likenew.
    pub version: String,
    /// The clock of the numbers.
    pub clock: Clock,
    /// What carried the I/O.
    pub engine: String,
    /// The operating system with the release of its kernel: `Debian GNU/Linux 13, Linux 6.12.9`; absent on a virtual clock,
    /// and where another program measured.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub system: Option<String>,
    /// Measured limits of this machine; absent on a virtual clock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub calibration: Option<Calibration>,
}

/// Limits of the instrument on this machine, measured just before the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Smallest step between two different readings of the clock, in nanoseconds.
    pub timer_step_ns: u64,
    /// IOPS against a target that does nothing: one lane, QD32, every sample recorded.
    pub nop_iops: f64,
    /// The instrument's own time for one I/O there, in nanoseconds.
    pub overhead_ns_per_io: f64,
    /// Bytes of incompressible data generated a second on one core.
    pub random_data_bytes_per_s: f64,
    /// Bytes of data that compresses to a half, generated a second on one core.
    pub ratio_data_bytes_per_s: f64,
    /// The part of each measured latency that is not the drive's; absent where the engine is not io_uring.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub added_latency: Option<AddedLatency>,
}

/// What the program adds to the latency of an I/O, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedLatency {
    /// Handing over an I/O that does nothing, and reading its completion: median.
    pub call_ns: u64,
    /// Waking up once a completion is there: median.
    pub wake_ns_p50: u64,
    /// The same, 99th percentile.
    pub wake_ns_p99: u64,
}
