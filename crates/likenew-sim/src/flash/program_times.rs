//! When pages were programmed.
//!
//! The pages of a block are programmed in order, most within seconds. So a block has one time, and further ones only where it was
//! left open for long and then continued: what is written today is young, whatever lies before it in its block.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Pages of a block programmed within this time, in seconds, count as programmed together. Chosen: short beside the days after which
/// flash needs retries; a time for every page would take as much memory as the map.
pub(super) const RESOLUTION_S: i64 = if cfg!(test) { 60 } else { 3600 };

/// The times of all blocks, in seconds of [`set_clock`](super::translation_layer::TranslationLayer::set_clock).
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProgramTimes {
    now_s: i64,
    /// Pages of a block; pages are numbered through all blocks.
    block_pages: u64,
    /// By block: when its first page was programmed.
    first_s: Vec<i64>,
    /// Blocks that were continued: from which page on, and when.
    continued: BTreeMap<u32, Vec<(u64, i64)>>,
}

impl ProgramTimes {
    pub(super) fn new(blocks: usize, block_pages: u32) -> Self {
        let block_pages = block_pages.into();
        Self { now_s: 0, block_pages, first_s: vec![0; blocks], continued: BTreeMap::new() }
    }

    pub(super) fn set_clock(&mut self, seconds: i64) {
        self.now_s = seconds;
    }

    /// A block is opened.
    pub(super) fn open(&mut self, block: u32) {
        self.first_s[block as usize] = self.now_s;
        self.continued.remove(&block);
    }

    /// The next page that is programmed in a block is this one, now or later.
    #[inline]
    pub(super) fn program(&mut self, block: u32, page: u64) {
        // The past of an old drive begins before the moment in which its first blocks were opened.
        if (self.now_s - self.first_s[block as usize]).abs() >= RESOLUTION_S {
            self.continue_block(block, page);
        }
    }

    #[cold]
    fn continue_block(&mut self, block: u32, page: u64) {
        if page == u64::from(block) * self.block_pages {
            return self.open(block);
        }
        let times = self.continued.entry(block).or_default();
        match times.last_mut() {
            Some((_, since_s)) if self.now_s - *since_s < RESOLUTION_S => {}
            Some((from, since_s)) if *from == page => *since_s = self.now_s,
            _ => times.push((page, self.now_s)),
        }
    }

    /// When a page of a block was programmed.
    #[inline]
    pub(super) fn programmed_s(&self, block: u32, page: u64) -> i64 {
        let first_s = self.first_s[block as usize];
        if self.continued.is_empty() {
            return first_s;
        }
        let times = self.continued.get(&block).map_or(&[][..], Vec::as_slice);
        let begun = times.partition_point(|(from, _)| *from <= page);
        begun.checked_sub(1).map_or(first_s, |last| times[last].1)
    }
}
