//! The emptiest of a few random blocks.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{Block, Standing};

/// All drives draw the same numbers.
const SEED: u64 = 1;

/// Draws closed blocks of a die at random, uniformly and with replacement: a block that is not closed is drawn again.
#[derive(Serialize, Deserialize)]
pub(super) struct Choices {
    count: u32,
    /// Closed blocks of each die.
    closed: Vec<u32>,
    random: Xoshiro256PlusPlus,
}

impl Choices {
    pub(super) fn new(dies: u32, count: u32) -> Self {
        assert!(count > 0, "the parameters were checked");
        Self { count, closed: vec![0; dies as usize], random: Xoshiro256PlusPlus::seed_from_u64(SEED) }
    }

    pub(super) fn on_close(&mut self, die: u16) {
        self.closed[usize::from(die)] += 1;
    }

    pub(super) fn remove(&mut self, die: u16) {
        self.closed[usize::from(die)] -= 1;
    }

    pub(super) fn choose(&mut self, blocks: &[Block], blocks_per_die: u32, die: u32) -> Option<u32> {
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
