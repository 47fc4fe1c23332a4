//! How a drive with a map of clusters is laid out, and which shapes can work.

use serde::{Deserialize, Serialize};

use crate::flash::flash_geometry::FlashGeometry;

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
    /// A sentence that says what does not fit.
    pub(crate) fn check(&self, spare_blocks: u32) -> Result<(), String> {
        let flash = &self.flash;
        flash.check()?;
        if flash.row_pages != 1 || flash.unit_pages != 1 {
            return Err(format!(
                "a cluster map reads and programs one mapping unit at a time, not {} and {}: set map.page_bytes to the size of a page over all planes",
                flash.row_pages, flash.unit_pages
            ));
        }
        if self.cluster_dies == 0 || !flash.dies.is_multiple_of(self.cluster_dies) {
            return Err(format!(
                "map.cluster_dies is {}: it takes a divisor of the {} dies",
                self.cluster_dies, flash.dies
            ));
        }
        let pages = u64::from(self.cluster_dies) * u64::from(flash.pages_per_block);
        if pages >= u64::from(u16::MAX) {
            return Err(format!("a cluster of {pages} pages is larger than the 65534 that are supported"));
        }
        if self.stripe_pages == 0 || !pages.is_multiple_of(u64::from(self.stripe_pages)) {
            return Err(format!(
                "a stripe of {} pages is no divisor of a cluster of {pages} pages",
                self.stripe_pages
            ));
        }
        if self.log_blocks == 0 {
            return Err("a group of dies takes at least 1 log block".into());
        }
        let clusters = self.clusters_per_group();
        let needed = u64::from(clusters) + u64::from(spare_blocks);
        if needed > u64::from(flash.blocks_per_die) {
            return Err(format!(
                "{} blocks on each die are too few: {clusters} hold clusters, and {spare_blocks} more are needed for logs and merges",
                flash.blocks_per_die
            ));
        }
        Ok(())
    }
}
