//! The pseudo-SLC cache of a page map: erase blocks used with one bit per cell. They take host writes faster
//! and hold less, until their data is folded into native blocks.
//!
//! The static part of each die always stays SLC. The dynamic part borrows erased blocks, as far as the
//! capacity that the host has not filled allows. Folding moves the valid data of the oldest SLC block to
//! native blocks of the same die and erases it; a block without valid data goes first. Host writes use SLC
//! blocks while there are any; [`WhenFull`] says what happens then. No page is ever lost, since dynamic
//! blocks are returned before native blocks run short (see `fold_for`).

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::{Frontier, PageMap, PageMapParameters};
use crate::flash::policies::{SlcCacheParameters, WhenFull};
use crate::flash::translation_layer::{Cell, PendingWork, Work};

/// The pseudo-SLC cache of a die.
#[derive(Default, Serialize, Deserialize)]
struct SlcDie {
    /// The native block for host writes, while they go to an SLC block.
    native_host: Option<Frontier>,
    /// Full SLC blocks, the oldest first.
    full: VecDeque<u32>,
    /// Erased blocks of the static part.
    static_free: VecDeque<u32>,
    /// Number of dynamic SLC blocks, open or full.
    dynamic: u32,
}

/// The pseudo-SLC cache of a drive.
#[derive(Serialize, Deserialize)]
pub(super) struct SlcCache {
    parameters: SlcCacheParameters,
    /// Pages per SLC block.
    block_pages: u32,
    /// Native blocks per die; the others are static SLC blocks.
    native_blocks: u32,
    /// The most pages of a die that native data and whole dynamic blocks take together, while there are dynamic blocks.
    native_and_dynamic_max: u32,
    /// By block.
    cells: Vec<Cell>,
    dies: Vec<SlcDie>,
}

impl SlcCache {
    /// The cache of a new drive, if it has one.
    pub(super) fn from_parameters(parameters: &PageMapParameters) -> Option<Self> {
        let (slc, flash) = (parameters.slc_cache?, parameters.flash);
        let native_blocks = flash.blocks_per_die - slc.static_blocks;
        let die = |index| {
            let first = index * flash.blocks_per_die;
            let static_free = (first + native_blocks..first + flash.blocks_per_die).collect();
            SlcDie { static_free, ..SlcDie::default() }
        };
        Some(Self {
            parameters: slc,
            block_pages: slc.pages_per_block(&flash),
            native_blocks,
            native_and_dynamic_max: flash.user_pages / flash.dies,
            cells: vec![Cell::Native; flash.blocks() as usize],
            dies: (0..flash.dies).map(die).collect(),
        })
    }

    pub(super) fn cell(&self, block: u32) -> Cell {
        self.cells[block as usize]
    }

    /// The open native blocks for host writes that the cache does not take.
    pub(super) fn native_host_blocks(&self) -> impl Iterator<Item = Frontier> {
        self.dies.iter().filter_map(|die| die.native_host)
    }

    /// Number of erased blocks in the static part.
    pub(super) fn free_blocks(&self) -> u64 {
        self.dies.iter().map(|die| die.static_free.len() as u64).sum()
    }
}

impl PageMap {
    /// Whether the next host write of a die goes to an SLC block.
    #[inline]
    pub(super) fn writes_slc(&self, die: u32) -> bool {
        self.slc.as_ref().is_some_and(|slc| slc.dies[die as usize].native_host.is_some())
    }

    /// Replaces the full SLC block of a die.
    pub(super) fn renew_slc_block(&mut self, die: u32, pending: &mut PendingWork) {
        let place = &mut self.slc_mut().dies[die as usize];
        let native = place.native_host.take().expect("host writes go to an SLC block");
        let full = std::mem::replace(&mut self.dies[die as usize].host, native);
        self.slc_mut().dies[die as usize].full.push_back(full.block);
        let work = self.open_slc_block(die, pending);
        if work != Work::NONE {
            pending.push(die, work);
        }
    }

    /// Opens an SLC block for the host writes of a die, if one is available.
    pub(super) fn open_slc_block(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        let Some(slc) = &self.slc else { return work };
        let when_full = slc.parameters.when_full;
        loop {
            let block = match self.take_static(die, &mut work, pending) {
                None => self.take_dynamic(die, &mut work, pending),
                block => block,
            };
            if let Some(block) = block {
                self.start_slc_block(die, block);
                return work;
            }
            let Some(index) = self.next_to_fold(die, |_| true) else { return work };
            let holds_something = self.victims.valid(self.slc().dies[die as usize].full[index]) > 0;
            if holds_something && when_full == WhenFull::Direct {
                return work;
            }
            work.add(self.fold(die, index, pending));
        }
    }

    fn start_slc_block(&mut self, die: u32, block: u32) {
        let next = block * self.flash.pages_per_block;
        let open = Frontier { block, next, end: next + self.slc().block_pages };
        let native = std::mem::replace(&mut self.dies[die as usize].host, open);
        self.times.open(block);
        let slc = self.slc_mut();
        slc.cells[block as usize] = Cell::Slc;
        slc.dies[die as usize].native_host = Some(native);
    }

    /// Takes an erased static block. Makes room first in the native blocks to which it will be folded.
    fn take_static(&mut self, die: u32, work: &mut Work, pending: &mut PendingWork) -> Option<u32> {
        let block = self.slc_mut().dies[die as usize].static_free.pop_front()?;
        work.add(self.fold_for(die, self.slc().block_pages, pending));
        Some(block)
    }

    /// Takes an erased block beyond the reserve, or erases one without valid data, if the dynamic part may grow.
    fn take_dynamic(&mut self, die: u32, work: &mut Work, pending: &mut PendingWork) -> Option<u32> {
        if self.slc().dies[die as usize].dynamic >= self.dynamic_max(die) {
            return None;
        }
        if self.dies[die as usize].free.len() <= self.parameters.free_blocks_min as usize {
            let victim = self.victims.choose(die)?;
            if self.victims.valid(victim) > 0 {
                return None;
            }
            work.add(self.clear(victim, pending));
        }
        self.slc_mut().dies[die as usize].dynamic += 1;
        self.dies[die as usize].free.pop_front()
    }

    /// The most dynamic SLC blocks that a die may have now.
    fn dynamic_max(&self, die: u32) -> u32 {
        let slc = self.slc();
        let free = slc.native_and_dynamic_max.saturating_sub(self.promised_pages(die));
        let allowed = u64::from(free) * u64::from(slc.parameters.dynamic_percent_max) / 100;
        (allowed / u64::from(self.flash.pages_per_block)) as u32
    }

    /// Pages that native blocks hold or are sure to hold, dynamic blocks aside: valid data in native and
    /// static blocks, and the rest of the open native block.
    fn promised_pages(&self, die: u32) -> u32 {
        assert!(!self.writes_slc(die), "an open SLC block is not counted");
        let place = &self.dies[die as usize];
        let full = self.slc().dies[die as usize].full.iter();
        let dynamic = full.filter(|block| self.is_dynamic(**block));
        let in_dynamic: u32 = dynamic.map(|block| u32::from(self.victims.valid(*block))).sum();
        place.mapped - in_dynamic + place.host.end - place.host.next
    }

    /// Makes room for another native block of host pages. Does nothing without a cache.
    pub(super) fn fold_for_native_block(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        if self.slc.is_some() { self.fold_for(die, self.flash.pages_per_block, pending) } else { Work::NONE }
    }

    /// Returns dynamic SLC blocks of a die until `pages` more fit into native blocks beside the others.
    ///
    /// While a die has dynamic blocks, promised pages and whole dynamic blocks together never exceed the
    /// host's part of the die. That part is less than [`PageMapParameters::mapped_per_die_max`]. So native
    /// garbage collection has the same reserve as without a cache and always gains space, and the cache never
    /// borrows the spare. Only a new native, static or dynamic block adds to the sum. Folding removes a whole
    /// block and adds only its valid pages.
    fn fold_for(&mut self, die: u32, pages: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        loop {
            let slc = self.slc();
            let taken = u64::from(slc.dies[die as usize].dynamic) * u64::from(self.flash.pages_per_block);
            let wanted = u64::from(self.promised_pages(die)) + u64::from(pages) + taken;
            if taken == 0 || wanted <= u64::from(slc.native_and_dynamic_max) {
                return work;
            }
            let index = self.next_to_fold(die, |block| self.is_dynamic(block));
            work.add(self.fold(die, index.expect("dynamic blocks that are not open are full"), pending));
        }
    }

    /// The full SLC block of a die to fold next: one without valid data, else the oldest.
    fn next_to_fold(&self, die: u32, fits: impl Fn(u32) -> bool) -> Option<usize> {
        let full = &self.slc().dies[die as usize].full;
        let mut fitting = (0..full.len()).filter(|index| fits(full[*index]));
        let oldest = fitting.next()?;
        let empty = |index: &usize| self.victims.valid(full[*index]) == 0;
        Some(Some(oldest).filter(empty).or_else(|| fitting.find(empty)).unwrap_or(oldest))
    }

    /// Folds a full SLC block: moves its valid data to native blocks and erases it.
    fn fold(&mut self, die: u32, index: usize, pending: &mut PendingWork) -> Work {
        let block = self.slc_mut().dies[die as usize].full.remove(index).expect("a full block was chosen");
        let (Work { rows, moved, programs, erases, .. }, survives) = self.recycle(block, pending);
        assert!(survives, "the blocks of a drive with a cache do not fail");
        let mut work = Work { slc_rows: rows, moved, programs, erases, ..Work::NONE };
        let dynamic = self.is_dynamic(block);
        let slc = self.slc_mut();
        slc.cells[block as usize] = Cell::Native;
        if dynamic {
            slc.dies[die as usize].dynamic -= 1;
            self.dies[die as usize].free.push_back(block);
        } else {
            slc.dies[die as usize].static_free.push_back(block);
        }
        work.add(self.restore_reserve(die, pending));
        work
    }

    /// Does one step of idle work for the cache of a die; returns whether there was any.
    pub(super) fn tend_slc(&mut self, die: u32, pending: &mut PendingWork) -> bool {
        let Some(slc) = &self.slc else { return false };
        let wanted = slc.dies[die as usize].full.len() > slc.parameters.idle_kept_blocks as usize;
        let mut work = Work::NONE;
        if let Some(index) = self.next_to_fold(die, |_| wanted) {
            work.add(self.fold(die, index, pending));
        }
        if !self.writes_slc(die) {
            work.add(self.open_slc_block(die, pending));
        }
        if work != Work::NONE {
            pending.push(die, work);
        }
        work != Work::NONE
    }

    fn is_dynamic(&self, block: u32) -> bool {
        block % self.flash.blocks_per_die < self.slc().native_blocks
    }

    fn slc(&self) -> &SlcCache {
        self.slc.as_ref().expect("only a map with a cache asks")
    }

    fn slc_mut(&mut self) -> &mut SlcCache {
        self.slc.as_mut().expect("only a map with a cache asks")
    }
}

#[cfg(test)]
mod tests;
