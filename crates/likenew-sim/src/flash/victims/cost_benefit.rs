//! The block whose collection gains most for what it costs, counting how long it has been left alone.

use serde::{Deserialize, Serialize};

use super::lists::Lists;

/// When each block last lost a page, on a clock that counts pages lost.
///
/// A block is linked to the head of a list whenever it loses a page, so the oldest block with a number of valid pages is
/// the last of its list, and only one block for each number has to be compared.
#[derive(Serialize, Deserialize)]
pub(super) struct CostBenefit {
    lost_at: Vec<u64>,
    lost: u64,
}

impl CostBenefit {
    pub(super) fn new(blocks: u32) -> Self {
        Self { lost_at: vec![0; blocks as usize], lost: 0 }
    }

    #[inline]
    pub(super) fn on_page_lost(&mut self, block: u32) {
        self.lost += 1;
        self.lost_at[block as usize] = self.lost;
    }

    pub(super) fn on_close(&mut self, block: u32) {
        self.lost_at[block as usize] = self.lost;
    }

    pub(super) fn choose(&self, lists: &mut Lists, die: u32, pages_per_block: u16) -> Option<u32> {
        let lowest = lists.lowest(die)?;
        let mut best = (0.0, lists.last(die, lowest)?);
        for valid in lowest..=pages_per_block {
            let Some(block) = lists.last(die, valid) else { continue };
            let age = (self.lost - self.lost_at[block as usize]) as f64;
            // Without valid pages it costs nothing, whatever its age.
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
