//! What the pseudo-SLC write cache of a page map is made of, and whether it fits the flash.

use serde::{Deserialize, Serialize};

use super::flash_geometry::FlashGeometry;
use super::layout_error::LayoutError;

/// What happens to a host write when no SLC block is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFull {
    /// It goes straight to a native block.
    Direct,
    /// It waits until so much is folded that there is one.
    Fold,
}

/// What a write cache is made of and how it is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcCacheParameters {
    /// Bits in a native cell.
    pub bits_per_cell: u32,
    /// Blocks of each die that are always SLC and never part of the native capacity.
    pub static_blocks: u32,
    /// Percent of the capacity without data that dynamic SLC blocks may take.
    pub dynamic_percent_max: u32,
    /// What happens when it is full.
    pub when_full: WhenFull,
    /// A drive without anything to do folds until each die has so many full SLC blocks.
    pub idle_kept_blocks: u32,
}

impl SlcCacheParameters {
    /// Pages that a block holds with one bit in a cell: whole rows.
    pub fn pages_per_block(&self, flash: &FlashGeometry) -> u32 {
        let rows = flash.pages_per_block / flash.row_pages;
        rows / self.bits_per_cell * flash.row_pages
    }

    /// Whether there can be such a cache over this flash.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self, flash: &FlashGeometry) -> Result<(), LayoutError> {
        if !(2..=5).contains(&self.bits_per_cell) {
            return Err(LayoutError::BitsPerCell { bits: self.bits_per_cell });
        }
        if self.static_blocks == 0 && self.dynamic_percent_max == 0 {
            return Err(LayoutError::EmptySlcCache);
        }
        if self.dynamic_percent_max > 100 {
            return Err(LayoutError::DynamicShare { percent: self.dynamic_percent_max });
        }
        if self.pages_per_block(flash) == 0 {
            return Err(LayoutError::NoSlcRow {
                pages_per_block: flash.pages_per_block,
                row: flash.row_pages,
                bits: self.bits_per_cell,
            });
        }
        Ok(())
    }
}
