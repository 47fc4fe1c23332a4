//! The bytes in a flash drive that keeps its data.
//!
//! Each copy of a page is stored under its physical place, and moves as the FTL moves it. So an FTL that
//! loses or confuses copies returns wrong bytes. Pages that were never written, were trimmed, or were written
//! before data was kept read as zeros.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::flash::translation_layer::{Change, PendingWork};

/// The bytes in the flash, by [`PhysicalPage::at`](crate::flash::translation_layer::PhysicalPage::at).
pub(crate) type Copies = BTreeMap<u64, Box<[u8]>>;

/// The bytes in flash, in the write buffer, and in transit.
pub(crate) struct Contents {
    sector_bytes: usize,
    page_bytes: usize,
    /// Buffers of the host's I/Os, by slot.
    requests: Vec<Vec<u8>>,
    /// Pages in the write buffer, by slot.
    buffer: Vec<Box<[u8]>>,
    /// Bytes in the flash.
    pub(crate) copies: Copies,
}

impl Contents {
    /// Empty contents, for a write buffer of `buffer_pages`.
    pub(crate) fn new(buffer_pages: u32, page_bytes: u32, sector_bytes: u32) -> Self {
        let page = vec![0; page_bytes as usize].into_boxed_slice();
        Self {
            sector_bytes: sector_bytes as usize,
            page_bytes: page_bytes as usize,
            requests: Vec::new(),
            buffer: vec![page; buffer_pages as usize],
            copies: BTreeMap::new(),
        }
    }

    /// The buffer of a host I/O.
    pub(crate) fn request(&mut self, slot: u32) -> &mut Vec<u8> {
        let slot = slot as usize;
        if self.requests.len() <= slot {
            self.requests.resize(slot + 1, Vec::new());
        }
        &mut self.requests[slot]
    }

    /// Copies part of a write into a page of the write buffer, from byte `start` on.
    pub(crate) fn arrive(&mut self, slot: u32, part: Range<usize>, buffered: u32, start: usize) {
        let bytes = &self.requests[slot as usize][part];
        self.buffer[buffered as usize][start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Fills the sectors of a buffered page that the host has not written from its copy in flash.
    pub(crate) fn complete(&mut self, buffered: u32, sectors: u64, at: Option<u64>) {
        let copy = at.and_then(|at| self.copies.get(&at));
        let page = &mut self.buffer[buffered as usize];
        for (index, sector) in page.chunks_mut(self.sector_bytes).enumerate() {
            if sectors >> index & 1 == 0 {
                let start = index * self.sector_bytes;
                match copy {
                    Some(copy) => sector.copy_from_slice(&copy[start..start + self.sector_bytes]),
                    None => sector.fill(0),
                }
            }
        }
    }

    /// Applies what the FTL did, which may include writing one page of the write buffer.
    pub(crate) fn follow(&mut self, pending: &mut PendingWork, buffered: Option<u32>) {
        for change in pending.take_changes() {
            match change {
                Change::Written { page, at } => {
                    let buffered = buffered.unwrap_or_else(|| panic!("page {page} comes from the buffer"));
                    self.copies.insert(at, self.buffer[buffered as usize].clone());
                }
                Change::Moved { from, to } => {
                    if let Some(copy) = self.copies.get(&from) {
                        let copy = copy.clone();
                        self.copies.insert(to, copy);
                    }
                }
                Change::Erased(range) => {
                    let mut tail = self.copies.split_off(&range.start);
                    self.copies.append(&mut tail.split_off(&range.end));
                }
            }
        }
    }

    /// Copies part of a page to a read: sectors in the write buffer from there, and others from flash.
    pub(crate) fn read(
        &mut self,
        slot: u32,
        from: usize,
        part: Range<usize>,
        buffered: Option<(u32, u64)>,
        at: Option<u64>,
    ) {
        assert!(part.end <= self.page_bytes, "a part lies within its page");
        let copy = at.and_then(|at| self.copies.get(&at));
        let target = &mut self.requests[slot as usize][from..from + part.len()];
        for (sector, target) in target.chunks_mut(self.sector_bytes).enumerate() {
            let start = part.start + sector * self.sector_bytes;
            let here = buffered.filter(|(_, sectors)| sectors >> (start / self.sector_bytes) & 1 == 1);
            let source = here.map(|(slot, _)| &self.buffer[slot as usize]).or(copy);
            match source {
                Some(source) => target.copy_from_slice(&source[start..start + target.len()]),
                None => target.fill(0),
            }
        }
    }
}
