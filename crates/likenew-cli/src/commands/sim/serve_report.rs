//! The result of a serve, as data: the JSON of `likenew sim serve --json`.

use likenew_core::counters::Counters;
use likenew_core::flash_counters::FlashCounters;
use likenew_nbd::serve_stats::ServeStats;
use serde::Serialize;

/// All counts.
#[derive(Debug, Serialize)]
pub(super) struct ServeReport {
    pub(super) schema: u32,
    /// As on the command line.
    pub(super) target: String,
    pub(super) model: Option<String>,
    pub(super) capacity_bytes: u64,
    /// Drive seconds per second of wall time.
    pub(super) speed: f64,
    /// Wall time.
    pub(super) elapsed_ns: u64,
    /// The drive's time.
    pub(super) drive_ns: u64,
    /// Requests of clients.
    pub(super) stats: ServeStats,
    /// Flash counters of a simulated drive.
    pub(super) accounting: Option<FlashCounters>,
    /// I/Os that reached the drive.
    pub(super) counters: Option<Counters>,
}
