//! How many valid pages each block holds, and which closed block of a die is garbage-collected next.
//!
//! The state of every policy is updated page by page. So greedy and FIFO choose in constant time.
//! Cost-benefit takes longer with more pages per block, and random choices with their number. None looks at
//! all blocks.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::policies::Collection;
use crate::memory::prefetch;

/// The state of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Standing {
    /// Erased, open or out of use: no victim.
    Open,
    /// Closed, and not sorted by valid pages.
    Closed,
    /// Closed, and in the list for its number of valid pages.
    Sorted,
}

/// A block: its valid pages, and its neighbors if it is in a list.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Block {
    previous: u32,
    next: u32,
    valid: u16,
    die: u16,
    standing: Standing,
}

/// A policy's state for choosing victims.
#[derive(Serialize, Deserialize)]
enum Policy {
    Greedy,
    Fifo,
    Choices(Choices),
    CostBenefit(CostBenefit),
}

/// All blocks with their valid pages, and the policy that chooses among closed ones.
#[derive(Serialize, Deserialize)]
pub(crate) struct Victims {
    blocks: Vec<Block>,
    /// By die and valid pages, or by die alone for FIFO.
    lists: Lists,
    policy: Policy,
    blocks_per_die: u32,
    pages_per_block: u16,
}

impl Victims {
    /// Erased blocks. `pages_per_block` is a block's capacity in pages, or in another unit of the FTL.
    pub(crate) fn new(dies: u32, blocks_per_die: u32, pages_per_block: u32, collection: Collection) -> Self {
        let blocks = dies * blocks_per_die;
        let block = |index: u32| Block {
            previous: NONE,
            next: NONE,
            valid: 0,
            die: (index / blocks_per_die) as u16,
            standing: Standing::Open,
        };
        let (policy, counts) = match collection {
            Collection::Greedy => (Policy::Greedy, pages_per_block + 1),
            Collection::Fifo => (Policy::Fifo, 1),
            Collection::Choices(count) => (Policy::Choices(Choices::new(dies, count)), 0),
            Collection::CostBenefit => {
                let ages = CostBenefit { lost_at: vec![0; blocks as usize], lost: 0 };
                (Policy::CostBenefit(ages), pages_per_block + 1)
            }
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

    /// Prefetches a block's state.
    #[inline]
    pub(crate) fn prefetch(&self, block: u32) {
        prefetch(&self.blocks, block as usize);
    }

    /// Prefetches the state of a block's neighbors in its list.
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

    /// `size` pages of an open block became valid.
    #[inline]
    pub(crate) fn gain_by(&mut self, block: u32, size: u16) {
        let block = &mut self.blocks[block as usize];
        assert!(block.standing == Standing::Open, "only an open block gains valid pages");
        block.valid += size;
    }

    /// A page of a block became invalid; returns the block's die.
    #[inline]
    pub(crate) fn lose(&mut self, block: u32) -> u32 {
        self.lose_by(block, 1)
    }

    /// `size` pages of a block became invalid; returns the block's die.
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

    /// Closes a fully programmed block, which may now become a victim.
    pub(crate) fn close(&mut self, block: u32) {
        let Block { valid, die, standing, .. } = self.blocks[block as usize];
        assert!(standing == Standing::Open, "a block closes once");
        let (standing, list) = match &mut self.policy {
            Policy::Greedy => (Standing::Sorted, Some(valid)),
            Policy::Fifo => (Standing::Closed, Some(0)),
            Policy::Choices(choices) => {
                choices.closed[usize::from(die)] += 1;
                (Standing::Closed, None)
            }
            Policy::CostBenefit(ages) => {
                ages.lost_at[block as usize] = ages.lost;
                (Standing::Sorted, Some(valid))
            }
        };
        self.blocks[block as usize].standing = standing;
        if let Some(list) = list {
            self.lists.link(&mut self.blocks, block, list);
        }
    }

    /// The closed block of a die to garbage-collect next.
    pub(crate) fn choose(&mut self, die: u32) -> Option<u32> {
        match &mut self.policy {
            Policy::Greedy => self.lists.first_of_lowest(die),
            Policy::Fifo => self.lists.last(die, 0),
            Policy::Choices(choices) => choices.choose(&self.blocks, self.blocks_per_die, die),
            Policy::CostBenefit(ages) => ages.choose(&mut self.lists, die, self.pages_per_block),
        }
    }

    /// The next victim unless the host writes before, if the policy knows it in advance.
    pub(crate) fn likely_next(&mut self, die: u32) -> Option<u32> {
        match &self.policy {
            Policy::Greedy => self.lists.first_of_lowest(die),
            Policy::Fifo => self.lists.last(die, 0),
            Policy::Choices(_) | Policy::CostBenefit(_) => None,
        }
    }

    /// Takes a closed block out of the candidates, before it is erased.
    pub(crate) fn take(&mut self, block: u32) {
        let Block { valid, die, standing, .. } = self.blocks[block as usize];
        assert!(standing != Standing::Open, "only a closed block is collected");
        self.blocks[block as usize].standing = Standing::Open;
        match &mut self.policy {
            Policy::Greedy | Policy::CostBenefit(_) => self.lists.unlink(&mut self.blocks, block, valid),
            Policy::Fifo => self.lists.unlink(&mut self.blocks, block, 0),
            Policy::Choices(choices) => choices.closed[usize::from(die)] -= 1,
        }
    }

    /// Notes that a block was erased.
    pub(crate) fn erase(&mut self, block: u32) {
        let entry = &mut self.blocks[block as usize];
        assert!(entry.standing == Standing::Open, "a block leaves the others before it is erased");
        entry.valid = 0;
    }

    /// Whether any closed block of a die holds an invalid page. Looks at every block if none does.
    pub(crate) fn any_gains(&self, die: u32) -> bool {
        self.closed_blocks(die).any(|block| self.valid(block) < self.pages_per_block)
    }

    pub(crate) fn closed_blocks(&self, die: u32) -> impl Iterator<Item = u32> + '_ {
        let first = die * self.blocks_per_die;
        (first..first + self.blocks_per_die)
            .filter(|block| self.blocks[*block as usize].standing != Standing::Open)
    }
}

/// Ends a list.
const NONE: u32 = u32::MAX;

/// A list of closed blocks for each die and number of valid pages, the latest linked first.
#[derive(Serialize, Deserialize)]
struct Lists {
    /// First block of each list, at `die × counts + count`.
    heads: Vec<u32>,
    /// Last block of each list, at the same index.
    tails: Vec<u32>,
    /// By die: all lists below this count are empty.
    floors: Vec<u16>,
    /// Lists per die.
    counts: usize,
}

impl Lists {
    fn new(dies: u32, counts: u32) -> Self {
        let lists = dies as usize * counts as usize;
        Self {
            heads: vec![NONE; lists],
            tails: vec![NONE; lists],
            floors: vec![0; dies as usize],
            counts: counts as usize,
        }
    }

    #[inline]
    fn link(&mut self, blocks: &mut [Block], block: u32, count: u16) {
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

    /// Takes a block out of the list with this count, to which it was linked.
    #[inline]
    fn unlink(&mut self, blocks: &mut [Block], block: u32, count: u16) {
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

    /// The newest block in the lowest non-empty list of a die.
    fn first_of_lowest(&mut self, die: u32) -> Option<u32> {
        let lowest = self.lowest(die)?;
        Some(self.heads[die as usize * self.counts + usize::from(lowest)])
    }

    /// The lowest count of a die whose list is not empty.
    fn lowest(&mut self, die: u32) -> Option<u16> {
        let start = die as usize * self.counts;
        let floor = self.floors[die as usize] as usize;
        let count = (floor..self.counts).find(|count| self.heads[start + count] != NONE)?;
        self.floors[die as usize] = count as u16;
        Some(count as u16)
    }

    /// The oldest block in a list of a die.
    #[inline]
    fn last(&self, die: u32, count: u16) -> Option<u32> {
        let last = self.tails[die as usize * self.counts + usize::from(count)];
        (last != NONE).then_some(last)
    }
}

/// All drives draw the same numbers.
const SEED: u64 = 1;

/// Draws closed blocks of a die at random, uniformly and with replacement. A block that is not closed is drawn again.
#[derive(Serialize, Deserialize)]
struct Choices {
    count: u32,
    /// Number of closed blocks per die.
    closed: Vec<u32>,
    random: Xoshiro256PlusPlus,
}

impl Choices {
    fn new(dies: u32, count: u32) -> Self {
        assert!(count > 0, "the parameters were checked");
        Self { count, closed: vec![0; dies as usize], random: Xoshiro256PlusPlus::seed_from_u64(SEED) }
    }

    fn choose(&mut self, blocks: &[Block], blocks_per_die: u32, die: u32) -> Option<u32> {
        if self.closed[die as usize] == 0 {
            return None;
        }
        let first = die * blocks_per_die;
        let random = &mut self.random;
        let mut draw = || loop {
            let block = random.random_range(first..first + blocks_per_die);
            if blocks[block as usize].standing != Standing::Open {
                return block;
            }
        };
        (0..self.count).map(|_| draw()).min_by_key(|block| blocks[*block as usize].valid)
    }
}

/// When each block last lost a page, on a clock that counts lost pages.
///
/// A block moves to the head of a list whenever it loses a page. So the last block in a list is the oldest
/// with that number of valid pages. Only one block per list has to be compared.
#[derive(Serialize, Deserialize)]
struct CostBenefit {
    lost_at: Vec<u64>,
    lost: u64,
}

impl CostBenefit {
    #[inline]
    fn on_page_lost(&mut self, block: u32) {
        self.lost += 1;
        self.lost_at[block as usize] = self.lost;
    }

    fn choose(&self, lists: &mut Lists, die: u32, pages_per_block: u16) -> Option<u32> {
        let lowest = lists.lowest(die)?;
        let mut best = (0.0, lists.last(die, lowest)?);
        for valid in lowest..=pages_per_block {
            let Some(block) = lists.last(die, valid) else { continue };
            let age = (self.lost - self.lost_at[block as usize]) as f64;
            // A block without valid pages costs nothing, whatever its age.
            let benefit = match valid {
                0 => f64::INFINITY,
                _ => age * f64::from(pages_per_block - valid) / f64::from(2 * u32::from(valid)),
            };
            if benefit > best.0 {
                best = (benefit, block);
            }
        }
        Some(best.1)
    }
}

#[cfg(test)]
mod tests;
