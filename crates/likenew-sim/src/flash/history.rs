//! What an FTL remembers about blocks and pages: erasures and failures of blocks, when pages were programmed,
//! and which were written lately.

use std::collections::BTreeMap;

use likenew_core::counters::Wear;
use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::FlashGeometry;

/// Blocks fail after the same number of erasures on all drives.
const SEED: u64 = 1;
/// Share of blocks that may fail within the rated endurance. Data sheets of NAND flash guarantee that many
/// valid blocks over the rated life (2008 of 2048, and 4016 of 4096, are 98 %).
const FAILED_SHARE_WHEN_RATED: f64 = 0.02;
/// Assumed shape of the distribution of block lives: failures become likelier with wear, and the mean block lasts 3.3
/// times its rating. Chips that Boboila and Desnoyers measured (FAST 2010) lasted up to 100 times as long as rated.
const SHAPE: f64 = 3.0;

/// The blocks of a die with the fewest erasures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Floor {
    erases: u32,
    /// Number of blocks with exactly this many erasures.
    blocks: u32,
}

/// Erasures and lives of all blocks.
///
/// If blocks wear out, each has a life in erasures, drawn with a fixed seed from a Weibull distribution. A
/// share of 1 − 0.98^((n/N)³) fails by the n-th erasure, where N is the rated endurance. A block fails when
/// it is erased, for ever.
#[derive(Serialize, Deserialize)]
pub(crate) struct BlockWear {
    erases: Vec<u32>,
    /// The life of each block; empty if blocks do not wear out.
    lives: Vec<u32>,
    floors: Vec<Floor>,
    blocks_per_die: u32,
    bad_blocks: u32,
}

impl BlockWear {
    pub(crate) fn new(flash: &FlashGeometry, endurance_erases: Option<u32>) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut life = |rated| life(rated, random.random());
        let lives =
            endurance_erases.map_or(Vec::new(), |rated| (0..flash.blocks()).map(|_| life(rated)).collect());
        Self {
            erases: vec![0; flash.blocks() as usize],
            lives,
            floors: vec![Floor { erases: 0, blocks: flash.blocks_per_die }; flash.dies as usize],
            blocks_per_die: flash.blocks_per_die,
            bad_blocks: 0,
        }
    }

    pub(crate) fn erases(&self, block: u32) -> u32 {
        self.erases[block as usize]
    }

    /// Erases a block; returns whether it still works.
    pub(crate) fn erase(&mut self, block: u32) -> bool {
        assert!(!self.is_bad(block), "a block that has failed is not erased again");
        let before = self.erases[block as usize];
        self.erases[block as usize] = before + 1;
        let die = block / self.blocks_per_die;
        let floor = &mut self.floors[die as usize];
        if before == floor.erases {
            floor.blocks -= 1;
            if floor.blocks == 0 {
                self.floors[die as usize] = self.floor(die);
            }
        }
        let works = !self.is_bad(block);
        self.bad_blocks += u32::from(!works);
        works
    }

    /// By how much `erases` exceeds the erasures of the die's least worn block.
    pub(crate) fn spread(&self, die: u32, erases: u32) -> u32 {
        erases.saturating_sub(self.floors[die as usize].erases)
    }

    /// Whether no working block of the die has fewer erasures.
    pub(crate) fn is_least(&self, block: u32) -> bool {
        self.spread(block / self.blocks_per_die, self.erases(block)) == 0
    }

    /// Wear over all working blocks.
    pub(crate) fn summary(&self) -> Wear {
        let works = (0..).zip(&self.erases).filter(|(block, _)| !self.is_bad(*block));
        Wear::from_erases(works.map(|(_, erases)| *erases), self.bad_blocks)
    }

    fn is_bad(&self, block: u32) -> bool {
        self.lives.get(block as usize).is_some_and(|life| self.erases(block) >= *life)
    }

    /// The least worn blocks of a die, counted from scratch. A die without working blocks gets an unreachable floor.
    fn floor(&self, die: u32) -> Floor {
        let first = die * self.blocks_per_die;
        let works = (first..first + self.blocks_per_die).filter(|block| !self.is_bad(*block));
        works.map(|block| self.erases(block)).fold(Floor { erases: u32::MAX, blocks: 0 }, |floor, erases| {
            match erases.cmp(&floor.erases) {
                std::cmp::Ordering::Less => Floor { erases, blocks: 1 },
                std::cmp::Ordering::Equal => Floor { blocks: floor.blocks + 1, ..floor },
                std::cmp::Ordering::Greater => floor,
            }
        })
    }
}

/// The life of a block that outlasts the share `better_than` of all blocks.
fn life(rated: u32, better_than: f64) -> u32 {
    let scale = f64::from(rated) * (-(1.0 - FAILED_SHARE_WHEN_RATED).ln()).powf(-1.0 / SHAPE);
    let life = scale * (-(1.0 - better_than).ln()).powf(1.0 / SHAPE);
    (life.ceil() as u32).max(1)
}

// When pages were programmed.
//
// The pages of a block are programmed in order, mostly within seconds. So a block has a single time, and more
// only if it was left open for long and then continued.

/// Pages of a block that were programmed within this many seconds count as programmed together. Chosen: short
/// beside the days after which flash needs retries; a time per page would take as much memory as the mapping table.
pub(super) const RESOLUTION_S: i64 = if cfg!(test) { 60 } else { 3600 };

/// When the pages of each block were programmed, on the clock of
/// [`set_clock`](crate::flash::translation_layer::TranslationLayer::set_clock).
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProgramTimes {
    now_s: i64,
    /// Pages per block; pages are numbered across all blocks.
    block_pages: u64,
    /// By block: when its first page was programmed.
    first_s: Vec<i64>,
    /// By block that was continued: from which pages on, and when.
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

    /// Notes that a block is opened.
    pub(super) fn open(&mut self, block: u32) {
        self.first_s[block as usize] = self.now_s;
        self.continued.remove(&block);
    }

    /// Notes that `page` is the next to be programmed in a block, now or later.
    #[inline]
    pub(super) fn program(&mut self, block: u32, page: u64) {
        // The history of an aged drive lies before the time at which its first blocks were opened.
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

/// Windows per drive write: a window is a quarter of as many writes as the host has pages.
const WINDOWS_PER_DRIVE_WRITE: u32 = 4;

/// Which pages the host wrote in the current window of its writes and in the previous one, in two bits per page.
///
/// A page is hot if either window has it. This is the sliding window over addresses that Park and Du take as the
/// ideal ("Hot data identification for flash-based storage systems using multiple Bloom filters", MSST 2011),
/// with two windows and without the errors of a filter. A window of a quarter of a drive write is assumed.
#[derive(Serialize, Deserialize)]
pub(crate) struct RecentWrites {
    now: Vec<u64>,
    before: Vec<u64>,
    writes: u32,
    window: u32,
}

impl RecentWrites {
    pub(crate) fn new(user_pages: u32) -> Self {
        let words = user_pages.div_ceil(u64::BITS) as usize;
        let window = user_pages.div_ceil(WINDOWS_PER_DRIVE_WRITE);
        Self { now: vec![0; words], before: vec![0; words], writes: 0, window }
    }

    /// Notes a write; returns whether the page was hot before.
    #[inline]
    pub(crate) fn note(&mut self, page: u32) -> bool {
        if self.writes == self.window {
            self.writes = 0;
            std::mem::swap(&mut self.now, &mut self.before);
            self.now.fill(0);
        }
        self.writes += 1;
        let (word, bit) = ((page / u64::BITS) as usize, 1 << (page % u64::BITS));
        let hot = (self.now[word] | self.before[word]) & bit != 0;
        self.now[word] |= bit;
        hot
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod block_wear {
        use super::*;

        fn flash(dies: u32, blocks_per_die: u32) -> FlashGeometry {
            FlashGeometry {
                dies,
                blocks_per_die,
                pages_per_block: 4,
                row_pages: 1,
                unit_pages: 1,
                user_pages: 1,
            }
        }

        #[test]
        fn the_least_worn_block_of_each_die_is_known() {
            let mut wear = BlockWear::new(&flash(2, 3), None);
            assert!(wear.is_least(4));
            for block in [0, 0, 1, 4] {
                assert!(wear.erase(block));
            }
            assert_eq!([0, 1, 2, 3, 4].map(|block| wear.is_least(block)), [false, false, true, true, false]);
            assert_eq!((wear.spread(0, 2), wear.spread(1, 1)), (2, 1));
            wear.erase(2);
            assert_eq!([0, 1, 2].map(|block| wear.is_least(block)), [false, true, true]);
            let summary = wear.summary();
            assert_eq!((summary.erases_min, summary.erases_max, summary.bad_blocks), (0, 2, 0));
            assert!((summary.erases_mean - 5.0 / 6.0).abs() < 1e-12);
        }

        #[test]
        fn as_many_blocks_fail_as_the_distribution_says() {
            let blocks = 20_000;
            for (rounds, expected) in [(50, 0.0025), (100, 0.02), (300, 0.4205)] {
                let mut wear = BlockWear::new(&flash(1, blocks), Some(100));
                for block in 0..blocks {
                    let _ = (0..rounds).all(|_| wear.erase(block));
                }
                let failed = f64::from(wear.summary().bad_blocks) / f64::from(blocks);
                let deviation = (expected * (1.0 - expected) / f64::from(blocks)).sqrt();
                assert!((failed - expected).abs() < 4.0 * deviation, "{failed} of them after {rounds}");
            }
        }

        #[test]
        fn a_block_that_failed_counts_no_more() {
            let mut wear = BlockWear::new(&flash(1, 2), Some(1));
            while wear.erase(0) {}
            assert_eq!((wear.summary().bad_blocks, wear.summary().erases_max), (1, 0));
            while wear.erase(1) {}
            assert_eq!(wear.summary(), Wear { bad_blocks: 2, ..Wear::default() });
        }
    }

    mod recent_writes {
        use super::*;

        #[test]
        fn a_page_is_hot_within_two_windows() {
            let mut recent = RecentWrites::new(400);
            assert!(!recent.note(7));
            assert!(recent.note(7));
            // The rest of this window and all of the next.
            (100..298).for_each(|page| assert!(!recent.note(page)));
            assert!(recent.note(250), "it was written in the window before");
            assert!(!recent.note(7), "it was written two windows ago");
            assert!(recent.note(7));
        }
    }
}
