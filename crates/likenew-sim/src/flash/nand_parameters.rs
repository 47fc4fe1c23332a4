//! How many chips there are and how fast they are.

use likenew_core::units::Nanos;

use super::read_job::{ReadJob, Reader};
use super::translation_layer::{Cell, Work};
use crate::timeline::times;

/// How fast cells are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellTimes {
    /// Array read of one row (tR), or of all rows of a mapping unit that spans several.
    pub read: Nanos,
    /// Program of one unit (tPROG), or of all units of a mapping unit that spans several.
    pub program: Nanos,
}

/// How many chips there are and how fast they are. Pages are units of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NandParameters {
    /// Channels, each with a bus of its own.
    pub channels: u32,
    /// Dies on each channel.
    pub dies_per_channel: u32,
    /// The cells as the chip is made for.
    pub native: CellTimes,
    /// The cells with one bit in each.
    pub slc: CellTimes,
    /// Erasure of one block (tBERS).
    pub erase: Nanos,
    /// One page over the channel.
    pub page_transfer: Nanos,
    /// Firmware time of each page that a die copies, which comes on top of what the chips take.
    pub copy: Nanos,
    /// The size of a page that is not compressed, in units of the translation layer.
    pub page_size: u32,
    /// Dies that program at the same time at most.
    pub programs_max: u32,
    /// What the host reads of a page that spans several pages of the chips; without, it reads whole pages.
    pub read_part: Option<ReadPart>,
}

/// A page of a chip as a part of a page of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadPart {
    /// Bytes of it that the host can address.
    pub bytes: u32,
    /// It alone over the channel.
    pub transfer: Nanos,
    /// Array reads that a whole page of the map takes.
    pub rows: u16,
    /// Such parts that each of them delivers.
    pub row_parts: u16,
}

impl NandParameters {
    /// Dies of the drive.
    pub fn dies(&self) -> u32 {
        self.channels * self.dies_per_channel
    }

    pub(super) fn times(&self, cell: Cell) -> CellTimes {
        match cell {
            Cell::Native => self.native,
            Cell::Slc => self.slc,
        }
    }

    /// The time that work takes a die, erasures aside.
    pub(crate) fn copying_time(&self, work: &Work) -> Nanos {
        let reads = times(self.native.read, work.rows) + times(self.slc.read, work.slc_rows);
        let programs = times(self.native.program, work.programs) + times(self.slc.program, work.slc_programs);
        reads + self.transfer(2 * work.moved) + programs + times(self.copy, work.moved)
    }

    /// The time to move pages of this size in sum over a channel.
    pub(super) fn transfer(&self, size: u32) -> Nanos {
        Nanos(self.page_transfer.0 * u64::from(size) / u64::from(self.page_size))
    }

    /// The time of the array reads for what a read wants, each time that it is sensed.
    pub(super) fn sense(&self, job: &ReadJob) -> Nanos {
        let whole = self.times(job.cell).read;
        match (self.read_part, job.reader) {
            (Some(part), Reader::Host(_)) => {
                let all = u32::from(part.rows);
                let rows = job.bytes.div_ceil(part.bytes * u32::from(part.row_parts)).clamp(1, all);
                Nanos(whole.0 * u64::from(rows) / u64::from(all))
            }
            _ => whole,
        }
    }

    /// The time to move what a read wants over a channel.
    pub(super) fn read_transfer(&self, job: &ReadJob) -> Nanos {
        let whole = self.transfer(job.size);
        match (self.read_part, job.reader) {
            (Some(part), Reader::Host(_)) => whole.min(times(part.transfer, job.bytes.div_ceil(part.bytes))),
            _ => whole,
        }
    }
}
