//! FTLs of cheap and early flash drives, which map whole erase blocks instead of pages.
//!
//! Data is kept in clusters. A cluster has as many pages as one erase block on each die of a group, and is
//! striped over these dies page by page. Newer copies of its pages may lie in a replacement or log block
//! until a merge brings them together. [`BlockMap`], [`Bast`] and [`Fast`] differ in how they do that.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::counters::Wear;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use strum::{EnumString, VariantNames};

use super::history::ProgramTimes;
use super::nand::DIES_MAX;
use super::translation_layer::{
    Cell, Change, Counts, PendingWork, PhysicalPage, TranslationLayer, Unit, Work,
};
use super::{FlashGeometry, LayoutError};
use crate::drive_file::parameters;

/// Which pages a merge copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
pub enum Copies {
    /// Every page, because the firmware does not know which ones hold data. Every cluster has a block from
    /// the start.
    #[strum(serialize = "every page")]
    Every,
    /// The pages that hold data. A cluster without data has no block.
    #[strum(serialize = "held pages")]
    Valid,
}

parameters! {
    /// How an FTL with clusters is laid out.
    ///
    /// Each group of dies is managed on its own, with a share of the addresses, spare blocks and log blocks. The
    /// blocks with the same number on all dies of a group form one cluster block. It is written page by page, die
    /// after die, and erased as a whole.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct ClusterParameters {
        /// The geometry. Program units and rows are one page.
        pub flash: FlashGeometry,
        /// Dies per group; divides the number of dies.
        pub cluster_dies: u32 = whole("cluster_dies", 1..=DIES_MAX),
        /// Consecutive pages in one group before the next group takes over; divides the pages of a cluster.
        pub stripe_pages: u32,
        /// Log blocks per group (in a block map, replacement blocks).
        pub log_blocks: u32 = whole("log_blocks_per_group", 1..=65_535),
        /// Which pages a merge copies.
        pub copies: Copies = one_of("merges_copy"),
        /// Whether idle time is used to merge log blocks ahead.
        pub idle_merges: bool = truth("idle_merges"),
    }
}

impl ClusterParameters {
    /// Number of groups of dies.
    pub fn groups(&self) -> u32 {
        self.flash.dies / self.cluster_dies
    }

    /// Pages per cluster.
    pub fn cluster_pages(&self) -> u32 {
        self.cluster_dies * self.flash.pages_per_block
    }

    /// Clusters per group.
    pub fn clusters_per_group(&self) -> u32 {
        let turn = u64::from(self.groups()) * u64::from(self.stripe_pages);
        let pages = u64::from(self.flash.user_pages).div_ceil(turn) * u64::from(self.stripe_pages);
        u32::try_from(pages.div_ceil(u64::from(self.cluster_pages()))).expect("fewer clusters than pages")
    }

    /// Checks that an FTL of this shape can work with the log blocks of scheme `S`.
    ///
    /// # Errors
    /// The parameters contradict each other.
    pub fn check<S: LogScheme>(&self) -> Result<(), LayoutError> {
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
        let spare = self.log_blocks.saturating_add(S::MERGE_BLOCKS);
        if u64::from(clusters) + u64::from(spare) > u64::from(flash.blocks_per_die) {
            let blocks = flash.blocks_per_die;
            return Err(LayoutError::FewBlocks { blocks, clusters, spare });
        }
        Ok(())
    }
}

// What all FTLs with clusters share: which block holds a cluster, which pages hold data, erased and worn blocks,
// and what a merge costs on which die.
//
// Here, a "block" is one erase block on each die of a group; they are written page by page in turn and erased
// together. The block that was erased first is used first, which spreads wear over the blocks that are rewritten.

/// Marks an empty table entry; block `n` is stored as `n + 1`.
const NO_PAGE: u32 = 0;

/// The clusters, and the blocks that hold them.
#[derive(Serialize, Deserialize)]
pub struct Clusters {
    parameters: ClusterParameters,
    /// Pages per cluster.
    pages: u32,
    groups: u32,
    clusters_per_group: u32,
    /// By cluster: its block, plus one.
    blocks: Vec<u32>,
    /// Whether each page of each cluster holds data, one bit per page.
    valid: Vec<u64>,
    /// By cluster: number of pages with data.
    valid_pages: Vec<u32>,
    mapped: u64,
    /// By group: erased blocks, in order of erasure.
    free: Vec<VecDeque<u32>>,
    /// By block: its erasures.
    erases: Vec<u32>,
    times: ProgramTimes,
    counts: Counts,
    /// By die of the current group: its work so far.
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

    /// The cluster of a host page, numbered across all groups, and the page's offset in it.
    #[inline]
    fn locate(&self, page: u32) -> (u32, u32) {
        let stripe = self.parameters.stripe_pages;
        let (turn, in_stripe) = (page / stripe, page % stripe);
        let in_group = turn / self.groups * stripe + in_stripe;
        let cluster = turn % self.groups * self.clusters_per_group + in_group / self.pages;
        (cluster, in_group % self.pages)
    }

    /// The die that has the page at this position of a group's blocks.
    #[inline]
    fn die(&self, group: u32, position: u32) -> u32 {
        group * self.parameters.cluster_dies + position % self.parameters.cluster_dies
    }

    /// The place of a copy, numbered as in [`PhysicalPage::at`].
    #[inline]
    fn at(&self, block: u32, position: u32) -> u64 {
        u64::from(block) * u64::from(self.pages) + u64::from(position)
    }

    /// The place of a page in the block of its cluster, which has what no log holds.
    #[inline]
    fn home(&self, cluster: u32, offset: u32) -> u64 {
        let block = self.blocks[cluster as usize].checked_sub(1);
        self.at(block.expect("what no log holds is in the cluster's block"), offset)
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

    /// Records that the host wrote a page of a cluster to place `at`.
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

    /// Marks a page as empty; returns whether it held data.
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

    /// Takes the block of a group that was erased first.
    fn take(&mut self, group: u32) -> u32 {
        let block = self.free[group as usize].pop_front().expect("a checked shape always has a block left");
        self.times.open(block);
        block
    }

    fn erase(&mut self, block: u32, pending: &mut PendingWork) {
        self.erases[block as usize] += 1;
        self.free[(block / self.parameters.flash.blocks_per_die) as usize].push_back(block);
        self.counts.erases += u64::from(self.parameters.cluster_dies);
        self.works.iter_mut().for_each(|work| work.erases += 1);
        let (start, end) = (self.at(block, 0), self.at(block + 1, 0));
        pending.note(|| Change::Erased(start..end));
    }

    /// Makes a block the home of a cluster, and erases the previous one.
    fn switch(&mut self, cluster: u32, block: u32, pending: &mut PendingWork) {
        let before = std::mem::replace(&mut self.blocks[cluster as usize], block + 1);
        if let Some(before) = before.checked_sub(1) {
            self.erase(before, pending);
        }
    }

    /// Copies pages of a cluster to the same offsets of a block, from a log if it has them, else from the
    /// cluster's block.
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
            let from = log(self, offset).filter(|_| valid).unwrap_or_else(|| self.home(cluster, offset));
            let (block, to) = (to, self.at(to, offset));
            self.times.program(block, to);
            // Position 0 of a block is on the first die of its group.
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

    /// Hands the collected work to the dies of a group.
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

/// How a group of dies keeps data newer than its clusters' blocks. A page is given as its cluster, numbered
/// across all groups, and its offset.
pub trait LogScheme: Send + Serialize + DeserializeOwned {
    /// Blocks of a group that merges need beyond its log blocks.
    const MERGE_BLOCKS: u32;

    /// The copy in a log that is newer than the one in the cluster's block. Called only for pages with data.
    fn find(&self, clusters: &Clusters, page: (u32, u32)) -> Option<u64>;

    /// The position in its block at which the page will be written.
    fn position(&self, clusters: &Clusters, page: (u32, u32)) -> u32;

    /// Makes room if needed, and appends the page; returns its place.
    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64;

    /// Called after a write: a log block that the page completed replaces the cluster's block.
    fn settle(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork);

    /// Called when the page no longer holds data.
    fn forget(&mut self, _clusters: &Clusters, _page: (u32, u32)) {}

    /// Removes a cluster from the log; returns the block that it had to itself, if any.
    fn leave(&mut self, clusters: &Clusters, cluster: u32) -> Option<u32>;

    /// Merges one log block ahead of need, if there is one.
    fn merge_one(&mut self, clusters: &mut Clusters, pending: &mut PendingWork) -> bool;
}

/// An FTL with clusters and the log blocks of scheme `S`.
#[derive(Serialize, Deserialize)]
#[serde(bound = "S: LogScheme")]
pub struct ClusterMap<S> {
    clusters: Clusters,
    /// By group.
    logs: Vec<S>,
}

impl<S: LogScheme> ClusterMap<S> {
    fn from_scheme(parameters: ClusterParameters, scheme: impl Fn(u32) -> S) -> Self {
        parameters.check::<S>().expect("the parameters were checked");
        let logs = (0..parameters.groups()).map(scheme).collect();
        Self { clusters: Clusters::new(parameters), logs }
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
        let at = log.find(&self.clusters, page);
        Some(self.clusters.place(at.unwrap_or_else(|| self.clusters.home(cluster, offset))))
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
                // A cluster without data needs no block.
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

// A block map with replacement blocks (after the NAND Flash Translation Layer of M-Systems).
//
// Every page has a fixed offset in its block. A write appends to the open replacement block of its cluster if
// it is the next page there. Any other write first closes a replacement block, by copying the rest of its
// cluster behind what was written. It then opens another and copies the pages before its own. So it costs a
// copy of the whole cluster and an erasure.

/// A block map.
pub type BlockMap = ClusterMap<Replacements>;

impl BlockMap {
    /// An erased drive.
    ///
    /// # Panics
    /// The parameters do not pass their check.
    pub fn new(parameters: ClusterParameters) -> Self {
        let open_max = parameters.log_blocks as usize;
        Self::from_scheme(parameters, |_| Replacements { open: Vec::with_capacity(open_max), open_max })
    }
}

/// A block that is being written to replace a cluster's block.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Replacement {
    cluster: u32,
    block: u32,
    /// Pages before this one are written.
    next: u32,
}

/// The open replacement blocks of a group.
#[derive(Serialize, Deserialize)]
pub struct Replacements {
    /// In order of their last write, the oldest first.
    open: Vec<Replacement>,
    open_max: usize,
}

impl Replacements {
    fn position_of(&self, cluster: u32) -> Option<usize> {
        self.open.iter().position(|replacement| replacement.cluster == cluster)
    }

    /// Copies the rest of a cluster behind what was written, and makes the block its home.
    fn close(&mut self, index: usize, clusters: &mut Clusters, pending: &mut PendingWork) {
        let Replacement { cluster, block, next } = self.open.remove(index);
        clusters.copy(cluster, next..clusters.pages, block, |_, _| None, pending);
        clusters.switch(cluster, block, pending);
    }
}

impl LogScheme for Replacements {
    // Closing a replacement frees the old block of its cluster before the next one is opened.
    const MERGE_BLOCKS: u32 = 0;

    fn find(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Option<u64> {
        let open = self.open[self.position_of(cluster)?];
        (offset < open.next).then(|| clusters.at(open.block, offset))
    }

    fn position(&self, _clusters: &Clusters, (_, offset): (u32, u32)) -> u32 {
        offset
    }

    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let (cluster, offset) = page;
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

// Block-associative log blocks: each takes the pages of one cluster, in order of arrival (BAST; Kim and
// others, "A space-efficient flash translation layer for CompactFlash systems", 2002).
//
// A write to a cluster without a log block takes one from another cluster, which is merged first. A log block
// that was written sequentially from the first page on gets the missing pages and becomes the cluster's block
// (partial merge; switch merge if none is missing). Otherwise the newest copy of every page goes to a third
// block (full merge).

/// Which log block is merged to make room for another cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, EnumString, VariantNames)]
pub enum Eviction {
    /// The one whose last write is oldest.
    #[strum(serialize = "least recent")]
    LeastRecent,
    /// The one that was opened first.
    #[strum(serialize = "oldest")]
    Oldest,
}

/// How a [`Bast`] is laid out, and how it merges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BastParameters {
    /// The layout.
    pub clusters: ClusterParameters,
    /// Which log block makes room for another cluster.
    pub eviction: Eviction,
    /// Whether sequential log blocks are completed by partial merges; if not, any incomplete log block needs
    /// a full merge.
    pub partial_merges: bool,
}

/// An FTL with a log block for each cluster that is being written.
pub type Bast = ClusterMap<BastLogs>;

impl Bast {
    /// An erased drive.
    ///
    /// # Panics
    /// The parameters do not pass their check.
    pub fn new(parameters: BastParameters) -> Self {
        let in_group = parameters.clusters.clusters_per_group();
        Self::from_scheme(parameters.clusters, |group| BastLogs {
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
    /// Number of pages written.
    filled: u32,
    /// Whether every page is at its own offset.
    in_order: bool,
    /// By offset: position of the newest copy plus one; 0 if there is none.
    newest: Vec<u16>,
    /// Order of opening or of the last write, as the eviction policy needs it.
    stamp: u64,
}

impl BastLog {
    fn find(&self, clusters: &Clusters, offset: u32) -> Option<u64> {
        let position = self.newest[offset as usize].checked_sub(1)?;
        Some(clusters.at(self.block, u32::from(position)))
    }
}

/// The log blocks of a group.
#[derive(Serialize, Deserialize)]
pub struct BastLogs {
    parameters: BastParameters,
    first_cluster: u32,
    /// By cluster of the group: index of its log block in `logs`.
    slots: Vec<u32>,
    logs: Vec<BastLog>,
    stamp: u64,
    /// The offset table of the log block merged last, reused for the next.
    spare: Vec<u16>,
}

impl BastLogs {
    fn slot(&self, cluster: u32) -> Option<usize> {
        let slot = self.slots[(cluster - self.first_cluster) as usize];
        (slot != NO_LOG).then_some(slot as usize)
    }

    /// The log block to merge next.
    fn victim(&self) -> Option<usize> {
        (0..self.logs.len()).min_by_key(|slot| self.logs[*slot].stamp)
    }

    /// Takes a log block out of the list.
    fn remove(&mut self, slot: usize) -> BastLog {
        let log = self.logs.swap_remove(slot);
        self.slots[(log.cluster - self.first_cluster) as usize] = NO_LOG;
        if let Some(moved) = self.logs.get(slot) {
            self.slots[(moved.cluster - self.first_cluster) as usize] = slot as u32;
        }
        log
    }

    /// Merges a log block with its cluster.
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
    // A full merge needs a third block.
    const MERGE_BLOCKS: u32 = 1;

    fn find(&self, clusters: &Clusters, (cluster, offset): (u32, u32)) -> Option<u64> {
        self.logs[self.slot(cluster)?].find(clusters, offset)
    }

    fn position(&self, clusters: &Clusters, (cluster, _): (u32, u32)) -> u32 {
        self.slot(cluster).map_or(0, |slot| self.logs[slot].filled % clusters.pages)
    }

    fn append(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) -> u64 {
        let (cluster, offset) = page;
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

// Fully associative log blocks: each takes pages of any cluster, in order of arrival (FAST; Lee and others, "A log
// buffer-based flash translation layer using fully-associative sector translation", 2007).
//
// When all log blocks are full, the oldest is emptied by a full merge of every cluster with a newest copy in it. One
// more log block takes a sequential stream, each page at its own offset. It then replaces the block of its cluster at
// once (switch merge) or after the rest is copied (partial merge). A stream is recognized by its second page, or if
// it continues where a cluster has ended. A single write to the first page of a cluster does not start one.

/// An FTL with log blocks that all clusters share.
pub type Fast = ClusterMap<FastLogs>;

impl Fast {
    /// An erased drive.
    ///
    /// # Panics
    /// The parameters do not pass their check.
    pub fn new(parameters: ClusterParameters) -> Self {
        let in_group = parameters.clusters_per_group();
        let pages = in_group as usize * parameters.cluster_pages() as usize;
        Self::from_scheme(parameters, |group| FastLogs {
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
    /// The pages written so far, by position.
    pages: Vec<(u32, u32)>,
}

/// The log block of a sequential stream.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Stream {
    cluster: u32,
    block: u32,
    /// Pages before this one are written.
    next: u32,
    /// Whether one of them has a newer copy elsewhere.
    stale: bool,
}

/// The log blocks of a group.
#[derive(Serialize, Deserialize)]
pub struct FastLogs {
    first_cluster: u32,
    /// By page of the group: its newest copy in a log block, if any.
    newest: Vec<u32>,
    /// The oldest first; all but the last are full.
    logs: VecDeque<FastLog>,
    stream: Option<Stream>,
    /// The page written last.
    last: Option<(u32, u32)>,
}

/// Where the next page goes.
enum Target {
    /// The shared log blocks.
    Shared,
    /// The current stream.
    Stream,
    /// A new stream that begins with this page or the one before.
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

    /// The cluster before this one in its group, cyclically: where a stream ends before it continues here.
    fn cluster_before(&self, clusters: &Clusters, cluster: u32) -> u32 {
        if cluster > self.first_cluster { cluster - 1 } else { cluster + clusters.clusters_per_group - 1 }
    }

    fn set_newest(&mut self, clusters: &Clusters, page: (u32, u32), at: u64) {
        let index = self.index(clusters, page);
        self.newest[index] = at as u32 + 1;
    }

    /// Copies the newest pages of a cluster to a new block.
    fn merge_in_full(&mut self, clusters: &mut Clusters, cluster: u32, pending: &mut PendingWork) {
        let to = clusters.take(clusters.group(cluster));
        let newest = |clusters: &Clusters, offset| self.find(clusters, (cluster, offset));
        clusters.copy(cluster, 0..clusters.pages, to, newest, pending);
        clusters.switch(cluster, to, pending);
        if let Some(block) = self.leave(clusters, cluster) {
            clusters.erase(block, pending);
        }
    }

    /// Makes the stream's block the home of its cluster.
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

    /// Merges every cluster with a newest copy in the oldest log block, then erases that block.
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

    /// Opens a stream that begins with this page, or with the page before, which is copied.
    fn open_stream(&mut self, clusters: &mut Clusters, page: (u32, u32), pending: &mut PendingWork) {
        let (cluster, offset) = page;
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
    // The sequential stream and a full merge need one each.
    const MERGE_BLOCKS: u32 = 2;

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
