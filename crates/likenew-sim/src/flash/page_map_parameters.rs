//! How a page map is laid out, and what it does where there is a choice.

use serde::{Deserialize, Serialize};

use super::flash_geometry::FlashGeometry;
use super::layout_error::LayoutError;
use super::policies::Policies;
use super::slc_cache_parameters::SlcCacheParameters;

/// How a [`PageMap`](super::page_map::PageMap) is laid out and when it garbage-collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageMapParameters {
    /// The flash.
    pub flash: FlashGeometry,
    /// A die garbage-collects as soon as fewer erased blocks are left, 2 at least.
    pub free_blocks_min: u32,
    /// A drive without anything to do garbage-collects until each die has so many erased blocks.
    pub idle_free_blocks: u32,
    /// Blocks that take host writes with one bit in a cell.
    pub slc_cache: Option<SlcCacheParameters>,
    /// What it does where there is a choice.
    pub policies: Policies,
}

impl PageMapParameters {
    /// Host pages that one die may hold, so that collection always gains something: everything except the erased
    /// reserve, the open blocks and the static SLC blocks.
    pub fn mapped_per_die_max(&self) -> u64 {
        let static_blocks = self.slc_cache.map_or(0, |slc| slc.static_blocks);
        let reserve =
            u64::from(self.reserve_blocks() + self.policies.streams.open_blocks()) + u64::from(static_blocks);
        u64::from(self.flash.blocks_per_die).saturating_sub(reserve) * u64::from(self.flash.pages_per_block)
    }

    /// Erased blocks that each die keeps.
    pub fn reserve_blocks(&self) -> u32 {
        self.free_blocks_min + self.policies.kept_for_failures()
    }

    /// Whether a translation layer of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        let flash = &self.flash;
        flash.check()?;
        if self.free_blocks_min < 2 {
            return Err(LayoutError::SmallReserve);
        }
        self.policies.check()?;
        if let Some(slc) = &self.slc_cache {
            slc.check(flash)?;
            self.policies.check_beside_slc_cache()?;
        }
        // One unit a die more, so that a die with room is always found for the next unit.
        let usable =
            u64::from(flash.dies) * self.mapped_per_die_max().saturating_sub(u64::from(flash.unit_pages));
        if u64::from(flash.user_pages) > usable {
            let (user_pages, pages) = (flash.user_pages, flash.pages());
            return Err(LayoutError::LittleSpare { user_pages, pages, usable });
        }
        Ok(())
    }
}
