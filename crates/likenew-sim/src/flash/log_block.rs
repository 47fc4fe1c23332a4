//! The translation layers of cheap and early flash drives, whose map knows whole erase blocks and not single pages.
//!
//! Data is kept in clusters: as many pages as erase blocks on a group of dies hold together, striped over them page by
//! page. The newest copy of a cluster may be elsewhere for a while (in a replacement or log block) until a merge brings
//! it together again. What differs is how that is done: [`BlockMap`], [`Bast`] and [`Fast`].

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::Wear;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::history::ProgramTimes;
use super::translation_layer::{
    Cell, Change, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit, Work,
};
use super::{FlashGeometry, LayoutError};

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
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 2] = [("every page", Self::Every), ("held pages", Self::Valid)];
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

// What all maps of clusters share: which block holds a cluster, which pages hold data, erased and worn blocks, and what
// a merge costs on which die.
//
// A "block" here is one erase block on each die of a group, written page by page in turn and erased together. The
// longest erased block of a group is taken first, which spreads wear over the blocks that are rewritten.

/// In the map, 0 stands for "nothing"; block `n` is `n + 1`.
const NO_PAGE: u32 = 0;

/// Clusters and the blocks that hold them.
#[derive(Serialize, Deserialize)]
pub struct Clusters {
    parameters: ClusterParameters,
    /// Of a cluster.
    pages: u32,
    groups: u32,
    clusters_per_group: u32,
    /// By cluster.
    blocks: Vec<u32>,
    /// One bit for each page of each cluster: whether it holds data.
    valid: Vec<u64>,
    /// By cluster: how many of its pages hold data.
    valid_pages: Vec<u32>,
    mapped: u64,
    /// Erased blocks of each group, the longest erased first.
    free: Vec<VecDeque<u32>>,
    /// Erasures of each block.
    erases: Vec<u32>,
    times: ProgramTimes,
    counts: Counts,
    /// What the dies of a group have to do for what is under way.
    works: Vec<Work>,
}

impl Clusters {
    fn new(parameters: ClusterParameters) -> Self {
        let (groups, in_group) = (parameters.groups(), parameters.clusters_per_group());
        let (clusters, pages) = ((groups * in_group) as usize, parameters.cluster_pages());
        let per_group = parameters.flash.blocks_per_die;
        let mut free: Vec<VecDeque<u32>> =
            (0..groups).map(|group| (group * per_group..(group + 1) * per_group).collect()).collect();
        let mut blocks = vec![NO_PAGE; clusters];
        if parameters.copies == Copies::Every {
            for (cluster, block) in blocks.iter_mut().enumerate() {
                let free = &mut free[cluster / in_group as usize];
                *block = 1 + free.pop_front().expect("a checked shape has a block for each cluster");
            }
        }
        Self {
            pages,
            groups,
            clusters_per_group: in_group,
            blocks,
            valid: vec![0; (clusters as u64 * u64::from(pages)).div_ceil(64) as usize],
            valid_pages: vec![0; clusters],
            mapped: 0,
            free,
            erases: vec![0; (groups * per_group) as usize],
            times: ProgramTimes::new((groups * per_group) as usize, pages),
            counts: Counts::default(),
            works: vec![Work::NONE; parameters.cluster_dies as usize],
            parameters,
        }
    }

    fn group(&self, cluster: u32) -> u32 {
        cluster / self.clusters_per_group
    }

    /// The cluster that holds a page of the host, counted through all groups, and where in it.
    #[inline]
    fn locate(&self, page: u32) -> (u32, u32) {
        let stripe = self.parameters.stripe_pages;
        let (turn, in_stripe) = (page / stripe, page % stripe);
        let in_group = turn / self.groups * stripe + in_stripe;
        let cluster = turn % self.groups * self.clusters_per_group + in_group / self.pages;
        (cluster, in_group % self.pages)
    }

    /// The die on which the page at this position of a group's blocks is.
    #[inline]
    fn die(&self, group: u32, position: u32) -> u32 {
        group * self.parameters.cluster_dies + position % self.parameters.cluster_dies
    }

    /// A copy as [`PhysicalPage::at`] numbers it.
    #[inline]
    fn at(&self, block: u32, position: u32) -> u64 {
        u64::from(block) * u64::from(self.pages) + u64::from(position)
    }

    /// The block that holds a cluster, beside what logs hold of it.
    #[inline]
    fn block(&self, cluster: u32) -> Option<u32> {
        self.blocks[cluster as usize].checked_sub(1)
    }

    fn bit(&self, cluster: u32, offset: u32) -> (usize, u64) {
        let bit = u64::from(cluster) * u64::from(self.pages) + u64::from(offset);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    #[inline]
    fn holds(&self, cluster: u32, offset: u32) -> bool {
        let (word, mask) = self.bit(cluster, offset);
        self.valid[word] & mask != 0
    }

    /// Whether a merge copies any of these pages.
    fn has_to_copy(&self, cluster: u32, mut offsets: Range<u32>) -> bool {
        match self.parameters.copies {
            Copies::Every => !offsets.is_empty(),
            Copies::Valid => offsets.any(|offset| self.holds(cluster, offset)),
        }
    }

    /// The host writes a page of a cluster to this place.
    fn write(&mut self, page: u32, (cluster, offset): (u32, u32), at: u64, pending: &mut PendingWork) {
        let (word, mask) = self.bit(cluster, offset);
        if self.valid[word] & mask == 0 {
            self.valid[word] |= mask;
            self.valid_pages[cluster as usize] += 1;
            self.mapped += 1;
        }
        self.counts.host_pages += 1;
        self.counts.programmed += 1;
        self.times.program((at / u64::from(self.pages)) as u32, at);
        pending.note(|| Change::Written { page, at });
    }

    /// A page holds no data any more; whether it did.
    fn forget(&mut self, cluster: u32, offset: u32) -> bool {
        let (word, mask) = self.bit(cluster, offset);
        let valid = self.valid[word] & mask != 0;
        if valid {
            self.valid[word] &= !mask;
            self.valid_pages[cluster as usize] -= 1;
            self.mapped -= 1;
        }
        valid
    }

    /// Takes the longest erased block of a group.
    fn take(&mut self, group: u32) -> u32 {
        let block = self.free[group as usize].pop_front().expect("a checked shape always has a block left");
        self.times.open(block);
        block
    }

    /// Erases a block.
    fn erase(&mut self, block: u32, pending: &mut PendingWork) {
        self.erases[block as usize] += 1;
        self.free[(block / self.parameters.flash.blocks_per_die) as usize].push_back(block);
        self.counts.erases += u64::from(self.parameters.cluster_dies);
        self.works.iter_mut().for_each(|work| work.erases += 1);
        let (start, end) = (self.at(block, 0), self.at(block + 1, 0));
        pending.note(|| Change::Erased(start..end));
    }

    /// From now on this block holds a cluster; the one that did is erased.
    fn switch(&mut self, cluster: u32, block: u32, pending: &mut PendingWork) {
        let before = std::mem::replace(&mut self.blocks[cluster as usize], block + 1);
        if let Some(before) = before.checked_sub(1) {
            self.erase(before, pending);
        }
    }

    /// Copies pages of a cluster to the same places of a block: from where a log has them, else from the cluster's block.
    fn copy(
        &mut self,
        cluster: u32,
        offsets: Range<u32>,
        to: u32,
        log: impl Fn(&Self, u32) -> Option<u64>,
        pending: &mut PendingWork,
    ) {
        let dies = self.parameters.cluster_dies;
        let every = self.parameters.copies == Copies::Every;
        for offset in offsets {
            let valid = self.holds(cluster, offset);
            if !valid && !every {
                continue;
            }
            let from = log(self, offset).filter(|_| valid).unwrap_or_else(|| {
                let block = self.block(cluster).expect("what no log holds is in the cluster's block");
                self.at(block, offset)
            });
            let (block, to) = (to, self.at(to, offset));
            self.times.program(block, to);
            // A block begins on the first die of its group.
            let from_die = (from % u64::from(self.pages)) as u32 % dies;
            self.works[from_die as usize].rows += 1;
            let work = &mut self.works[(offset % dies) as usize];
            (work.moved, work.programs) = (work.moved + 1, work.programs + 1);
            self.counts.programmed += 1;
            if valid {
                pending.note(|| Change::Moved { from, to });
            }
        }
    }

    /// Hands the dies of a group what they have to do.
    fn give(&mut self, group: u32, pending: &mut PendingWork) {
        for (die, work) in (group * self.parameters.cluster_dies..).zip(&mut self.works) {
            if *work != Work::NONE {
                pending.push(die, std::mem::take(work));
            }
        }
    }

    #[inline]
    fn place(&self, at: u64) -> PhysicalPage {
        let block = (at / u64::from(self.pages)) as u32;
        let position = (at % u64::from(self.pages)) as u32;
        PhysicalPage {
            at,
            row: at,
            die: self.die(block / self.parameters.flash.blocks_per_die, position),
            cell: Cell::Native,
            size: 1,
            programmed_s: self.times.programmed_s(block, at),
        }
    }
}

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
    fn forget(&mut self, _clusters: &Clusters, _page: (u32, u32)) {}

    /// Nothing of a cluster is in a log any more; returns the block that it had for itself, if it had one.
    fn leave(&mut self, clusters: &Clusters, cluster: u32) -> Option<u32>;

    /// Merges one log block ahead of need, if there is one.
    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool;
}

/// The translation layer.
#[derive(Serialize, Deserialize)]
#[serde(bound = "S: LogScheme")]
pub struct ClusterMap<S> {
    clusters: Clusters,
    /// By group of dies.
    logs: Vec<S>,
}

impl<S: LogScheme> ClusterMap<S> {
    fn from_scheme(clusters: Clusters, scheme: impl Fn(u32) -> S) -> Self {
        let logs = (0..clusters.parameters.groups()).map(scheme).collect();
        Self { clusters, logs }
    }
}

impl<S: LogScheme> TranslationLayer for ClusterMap<S> {
    fn user_pages(&self) -> u32 {
        self.clusters.parameters.flash.user_pages
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
            let log = &mut logs[group as usize];
            log.forget(clusters, place);
            if clusters.parameters.copies == Copies::Valid && clusters.valid_pages[cluster as usize] == 0 {
                // A cluster that holds nothing needs no block.
                let own = std::mem::take(&mut clusters.blocks[cluster as usize]).checked_sub(1);
                for block in log.leave(clusters, cluster).into_iter().chain(own) {
                    clusters.erase(block, pending);
                }
            }
            clusters.give(group, pending);
        }
    }

    fn tend(&mut self, die: u32, pending: &mut PendingWork) -> bool {
        let Self { clusters, logs } = self;
        if !clusters.parameters.idle_merges {
            return false;
        }
        let group = die / clusters.parameters.cluster_dies;
        let merged = logs[group as usize].merge_one(clusters, pending);
        clusters.give(group, pending);
        merged
    }

    fn set_clock(&mut self, seconds: i64) {
        self.clusters.times.set_clock(seconds);
    }

    fn counts(&self) -> Counts {
        self.clusters.counts
    }

    fn free_blocks(&self) -> u64 {
        let blocks: u64 = self.clusters.free.iter().map(|free| free.len() as u64).sum();
        blocks * u64::from(self.clusters.parameters.cluster_dies)
    }

    fn mapped_pages(&self) -> u64 {
        self.clusters.mapped
    }

    fn wear(&self) -> Wear {
        Wear::from_erases(self.clusters.erases.iter().copied(), 0)
    }
}

// A map of whole blocks with replacement blocks (after the NAND Flash Translation Layer of M-Systems).
//
// A page has one offset only. A write goes on in an open replacement block of its cluster if it is the next page there.
// Any other write closes one (the rest of its cluster is copied behind what was written) and opens a new one (what comes
// before is copied first), so that it costs a copy of the whole cluster and the erasure of the old one.

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
        clusters.copy(cluster, next..clusters.pages, block, |_, _| None, pending);
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
        if self.open[last].next == clusters.pages {
            self.close(last, clusters, pending);
        }
    }

    fn leave(&mut self, _clusters: &Clusters, cluster: u32) -> Option<u32> {
        self.position_of(cluster).map(|index| self.open.remove(index).block)
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let any = !self.open.is_empty();
        if any {
            self.close(0, clusters, pending);
        }
        any
    }
}

// Block-associative log blocks: a log block takes the pages of one cluster in the order in which they arrive (BAST; Kim
// and others, "A space-efficient flash translation layer for CompactFlash systems", 2002).
//
// A write to a cluster without a log block takes one from another cluster, which is merged first: if its log block was
// written in order, from the first page on, the log block gets what is missing behind it and takes the cluster's place
// (partial merge; switch merge if nothing is missing); otherwise the newest copy of every page goes to a third block
// (full merge).

/// Which log block makes room for another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Eviction {
    /// The one whose last write is longest ago.
    LeastRecent,
    /// The one that was opened first.
    Oldest,
}

impl Eviction {
    /// As files spell them.
    pub(crate) const WORDS: [(&str, Self); 2] =
        [("least recent", Self::LeastRecent), ("oldest", Self::Oldest)];
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
struct BastLog {
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

impl BastLog {
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
    logs: Vec<BastLog>,
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
    fn remove(&mut self, slot: usize) -> BastLog {
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

    fn combine(&self, log: &BastLog, clusters: &mut Clusters, pending: &mut PendingWork) {
        let unfilled = log.filled..clusters.pages;
        let nothing_missing = !clusters.has_to_copy(log.cluster, unfilled.clone());
        if log.in_order && (nothing_missing || self.parameters.partial_merges) {
            clusters.copy(log.cluster, unfilled, log.block, |_, _| None, pending);
            return clusters.switch(log.cluster, log.block, pending);
        }
        let to = clusters.take(clusters.group(log.cluster));
        let pages = 0..clusters.pages;
        let newest = |clusters: &Clusters, offset| log.find(clusters, offset);
        clusters.copy(log.cluster, pages, to, newest, pending);
        clusters.switch(log.cluster, to, pending);
        clusters.erase(log.block, pending);
    }

    fn open(&mut self, clusters: &mut Clusters, cluster: u32) -> usize {
        let slot = self.logs.len();
        let mut newest = std::mem::take(&mut self.spare);
        newest.clear();
        newest.resize(clusters.pages as usize, 0);
        self.slots[(cluster - self.first_cluster) as usize] = slot as u32;
        self.logs.push(BastLog {
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
        self.slot(cluster).map_or(0, |slot| self.logs[slot].filled % clusters.pages)
    }

    fn append(
        &mut self,
        clusters: &mut Clusters,
        (cluster, offset): (u32, u32),
        pending: &mut PendingWork,
    ) -> u64 {
        self.stamp += 1;
        let mut slot = self.slot(cluster);
        if let Some(full) = slot.filter(|slot| self.logs[*slot].filled == clusters.pages) {
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
        if self.logs[slot].in_order && self.logs[slot].filled == clusters.pages {
            self.merge(slot, clusters, pending);
        }
    }

    fn forget(&mut self, _clusters: &Clusters, (cluster, offset): (u32, u32)) {
        if let Some(slot) = self.slot(cluster) {
            self.logs[slot].newest[offset as usize] = 0;
        }
    }

    fn leave(&mut self, _clusters: &Clusters, cluster: u32) -> Option<u32> {
        self.slot(cluster).map(|slot| self.remove(slot).block)
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let victim = self.victim();
        if let Some(victim) = victim {
            self.merge(victim, clusters, pending);
        }
        victim.is_some()
    }
}

// Fully associative log blocks: a log block takes pages of any cluster in the order in which they arrive (FAST; Lee and
// others, "A log buffer-based flash translation layer using fully-associative sector translation", 2007).
//
// When all log blocks are full, the oldest is emptied: every cluster that has a newest copy in it is merged in full, from
// wherever its pages are. One more log block takes a sequential stream page for page in place, so that it can take the
// place of its cluster (switch merge), or does so after the rest has been copied (partial merge). A stream is known by
// its second page, or by going on where a cluster has ended: a single write to the first page of a cluster is none.

/// A translation layer with log blocks that all clusters share.
pub type Fast = ClusterMap<FastLogs>;

impl ClusterParameters {
    /// Whether a [`Fast`] of this shape can work.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_fast(&self) -> Result<(), LayoutError> {
        // One more for the sequential stream, and one for the result of a full merge.
        self.check(self.log_blocks + 2)
    }
}

impl Fast {
    /// An erased drive.
    ///
    /// # Panics
    /// If the parameters do not pass their check.
    pub fn new(parameters: ClusterParameters) -> Self {
        parameters.check_fast().expect("the parameters were checked");
        let in_group = parameters.clusters_per_group();
        let pages = in_group as usize * parameters.cluster_pages() as usize;
        Self::from_scheme(Clusters::new(parameters), |group| FastLogs {
            first_cluster: group * in_group,
            newest: vec![NO_PAGE; pages],
            logs: VecDeque::with_capacity(parameters.log_blocks as usize),
            stream: None,
            last: None,
        })
    }
}

/// A log block for pages of any cluster.
#[derive(Serialize, Deserialize)]
struct FastLog {
    block: u32,
    /// The page at each position written so far.
    pages: Vec<(u32, u32)>,
}

/// The log block of a sequential stream.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Stream {
    cluster: u32,
    block: u32,
    /// Pages before this one are written.
    next: u32,
    /// One of them has a newer copy elsewhere.
    stale: bool,
}

/// The log blocks of a group of dies.
#[derive(Serialize, Deserialize)]
pub struct FastLogs {
    first_cluster: u32,
    /// By page of the group: its newest copy, if a log block has it.
    newest: Vec<u32>,
    /// The oldest first; all but the last are full.
    logs: VecDeque<FastLog>,
    stream: Option<Stream>,
    /// What was written last.
    last: Option<(u32, u32)>,
}

/// Where the next page goes.
enum Target {
    /// To the shared log blocks.
    Shared,
    /// On with the stream.
    Stream,
    /// To a new stream, which begins with this page or the one before.
    NewStream,
}

impl FastLogs {
    fn index(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> usize {
        (cluster - self.first_cluster) as usize * clusters.pages as usize + offset as usize
    }

    fn target(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Target {
        if self.stream.is_some_and(|stream| stream.cluster == cluster && stream.next == offset) {
            return Target::Stream;
        }
        let before = match offset {
            0 => Some((self.cluster_before(clusters, cluster), clusters.pages - 1)),
            1 => Some((cluster, 0)),
            _ => None,
        };
        if before.is_some() && self.last == before { Target::NewStream } else { Target::Shared }
    }

    /// The cluster that a stream ends before it goes on with this one, in a circle through the group.
    fn cluster_before(&self, clusters: &Clusters, cluster: u32) -> u32 {
        if cluster > self.first_cluster { cluster - 1 } else { cluster + clusters.clusters_per_group - 1 }
    }

    fn set_newest(&mut self, clusters: &Clusters, page: (u32, u32), at: u64) {
        let index = self.index(clusters, page);
        self.newest[index] = at as u32 + 1;
    }

    /// Brings the newest copies of a cluster together in a new block.
    fn merge_in_full(&mut self, clusters: &mut Clusters, cluster: u32, pending: &mut PendingWork) {
        let to = clusters.take(clusters.group(cluster));
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, 0..clusters.pages, to, newest, pending);
        clusters.switch(cluster, to, pending);
        if let Some(block) = self.leave(clusters, cluster) {
            clusters.erase(block, pending);
        }
    }

    /// The stream's block takes the place of its cluster.
    fn end_stream(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) {
        let Some(Stream { cluster, block, next, stale }) = self.stream else { return };
        if stale {
            return self.merge_in_full(clusters, cluster, pending);
        }
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, next..clusters.pages, block, newest, pending);
        clusters.switch(cluster, block, pending);
        self.leave(clusters, cluster);
    }

    /// Merges every cluster that has a newest copy in the oldest log block, and erases that.
    fn empty_oldest(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) {
        let log = self.logs.pop_front().expect("there is at least one log block");
        for (position, page) in (0..).zip(&log.pages) {
            if self.find(clusters, *page) == Some(clusters.at(log.block, position)) {
                self.merge_in_full(clusters, page.0, pending);
            }
        }
        clusters.erase(log.block, pending);
    }

    fn append_shared(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let pages = clusters.pages as usize;
        if self.logs.back().is_none_or(|log| log.pages.len() == pages) {
            if self.logs.len() == clusters.parameters.log_blocks as usize {
                self.empty_oldest(clusters, pending);
            }
            let block = clusters.take(clusters.group(page.0));
            self.logs.push_back(FastLog { block, pages: Vec::with_capacity(pages) });
        }
        if let Some(stream) = &mut self.stream
            && stream.cluster == page.0
        {
            stream.stale |= page.1 < stream.next;
        }
        let log = self.logs.back_mut().expect("there is one with room");
        let at = clusters.at(log.block, log.pages.len() as u32);
        log.pages.push(page);
        at
    }

    fn append_stream(&mut self, clusters: &Clusters, page: (u32, u32)) -> u64 {
        let stream = self.stream.as_mut().expect("a stream goes on");
        assert_eq!((stream.cluster, stream.next), page, "a stream goes on page for page");
        stream.next += 1;
        clusters.at(stream.block, page.1)
    }

    /// Opens a stream that begins with this page, or with the one before, which is copied.
    fn open_stream(
        &mut self,
        clusters: &mut Clusters,
        (cluster, offset): (u32, u32),
        pending: &mut PendingWork,
    ) {
        self.end_stream(clusters, pending);
        let block = clusters.take(clusters.group(cluster));
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, 0..offset, block, newest, pending);
        for before in (0..offset).filter(|before| clusters.holds(cluster, *before)) {
            self.set_newest(clusters, (cluster, before), clusters.at(block, before));
        }
        self.stream = Some(Stream { cluster, block, next: offset, stale: false });
    }
}

impl LogScheme for FastLogs {
    fn find(&self, clusters: &Clusters, page: (u32, u32)) -> Option<u64> {
        self.newest[self.index(clusters, page)].checked_sub(1).map(u64::from)
    }

    fn position(&self, clusters: &Clusters, page: (u32, u32)) -> u32 {
        match self.target(clusters, page) {
            Target::Stream | Target::NewStream => page.1,
            Target::Shared => self.logs.back().map_or(0, |log| log.pages.len() as u32 % clusters.pages),
        }
    }

    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let at = match self.target(clusters, page) {
            Target::Shared => self.append_shared(clusters, page, pending),
            Target::Stream => self.append_stream(clusters, page),
            Target::NewStream => {
                self.open_stream(clusters, page, pending);
                self.append_stream(clusters, page)
            }
        };
        self.set_newest(clusters, page, at);
        self.last = Some(page);
        at
    }

    fn settle(&mut self, clusters: &mut Clusters, _page: (u32, u32), pending: &mut PendingWork) {
        if self.stream.is_some_and(|stream| stream.next == clusters.pages) {
            self.end_stream(clusters, pending);
        }
    }

    fn forget(&mut self, clusters: &Clusters, page: (u32, u32)) {
        let index = self.index(clusters, page);
        self.newest[index] = NO_PAGE;
    }

    fn leave(&mut self, clusters: &Clusters, cluster: u32) -> Option<u32> {
        let start = self.index(clusters, (cluster, 0));
        self.newest[start..start + clusters.pages as usize].fill(NO_PAGE);
        self.stream.take_if(|stream| stream.cluster == cluster).map(|stream| stream.block)
    }

    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool {
        let any = !self.logs.is_empty();
        if any {
            self.empty_oldest(clusters, pending);
        }
        any
    }
}

#[cfg(test)]
mod tests;
