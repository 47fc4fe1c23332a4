//! Write amplification of FTLs with clusters under uniform random page writes, by formula and by simulation.
//!
//! `pages` is the pages per cluster, `clusters` their number, and `log_blocks` the number of log blocks, each
//! as large as a cluster. The formulas are our own, derived in their doc comments; all pages hold data.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::flash::FlashGeometry;
use crate::flash::log_block::{Bast, BastParameters, BlockMap, ClusterParameters, Copies, Eviction, Fast};
use crate::flash::translation_layer::{PendingWork, TranslationLayer};

/// Write amplification of a block map: `pages`.
///
/// A write is almost never the next page of an open replacement block. So it opens one, which sooner or later
/// takes every page of the cluster. That makes as many programs as pages, and one erasure.
pub fn block_map(pages: u32) -> f64 {
    f64::from(pages)
}

/// Write amplification of BAST: `1 + pages (1 − log_blocks / clusters)`.
///
/// Each log block belongs to a different cluster, and all clusters are written equally often. So a write
/// finds a log block for its cluster with a probability of `log_blocks / clusters`. Otherwise it takes a log
/// block from another cluster by a full merge, which programs `pages`. Full or sequentially written log
/// blocks are too rare to count.
pub fn bast(pages: u32, clusters: u32, log_blocks: u32) -> f64 {
    1.0 + f64::from(pages) * (1.0 - f64::from(log_blocks) / f64::from(clusters)).max(0.0)
}

/// Write amplification of FAST: `1 + pages × clusters / (clusters + log pages − pages / 2)`, where log pages
/// are `log_blocks × pages`.
///
/// A cluster that was just merged has nothing in the log. After `clusters` writes on average it is written
/// again. That page then travels through the log until its log block is the oldest and the log is full. This
/// takes the log's pages less half a block, its mean distance from the end of its own block. There it makes
/// its cluster merge. So each cluster is merged once in `clusters + log pages − pages / 2` writes, and a
/// merge programs `pages`. As long as the log is small beside the drive, overwrites of the page on its way
/// are too rare to count.
pub fn fast(pages: u32, clusters: u32, log_blocks: u32) -> f64 {
    let (pages, clusters) = (f64::from(pages), f64::from(clusters));
    1.0 + pages * clusters / (clusters + pages * f64::from(log_blocks) - pages / 2.0)
}

/// The families of FTLs with clusters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// [`BlockMap`], whose log blocks are its replacement blocks.
    Block,
    /// [`Bast`].
    Bast,
    /// [`Fast`].
    Fast,
}

/// A setting for which theory and simulation are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The family of the FTL.
    pub family: Family,
    /// Pages per cluster.
    pub pages: u32,
    /// Clusters in the drive.
    pub clusters: u32,
    /// Number of log blocks.
    pub log_blocks: u32,
}

impl Cell {
    /// Write amplification by formula.
    pub fn theory(&self) -> f64 {
        match self.family {
            Family::Block => block_map(self.pages),
            Family::Bast => bast(self.pages, self.clusters, self.log_blocks),
            Family::Fast => fast(self.pages, self.clusters, self.log_blocks),
        }
    }

    /// Simulated write amplification: pages programmed per host page, over `passes` times as many uniform
    /// random writes as there are pages. Before that, the drive is filled sequentially and two passes bring
    /// it to its steady state.
    ///
    /// # Panics
    /// An FTL cannot have this shape, which needs at least one of everything and fewer than 2³¹ pages.
    pub fn measure(&self, passes: u32, seed: u64) -> f64 {
        let pages = self.pages * self.clusters;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut draw = |count: u64| (0..count).map(|_| random.random_range(0..pages)).collect::<Vec<_>>();
        let settling = draw(2 * u64::from(pages));
        let measured = draw(u64::from(passes) * u64::from(pages));
        self.amplification((0..pages).chain(settling), measured)
    }

    /// Pages programmed per measured page, after the pages `before`.
    fn amplification(
        &self,
        before: impl IntoIterator<Item = u32>,
        measured: impl IntoIterator<Item = u32>,
    ) -> f64 {
        let clusters = self.parameters();
        match self.family {
            Family::Block => programmed_per_write(BlockMap::new(clusters), before, measured),
            Family::Bast => {
                let eviction = Eviction::LeastRecent;
                let bast = BastParameters { clusters, eviction, partial_merges: true };
                programmed_per_write(Bast::new(bast), before, measured)
            }
            Family::Fast => programmed_per_write(Fast::new(clusters), before, measured),
        }
    }

    fn parameters(&self) -> ClusterParameters {
        let flash = FlashGeometry {
            dies: 1,
            blocks_per_die: self.clusters + self.log_blocks + 2,
            pages_per_block: self.pages,
            row_pages: 1,
            unit_pages: 1,
            user_pages: self.clusters * self.pages,
        };
        ClusterParameters {
            flash,
            cluster_dies: 1,
            stripe_pages: self.pages,
            log_blocks: self.log_blocks,
            copies: Copies::Valid,
            idle_merges: false,
        }
    }
}

/// Writes pages to an FTL without time.
fn programmed_per_write(
    mut layer: impl TranslationLayer,
    before: impl IntoIterator<Item = u32>,
    measured: impl IntoIterator<Item = u32>,
) -> f64 {
    let mut counts_after = |pages: &mut dyn Iterator<Item = u32>| {
        for page in pages {
            let die = layer.die_for(page).expect("a map of clusters places every page");
            layer.write(page, 1, die, &mut PendingWork::default());
        }
        layer.counts()
    };
    let start = counts_after(&mut before.into_iter());
    let end = counts_after(&mut measured.into_iter());
    (end.programmed - start.programmed) as f64 / (end.host_pages - start.host_pages) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(family: Family, pages: u32, log_blocks: u32) -> Cell {
        Cell { family, pages, clusters: 1024, log_blocks }
    }

    /// Compares simulation and formula.
    fn agrees(cell: Cell) {
        let (theory, measured) = (cell.theory(), cell.measure(3, 1));
        println!("{cell:?}: {measured:.3} of {theory:.3}, {:+.2} %", (measured / theory - 1.0) * 100.0);
        assert!((measured / theory - 1.0).abs() < 0.03, "{cell:?}: {measured} is not {theory}");
    }

    #[test]
    fn random_writes_of_a_block_map_cost_a_cluster_each() {
        agrees(cell(Family::Block, 64, 1));
        agrees(cell(Family::Block, 64, 8));
    }

    #[test]
    fn random_writes_of_bast_are_amplified_as_theory_says() {
        for log_blocks in [8, 16, 64, 256] {
            agrees(cell(Family::Bast, 64, log_blocks));
        }
    }

    #[test]
    fn random_writes_of_fast_are_amplified_as_theory_says() {
        for pages in [64, 128] {
            for log_blocks in [8, 16, 64, 256] {
                agrees(cell(Family::Fast, pages, log_blocks));
            }
        }
    }

    #[test]
    fn writing_through_in_order_costs_nothing_extra() {
        for family in [Family::Block, Family::Bast, Family::Fast] {
            let cell = cell(family, 64, 8);
            let pages = cell.pages * cell.clusters;
            let measured = cell.amplification(0..pages, (0..pages).chain(0..pages));
            assert_eq!(measured, 1.0, "{family:?}");
        }
    }
}
