//! What a serve came to, as data: the JSON of `likenew sim serve --json`.

use likenew_core::counters::Counters;
use likenew_core::flash_counters::FlashCounters;
use likenew_nbd::serve_stats::ServeStats;
use serde::Serialize;

/// Everything that was counted.
#[derive(Debug, Serialize)]
pub(super) struct ServeReport {
    pub(super) schema: u32,
    /// As it was named.
    pub(super) target: String,
    pub(super) model: Option<String>,
    pub(super) capacity_bytes: u64,
    /// Seconds of the drive in one of the wall's.
    pub(super) speed: f64,
    /// Wall time.
    pub(super) elapsed_ns: u64,
    /// The drive's time.
    pub(super) drive_ns: u64,
    /// What clients asked for.
    pub(super) stats: ServeStats,
    /// The drive's own books.
    pub(super) accounting: Option<FlashCounters>,
    /// What reached the drive.
    pub(super) counters: Option<Counters>,
}
