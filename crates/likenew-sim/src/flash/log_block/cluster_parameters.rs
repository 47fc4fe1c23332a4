//! How a drive with a map of clusters is laid out, and which shapes can work.

use serde::{Deserialize, Serialize};

use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::layout_error::LayoutError;

/// What a merge copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Copies {
    /// Every page of the cluster: the firmware knows of no page whether it holds anything. All clusters have their
    /// block from the first day.
    Every,
    /// The pages that hold data. A cluster without data has no block.
    Valid,
}

impl Copies {
    /// As files spell them, in the order of the variants.
    pub(crate) const WORDS: [&str; 2] = ["every page", "held pages"];
    pub(crate) const ALL: [Self; 2] = [Self::Every, Self::Valid];
}

/// How a drive with a map of clusters is laid out.
///
/// A group of dies is managed on its own, with its own share of the addresses, spare blocks and log blocks. Blocks of the
/// same number on all dies of a group make one block of clusters: they are written page by page in turn and erased
/// together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterParameters {
    /// The flash. Its units and rows are one page of the map.
    pub flash: FlashGeometry,
    /// Dies of a group; divides the dies.
    pub cluster_dies: u32,
    /// Pages in a row that stay in one group before the next group takes over; divides the pages of a cluster.
    pub stripe_pages: u32,
    /// Log blocks (of a block map: replacement blocks) that each group has.
    pub log_blocks: u32,
    /// What a merge copies.
    pub copies: Copies,
    /// Whether log blocks are merged ahead in idle time.
    pub idle_merges: bool,
}

impl ClusterParameters {
    /// Groups of dies.
    pub fn groups(&self) -> u32 {
        self.flash.dies / self.cluster_dies
    }

    /// Pages of a cluster.
    pub fn cluster_pages(&self) -> u32 {
        self.cluster_dies * self.flash.pages_per_block
    }

    /// Clusters of each group.
    pub fn clusters_per_group(&self) -> u32 {
        let turn = u64::from(self.groups()) * u64::from(self.stripe_pages);
        let pages = u64::from(self.flash.user_pages).div_ceil(turn) * u64::from(self.stripe_pages);
        u32::try_from(pages.div_ceil(u64::from(self.cluster_pages()))).expect("fewer clusters than pages")
    }

    /// Whether a layer of this shape can work that needs `spare_blocks` on each die beside those of the clusters.
    ///
    /// # Errors
    /// What does not fit.
    pub(crate) fn check(&self, spare_blocks: u32) -> Result<(), LayoutError> {
        let flash = &self.flash;
        flash.check()?;
        if flash.row_pages != 1 || flash.unit_pages != 1 {
            return Err(LayoutError::SeveralUnits { row: flash.row_pages, unit: flash.unit_pages });
        }
        if self.cluster_dies == 0 || !flash.dies.is_multiple_of(self.cluster_dies) {
            return Err(LayoutError::ClusterDies { cluster_dies: self.cluster_dies, dies: flash.dies });
        }
        let pages = u64::from(self.cluster_dies) * u64::from(flash.pages_per_block);
        if pages >= u64::from(u16::MAX) {
            return Err(LayoutError::LargeCluster { pages });
        }
        if self.stripe_pages == 0 || !pages.is_multiple_of(u64::from(self.stripe_pages)) {
            return Err(LayoutError::OddStripe { stripe: self.stripe_pages, pages });
        }
        if self.log_blocks == 0 {
            return Err(LayoutError::NoLogBlock);
        }
        let clusters = self.clusters_per_group();
        let needed = u64::from(clusters) + u64::from(spare_blocks);
        if needed > u64::from(flash.blocks_per_die) {
            let (blocks, spare) = (flash.blocks_per_die, spare_blocks);
            return Err(LayoutError::FewBlocks { blocks, clusters, spare });
        }
        Ok(())
    }
}
