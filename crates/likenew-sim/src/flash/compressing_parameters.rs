//! The shape of a [compressing map](super::compressing_map), and whether it can work.

use likenew_core::io::DataClass;
use serde::{Deserialize, Serialize};

use super::flash_geometry::FlashGeometry;
use super::layout_error::LayoutError;

/// How a [`CompressingMap`](super::compressing_map::CompressingMap) is laid out and when it garbage-collects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompressingParameters {
    /// The flash, parity included.
    pub flash: FlashGeometry,
    /// A die garbage-collects as soon as fewer erased blocks are left, 2 at least.
    pub free_blocks_min: u32,
    /// A drive without anything to do garbage-collects until each die has so many erased blocks.
    pub idle_free_blocks: u32,
    /// The size of a page that does not compress.
    pub granules_per_page: u32,
    /// The size of a page of zeros, which is what every compressed page takes beyond its compressed data.
    pub granules_min: u32,
    /// One program unit of so many holds the parity of the others; 0 for no parity.
    pub parity_stripe_units: u32,
}

impl CompressingParameters {
    /// The granules that a page of such data takes.
    pub fn size(&self, data: DataClass) -> u32 {
        let compressed = (data.compressed_share() * f64::from(self.granules_per_page)).ceil() as u32;
        (self.granules_min + compressed).min(self.granules_per_page)
    }

    /// Granules that one program operation of a die writes.
    pub fn unit_granules(&self) -> u32 {
        self.flash.unit_pages * self.granules_per_page
    }

    /// Granules that one array read of a die delivers.
    pub fn row_granules(&self) -> u32 {
        self.flash.row_pages * self.granules_per_page
    }

    /// Granules of a block beside its parity.
    pub fn block_granules(&self) -> u32 {
        let units = self.flash.pages_per_block / self.flash.unit_pages;
        let parity = units.checked_div(self.parity_stripe_units).unwrap_or(0);
        (units - parity) * self.unit_granules()
    }

    /// Granules that surely fit into a block: what is left may be too short for the next entry.
    pub fn block_granules_sure(&self) -> u32 {
        self.block_granules() - (self.granules_per_page - 1)
    }

    /// Granules that a program unit of host pages makes valid at most, as the last entry may end beyond it.
    pub fn unit_granules_max(&self) -> u32 {
        self.unit_granules() + self.granules_per_page - 1
    }

    /// Host pages that a program unit takes at most.
    pub fn unit_pages_max(&self) -> u32 {
        self.unit_granules().div_ceil(self.granules_min)
    }

    /// Valid granules that one die may hold, so that collection always gains something.
    ///
    /// A block that is filled with moved entries takes at least [`Self::block_granules_sure`]. Collection gains as long as
    /// its victim holds less. When it is needed, all blocks are closed but the two open ones and the erased reserve less
    /// one; if no more is valid than surely fits into one closed block fewer, the victim, which holds no more than the
    /// mean, holds less than surely fits.
    pub fn valid_per_die_max(&self) -> u64 {
        let reserve = u64::from(self.free_blocks_min) + 2;
        let blocks = u64::from(self.flash.blocks_per_die).saturating_sub(reserve);
        blocks * u64::from(self.block_granules_sure())
    }

    /// Whether the unit of this die that follows on this one, both counted from the start of a block, holds parity. It
    /// comes to each die in its turn.
    pub(super) fn is_before_parity(&self, data_unit: u32, die: u32) -> bool {
        let data_units = self.parity_stripe_units.saturating_sub(1);
        data_units > 0 && (data_unit + die) % data_units == data_units - 1
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
        self.check_granules()?;
        // One unit a die more, so that a die with room is always found for the next unit.
        let room = self.valid_per_die_max().saturating_sub(u64::from(self.unit_granules_max()));
        let usable = u64::from(flash.dies) * room / u64::from(self.granules_per_page);
        if u64::from(flash.user_pages) > usable {
            let (user_pages, pages) = (flash.user_pages, flash.pages());
            return Err(LayoutError::LittleSpareUncompressed { user_pages, pages, usable });
        }
        Ok(())
    }

    fn check_granules(&self) -> Result<(), LayoutError> {
        let (granules, least) = (self.granules_per_page, self.granules_min);
        if granules > u32::from(u8::MAX) || least == 0 || least > granules {
            return Err(LayoutError::Granules { granules, least });
        }
        let units = self.flash.pages_per_block / self.flash.unit_pages;
        let stripe = self.parity_stripe_units;
        if stripe > 0 && (stripe == 1 || !units.is_multiple_of(stripe)) {
            return Err(LayoutError::ParityStripe { stripe, units });
        }
        if !self.flash.unit_pages.is_multiple_of(self.flash.row_pages) {
            return Err(LayoutError::OddUnit { unit: self.flash.unit_pages, row: self.flash.row_pages });
        }
        let (blocks, granules) = (self.flash.blocks(), u64::from(self.block_granules()));
        if granules > u64::from(u16::MAX) || granules * u64::from(blocks) >= u64::from(u32::MAX) {
            return Err(LayoutError::TooManyGranules { blocks, granules });
        }
        Ok(())
    }
}
