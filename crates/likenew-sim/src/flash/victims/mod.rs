//! How many valid pages each block holds, and which closed block of a die is to be collected next.
//!
//! The state of every policy is kept up page by page, so that greedy and FIFO collection choose in constant time,
//! cost-benefit in a time that grows with the pages of a block, and random choices with their number; none looks at all
//! blocks.

mod choices;
mod cost_benefit;
mod lists;

use serde::{Deserialize, Serialize};

use self::choices::Choices;
use self::cost_benefit::CostBenefit;
use self::lists::Lists;
use super::policies::Collection;
use crate::memory::prefetch;

/// Where a block stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Standing {
    /// Erased, being written or out of use: no victim.
    Open,
    /// Closed, and its number of valid pages decides no list.
    Closed,
    /// Closed, and in the list of its number of valid pages.
    Sorted,
}

/// One block: its valid pages, and its neighbors if it is in a list.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Block {
    previous: u32,
    next: u32,
    valid: u16,
    die: u16,
    standing: Standing,
}

/// What is kept beside the valid pages to choose a victim.
#[derive(Serialize, Deserialize)]
enum Policy {
    Greedy,
    Fifo,
    Choices(Choices),
    CostBenefit(CostBenefit),
}

/// All blocks by valid pages, and the policy that chooses among the closed ones.
#[derive(Serialize, Deserialize)]
pub(crate) struct Victims {
    blocks: Vec<Block>,
    /// By die and valid pages; by die alone if they are collected in order.
    lists: Lists,
    policy: Policy,
    blocks_per_die: u32,
    pages_per_block: u16,
}

impl Victims {
    /// Of erased blocks that hold so much each: pages, or what a layer counts instead.
    pub(crate) fn new(dies: u32, blocks_per_die: u32, pages_per_block: u32, collection: Collection) -> Self {
        let blocks = dies * blocks_per_die;
        let block = |index: u32| Block {
            previous: lists::NONE,
            next: lists::NONE,
            valid: 0,
            die: (index / blocks_per_die) as u16,
            standing: Standing::Open,
        };
        let (policy, counts) = match collection {
            Collection::Greedy => (Policy::Greedy, pages_per_block + 1),
            Collection::Fifo => (Policy::Fifo, 1),
            Collection::Choices(count) => (Policy::Choices(Choices::new(dies, count)), 0),
            Collection::CostBenefit => (Policy::CostBenefit(CostBenefit::new(blocks)), pages_per_block + 1),
        };
        Self {
            blocks: (0..blocks).map(block).collect(),
            lists: Lists::new(dies, counts),
            policy,
            blocks_per_die,
            pages_per_block: pages_per_block as u16,
        }
    }

    pub(crate) fn valid(&self, block: u32) -> u16 {
        self.blocks[block as usize].valid
    }

    /// The block will be needed soon.
    #[inline]
    pub(crate) fn prefetch(&self, block: u32) {
        prefetch(&self.blocks, block as usize);
    }

    /// The block's neighbors in its list will be needed soon.
    #[inline]
    pub(crate) fn prefetch_neighbors(&self, block: u32) {
        let Block { previous, next, .. } = self.blocks[block as usize];
        prefetch(&self.blocks, previous as usize);
        prefetch(&self.blocks, next as usize);
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
        debug_assert!(block.standing == Standing::Open, "only an open block gains valid pages");
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
        let Block { valid, standing, .. } = self.blocks[block as usize];
        let sorted = standing == Standing::Sorted;
        if sorted {
            self.lists.unlink(&mut self.blocks, block, valid);
        }
        let entry = &mut self.blocks[block as usize];
        entry.valid -= size;
        let (die, valid) = (u32::from(entry.die), entry.valid);
        if sorted {
            self.lists.link(&mut self.blocks, block, valid);
            if let Policy::CostBenefit(ages) = &mut self.policy {
                ages.on_page_lost(block);
            }
        }
        die
    }

    /// The block is fully programmed and may become a victim.
    pub(crate) fn close(&mut self, block: u32) {
        let Block { valid, die, standing, .. } = self.blocks[block as usize];
        assert!(standing == Standing::Open, "a block closes once");
        let (standing, list) = match &mut self.policy {
            Policy::Greedy => (Standing::Sorted, Some(valid)),
            Policy::Fifo => (Standing::Closed, Some(0)),
            Policy::Choices(choices) => {
                choices.on_close(die);
                (Standing::Closed, None)
            }
            Policy::CostBenefit(ages) => {
                ages.on_close(block);
                (Standing::Sorted, Some(valid))
            }
        };
        self.blocks[block as usize].standing = standing;
        if let Some(list) = list {
            self.lists.link(&mut self.blocks, block, list);
        }
    }

    /// The closed block of the die that is to be collected next.
    pub(crate) fn choose(&mut self, die: u32) -> Option<u32> {
        match &mut self.policy {
            Policy::Greedy => self.lists.first_of_lowest(die),
            Policy::Fifo => self.lists.last(die, 0),
            Policy::Choices(choices) => choices.choose(&self.blocks, self.blocks_per_die, die),
            Policy::CostBenefit(ages) => ages.choose(&mut self.lists, die, self.pages_per_block),
        }
    }

    /// The block that is chosen next unless the host writes before, where the policy knows it without choosing.
    pub(crate) fn likely_next(&mut self, die: u32) -> Option<u32> {
        match &self.policy {
            Policy::Greedy => self.lists.first_of_lowest(die),
            Policy::Fifo => self.lists.last(die, 0),
            Policy::Choices(_) | Policy::CostBenefit(_) => None,
        }
    }

    /// The closed block leaves the others; it is still to be erased.
    pub(crate) fn take(&mut self, block: u32) {
        let Block { valid, die, standing, .. } = self.blocks[block as usize];
        assert!(standing != Standing::Open, "only a closed block is collected");
        self.blocks[block as usize].standing = Standing::Open;
        match &mut self.policy {
            Policy::Greedy | Policy::CostBenefit(_) => self.lists.unlink(&mut self.blocks, block, valid),
            Policy::Fifo => self.lists.unlink(&mut self.blocks, block, 0),
            Policy::Choices(choices) => choices.remove(die),
        }
    }

    /// The block has been erased.
    pub(crate) fn erase(&mut self, block: u32) {
        let entry = &mut self.blocks[block as usize];
        assert!(entry.standing == Standing::Open, "a block leaves the others before it is erased");
        entry.valid = 0;
    }

    /// Whether any closed block of the die holds an invalid page. Looks at every block if none does.
    pub(crate) fn any_gains(&self, die: u32) -> bool {
        self.closed_blocks(die).any(|block| self.valid(block) < self.pages_per_block)
    }

    /// The closed blocks of a die.
    pub(crate) fn closed_blocks(&self, die: u32) -> impl Iterator<Item = u32> + '_ {
        let first = die * self.blocks_per_die;
        (first..first + self.blocks_per_die)
            .filter(|block| self.blocks[*block as usize].standing != Standing::Open)
    }
}

#[cfg(test)]
mod tests;
