//! Counters of a server.

use hdrhistogram::Histogram;
use likenew_core::units::Nanos;
use serde::Serialize;

use crate::request::{Command, ValidRequest};

/// Requests of clients and their results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServeStats {
    /// Clients that have connected.
    pub connections: u64,
    /// Of them, those that have chosen the export.
    pub clients: u64,
    /// Clients that were rejected, or dropped for what they did or did not do.
    pub dropped: u64,
    /// Requests that were answered without an error.
    pub reads: u64,
    /// Bytes that they read.
    pub bytes_read: u64,
    /// Writes that were answered without an error.
    pub writes: u64,
    /// Bytes that they wrote.
    pub bytes_written: u64,
    /// TRIM requests that were answered without an error.
    pub trims: u64,
    /// Bytes of them.
    pub bytes_trimmed: u64,
    /// Requests to write zeros that were answered without an error.
    pub zeroes: u64,
    /// Bytes of them.
    pub bytes_zeroed: u64,
    /// Flushes that were answered without an error.
    pub flushes: u64,
    /// Requests to read something ahead that were answered without an error.
    pub prefetches: u64,
    /// Requests for which parts are allocated.
    pub block_status: u64,
    /// Requests that were refused before they reached the drive.
    pub refused: u64,
    /// Requests that the drive or the store has answered with an error.
    pub failed: u64,
    /// The most I/Os that the drive had at once.
    pub depth_max: u32,
    /// Bytes that are kept beside the drive now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_kept: Option<u64>,
    /// How late the answers were.
    pub lag: Lag,
}

impl ServeStats {
    /// Requests that were done.
    pub fn requests(&self) -> u64 {
        self.reads + self.writes + self.trims + self.zeroes + self.flushes + self.prefetches
    }

    /// Counts a request that was done.
    pub(crate) fn count(&mut self, ask: &ValidRequest) {
        let bytes = u64::from(ask.length);
        match ask.command {
            Command::Read { .. } => (self.reads, self.bytes_read) = (self.reads + 1, self.bytes_read + bytes),
            Command::Write => {
                (self.writes, self.bytes_written) = (self.writes + 1, self.bytes_written + bytes)
            }
            Command::Trim => (self.trims, self.bytes_trimmed) = (self.trims + 1, self.bytes_trimmed + bytes),
            Command::Zero { .. } => {
                (self.zeroes, self.bytes_zeroed) = (self.zeroes + 1, self.bytes_zeroed + bytes)
            }
            Command::Flush => self.flushes += 1,
            Command::Cache => self.prefetches += 1,
            Command::Status { .. } => self.block_status += 1,
            Command::Disconnect => {}
        }
    }
}

/// How long after the drive's own answer the client's left, in nanoseconds of wall time: what the server adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Lag {
    /// Answers.
    pub answers: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// The latest.
    pub max_ns: u64,
}

/// Lags of all answers, in memory that does not grow.
pub(crate) struct LagHistogram(Histogram<u64>);

impl LagHistogram {
    pub(crate) fn new() -> Self {
        /// An hour; what is later counts as that.
        const MAX_NS: u64 = 3_600_000_000_000;
        Self(Histogram::new_with_max(MAX_NS, 3).expect("these bounds are valid"))
    }

    pub(crate) fn add(&mut self, lag: Nanos) {
        self.0.saturating_record(lag.0);
    }

    pub(crate) fn sum_up(&self) -> Lag {
        let histogram = &self.0;
        Lag {
            answers: histogram.len(),
            mean_ns: histogram.mean(),
            p99_ns: histogram.value_at_quantile(0.99),
            max_ns: histogram.max(),
        }
    }
}
