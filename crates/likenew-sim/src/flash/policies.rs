//! Policies and parameters of a page-mapped FTL: which block is garbage-collected, which pages share a block,
//! how blocks wear, and its pseudo-SLC cache.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use super::{FlashGeometry, LayoutError};
use crate::drive_file::{Section, parameters};
use crate::error::{FileError, SimError};

/// Which closed block of a die is garbage-collected next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Collection {
    /// The block with the fewest valid pages.
    #[default]
    Greedy,
    /// The block that was closed first.
    Fifo,
    /// The block with the fewest valid pages among this many drawn at random, with a fixed seed; a block may
    /// be drawn twice (Van Houdt, SIGMETRICS 2013). With one, collection is random.
    Choices(u32),
    /// The block with the greatest age × (1 − u)/(2u) (Kawaguchi, Nishioka and Motoda, USENIX 1995). Here, u
    /// is its share of valid pages, and its age counts from the last page that it lost.
    ///
    /// Rosenblum and Ousterhout (1992) divide by 1 + u, because cleaning a log on a disk reads whole
    /// segments. Flash only reads and programs the valid pages, which costs 2u.
    CostBenefit,
}

impl Collection {
    /// Reads the policy, and the number of choices that one of them takes.
    fn read(section: &mut Section<'_>) -> Result<Self, SimError> {
        let collection = section.optional("collection", Section::one_of)?;
        let choices = section.whole_or_none("collection_choices", 1..=1000)?;
        match (collection, choices) {
            (Some(Self::Choices(_)), Some(count)) => Ok(Self::Choices(count)),
            (Some(Self::Choices(_)), None) => Err(section.error(FileError::NoCollectionChoices)),
            (_, Some(_)) => Err(section.error(FileError::NeedlessCollectionChoices)),
            (collection, None) => Ok(collection.unwrap_or_default()),
        }
    }
}

/// Which pages share open blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Streams {
    /// Host pages and relocated pages fill the same block.
    Mixed,
    /// Host pages fill one block, relocated pages another.
    #[default]
    Separate,
    /// Hot host pages fill one block, other host pages a second, relocated pages a third. A page is hot if
    /// the host also wrote it within the last quarter to half of a drive write. The first page of a program
    /// unit decides for all of it.
    HotCold,
}

impl Streams {
    /// Blocks of a die that are open at a time.
    pub fn open_blocks(self) -> u32 {
        match self {
            Self::Mixed => 1,
            Self::Separate => 2,
            Self::HotCold => 3,
        }
    }
}

/// Which erased block of a die is written next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum ErasedBlocks {
    /// The block that was erased first.
    #[default]
    Fifo,
    /// The least worn block for host pages, and the most worn for relocated pages, which stay longer, unless
    /// they share the host's block (after Chang, "On efficient wear leveling for large-scale flash-memory
    /// storage systems", SAC 2007).
    LeastWorn,
}

parameters! {
    /// All policies of a page map.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
    pub struct Policies {
        /// Which block is garbage-collected next.
        pub collection: Collection = part(Collection::read),
        /// Which pages share a block.
        pub streams: Streams = or_default("streams", Section::one_of),
        /// Which erased block is written.
        pub erased_blocks: ErasedBlocks = or_default("erased_blocks", Section::one_of),
        /// How many erasures a block may be ahead of the least worn block of its die before resting data is
        /// moved; 0 never moves it.
        pub wear_spread_max: u32 = whole_or("wear_spread_max", 0..=1_000_000, 0),
        /// The erasures for which the maker rates a block, if blocks wear out. A share of 1 − 0.98^((n/N)³) of
        /// the blocks has failed by the n-th erasure, where N is this rating.
        pub endurance_erases: Option<u32> = whole_or_none("endurance_erases", 1..=10_000_000),
    }
}

/// Erased blocks beyond its reserve that a die keeps if blocks wear out, so that it survives several failures in a row.
/// Assumed: collection regains a block long before this many fail, at any rating above some hundreds of erasures.
const KEPT_FOR_FAILURES: u32 = 2;

impl Policies {
    /// Erased blocks per die that are kept to replace failed ones.
    pub fn kept_for_failures(&self) -> u32 {
        if self.endurance_erases.is_some() { KEPT_FOR_FAILURES } else { 0 }
    }
}

/// Range of the erased blocks that a die keeps.
pub(super) const FREE_BLOCKS_MIN: RangeInclusive<u32> = 2..=1000;
/// Range of a number of blocks of a die that may be none.
pub(crate) const BLOCKS_PER_DIE: RangeInclusive<u32> = 0..=1_000_000;

parameters! {
    /// How a [`PageMap`](crate::flash::page_map::PageMap) is laid out, and when it garbage-collects.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct PageMapParameters {
        /// The geometry.
        pub flash: FlashGeometry,
        /// A die garbage-collects when it has fewer erased blocks than this; 2 at least.
        pub free_blocks_min: u32 = whole("free_blocks_min_per_die", FREE_BLOCKS_MIN),
        /// An idle drive garbage-collects until each die has this many erased blocks.
        pub idle_free_blocks: u32 = whole("idle_free_blocks_per_die", BLOCKS_PER_DIE),
        /// The pseudo-SLC cache, if there is one.
        pub slc_cache: Option<SlcCacheParameters>,
        /// What it does where there is a choice.
        pub policies: Policies = part(Policies::read),
    }
}

impl PageMapParameters {
    /// The most host pages on a die for which garbage collection always gains space: all pages except
    /// reserve, open blocks and static SLC blocks.
    pub fn mapped_per_die_max(&self) -> u64 {
        let static_blocks = self.slc_cache.map_or(0, |slc| slc.static_blocks);
        let reserve =
            u64::from(self.reserve_blocks() + self.policies.streams.open_blocks()) + u64::from(static_blocks);
        u64::from(self.flash.blocks_per_die).saturating_sub(reserve) * u64::from(self.flash.pages_per_block)
    }

    /// Erased blocks that each die keeps in reserve.
    pub fn reserve_blocks(&self) -> u32 {
        self.free_blocks_min + self.policies.kept_for_failures()
    }

    /// Checks that an FTL of this shape can work.
    ///
    /// # Errors
    /// The parameters contradict each other.
    pub fn check(&self) -> Result<(), LayoutError> {
        let flash = &self.flash;
        flash.check()?;
        if self.free_blocks_min < 2 {
            return Err(LayoutError::SmallReserve);
        }
        let Policies { collection, streams, endurance_erases, .. } = self.policies;
        if collection == Collection::Choices(0) {
            return Err(LayoutError::NoChoices);
        }
        if endurance_erases == Some(0) {
            return Err(LayoutError::NoEndurance);
        }
        if let Some(slc) = &self.slc_cache {
            slc.check(flash)?;
            if streams != Streams::Separate || endurance_erases.is_some() {
                return Err(LayoutError::PoliciesBesideSlcCache);
            }
        }
        // Each die leaves room for another unit, so that the next unit always finds a die.
        let usable =
            u64::from(flash.dies) * self.mapped_per_die_max().saturating_sub(u64::from(flash.unit_pages));
        if u64::from(flash.user_pages) > usable {
            let (user_pages, pages) = (flash.user_pages, flash.pages());
            return Err(LayoutError::LittleSpare { user_pages, pages, usable });
        }
        Ok(())
    }
}

/// What a host write does when no SLC block is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum WhenFull {
    /// Goes straight to a native block.
    Direct,
    /// Waits until folding has freed an SLC block.
    Fold,
}

/// The size of a pseudo-SLC cache, and how it is emptied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlcCacheParameters {
    /// Bits per native cell.
    pub bits_per_cell: u32,
    /// Static blocks per die, which are always SLC and never native capacity.
    pub static_blocks: u32,
    /// Share of the unfilled capacity that dynamic SLC blocks may take, in percent.
    pub dynamic_percent_max: u32,
    /// What host writes do when it is full.
    pub when_full: WhenFull,
    /// An idle drive folds until each die has only this many full SLC blocks.
    pub idle_kept_blocks: u32,
}

impl SlcCacheParameters {
    /// Pages per block with one bit per cell, in whole rows.
    pub fn pages_per_block(&self, flash: &FlashGeometry) -> u32 {
        let rows = flash.pages_per_block / flash.row_pages;
        rows / self.bits_per_cell * flash.row_pages
    }

    /// Checks that flash of this geometry can have such a cache.
    ///
    /// # Errors
    /// The parameters contradict each other.
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
