//! The blocks of a die: which erased one is opened, how many are kept, when resting ones are moved, and what becomes of a
//! die that loses some.

use std::collections::VecDeque;

use super::{Frontier, PageMap, frontier};
use crate::flash::block_wear::BlockWear;
use crate::flash::policies::ErasedBlocks;
use crate::flash::translation_layer::{PendingWork, Work};

impl PageMap {
    /// Opens an erased block of a die for pages of the host, or for collected pages.
    pub(super) fn open_block(&mut self, die: u32, for_host: bool) -> Frontier {
        let place = &mut self.dies[die as usize];
        let block = match self.parameters.policies.erased_blocks {
            ErasedBlocks::Fifo => place.free.pop_front(),
            ErasedBlocks::LeastWorn => {
                let least = for_host || place.collected.is_none();
                let chosen = choose_by_wear(&place.free, &self.wear, least);
                chosen.and_then(|index| place.free.remove(index))
            }
        };
        let block = block.expect("collection keeps enough erased blocks");
        self.times.open(block);
        frontier(&self.flash, block)
    }

    /// Turns to the open block of the temperature of a host page, before the first page of a program unit: a unit lies in
    /// one block, and the rest of it follows.
    #[inline]
    pub(super) fn choose_host_block(&mut self, page: u32, die: u32) {
        let Some(recent) = &mut self.recent else { return };
        let hot = recent.note(page);
        let place = &mut self.dies[die as usize];
        if hot != place.host_is_hot
            && place.host.next.is_multiple_of(self.flash.unit_pages)
            && let Some(other) = &mut place.other_host
        {
            std::mem::swap(&mut place.host, other);
            place.host_is_hot = hot;
        }
    }

    /// Collects until a die has its reserve of erased blocks.
    pub(super) fn restore_reserve(&mut self, die: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        while self.dies[die as usize].free.len() < self.parameters.reserve_blocks() as usize {
            let Some(more) = self.collect(die, pending) else {
                self.give_up(die);
                break;
            };
            work.add(more);
        }
        work
    }

    /// Whether a die can take so many collected pages.
    pub(super) fn has_room(&mut self, die: u32, pages: u16) -> bool {
        let place = &mut self.dies[die as usize];
        let collected = *place.relocation_frontier();
        // The open block is replaced as soon as it is full.
        !place.free.is_empty() || collected.end - collected.next > u32::from(pages)
    }

    /// After a block was erased: moves the data of closed blocks that rest while it wears, so that they take their turn.
    ///
    /// From half of the allowed spread on, one block is moved each time, early enough for the worn block to come to rest with
    /// its data; at the limit as many as it takes.
    pub(super) fn level_wear(&mut self, worn_block: u32, pending: &mut PendingWork) -> Work {
        let mut work = Work::NONE;
        let (die, spread_max) = (self.victims.die(worn_block), self.parameters.policies.wear_spread_max);
        let worn_erases = self.wear.erases(worn_block);
        while spread_max > 0 && self.wear.spread(die, worn_erases) > spread_max / 2 {
            let Some(rested) = self.victims.closed_blocks(die).min_by_key(|block| self.wear.erases(*block))
            else {
                break;
            };
            let spread = worn_erases.saturating_sub(self.wear.erases(rested));
            if spread <= spread_max / 2 || !self.has_room(die, self.victims.valid(rested)) {
                break;
            }
            work.add(self.clear(rested, pending));
            if spread < spread_max {
                break;
            }
        }
        work
    }

    /// A die has a block less.
    pub(super) fn lose_block(&mut self, die: u32) {
        let place = &mut self.dies[die as usize];
        place.mapped_max = place.mapped_max.saturating_sub(self.flash.pages_per_block);
        self.update_read_only();
    }

    /// A die cannot restore its reserve of erased blocks: it takes nothing any more.
    pub(super) fn give_up(&mut self, die: u32) {
        assert!(
            self.parameters.policies.endurance_erases.is_some(),
            "a die never holds so much that collection gains nothing"
        );
        let place = &mut self.dies[die as usize];
        (place.mapped_max, place.unit_begun) = (0, false);
        self.update_read_only();
    }

    /// As long as the dies that accept pages could hold all of the host's, one of them has room for the next unit.
    fn update_read_only(&mut self) {
        let unit = self.flash.unit_pages;
        let room = self.dies.iter().map(|die| u64::from(die.mapped_max.saturating_sub(unit))).sum::<u64>();
        self.read_only = room < u64::from(self.flash.user_pages);
    }
}

/// The least or the most worn of some blocks; the first of them if there are several.
fn choose_by_wear(blocks: &VecDeque<u32>, wear: &BlockWear, least: bool) -> Option<usize> {
    let key = |index: &usize| wear.erases(blocks[*index]);
    if !least {
        return (0..blocks.len()).rev().max_by_key(key);
    }
    // On a drive that is nearly new the first one is, which spares the search among many.
    (0..blocks.len())
        .find(|index| wear.is_least(blocks[*index]))
        .or_else(|| (0..blocks.len()).min_by_key(key))
}
