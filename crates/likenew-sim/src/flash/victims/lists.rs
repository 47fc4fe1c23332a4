//! Doubly linked lists of blocks, threaded through the blocks themselves.

use serde::{Deserialize, Serialize};

use super::Block;

/// Ends a list.
pub(super) const NONE: u32 = u32::MAX;

/// For each die and number of valid pages a list of closed blocks, the last one that was linked first.
#[derive(Serialize, Deserialize)]
pub(super) struct Lists {
    /// First and last block of each list, at `die × counts + count`.
    heads: Vec<u32>,
    tails: Vec<u32>,
    /// No list of the die below this count holds a block.
    floors: Vec<u16>,
    /// Lists of each die.
    counts: usize,
}

impl Lists {
    pub(super) fn new(dies: u32, counts: u32) -> Self {
        let lists = dies as usize * counts as usize;
        Self {
            heads: vec![NONE; lists],
            tails: vec![NONE; lists],
            floors: vec![0; dies as usize],
            counts: counts as usize,
        }
    }

    #[inline]
    pub(super) fn link(&mut self, blocks: &mut [Block], block: u32, count: u16) {
        let die = blocks[block as usize].die;
        let list = usize::from(die) * self.counts + usize::from(count);
        let next = std::mem::replace(&mut self.heads[list], block);
        if next == NONE {
            self.tails[list] = block;
        } else {
            blocks[next as usize].previous = block;
        }
        let entry = &mut blocks[block as usize];
        (entry.previous, entry.next) = (NONE, next);
        let floor = &mut self.floors[usize::from(die)];
        *floor = (*floor).min(count);
    }

    /// Takes a block out of the list that it was linked to with this count.
    #[inline]
    pub(super) fn unlink(&mut self, blocks: &mut [Block], block: u32, count: u16) {
        let Block { previous, next, die, .. } = blocks[block as usize];
        let list = || usize::from(die) * self.counts + usize::from(count);
        if previous == NONE {
            let list = list();
            self.heads[list] = next;
        } else {
            blocks[previous as usize].next = next;
        }
        if next == NONE {
            let list = list();
            self.tails[list] = previous;
        } else {
            blocks[next as usize].previous = previous;
        }
    }

    /// The newest block of the die's lowest list that holds any.
    pub(super) fn first_of_lowest(&mut self, die: u32) -> Option<u32> {
        let lowest = self.lowest(die)?;
        Some(self.heads[die as usize * self.counts + usize::from(lowest)])
    }

    /// The lowest count of the die whose list holds a block.
    pub(super) fn lowest(&mut self, die: u32) -> Option<u16> {
        let start = die as usize * self.counts;
        let floor = self.floors[die as usize] as usize;
        let found = (floor..self.counts).find(|count| self.heads[start + count] != NONE)?;
        self.floors[die as usize] = found as u16;
        Some(found as u16)
    }

    /// The oldest block of one list of the die.
    #[inline]
    pub(super) fn last(&self, die: u32, count: u16) -> Option<u32> {
        let last = self.tails[die as usize * self.counts + usize::from(count)];
        (last != NONE).then_some(last)
    }
}
