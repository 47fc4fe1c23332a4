//! The choices that a page-mapped translation layer leaves open: which block to collect, which pages share a block, and
//! how blocks wear.

use serde::{Deserialize, Serialize};

use super::layout_error::LayoutError;

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

impl Streams {
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
