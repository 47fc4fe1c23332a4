//! How the flash of a drive is divided.

use serde::{Deserialize, Serialize};

use super::layout_error::LayoutError;

/// Dies, blocks and pages. Pages are units of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlashGeometry {
    /// Dies.
    pub dies: u32,
    /// Erase blocks on each die; planes that are erased together count as one.
    pub blocks_per_die: u32,
    /// Pages of each erase block.
    pub pages_per_block: u32,
    /// Pages that one array read of a die delivers.
    pub row_pages: u32,
    /// Pages that one program operation of a die writes.
    pub unit_pages: u32,
    /// Pages that the host can address.
    pub user_pages: u32,
}

impl FlashGeometry {
    /// Erase blocks of the drive.
    pub fn blocks(&self) -> u32 {
        self.dies * self.blocks_per_die
    }

    /// Flash pages on each die.
    pub fn pages_per_die(&self) -> u64 {
        u64::from(self.blocks_per_die) * u64::from(self.pages_per_block)
    }

    /// Flash pages of the drive.
    pub fn pages(&self) -> u64 {
        u64::from(self.dies).saturating_mul(self.pages_per_die())
    }

    /// Whether flash can be divided like this.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        let all = [self.dies, self.blocks_per_die, self.pages_per_block, self.row_pages, self.unit_pages];
        if all.contains(&0) || self.user_pages == 0 {
            return Err(LayoutError::ZeroCount);
        }
        if self.dies > u32::from(u16::MAX) || self.pages_per_block > u32::from(u16::MAX) {
            let (dies, pages_per_block) = (self.dies, self.pages_per_block);
            return Err(LayoutError::LargeDivision { dies, pages_per_block });
        }
        if self.pages() >= u64::from(u32::MAX) {
            return Err(LayoutError::TooManyPages { pages: self.pages() });
        }
        if !self.pages_per_block.is_multiple_of(self.row_pages)
            || !self.pages_per_block.is_multiple_of(self.unit_pages)
        {
            return Err(LayoutError::OddBlock {
                pages_per_block: self.pages_per_block,
                row: self.row_pages,
                unit: self.unit_pages,
            });
        }
        Ok(())
    }
}
