//! A map of whole blocks with replacement blocks (after the NAND Flash Translation Layer of M-Systems).
//!
//! A page has one offset only. A write goes on in an open replacement block of its cluster if it is the next page there.
//! Any other write closes one (the rest of its cluster is copied behind what was written) and opens a new one (what comes
//! before is copied first), so that it costs a copy of the whole cluster and the erasure of the old one.

use serde::{Deserialize, Serialize};

use super::cluster_map::{ClusterMap, LogScheme};
use super::cluster_parameters::ClusterParameters;
use super::clusters::Clusters;
use crate::flash::layout_error::LayoutError;
use crate::flash::translation_layer::PendingWork;

/// A translation layer that maps whole blocks.
pub type BlockMap = ClusterMap<Replacements>;

impl ClusterParameters {
    /// Whether a block map of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_block_map(&self) -> Result<(), LayoutError> {
        // The cluster that a replacement is closed for gives its old block back before the next is opened.
        self.check(self.log_blocks)
    }
}

impl BlockMap {
    /// An erased drive.
    ///
    /// # Panics
    /// If the parameters do not pass their check.
    pub fn new(parameters: ClusterParameters) -> Self {
        parameters.check_block_map().expect("the parameters were checked");
        let open_max = parameters.log_blocks as usize;
        Self::from_scheme(Clusters::new(parameters), |_| Replacements {
            open: Vec::with_capacity(open_max),
            open_max,
        })
    }
}

/// A block that is being written for a cluster.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Replacement {
    cluster: u32,
    block: u32,
    /// Pages before this one are written.
    next: u32,
}

/// The open replacement blocks of a group of dies.
#[derive(Serialize, Deserialize)]
pub struct Replacements {
    /// The least recently written first.
    open: Vec<Replacement>,
    open_max: usize,
}

impl Replacements {
    fn position_of(&self, cluster: u32) -> Option<usize> {
        self.open.iter().position(|replacement| replacement.cluster == cluster)
    }

    /// Copies the rest of a cluster behind what was written of it.
    fn close(&mut self, index: usize, clusters: &mut Clusters, pending: &mut PendingWork) {
        let Replacement { cluster, block, next } = self.open.remove(index);
        clusters.copy(cluster, next..clusters.pages(), block, |_, _| None, pending);
        clusters.switch(cluster, block, pending);
    }
}

impl LogScheme for Replacements {
    fn find(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Option<u64> {
        let open = self.open[self.position_of(cluster)?];
        (offset < open.next).then(|| clusters.at(open.block, offset))
    }

    fn position(&self, _clusters: &Clusters, (_, offset): (u32, u32)) -> u32 {
        offset
    }

    fn append(
        &mut self,
        clusters: &mut Clusters,
        (cluster, offset): (u32, u32),
        pending: &mut PendingWork,
    ) -> u64 {
        let index = self.position_of(cluster);
        let mut open = match index {
            Some(index) if self.open[index].next == offset => self.open.remove(index),
            _ => {
                if let Some(index) = index.or_else(|| (self.open.len() == self.open_max).then_some(0)) {
                    self.close(index, clusters, pending);
                }
                let block = clusters.take(clusters.group(cluster));
                clusters.copy(cluster, 0..offset, block, |_, _| None, pending);
                Replacement { cluster, block, next: offset }
            }
        };
        open.next += 1;
        self.open.push(open);
        clusters.at(open.block, offset)
    }

    fn settle(&mut self, clusters: &mut Clusters, _page: (u32, u32), pending: &mut PendingWork) {
        let last = self.open.len() - 1;
        if self.open[last].next == clusters.pages() {
            self.close(last, clusters, pending);
        }
    }

    fn forget(&mut self, clusters: &mut Clusters, (cluster, _): (u32, u32), pending: &mut PendingWork) {
        if clusters.gives_up(cluster) {
            if let Some(index) = self.position_of(cluster) {
                let open = self.open.remove(index);
                clusters.erase(open.block, pending);
            }
            clusters.release(cluster, pending);
        }
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let any = !self.open.is_empty();
        if any {
            self.close(0, clusters, pending);
        }
        any
    }
}
