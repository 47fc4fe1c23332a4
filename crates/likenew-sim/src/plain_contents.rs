//! The bytes of a drive that holds every sector at its own address.

use likenew_core::io::{Io, Op, Slot};
use rustc_hash::FxHashMap;

/// Bytes of sectors by number.
pub(crate) type Sectors = FxHashMap<u64, Box<[u8]>>;

/// Sectors that were written; all others read as zeros.
pub(crate) struct PlainContents {
    sector_bytes: u32,
    /// By slot of the host.
    requests: Vec<Vec<u8>>,
    sectors: Sectors,
}

impl PlainContents {
    pub(crate) fn new(sector_bytes: u32) -> Self {
        Self { sector_bytes, requests: Vec::new(), sectors: FxHashMap::default() }
    }

    /// What was written.
    pub(crate) fn sectors(&self) -> &Sectors {
        &self.sectors
    }

    /// Takes up what was written before.
    pub(crate) fn restore(&mut self, sectors: Sectors) {
        self.sectors = sectors;
    }

    /// The bytes of an I/O.
    pub(crate) fn request(&mut self, slot: Slot) -> &mut Vec<u8> {
        if self.requests.len() <= slot.index() {
            self.requests.resize(slot.index() + 1, Vec::new());
        }
        &mut self.requests[slot.index()]
    }

    /// Serves an I/O. The result of two I/Os in flight to the same sector is undefined.
    pub(crate) fn serve(&mut self, io: &Io) {
        let length = self.sector_bytes as usize;
        let first = io.offset / u64::from(self.sector_bytes);
        let mut bytes = std::mem::take(self.request(io.slot));
        for (sector, part) in (first..).zip(bytes.chunks_mut(length)) {
            match (io.op, self.sectors.get(&sector)) {
                (Op::Write, _) => drop(self.sectors.insert(sector, (&*part).into())),
                (Op::Read, Some(held)) => part.copy_from_slice(held),
                (Op::Read, None) => part.fill(0),
                (Op::Trim | Op::Flush, _) => {}
            }
        }
        *self.request(io.slot) = bytes;
    }
}
