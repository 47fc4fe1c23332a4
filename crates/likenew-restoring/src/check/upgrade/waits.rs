//! How long programs waited for a piece of work on a drive.

use likenew_core::replay_record::ReplayRecord;
use serde::{Deserialize, Serialize};

/// Share of the I/Os of a recording with known latency, from which they stand for the others. Chosen: half.
const PAIRED_MIN: f64 = 0.5;

/// How long programs waited for a piece of work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Waits {
    /// I/Os.
    pub ios: u64,
    /// Time with a read or a flush in flight, which a program waits for.
    pub blocking_ns: f64,
    /// Time with anything in flight: the longest wait, if programs wait for all writes.
    pub busy_ns: f64,
    /// Uncertainty of both from replaying only a part; 0 if all of it was replayed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub doubt_ns: f64,
    /// 99th percentile of latency.
    pub latency_ns_p99: u64,
    /// The longest latency.
    pub latency_ns_max: u64,
}

impl Waits {
    /// On the drive that replayed a recording.
    pub fn from_replay(replay_record: &ReplayRecord) -> Self {
        Self {
            ios: replay_record.ios,
            blocking_ns: replay_record.blocking.replayed_ns as f64,
            busy_ns: replay_record.busy.replayed_ns as f64,
            doubt_ns: 0.0,
            latency_ns_p99: replay_record.replay_latency.quantile(0.99).0,
            latency_ns_max: replay_record.replay_latency.max().0,
        }
    }

    /// On the drive that was recorded; `None` if the recording lacks the latency of most I/Os.
    pub fn from_recording(replay_record: &ReplayRecord) -> Option<Self> {
        let share = replay_record.paired_ios() as f64 / replay_record.ios.max(1) as f64;
        (share >= PAIRED_MIN).then(|| Self {
            ios: replay_record.paired_ios(),
            blocking_ns: replay_record.blocking.recorded_ns as f64,
            busy_ns: replay_record.busy.recorded_ns as f64,
            doubt_ns: 0.0,
            latency_ns_p99: replay_record.recording_latency.quantile(0.99).0,
            latency_ns_max: replay_record.recording_latency.max().0,
        })
    }

    /// Time with anything in flight, if that is longer than with a read or a flush.
    pub(super) fn busy_beyond(&self) -> Option<f64> {
        (self.busy_ns > self.blocking_ns).then_some(self.busy_ns)
    }

    pub(super) fn low_ns(&self) -> f64 {
        (self.blocking_ns - self.doubt_ns).max(0.0)
    }

    pub(super) fn high_ns(&self) -> f64 {
        self.busy_ns.max(self.blocking_ns) + self.doubt_ns
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}
