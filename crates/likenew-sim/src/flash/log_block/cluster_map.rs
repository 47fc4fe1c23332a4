//! A translation layer over clusters. What it does with writes is up to its [`LogScheme`].

use likenew_core::flash_counters::Wear;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::clusters::Clusters;
use crate::flash::translation_layer::{Cell, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit};

/// How one group of dies keeps what is newer than the blocks of its clusters. A page is told as its cluster, counted
/// through all groups, and its offset in it.
pub trait LogScheme: Send + Serialize + DeserializeOwned {
    /// The copy in a log that is newer than that in the cluster's block; asked only of pages that hold data.
    fn find(&self, clusters: &Clusters, page: (u32, u32)) -> Option<u64>;

    /// The position in its block that the page will be written to.
    fn position(&self, clusters: &Clusters, page: (u32, u32)) -> u32;

    /// Makes room if there is none, and takes the page; returns where it is.
    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64;

    /// The page has been written: a log block that is complete by it takes its place.
    fn settle(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork);

    /// The page holds no data any more.
    fn forget(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork);

    /// Merges one log block ahead of need, if there is one.
    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool;
}

/// The translation layer.
#[derive(Serialize, Deserialize)]
#[serde(bound = "S: LogScheme")]
pub struct ClusterMap<S> {
    pub(super) clusters: Clusters,
    /// By group of dies.
    pub(super) logs: Vec<S>,
}

impl<S: LogScheme> ClusterMap<S> {
    pub(super) fn from_scheme(clusters: Clusters, scheme: impl Fn(u32) -> S) -> Self {
        let logs = (0..clusters.parameters().groups()).map(scheme).collect();
        Self { clusters, logs }
    }
}

impl<S: LogScheme> TranslationLayer for ClusterMap<S> {
    fn user_pages(&self) -> u32 {
        self.clusters.parameters().flash.user_pages
    }

    fn find(&self, page: u32) -> Option<PhysicalPage> {
        let page @ (cluster, offset) = self.clusters.locate(page);
        if !self.clusters.holds(cluster, offset) {
            return None;
        }
        let log = &self.logs[self.clusters.group(cluster) as usize];
        let at = log.find(&self.clusters, page).unwrap_or_else(|| {
            let block = self.clusters.block(cluster).expect("what no log holds is in the cluster's block");
            self.clusters.at(block, offset)
        });
        Some(self.clusters.place(at))
    }

    fn die_for(&self, page: u32) -> Option<u32> {
        let page = self.clusters.locate(page);
        let group = self.clusters.group(page.0);
        let position = self.logs[group as usize].position(&self.clusters, page);
        Some(self.clusters.die(group, position))
    }

    fn accepts(&self, _die: u32) -> bool {
        true
    }

    fn unit(&self, _die: u32) -> Unit {
        Unit { cell: Cell::Native, size: 1 }
    }

    fn write(&mut self, page: u32, _size: u32, die: u32, pending: &mut PendingWork) {
        let Self { clusters, logs } = self;
        let place = clusters.locate(page);
        let group = clusters.group(place.0);
        let log = &mut logs[group as usize];
        let at = log.append(clusters, place, pending);
        assert_eq!(clusters.place(at).die, die, "a page goes to the die that was said");
        clusters.write(page, place, at, pending);
        log.settle(clusters, place, pending);
        clusters.give(group, pending);
    }

    fn end_unit(&mut self, _die: u32, _todo: &mut PendingWork) {}

    fn trim(&mut self, page: u32, pending: &mut PendingWork) {
        let Self { clusters, logs } = self;
        let place @ (cluster, offset) = clusters.locate(page);
        if clusters.forget(cluster, offset) {
            let group = clusters.group(cluster);
            logs[group as usize].forget(clusters, place, pending);
            clusters.give(group, pending);
        }
    }

    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool {
        let Self { clusters, logs } = self;
        if !clusters.parameters().idle_merges {
            return false;
        }
        let group = die / clusters.parameters().cluster_dies;
        let merged = logs[group as usize].merge_one(clusters, pending);
        clusters.give(group, pending);
        merged
    }

    fn set_clock(&mut self, seconds: i64) {
        self.clusters.set_clock(seconds);
    }

    fn counts(&self) -> Counts {
        self.clusters.counts()
    }

    fn free_blocks(&self) -> u64 {
        self.clusters.free_blocks()
    }

    fn mapped_pages(&self) -> u64 {
        self.clusters.mapped_pages()
    }

    fn wear(&self) -> Wear {
        self.clusters.wear()
    }
}
