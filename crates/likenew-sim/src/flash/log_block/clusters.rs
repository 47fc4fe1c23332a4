//! What all maps of clusters share: which block holds a cluster, which pages hold data, erased and worn blocks, and what
//! a merge costs on which die.
//!
//! A "block" here is one erase block on each die of a group, written page by page in turn and erased together. The
//! longest erased block of a group is taken first, which spreads wear over the blocks that are rewritten.

use std::collections::VecDeque;
use std::ops::Range;

use likenew_core::flash_counters::Wear;
use serde::{Deserialize, Serialize};

use super::cluster_parameters::{ClusterParameters, Copies};
use crate::flash::program_times::ProgramTimes;
use crate::flash::translation_layer::{Cell, Change, Counts, PendingWork, PhysicalPage, Work};

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
    pub(super) fn new(parameters: ClusterParameters) -> Self {
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

    pub(super) fn parameters(&self) -> &ClusterParameters {
        &self.parameters
    }

    /// Pages of a cluster and of a block.
    pub(super) fn pages(&self) -> u32 {
        self.pages
    }

    pub(super) fn clusters_per_group(&self) -> u32 {
        self.clusters_per_group
    }

    pub(super) fn group(&self, cluster: u32) -> u32 {
        cluster / self.clusters_per_group
    }

    /// The cluster that holds a page of the host, counted through all groups, and where in it.
    #[inline]
    pub(super) fn locate(&self, page: u32) -> (u32, u32) {
        let stripe = self.parameters.stripe_pages;
        let (turn, in_stripe) = (page / stripe, page % stripe);
        let in_group = turn / self.groups * stripe + in_stripe;
        let cluster = turn % self.groups * self.clusters_per_group + in_group / self.pages;
        (cluster, in_group % self.pages)
    }

    /// The die on which the page at this position of a group's blocks is.
    #[inline]
    pub(super) fn die(&self, group: u32, position: u32) -> u32 {
        group * self.parameters.cluster_dies + position % self.parameters.cluster_dies
    }

    /// A copy as [`PhysicalPage::at`] numbers it.
    #[inline]
    pub(super) fn at(&self, block: u32, position: u32) -> u64 {
        u64::from(block) * u64::from(self.pages) + u64::from(position)
    }

    /// The block that holds a cluster, beside what logs hold of it.
    #[inline]
    pub(super) fn block(&self, cluster: u32) -> Option<u32> {
        self.blocks[cluster as usize].checked_sub(1)
    }

    fn bit(&self, cluster: u32, offset: u32) -> (usize, u64) {
        let bit = u64::from(cluster) * u64::from(self.pages) + u64::from(offset);
        ((bit / 64) as usize, 1 << (bit % 64))
    }

    #[inline]
    pub(super) fn holds(&self, cluster: u32, offset: u32) -> bool {
        let (word, mask) = self.bit(cluster, offset);
        self.valid[word] & mask != 0
    }

    /// Whether a cluster holds nothing and therefore needs no block.
    pub(super) fn gives_up(&self, cluster: u32) -> bool {
        self.parameters.copies == Copies::Valid && self.valid_pages[cluster as usize] == 0
    }

    /// Whether a merge copies any of these pages.
    pub(super) fn has_to_copy(&self, cluster: u32, mut offsets: Range<u32>) -> bool {
        match self.parameters.copies {
            Copies::Every => !offsets.is_empty(),
            Copies::Valid => offsets.any(|offset| self.holds(cluster, offset)),
        }
    }

    /// The host writes a page of a cluster to this place.
    pub(super) fn write(
        &mut self,
        page: u32,
        (cluster, offset): (u32, u32),
        at: u64,
        pending: &mut PendingWork,
    ) {
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
    pub(super) fn forget(&mut self, cluster: u32, offset: u32) -> bool {
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
    pub(super) fn take(&mut self, group: u32) -> u32 {
        let block = self.free[group as usize].pop_front().expect("a checked shape always has a block left");
        self.times.open(block);
        block
    }

    /// Erases a block.
    pub(super) fn erase(&mut self, block: u32, pending: &mut PendingWork) {
        self.erases[block as usize] += 1;
        self.free[(block / self.parameters.flash.blocks_per_die) as usize].push_back(block);
        self.counts.erases += u64::from(self.parameters.cluster_dies);
        self.works.iter_mut().for_each(|work| work.erases += 1);
        let (start, end) = (self.at(block, 0), self.at(block + 1, 0));
        pending.note(|| Change::Erased(start..end));
    }

    /// From now on this block holds a cluster; the one that did is erased.
    pub(super) fn switch(&mut self, cluster: u32, block: u32, pending: &mut PendingWork) {
        let before = std::mem::replace(&mut self.blocks[cluster as usize], block + 1);
        if let Some(before) = before.checked_sub(1) {
            self.erase(before, pending);
        }
    }

    /// Gives up the block of a cluster that holds nothing.
    pub(super) fn release(&mut self, cluster: u32, pending: &mut PendingWork) {
        if let Some(block) = std::mem::take(&mut self.blocks[cluster as usize]).checked_sub(1) {
            self.erase(block, pending);
        }
    }

    /// Copies pages of a cluster to the same places of a block: from where a log has them, else from the cluster's block.
    pub(super) fn copy(
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
    pub(super) fn give(&mut self, group: u32, pending: &mut PendingWork) {
        for (die, work) in (group * self.parameters.cluster_dies..).zip(&mut self.works) {
            if *work != Work::NONE {
                pending.push(die, std::mem::take(work));
            }
        }
    }

    #[inline]
    pub(super) fn place(&self, at: u64) -> PhysicalPage {
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

    pub(super) fn set_clock(&mut self, seconds: i64) {
        self.times.set_clock(seconds);
    }

    pub(super) fn counts(&self) -> Counts {
        self.counts
    }

    /// Erased erase blocks.
    pub(super) fn free_blocks(&self) -> u64 {
        let blocks: u64 = self.free.iter().map(|free| free.len() as u64).sum();
        blocks * u64::from(self.parameters.cluster_dies)
    }

    pub(super) fn mapped_pages(&self) -> u64 {
        self.mapped
    }

    pub(super) fn wear(&self) -> Wear {
        Wear::from_erases(self.erases.iter().copied(), 0)
    }
}
