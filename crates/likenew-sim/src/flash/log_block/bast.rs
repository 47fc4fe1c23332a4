//! Block-associative log blocks: a log block takes the pages of one cluster in the order in which they arrive (BAST; Kim
//! and others, "A space-efficient flash translation layer for CompactFlash systems", 2002).
//!
//! A write to a cluster without a log block takes one from another cluster, which is merged first: if its log block was
//! written in order, from the first page on, the log block gets what is missing behind it and takes the cluster's place
//! (partial merge; switch merge if nothing is missing); otherwise the newest copy of every page goes to a third block
//! (full merge).

use serde::{Deserialize, Serialize};

use super::cluster_map::{ClusterMap, LogScheme};
use super::cluster_parameters::ClusterParameters;
use super::clusters::Clusters;
use crate::flash::layout_error::LayoutError;
use crate::flash::translation_layer::PendingWork;

/// Which log block makes room for another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Eviction {
    /// The one whose last write is longest ago.
    LeastRecent,
    /// The one that was opened first.
    Oldest,
}

impl Eviction {
    /// As files spell them, in the order of the variants.
    pub(crate) const WORDS: [&str; 2] = ["least recent", "oldest"];
    pub(crate) const ALL: [Self; 2] = [Self::LeastRecent, Self::Oldest];
}

/// How a [`Bast`] is laid out and how it merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BastParameters {
    /// The layout.
    pub clusters: ClusterParameters,
    /// Which log block makes room.
    pub eviction: Eviction,
    /// Whether a log block that was written in order gets the rest of its cluster; else any incomplete log block is
    /// merged in full.
    pub partial_merges: bool,
}

impl BastParameters {
    /// Whether a translation layer of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check(&self) -> Result<(), LayoutError> {
        // One more for the result of a full merge.
        self.clusters.check(self.clusters.log_blocks + 1)
    }
}

/// A translation layer with a log block for each cluster that is being written.
pub type Bast = ClusterMap<BastLogs>;

impl Bast {
    /// An erased drive.
    ///
    /// # Panics
    /// If the parameters do not pass their check.
    pub fn new(parameters: BastParameters) -> Self {
        parameters.check().expect("the parameters were checked");
        let in_group = parameters.clusters.clusters_per_group();
        Self::from_scheme(Clusters::new(parameters.clusters), |group| BastLogs {
            parameters,
            first_cluster: group * in_group,
            slots: vec![NO_LOG; in_group as usize],
            logs: Vec::with_capacity(parameters.clusters.log_blocks as usize),
            stamp: 0,
            spare: Vec::new(),
        })
    }
}

/// Marks a cluster without a log block.
const NO_LOG: u32 = u32::MAX;

#[derive(Serialize, Deserialize)]
struct Log {
    cluster: u32,
    block: u32,
    /// Pages written.
    filled: u32,
    /// Whether every page is at its offset.
    in_order: bool,
    /// By offset: one more than the position of the newest copy; 0 if there is none.
    newest: Vec<u16>,
    /// Counts up with every opening, or with every write.
    stamp: u64,
}

impl Log {
    fn find(&self, clusters: &Clusters, offset: u32) -> Option<u64> {
        let position = self.newest[offset as usize].checked_sub(1)?;
        Some(clusters.at(self.block, u32::from(position)))
    }
}

/// The log blocks of a group of dies.
#[derive(Serialize, Deserialize)]
pub struct BastLogs {
    parameters: BastParameters,
    first_cluster: u32,
    /// By cluster of the group: where its log block is in `logs`.
    slots: Vec<u32>,
    logs: Vec<Log>,
    stamp: u64,
    /// The list of the log block that was merged last, for the one that is opened next.
    spare: Vec<u16>,
}

impl BastLogs {
    fn slot(&self, cluster: u32) -> Option<usize> {
        let slot = self.slots[(cluster - self.first_cluster) as usize];
        (slot != NO_LOG).then_some(slot as usize)
    }

    /// The log block that makes room next.
    fn victim(&self) -> Option<usize> {
        (0..self.logs.len()).min_by_key(|slot| self.logs[*slot].stamp)
    }

    /// The log block at a place leaves the list.
    fn remove(&mut self, slot: usize) -> Log {
        let log = self.logs.swap_remove(slot);
        self.slots[(log.cluster - self.first_cluster) as usize] = NO_LOG;
        if let Some(moved) = self.logs.get(slot) {
            self.slots[(moved.cluster - self.first_cluster) as usize] = slot as u32;
        }
        log
    }

    /// Brings the newest copies of a cluster together in one block.
    fn merge(&mut self, slot: usize, clusters: &mut Clusters, pending: &mut PendingWork) {
        let log = self.remove(slot);
        self.combine(&log, clusters, pending);
        self.spare = log.newest;
    }

    fn combine(&self, log: &Log, clusters: &mut Clusters, pending: &mut PendingWork) {
        let rest = log.filled..clusters.pages();
        let nothing_missing = !clusters.has_to_copy(log.cluster, rest.clone());
        if log.in_order && (nothing_missing || self.parameters.partial_merges) {
            clusters.copy(log.cluster, rest, log.block, |_, _| None, pending);
            return clusters.switch(log.cluster, log.block, pending);
        }
        let to = clusters.take(clusters.group(log.cluster));
        let all = 0..clusters.pages();
        let newest = |clusters: &Clusters, offset| log.find(clusters, offset);
        clusters.copy(log.cluster, all, to, newest, pending);
        clusters.switch(log.cluster, to, pending);
        clusters.erase(log.block, pending);
    }

    fn open(&mut self, clusters: &mut Clusters, cluster: u32) -> usize {
        let slot = self.logs.len();
        let mut newest = std::mem::take(&mut self.spare);
        newest.clear();
        newest.resize(clusters.pages() as usize, 0);
        self.slots[(cluster - self.first_cluster) as usize] = slot as u32;
        self.logs.push(Log {
            cluster,
            block: clusters.take(clusters.group(cluster)),
            filled: 0,
            in_order: true,
            newest,
            stamp: self.stamp,
        });
        slot
    }
}

impl LogScheme for BastLogs {
    fn find(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Option<u64> {
        self.logs[self.slot(cluster)?].find(clusters, offset)
    }

    fn position(&self, clusters: &Clusters, (cluster, _): (u32, u32)) -> u32 {
        self.slot(cluster).map_or(0, |slot| self.logs[slot].filled % clusters.pages())
    }

    fn append(
        &mut self,
        clusters: &mut Clusters,
        (cluster, offset): (u32, u32),
        pending: &mut PendingWork,
    ) -> u64 {
        self.stamp += 1;
        let mut slot = self.slot(cluster);
        if let Some(full) = slot.filter(|slot| self.logs[*slot].filled == clusters.pages()) {
            self.merge(full, clusters, pending);
            slot = None;
        }
        let slot = slot.unwrap_or_else(|| {
            if self.logs.len() == self.parameters.clusters.log_blocks as usize {
                let victim = self.victim().expect("there is at least one log block");
                self.merge(victim, clusters, pending);
            }
            self.open(clusters, cluster)
        });
        let log = &mut self.logs[slot];
        if self.parameters.eviction == Eviction::LeastRecent {
            log.stamp = self.stamp;
        }
        let position = log.filled;
        log.filled += 1;
        log.in_order &= position == offset;
        log.newest[offset as usize] = position as u16 + 1;
        clusters.at(log.block, position)
    }

    fn settle(&mut self, clusters: &mut Clusters, (cluster, _): (u32, u32), pending: &mut PendingWork) {
        let slot = self.slot(cluster).expect("a page that was written is in a log block");
        if self.logs[slot].in_order && self.logs[slot].filled == clusters.pages() {
            self.merge(slot, clusters, pending);
        }
    }

    fn forget(&mut self, clusters: &mut Clusters, (cluster, offset): (u32, u32), pending: &mut PendingWork) {
        let slot = self.slot(cluster);
        if let Some(slot) = slot {
            self.logs[slot].newest[offset as usize] = 0;
        }
        if clusters.gives_up(cluster) {
            if let Some(slot) = slot {
                let log = self.remove(slot);
                clusters.erase(log.block, pending);
            }
            clusters.release(cluster, pending);
        }
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let victim = self.victim();
        if let Some(victim) = victim {
            self.merge(victim, clusters, pending);
        }
        victim.is_some()
    }
}
