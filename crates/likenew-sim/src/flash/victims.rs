//! Blocks by how many valid pages they hold, so that the emptiest closed block of a die is found in constant time.

use serde::{Deserialize, Serialize};

/// Ends a list, and marks a block that is in none.
const NONE: u32 = u32::MAX;

/// One block: its valid pages and its place in the list of blocks with as many.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Block {
    previous: u32,
    next: u32,
    valid: u16,
    die: u16,
    closed: bool,
}

/// Valid-page counts of all blocks, and for each die and count the list of its closed blocks.
///
/// Open and erased blocks are counted but not listed: they are no victims.
#[derive(Serialize, Deserialize)]
pub(crate) struct Victims {
    blocks: Vec<Block>,
    /// First block of the list of each die and count, `die × counts + valid`.
    heads: Vec<u32>,
    /// No list of the die below this count holds a block.
    floors: Vec<u16>,
    /// `0 ..= pages_per_block`.
    counts: usize,
}

impl Victims {
    pub(crate) fn new(dies: u32, blocks_per_die: u32, pages_per_block: u32) -> Self {
        let block = |index: u32| Block {
            previous: NONE,
            next: NONE,
            valid: 0,
            die: (index / blocks_per_die) as u16,
            closed: false,
        };
        let counts = pages_per_block as usize + 1;
        Self {
            blocks: (0..dies * blocks_per_die).map(block).collect(),
            heads: vec![NONE; dies as usize * counts],
            floors: vec![0; dies as usize],
            counts,
        }
    }

    pub(crate) fn valid(&self, block: u32) -> u16 {
        self.blocks[block as usize].valid
    }

    pub(crate) fn die(&self, block: u32) -> u32 {
        u32::from(self.blocks[block as usize].die)
    }

    /// A page of an open block became valid.
    #[inline]
    pub(crate) fn gain(&mut self, block: u32) {
        self.gain_by(block, 1);
    }

    /// So much of an open block became valid.
    #[inline]
    pub(crate) fn gain_by(&mut self, block: u32, size: u16) {
        let block = &mut self.blocks[block as usize];
        debug_assert!(!block.closed, "only an open block gains valid pages");
        block.valid += size;
    }

    /// A page of the block became invalid; returns the block's die.
    #[inline]
    pub(crate) fn lose(&mut self, block: u32) -> u32 {
        self.lose_by(block, 1)
    }

    /// So much of the block became invalid; returns the block's die.
    #[inline]
    pub(crate) fn lose_by(&mut self, block: u32, size: u16) -> u32 {
        let closed = self.blocks[block as usize].closed;
        if closed {
            self.unlink(block);
        }
        let entry = &mut self.blocks[block as usize];
        entry.valid -= size;
        let die = u32::from(entry.die);
        if closed {
            self.link(block);
        }
        die
    }

    /// The block is fully programmed and may become a victim.
    pub(crate) fn close(&mut self, block: u32) {
        assert!(!self.blocks[block as usize].closed, "a block closes once");
        self.blocks[block as usize].closed = true;
        self.link(block);
    }

    /// Valid pages of the emptiest closed block of the die.
    pub(crate) fn lowest(&mut self, die: u32) -> Option<u16> {
        self.head_of_lowest(die).map(|block| self.valid(block))
    }

    /// Takes the emptiest closed block of the die out of the lists; it is still to be erased.
    pub(crate) fn take_lowest(&mut self, die: u32) -> Option<u32> {
        let block = self.head_of_lowest(die)?;
        self.unlink(block);
        self.blocks[block as usize].closed = false;
        Some(block)
    }

    /// The block has been erased.
    pub(crate) fn erase(&mut self, block: u32) {
        assert!(!self.blocks[block as usize].closed, "a block leaves the lists before it is erased");
        self.blocks[block as usize].valid = 0;
    }

    fn head_of_lowest(&mut self, die: u32) -> Option<u32> {
        let start = die as usize * self.counts;
        let floor = self.floors[die as usize] as usize;
        let found = (floor..self.counts).find(|count| self.heads[start + count] != NONE)?;
        self.floors[die as usize] = found as u16;
        Some(self.heads[start + found])
    }

    #[inline]
    fn list(&self, block: u32) -> usize {
        let entry = &self.blocks[block as usize];
        usize::from(entry.die) * self.counts + usize::from(entry.valid)
    }

    #[inline]
    fn link(&mut self, block: u32) {
        let list = self.list(block);
        let next = std::mem::replace(&mut self.heads[list], block);
        if next != NONE {
            self.blocks[next as usize].previous = block;
        }
        let entry = &mut self.blocks[block as usize];
        (entry.previous, entry.next) = (NONE, next);
        let floor = &mut self.floors[usize::from(entry.die)];
        *floor = (*floor).min(entry.valid);
    }

    #[inline]
    fn unlink(&mut self, block: u32) {
        let Block { previous, next, .. } = self.blocks[block as usize];
        if previous == NONE {
            let list = self.list(block);
            self.heads[list] = next;
        } else {
            self.blocks[previous as usize].next = next;
        }
        if next != NONE {
            self.blocks[next as usize].previous = previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_emptiest_closed_block_of_a_die_is_the_victim() {
        let mut victims = Victims::new(2, 3, 4);
        for (block, valid) in [(0, 3), (1, 2), (2, 4), (3, 1), (4, 4)] {
            (0..valid).for_each(|_| victims.gain(block));
            victims.close(block);
        }
        assert_eq!((victims.lowest(0), victims.lowest(1)), (Some(2), Some(1)));
        assert_eq!(victims.lose(2), 0);
        (0..2).for_each(|_| assert_eq!(victims.lose(0), 0));
        assert_eq!(victims.take_lowest(0), Some(0));
        assert_eq!(victims.take_lowest(0), Some(1));
        assert_eq!(victims.take_lowest(0), Some(2));
        assert_eq!(victims.take_lowest(0), None);
        assert_eq!(victims.take_lowest(1), Some(3));
        assert_eq!(victims.lose(4), 1);
        assert_eq!(victims.lowest(1), Some(3));
    }

    #[test]
    fn an_open_block_is_no_victim() {
        let mut victims = Victims::new(1, 2, 4);
        victims.gain(0);
        victims.lose(0);
        assert_eq!(victims.lowest(0), None);
        victims.close(0);
        assert_eq!(victims.lowest(0), Some(0));
    }
}
