//! The results of a recording's I/Os on a target, next to what the recording says of the same I/Os.

use serde::{Deserialize, Serialize};

use crate::io::Op;
use crate::tally::Latencies;
use crate::units::Nanos;
use crate::windows::Windows;

/// The record of a replay. It counts the I/Os of the recording: one that was split counts once, from when its
/// first piece was due to when its last one ended. What was left out is in none of these numbers, on neither
/// side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplayRecord {
    /// I/Os that were carried out to their end.
    pub ios: u64,
    /// I/Os that were left out: writes where only reads are replayed, and TRIMs where the target has none.
    pub skips: u64,
    /// I/Os that were moved or cut, as the target has fewer addresses or larger blocks than the recorded drive.
    pub remapped_ios: u64,
    /// By stream, then operation, of those that occurred.
    pub tallies: Vec<ReplayTally>,
    /// By stream, of those that occurred.
    pub streams: Vec<ReplayStream>,
    /// Time with an I/O in flight, of whichever stream.
    pub busy: ReplayPair,
    /// Time with a read or a flush in flight, which a program waits for. Writes usually go to memory, so a
    /// program does not.
    #[serde(default)]
    pub blocking: ReplayPair,
    /// Latencies in the replay.
    pub replay_latency: Latencies,
    /// Latencies in the recording.
    pub recording_latency: Latencies,
    /// When the last I/O of the recording ended, since its first left; idle times are not cut.
    pub recorded_elapsed: Nanos,
    /// Latencies in the replay, by when the I/Os left in the recording, in nanoseconds since its first.
    pub replayed_windows: Windows,
    /// Latencies in the recording, by the same.
    pub recorded_windows: Windows,
    /// How late the I/Os left, from when they were due; none where the pace asks for no time.
    pub lateness: Latencies,
    /// Sum of that.
    pub lateness_ns_sum: u64,
    /// The part of that sum in which the maximum was in flight: caused by the target.
    pub throttled_ns_sum: u64,
    /// The slowest of the replay, slowest first; at most [`ReplayRecord::LONGEST_MAX`].
    pub longest: Vec<SlowIo>,
}

/// Two spans of time in nanoseconds: of the replay, and of the recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayPair {
    /// On this target.
    pub replayed_ns: u64,
    /// In the recording, as far as it says.
    pub recorded_ns: u64,
}

/// One operation of one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayTally {
    /// The stream.
    pub stream: u16,
    /// The operation.
    pub op: Op,
    /// I/Os of the recording.
    pub ios: u64,
    /// Bytes that they asked for, as recorded.
    pub bytes: u64,
    /// Sum of all latencies in the replay.
    pub latency_ns_sum: u64,
    /// I/Os whose latency the recording knows.
    pub paired: u64,
    /// Sums of the latencies of those.
    pub waiting: ReplayPair,
}

/// One stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayStream {
    /// Which.
    pub stream: u16,
    /// Time with at least one of its I/Os in flight.
    pub busy: ReplayPair,
}

/// One I/O that took long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlowIo {
    /// The stream.
    pub stream: u16,
    /// What it did.
    pub op: Op,
    /// First byte on the recorded drive.
    pub offset: u64,
    /// Bytes, as recorded.
    pub length: u64,
    /// When it left in the recording, since its first I/O left.
    pub at: Nanos,
    /// How long it took in the replay.
    pub latency: Nanos,
    /// How long it took in the recording, where that is known.
    pub recorded_latency: Option<Nanos>,
}

impl ReplayRecord {
    /// How many of the longest waits are kept one by one.
    pub const LONGEST_MAX: usize = 16;

    /// Sums of the latencies of all I/Os whose latency is known on both sides.
    pub fn waiting(&self) -> ReplayPair {
        self.tallies.iter().fold(ReplayPair::default(), |sum, tally| sum.plus(tally.waiting))
    }

    /// I/Os whose latency is known on both sides.
    pub fn paired_ios(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.paired).sum()
    }

    /// Bytes that the I/Os asked for, as recorded.
    pub fn bytes(&self) -> u64 {
        self.tallies.iter().map(|tally| tally.bytes).sum()
    }
}

impl ReplayPair {
    /// Both spans added.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            replayed_ns: self.replayed_ns + other.replayed_ns,
            recorded_ns: self.recorded_ns + other.recorded_ns,
        }
    }

    /// Time saved against the recording, in percent, below zero where the replay takes longer; `None` where
    /// the recording took none.
    pub fn saved_percent(self) -> Option<f64> {
        (self.recorded_ns > 0).then(|| (1.0 - self.replayed_ns as f64 / self.recorded_ns as f64) * 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn savings_are_shares_of_what_it_took() {
        let both = ReplayPair { replayed_ns: 25, recorded_ns: 100 };
        assert_eq!(both.saved_percent(), Some(75.0));
        assert_eq!(both.plus(both), ReplayPair { replayed_ns: 50, recorded_ns: 200 });
        assert_eq!(ReplayPair { replayed_ns: 200, recorded_ns: 100 }.saved_percent(), Some(-100.0));
        assert_eq!(ReplayPair { replayed_ns: 200, recorded_ns: 0 }.saved_percent(), None);
    }
}
