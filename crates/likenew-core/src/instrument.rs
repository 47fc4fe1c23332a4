//! The program's own limits, measured before it measures anything else.

use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;

use crate::target::Clock;

/// The program's own limits. On a virtual clock the program adds no time, so nothing is measured.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instrument {
    /// Version of likenew.
    pub version: String,
    /// The clock that measures.
    pub clock: Clock,
    /// The engine that carries the I/O.
    pub engine: String,
    /// Operating system and kernel release: `Debian GNU/Linux 13, Linux 6.12.9`; absent on a virtual clock,
    /// and where another program measured.
    pub system: Option<String>,
    /// Measured limits of this machine; absent on a virtual clock.
    pub calibration: Option<Calibration>,
}

/// Limits of the program on this machine, measured just before the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// Smallest step between two different readings of the clock, in nanoseconds.
    pub timer_step_ns: u64,
    /// IOPS against a target that does nothing: one lane, QD32, every sample recorded.
    pub nop_iops: f64,
    /// The program's own time for each of those I/Os, in nanoseconds.
    pub overhead_ns_per_io: f64,
    /// Bytes of incompressible data that one core generates a second.
    pub random_data_bytes_per_s: f64,
    /// Bytes of data compressible to a half that one core generates a second.
    pub ratio_data_bytes_per_s: f64,
    /// The part of each measured latency that is not the drive's; absent for engines other than io_uring.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub added_latency: Option<AddedLatency>,
}

/// What the program adds to the latency of an I/O, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedLatency {
    /// Median time to submit an I/O that does nothing, and to read its completion.
    pub call_ns: u64,
    /// Median time to wake up once a completion is there.
    pub wake_ns_p50: u64,
    /// 99th percentile of that wake-up time.
    pub wake_ns_p99: u64,
}
