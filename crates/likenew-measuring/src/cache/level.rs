//! The levels between a program and a drive at which a speed can be measured.

use likenew_core::access::Access;
use likenew_core::io::Op;
use serde::Serialize;

/// Where an I/O ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) enum Level {
    /// Nowhere: the limit of likenew itself.
    #[serde(rename = "null")]
    Null,
    /// In the page cache.
    #[serde(rename = "buffered")]
    Buffered,
    /// In the page cache, then made durable by a flush that counts.
    #[serde(rename = "buffered_flushed")]
    Flushed,
    /// Through a page cache without this data, as far as likenew may drop its pages.
    #[serde(rename = "first_buffered")]
    First,
    /// The same again.
    #[serde(rename = "second_buffered")]
    Second,
    /// At the drive.
    #[serde(rename = "direct")]
    Direct,
}

impl Level {
    /// Every level, from the program to the drive.
    pub(super) const ALL: [Self; 6] =
        [Self::Null, Self::Buffered, Self::Flushed, Self::First, Self::Second, Self::Direct];

    /// What workloads and charts call it; tables have an identifier.
    pub(super) fn name(self) -> &'static str {
        ["null", "buffered", "buffered, flushed", "first buffered", "second buffered", "direct"]
            [self as usize]
    }

    /// The way of its I/Os, as the first screen names it.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::First => "buffered, 1st read",
            Self::Second => "buffered, 2nd read",
            level => level.name(),
        }
    }

    pub(super) fn access(self) -> Access {
        match self {
            Self::Null => Access::Null,
            Self::Direct => Access::Direct,
            _ => Access::Buffered,
        }
    }

    /// Whether it begins with an empty page cache, if likenew may empty it.
    pub(super) fn is_cold(self) -> bool {
        matches!(self, Self::Buffered | Self::Flushed | Self::First)
    }
}

/// One thing that is measured: an operation at a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) level: Level,
    pub(super) op: Op,
}

/// The cells of each pattern in each pass, in the order they run. On a virtual clock likenew costs no time,
/// so there is no null level; a read-only target has no writes.
pub(super) fn cells(writable: bool, wall: bool) -> Vec<Cell> {
    use Level::{Buffered, Direct, First, Flushed, Null, Second};
    let all = [
        (Null, Op::Write),
        (Null, Op::Read),
        (Buffered, Op::Write),
        (Flushed, Op::Write),
        (First, Op::Read),
        (Second, Op::Read),
        (Direct, Op::Read),
        (Direct, Op::Write),
    ];
    let wanted =
        all.into_iter().filter(|(level, op)| (*level != Null || wall) && (*op == Op::Read || writable));
    wanted.map(|(level, op)| Cell { level, op }).collect()
}
