//! The owner's files that have been on a drive for long: pieces of them can be read, to compare them with
//! what was just written.

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Bytes of a piece: a few hundred milliseconds of a disk.
pub const OLD_PIECE_BYTES: u64 = 8 << 20;
/// Pieces at most.
pub const OLD_PIECES_MAX: usize = 24;
/// Age from which files are old, in seconds: charge leaks noticeably within some weeks (six to eight on the
/// Samsung 840 EVO: PC Perspective, 2014).
pub const OLD_AGE_S: u64 = 30 * 86_400;
/// How long folders are searched for old files. Chosen: long enough for tens of thousands of names, short
/// enough that a check does not seem to hang.
pub const OLD_SEARCH: Nanos = Nanos::from_secs(2);

/// What was found, without any name. Piece `i` has the addresses from `i` times [`OLD_PIECE_BYTES`] on, for
/// workloads that read [old files](crate::workload::Workload::old_files).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OldFiles {
    /// Age of each piece's file since it was made or last written, in seconds, the oldest first.
    pub ages_s: Vec<u64>,
    /// Different files that they belong to.
    pub files: u64,
    /// Whether the search ended before it was complete.
    pub is_part: bool,
}

impl OldFiles {
    /// Bytes of all pieces.
    pub fn bytes(&self) -> u64 {
        self.ages_s.len() as u64 * OLD_PIECE_BYTES
    }
}
