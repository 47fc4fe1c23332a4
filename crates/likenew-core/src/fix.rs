//! Fixes, which make a drive fast again by other means than overwriting it, and their results.

use crate::facts::Fact;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use strum::{EnumCount, VariantArray};

use crate::counters::DiscardCounters;
use crate::units::Nanos;
use crate::{is_default, wording};

/// Least speedup of reads in a trial for which the rest of the data is rewritten, too. Chosen: less is not
/// worth the wear.
pub const REWRITE_GAIN_MIN: f64 = 1.15;

/// The kind of fix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fix {
    /// TRIM for all free space of the target's file system.
    TrimFree,
    /// TRIM for all space of the disk below that no partition covers.
    DiscardUnused,
    /// Rewrites the data of these pieces in place, unchanged.
    Refresh {
        /// Ordered by address, without overlaps.
        pieces: Vec<AddressRange>,
    },
    /// Rewrites the owner's files that are older than 30 days in place, unchanged.
    RefreshFiles {
        /// Only files that are read more slowly than this, in bytes a second.
        slower_than_bytes_per_s: f64,
    },
    /// Rewrites everything in these pieces in place, unchanged, however fast it is read: data written in
    /// address order becomes stale in whole erase blocks.
    Rewrite {
        /// Ordered by address, without overlaps.
        pieces: Vec<AddressRange>,
        /// Limits of the rewrite.
        #[serde(default)]
        settings: RewriteSettings,
    },
    /// Rewrites all of the owner's files in place, unchanged, in the order in which they lie on the drive.
    RewriteFiles {
        /// Limits of the rewrite.
        #[serde(default)]
        settings: RewriteSettings,
        /// Only files that begin at or after this byte of the drive: earlier ones were rewritten before.
        #[serde(default)]
        from: u64,
    },
    /// TRIM for everything, which leaves the drive empty.
    Discard,
    /// A command to format the drive, which leaves it empty.
    Format {
        /// Whether to discard the encryption key instead of erasing the flash.
        crypto: bool,
    },
}

impl Fix {
    /// Its name in a progress bar.
    pub fn name(&self) -> &'static str {
        match self {
            Self::TrimFree => wording::TRIM_FREE_SPACE,
            Self::DiscardUnused => wording::TRIM_UNPARTITIONED,
            Self::Refresh { .. } => wording::REWRITE_DATA,
            Self::RefreshFiles { .. } => wording::REWRITE_OLD_FILES,
            Self::Rewrite { .. } => wording::REWRITE_ALL_DATA,
            Self::RewriteFiles { .. } => wording::REWRITE_ALL_FILES,
            Self::Discard => wording::TRIM_EVERYTHING,
            Self::Format { .. } => wording::FORMAT,
        }
    }

    /// Whether it reads data and writes it again; how much it finds to rewrite is not known beforehand.
    pub fn rewrites(&self) -> bool {
        matches!(
            self,
            Self::Refresh { .. }
                | Self::RefreshFiles { .. }
                | Self::Rewrite { .. }
                | Self::RewriteFiles { .. }
        )
    }

    /// Most bytes that it writes, where that is known beforehand.
    pub fn bytes_written(&self) -> u64 {
        match self {
            Self::Refresh { pieces } | Self::Rewrite { pieces, .. } => {
                pieces.iter().map(|piece| piece.bytes).sum()
            }
            Self::TrimFree
            | Self::DiscardUnused
            | Self::RefreshFiles { .. }
            | Self::RewriteFiles { .. }
            | Self::Discard
            | Self::Format { .. } => 0,
        }
    }
}

/// Limits of a rewrite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RewriteSettings {
    /// Most bytes a second; without a limit, as fast as the drive goes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_s_max: Option<u64>,
}

/// A part of a drive's addresses, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddressRange {
    /// Its first byte.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// The result of a fix.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FixReport {
    /// Bytes that were trimmed or rewritten.
    pub bytes: u64,
    /// Bytes that were written to the drive.
    pub bytes_written: u64,
    /// Ranges that were left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skips: Vec<SkippedRange>,
    /// How long it took.
    pub elapsed: Nanos,
    /// Part of that time in which the fix paused, because other programs used the drive.
    #[serde(default, skip_serializing_if = "is_default")]
    pub paused: Nanos,
    /// Write speeds in address order, where everything was rewritten; empty otherwise.
    #[serde(default, skip_serializing_if = "WriteSpeeds::is_empty")]
    pub write_speeds: WriteSpeeds,
    /// How far the system's discard counters moved in that time, from the topmost device down, including
    /// discards by other programs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discard_counters: Vec<DiscardCounters>,
    /// What samples hold afterward, where everything was to be erased.
    pub read_back: Option<ReadBackCounts>,
    /// How it ended.
    #[serde(default, skip_serializing_if = "is_default")]
    pub end: FixEnd,
    /// Where the files that are still to be rewritten begin, in bytes of the drive, if the fix was stopped before them.
    pub stopped_at: Option<u64>,
}

impl FixReport {
    /// Adds bytes that were left out to those left out for the same reason.
    pub fn skip(&mut self, bytes: u64, reason: impl Into<String>) {
        let reason = reason.into();
        match self.skips.iter_mut().find(|left| left.reason == reason) {
            Some(left) => left.bytes += bytes,
            None => self.skips.push(SkippedRange { bytes, reason }),
        }
    }
}

/// Bytes that were written one after the other, and how long their writing alone took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WriteSpeed {
    /// Bytes written.
    pub bytes: u64,
    /// Time to write and flush them, without reads, the journal and pauses.
    pub elapsed: Nanos,
}

impl WriteSpeed {
    /// Bytes a second; `None` if no time was measured.
    pub fn bytes_per_s(&self) -> Option<f64> {
        (self.elapsed > Nanos::ZERO).then(|| self.bytes as f64 / self.elapsed.as_secs_f64())
    }
}

/// Write speed over bytes written, in at most [`WriteSpeeds::POINTS_MAX`] points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WriteSpeeds(Vec<WriteSpeed>);

impl WriteSpeeds {
    /// Most points; with more, neighbors are joined in pairs.
    pub const POINTS_MAX: usize = 128;
    /// Fewest bytes of a point: enough for flushes and garbage collection to even out (assumed).
    const POINT_BYTES_MIN: u64 = 16 << 20;

    /// Adds what was written next. Time without bytes, such as a flush, belongs to what was written before.
    pub fn add(&mut self, bytes: u64, elapsed: Nanos) {
        // The first point is as wide as any complete point.
        let width = self.0.first().map_or(0, |first| first.bytes).max(Self::POINT_BYTES_MIN);
        match self.0.last_mut() {
            Some(last) if last.bytes < width || bytes == 0 => {
                *last = Self::joined(*last, WriteSpeed { bytes, elapsed })
            }
            _ => self.0.push(WriteSpeed { bytes, elapsed }),
        }
        if self.0.len() > Self::POINTS_MAX {
            self.0 = self.0.chunks(2).filter_map(|pair| pair.iter().copied().reduce(Self::joined)).collect();
        }
    }

    fn joined(one: WriteSpeed, other: WriteSpeed) -> WriteSpeed {
        WriteSpeed { bytes: one.bytes + other.bytes, elapsed: one.elapsed + other.elapsed }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The points, in order of writing.
    pub fn points(&self) -> &[WriteSpeed] {
        &self.0
    }

    /// Overall speed in bytes a second; `None` if nothing was written.
    pub fn bytes_per_s(&self) -> Option<f64> {
        self.0.iter().copied().reduce(Self::joined)?.bytes_per_s()
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
    /// The drive failed; the fix is not tried again.
    Failed,
}

/// What 4 KiB blocks spread over a drive hold afterward, including its first and its last block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadBackCounts {
    /// Blocks that held data and still hold the same.
    pub same: u64,
    /// Blocks that held data and now hold only zeros or ones.
    pub blank: u64,
    /// Blocks that held data and now hold other data.
    pub changed: u64,
    /// Blocks that cannot be read now.
    pub unreadable: u64,
    /// Blocks that were empty before, and so prove nothing.
    pub empty: u64,
}

/// A part that was left unchanged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkippedRange {
    /// Its bytes, on the drive or in files.
    pub bytes: u64,
    /// The reason, as a clause without a full stop.
    pub reason: String,
}

/// Something that is done to a drive, or advised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(EnumCount, VariantArray)]
pub enum ActionKind {
    /// TRIM of free space in mounted file systems.
    Fstrim,
    /// TRIM of space outside of partitions.
    DiscardFree,
    /// Rewriting data in place.
    Refresh,
    /// Overwriting free space of a file system.
    OverwriteFree,
    /// Rewriting all data in place.
    Rewrite,
    /// TRIM of a whole device or partition.
    Discard,
    /// Overwriting everything.
    Overwrite,
    /// Format NVM with an erase.
    NvmeFormat,
    /// NVMe's Sanitize.
    NvmeSanitize,
    /// SECURITY ERASE UNIT.
    AtaSecureErase,
    /// ATA's Sanitize.
    AtaSanitize,
}

impl ActionKind {
    /// All of them, the gentlest first.
    pub const ALL: [Self; Self::COUNT] = *Self::VARIANTS.first_chunk().expect("there are that many");

    /// Whether the drive itself erases. Such a command cannot be stopped, and its failure may cost the drive.
    pub fn is_drive_command(self) -> bool {
        matches!(self, Self::NvmeFormat | Self::NvmeSanitize | Self::AtaSecureErase | Self::AtaSanitize)
    }

    /// Whether it destroys everything on the device.
    pub fn destroys(self) -> bool {
        self.is_drive_command() || matches!(self, Self::Discard | Self::Overwrite)
    }
}

/// Which actions are possible on a drive, and what prevents the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Feasibility {
    /// What prevents an action, or has to be known first.
    pub objections: Vec<Objection>,
    /// What the drive could do by itself but Likenew never requests, with the commands to type.
    pub manual_steps: Vec<ManualStep>,
    /// Bytes of the disk below a folder that no partition covers and that could be discarded; not queried for
    /// other targets.
    pub unused_bytes: Fact<u64>,
    /// Bytes of the owner's files in a folder that could be rewritten in place; not queried for other targets.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub file_bytes: Fact<u64>,
    /// Those of `file_bytes` whose files were left unchanged for so long that they may be old data.
    #[serde(skip_serializing_if = "Fact::is_not_queried")]
    pub old_file_bytes: Fact<u64>,
}

impl Feasibility {
    /// The objection that forbids an action, if there is one.
    pub fn objection_to(&self, action: ActionKind) -> Option<&Objection> {
        self.objections_to(action).find(|objection| objection.forbids)
    }

    /// What to know before an action.
    pub fn warnings(&self, action: ActionKind) -> impl Iterator<Item = &Objection> {
        self.objections_to(action).filter(|objection| !objection.forbids)
    }

    fn objections_to(&self, action: ActionKind) -> impl Iterator<Item = &Objection> {
        self.objections.iter().filter(move |objection| objection.action == action)
    }
}

/// A reason against an action on a drive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Objection {
    /// The action.
    pub action: ActionKind,
    /// Whether the action must not be done; otherwise it is only a warning.
    pub forbids: bool,
    /// Why, and what to do: a sentence without a full stop.
    pub reason: String,
}

/// A step that is only described.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManualStep {
    /// The action.
    pub action: ActionKind,
    /// What to know and which commands to type, line by line. Commands begin with four spaces.
    pub lines: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn speeds_keep_all_bytes_and_all_time_in_few_points() {
        let mut speeds = WriteSpeeds::default();
        assert_eq!((speeds.is_empty(), speeds.bytes_per_s()), (true, None));
        for _ in 0..10_000 {
            speeds.add(4 << 20, Nanos::from_millis(40));
        }
        let points = speeds.points();
        assert!(
            (WriteSpeeds::POINTS_MAX / 4..=WriteSpeeds::POINTS_MAX).contains(&points.len()),
            "{}",
            points.len()
        );
        assert_eq!(points.iter().map(|point| point.bytes).sum::<u64>(), 40_000 << 20);
        assert_eq!(points.iter().map(|point| point.elapsed.0).sum::<u64>(), Nanos::from_secs(400).0);
        let widths: Vec<u64> = points.iter().map(|point| point.bytes).collect();
        assert!(widths[..widths.len() - 1].iter().all(|width| *width >= 16 << 20), "{widths:?}");
        assert!((speeds.bytes_per_s().unwrap() / ((4 << 20) as f64 / 0.04) - 1.0).abs() < 1e-9);
    }

    #[test]
    fn what_was_left_for_the_same_reason_is_one_part() {
        let mut fix_report = FixReport::default();
        [(5, "a"), (6, "a"), (7, "b")].into_iter().for_each(|(bytes, reason)| fix_report.skip(bytes, reason));
        let left = |bytes, reason: &str| SkippedRange { bytes, reason: reason.to_owned() };
        assert_eq!(fix_report.skips, [left(11, "a"), left(7, "b")]);
    }
}
