//! A fix: what is done to a drive so that it becomes fast again, other than overwriting it, and what came of it.

use serde::{Deserialize, Serialize};

use crate::trim::DiscardCounters;
use crate::units::Nanos;

/// Data that was rewritten on trial has to be read at least so many times as fast, or the rest is not rewritten. Chosen: less
/// is not worth the wear.
pub const REWRITE_GAIN_MIN: f64 = 1.15;

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// TRIM for everything that the file system on it has free.
    TrimFree,
    /// TRIM for everything on the disk below that none of its partitions covers.
    DiscardUnused,
    /// What these pieces hold is rewritten in place and stays the same.
    Refresh {
        /// They do not overlap, and lie in order.
        pieces: Vec<AddressRange>,
    },
    /// The owner's files that are older than 30 days are rewritten in place and stay the same.
    RefreshFiles {
        /// Only those that are read more slowly than this, in bytes a second.
        slower_than_bytes_per_s: f64,
    },
    /// TRIM for everything, so that the drive holds nothing any more.
    Discard,
    /// The drive is asked to format itself, so that it holds nothing any more.
    Format {
        /// By discarding its encryption key instead of erasing its flash.
        crypto: bool,
    },
}

impl Fix {
    /// What a progress bar calls it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TrimFree => "TRIM of free space",
            Self::DiscardUnused => "TRIM of unpartitioned space",
            Self::Refresh { .. } => "rewriting data in place",
            Self::RefreshFiles { .. } => "rewriting old files",
            Self::Discard => "TRIM of everything",
            Self::Format { .. } => "format by the drive",
        }
    }

    /// Bytes that it writes at most, where that is known beforehand.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::Refresh { pieces } => pieces.iter().map(|piece| piece.bytes).sum(),
            Self::TrimFree
            | Self::DiscardUnused
            | Self::RefreshFiles { .. }
            | Self::Discard
            | Self::Format { .. } => 0,
        }
    }
}

/// A part of a drive's addresses, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRange {
    /// Its first byte.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixReport {
    /// Bytes that it was done for: trimmed or rewritten.
    pub bytes: u64,
    /// Bytes that were written to the drive.
    pub bytes_written: u64,
    /// What it was not done for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<SkippedRange>,
    /// How long it took.
    pub elapsed: Nanos,
    /// How far the system's discard counters moved meanwhile, from the topmost device down. What others discarded is in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discard_counters: Vec<DiscardCounters>,
    /// What samples read back afterwards, where everything was to be erased.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_back: Option<ReadBackCounts>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "FixEnd::is_complete")]
    pub end: FixEnd,
}

impl FixReport {
    /// Adds bytes that were left out, to those that were left out for the same reason.
    pub fn skip(&mut self, bytes: u64, reason: impl Into<String>) {
        let reason = reason.into();
        match self.skips.iter_mut().find(|left| left.reason == reason) {
            Some(left) => left.bytes += bytes,
            None => self.skips.push(SkippedRange { bytes, reason }),
        }
    }
}

/// How a fix ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FixEnd {
    /// It ran to its end, whatever it left out.
    #[default]
    Complete,
    /// It was interrupted, and continues when the run is resumed.
    Stopped,
    /// The drive failed; it is not tried again.
    Failed,
}

impl FixEnd {
    fn is_complete(&self) -> bool {
        *self == Self::Complete
    }
}

/// What became of 4 KiB blocks spread over a drive, the first and the last among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBackCounts {
    /// Blocks that held data, and hold the same.
    pub same: u64,
    /// Blocks that held data, and hold nothing but zeros or ones now.
    pub blank: u64,
    /// Blocks that held data, and hold other data now.
    pub changed: u64,
    /// Blocks that cannot be read now.
    pub unreadable: u64,
    /// Blocks that held nothing before, and so prove nothing.
    pub empty: u64,
}

/// A part that was left as it was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRange {
    /// How many bytes of the drive or of files.
    pub bytes: u64,
    /// A clause without a full stop.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_left_for_the_same_reason_is_one_part() {
        let mut fix_report = FixReport::default();
        [(5, "a"), (6, "a"), (7, "b")].into_iter().for_each(|(bytes, reason)| fix_report.skip(bytes, reason));
        let left = |bytes, reason: &str| SkippedRange { bytes, reason: reason.to_owned() };
        assert_eq!(fix_report.skips, [left(11, "a"), left(7, "b")]);
    }
}
