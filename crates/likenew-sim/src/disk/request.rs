//! An I/O that a disk has accepted, what is left to do of it, and what the arm does at a time.

use std::ops::Range;

use likenew_core::io::Io;
use likenew_core::units::Nanos;

use super::destager::{DirectWrite, Work};

/// What the arm is doing.
pub(super) enum Job {
    /// It reads these sectors of the platters, the first that are left of the read in this slot.
    Read(u32, Range<u64>),
    /// It writes the first part that is left of the write in this slot.
    Write(u32, DirectWrite),
    /// It brings to the platters what the host no longer waits for.
    Destage(Work),
}

/// An accepted I/O.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) io: Io,
    /// It came to the drive.
    pub(super) started_at: Nanos,
    /// Its data starts to be available.
    pub(super) data_from: Nanos,
    /// All data of a write is in the drive.
    pub(super) data_until: Nanos,
    /// Sectors that neither the arm has read or written nor the write cache has let in.
    pub(super) remaining: Range<u64>,
    /// The sector before which all data of a cached write has come in.
    pub(super) arrived: u64,
}

impl Request {
    pub(super) fn new(io: Io, sector_bytes: u32, now: Nanos) -> Self {
        let sector = u64::from(sector_bytes);
        let remaining = io.offset / sector..(io.offset + u64::from(io.length)) / sector;
        Self { io, started_at: now, data_from: now, data_until: now, arrived: remaining.start, remaining }
    }

    /// The first sectors that were left are done; whether that is all of it.
    pub(super) fn advance(&mut self, count: u64) -> bool {
        self.remaining.start += count;
        self.remaining.is_empty()
    }
}
