//! The choices that a page-mapped translation layer leaves open: which block to collect, which pages share a block, and
//! how blocks wear.

use serde::{Deserialize, Serialize};

use super::{FlashGeometry, LayoutError};

/// Which closed block of a die is collected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Collection {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// The block that was closed first.
    Fifo,
    /// The block with the fewest valid pages among so many that are drawn at random, with a fixed seed; a block may be
    /// drawn twice (Van Houdt, SIGMETRICS 2013). One choice is collection at random.
    Choices(u32),
    /// The block with the greatest age × (1 − u)/(2u), where u is its share of valid pages and its age counts from the
    /// last page that it lost (Kawaguchi, Nishioka and Motoda, USENIX 1995).
    ///
    /// Rosenblum and Ousterhout (1992) divide by 1 + u, because a log on a disk is cleaned by reading whole segments; of a
    /// block of flash only the valid pages are read, and then programmed, which is 2u.
    CostBenefit,
}

/// Which pages share open blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Streams {
    /// The host's pages and collected pages fill one block.
    Mixed,
    /// The host's pages fill one block, collected pages another.
    #[default]
    Separate,
    /// Hot pages of the host fill one block, its other pages a second, collected pages a third. A page is hot if the host
    /// also wrote it within the last quarter to half of a drive write. A program unit follows its first page.
    HotCold,
}

impl Collection {
    /// As files spell them; of random choices, how many is said beside.
    pub(crate) const WORDS: [(&str, Self); 4] = [
        ("greedy", Self::Greedy),
        ("fifo", Self::Fifo),
        ("choices", Self::Choices(0)),
        ("cost-benefit", Self::CostBenefit),
    ];
}

impl Streams {
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 3] =
        [("mixed", Self::Mixed), ("separate", Self::Separate), ("hot-cold", Self::HotCold)];

    /// Blocks of a die that are open at the same time.
    pub fn open_blocks(self) -> u32 {
        match self {
            Self::Mixed => 1,
            Self::Separate => 2,
            Self::HotCold => 3,
        }
    }
}

/// Which erased block of a die is written next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ErasedBlocks {
    /// The one that was erased first.
    #[default]
    Fifo,
    /// The least worn one for pages of the host; the most worn one for collected pages, which stay longer, unless they
    /// share their block with the host's (after Chang, "On efficient wear leveling for large-scale flash-memory storage
    /// systems", SAC 2007).
    LeastWorn,
}

impl ErasedBlocks {
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 2] = [("fifo", Self::Fifo), ("least-worn", Self::LeastWorn)];
}

/// All of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policies {
    /// Which block is collected.
    pub collection: Collection,
    /// Which pages share a block.
    pub streams: Streams,
    /// Which erased block is written.
    pub erased_blocks: ErasedBlocks,
    /// How much more often than the least worn block of its die a block may have been erased before blocks that rest are
    /// moved; 0 never moves them.
    pub wear_spread_max: u32,
    /// The erasures that the maker rates a block for, if blocks wear out: a share of 1 − 0.98^((n/N)³) of the blocks has
    /// failed for ever by its n-th erasure, where N is this rating.
    pub endurance_erases: Option<u32>,
}

/// Erased blocks that a die keeps beyond its reserve if blocks wear out, so that it can go on when some fail in succession.
/// Assumed: collection regains a block long before so many fail, at any rating above some hundreds of erasures.
const KEPT_FOR_FAILURES: u32 = 2;

impl Policies {
    /// Erased blocks of a die that are kept to replace those that fail.
    pub fn kept_for_failures(&self) -> u32 {
        if self.endurance_erases.is_some() { KEPT_FOR_FAILURES } else { 0 }
    }

    /// Whether a page map can work like this.
    ///
    /// # Errors
    /// What cannot be.
    pub fn check(&self) -> Result<(), LayoutError> {
        if self.collection == Collection::Choices(0) {
            return Err(LayoutError::NoChoices);
        }
        if self.endurance_erases == Some(0) {
            return Err(LayoutError::NoEndurance);
        }
        Ok(())
    }

    /// Whether a pseudo-SLC cache can take the host's writes first.
    ///
    /// # Errors
    /// What cannot be.
    pub fn check_beside_slc_cache(&self) -> Result<(), LayoutError> {
        if self.streams != Streams::Separate || self.endurance_erases.is_some() {
            return Err(LayoutError::PoliciesBesideSlcCache);
        }
        Ok(())
    }
}

/// How a [`PageMap`](crate::flash::page_map::PageMap) is laid out and when it garbage-collects.
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

/// What happens to a host write when no SLC block is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WhenFull {
    /// It goes straight to a native block.
    Direct,
    /// It waits until so much is folded that there is one.
    Fold,
}

impl WhenFull {
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 2] = [("direct", Self::Direct), ("fold", Self::Fold)];
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
