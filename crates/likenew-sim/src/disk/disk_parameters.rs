//! The parameters of a hard disk: everything that its mechanism needs to know.

use std::ops::Range;

use likenew_core::units::Nanos;

use super::layout_error::LayoutError;
use super::platters::{PlatterParameters, Platters};
use super::seek_curve::SeekCurve;
use super::shingles::ShingleParameters;
use crate::host_link::LinkParameters;
use crate::timeline::{times, transfer_time};

/// The parameters of a hard disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskParameters {
    /// The cable.
    pub link: LinkParameters,
    /// Firmware time of one command.
    pub command: Nanos,
    /// Milliseconds of positioning that a second of waiting outweighs.
    pub aging_per_mille: u32,
    /// The platters.
    pub platters: PlatterParameters,
    /// Sectors of the host in one of the platters: 8 of 512 bytes in 4 KiB (512e), 1 where they are the same.
    pub physical_sectors: u64,
    /// Seeks before a read.
    pub read_seek: SeekTimes,
    /// Seeks before a write.
    pub write_seek: SeekTimes,
    /// Change to another head of the cylinder before a read.
    pub head_switch: Nanos,
    /// Bytes of memory for reads and writes together.
    pub memory_bytes: u64,
    /// Bytes that are read ahead.
    pub segment_bytes: u64,
    /// Places whose read-ahead is kept, while memory lasts.
    pub segments: u32,
    /// Bytes of writes that are cached; 0 if writes are not cached.
    pub write_cache_bytes: u64,
    /// Separate writes that are cached.
    pub write_cache_extents: u32,
    /// How its tracks overlap, if they do.
    pub shingles: Option<ShingleParameters>,
}

/// Seek times as data sheets give them, settling included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeekTimes {
    /// To the next cylinder.
    pub track: Nanos,
    /// Mean over random pairs of places.
    pub average: Nanos,
    /// From edge to edge.
    pub full: Nanos,
}

impl DiskParameters {
    /// Whether such a disk can be built.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        self.platters.check()?;
        self.seek_curves(Platters::new(self.platters).cylinders())?;
        let needed = self.segment_bytes.saturating_add(self.write_cache_bytes);
        if needed > self.memory_bytes {
            return Err(LayoutError::SmallMemory { memory: self.memory_bytes, needed });
        }
        match &self.shingles {
            Some(shingles) => {
                shingles.check(self.platters.sector_bytes, self.write_cache_bytes, self.write_cache_extents)
            }
            None => Ok(()),
        }
    }

    /// Change to another head of the cylinder before a write: as much longer as a seek to the next track is.
    pub fn write_head_switch(&self) -> Nanos {
        self.head_switch + self.write_seek.track.since(self.read_seek.track)
    }

    /// What it takes to write sectors that fill some sectors of the platters only in part: those are read
    /// first, and come by again a turn later. Both ends of what is shorter than a track are read in the same
    /// pass. A shingled disk gathers them before.
    pub(super) fn completing(&self, sectors: &Range<u64>) -> Nanos {
        let parts =
            [sectors.start, sectors.end].into_iter().filter(|end| !end.is_multiple_of(self.physical_sectors));
        let turns = match (self.shingles, parts.count()) {
            (Some(_), _) | (_, 0) => 0,
            (None, parts) if self.transfer_of(sectors) > self.platters.revolution => parts as u32,
            _ => 1,
        };
        times(self.platters.revolution, turns)
    }

    fn transfer_of(&self, sectors: &Range<u64>) -> Nanos {
        let bytes = (sectors.end - sectors.start) * u64::from(self.platters.sector_bytes);
        transfer_time(bytes, self.platters.outer_bytes_per_s)
    }

    /// The disk with its write cache off.
    pub(crate) fn without_write_cache(self) -> Self {
        Self { write_cache_bytes: 0, ..self }
    }

    pub(super) fn seek_curves(&self, cylinders: u32) -> Result<(SeekCurve, SeekCurve), LayoutError> {
        let curve = |times: SeekTimes| SeekCurve::new(cylinders, times.track, times.average, times.full);
        Ok((curve(self.read_seek)?, curve(self.write_seek)?))
    }
}
