//! Measures the write amplification of a page map without time, beside what theory says.

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::page;
use crate::flash::flash_geometry::FlashGeometry;
use crate::flash::page_map::PageMap;
use crate::flash::page_map_parameters::PageMapParameters;
use crate::flash::policies::{Collection, Policies, Streams};
use crate::flash::translation_layer::{Counts, PendingWork, TranslationLayer as _};

/// A step through pages that meets each of them once.
const SCATTER_PRIME: u64 = 4_294_967_291;

/// What the host does, page by page, at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// It writes any page with equal probability.
    Uniform,
    /// It writes the first pages more often than the others.
    Skewed {
        /// Their share of the writes.
        writes: f64,
        /// Their share of the pages.
        pages: f64,
    },
    /// It writes any page with equal probability, or trims one of those that hold data.
    Trimmed {
        /// The share of trims.
        trims: f64,
    },
}

/// A die, its policies, and what the host does with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Which block is collected.
    pub collection: Collection,
    /// Which pages share a block.
    pub streams: Streams,
    /// Pages of an erase block.
    pub pages_per_block: u32,
    /// Erase blocks.
    pub blocks: u32,
    /// The share of the flash beside reserve and open blocks that the host cannot address.
    pub spare_share: f64,
    /// What the host does.
    pub traffic: Traffic,
    /// The drive is filled once, then the host does as many things as it can address pages, so many times before the
    /// measurement.
    pub passes_before: u32,
    /// And so many times within it.
    pub passes: u32,
    /// Of what the host does.
    pub seed: u64,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyWriteAmplification {
    /// Pages programmed over pages that the host wrote, in each pass.
    pub passes: Vec<f64>,
    /// The same of all passes together.
    pub write_amplification: f64,
    /// What theory says, where there is one.
    pub theory: Option<f64>,
}

impl PageMapParameters {
    /// Flash pages among which theory divides the pages that hold data: those of the closed blocks at the moment when a
    /// victim is chosen.
    ///
    /// At that moment the reserve is erased, one block of which has just been opened, and an open block of any other stream is
    /// half full on average.
    pub fn closed_pages(&self) -> f64 {
        let others = self.policies.streams.open_blocks() - 1;
        let not_closed = f64::from(self.reserve_blocks()) + f64::from(others) / 2.0;
        f64::from(self.flash.dies)
            * (f64::from(self.flash.blocks_per_die) - not_closed)
            * f64::from(self.flash.pages_per_block)
    }
}

impl Setting {
    /// The page map of this setting.
    pub fn parameters(&self) -> PageMapParameters {
        let flash = FlashGeometry {
            dies: 1,
            blocks_per_die: self.blocks,
            pages_per_block: self.pages_per_block,
            row_pages: 1,
            unit_pages: 1,
            user_pages: 1,
        };
        let policies = Policies { collection: self.collection, streams: self.streams, ..Policies::default() };
        let mut parameters =
            PageMapParameters { flash, free_blocks_min: 2, idle_free_blocks: 0, slc_cache: None, policies };
        parameters.flash.user_pages = (parameters.closed_pages() * (1.0 - self.spare_share)) as u32;
        parameters
    }

    /// The write amplification that theory says, for as much spare flash as there really is.
    pub fn theory(&self) -> Option<f64> {
        let parameters = self.parameters();
        let mapped_count = f64::from(parameters.flash.user_pages) * self.held_share();
        let alpha = parameters.closed_pages() / mapped_count;
        match (self.collection, self.traffic) {
            (Collection::Fifo, Traffic::Skewed { writes, pages }) => (self.streams == Streams::Mixed)
                .then(|| self.in_order(alpha, &page::Class::hot_and_cold(writes, pages))),
            (Collection::CostBenefit, _) | (_, Traffic::Skewed { .. }) => None,
            (Collection::Fifo, _) => Some(self.in_order(alpha, &[page::Class { writes: 1.0, pages: 1.0 }])),
            (Collection::Greedy, _) => Some(page::greedy(self.pages_per_block, alpha)),
            (Collection::Choices(count), _) => Some(page::choices(self.pages_per_block, count, alpha)),
        }
    }

    /// Where blocks are collected in order, the formula counts the writes between the program of a page and the turn of its
    /// block. A block's collected pages are programmed at once, the host's one after the other: the last of those waits a
    /// block of the host's writes less than the first, on average half of that less than a collected page. They are 1/A of
    /// what is programmed, so all pages wait as if there were 1/(2A) of a block less.
    fn in_order(&self, alpha: f64, classes: &[page::Class]) -> f64 {
        let about = page::fifo_of_classes(classes, alpha);
        let younger = f64::from(self.pages_per_block) / (2.0 * about);
        page::fifo_of_classes(classes, alpha * (1.0 - younger / self.parameters().closed_pages()))
    }

    fn held_share(&self) -> f64 {
        match self.traffic {
            Traffic::Trimmed { trims } => page::held_share_with_trim(trims),
            _ => 1.0,
        }
    }

    /// Lets all of it happen.
    ///
    /// # Panics
    /// If a page map of this shape cannot work, or nothing is written in a pass.
    pub fn measure(&self) -> SteadyWriteAmplification {
        let mut host = Host::new(self);
        (0..self.passes_before).for_each(|_| host.pass());
        let start = host.map.counts();
        let mut last = start;
        let passes = (0..self.passes).map(|_| {
            host.pass();
            let before = std::mem::replace(&mut last, host.map.counts());
            programmed_per_write(before, last)
        });
        let passes = passes.collect();
        SteadyWriteAmplification {
            passes,
            write_amplification: programmed_per_write(start, last),
            theory: self.theory(),
        }
    }
}

fn programmed_per_write(from: Counts, to: Counts) -> f64 {
    assert!(to.host_pages > from.host_pages, "something is written");
    (to.programmed - from.programmed) as f64 / (to.host_pages - from.host_pages) as f64
}

/// Works on a page map at random.
struct Host {
    map: PageMap,
    random: Xoshiro256PlusPlus,
    traffic: Traffic,
    pages: u32,
    pending: PendingWork,
}

impl Host {
    /// Fills the drive, and trims as much of it as will be trimmed in the steady state.
    fn new(setting: &Setting) -> Self {
        let map = PageMap::new(setting.parameters());
        let pages = map.user_pages();
        let random = Xoshiro256PlusPlus::seed_from_u64(setting.seed);
        let mut host = Self { map, random, traffic: setting.traffic, pages, pending: PendingWork::default() };
        // In scattered order, or pages that are written often would lie together, and their blocks come round in waves.
        let scattered = |step| (u64::from(step) * SCATTER_PRIME % u64::from(pages)) as u32;
        (0..pages).for_each(|step| host.write(scattered(step)));
        let mapped_count = (f64::from(pages) * setting.held_share()) as u32;
        (mapped_count..pages).for_each(|_| host.trim());
        host
    }

    fn pass(&mut self) {
        match self.traffic {
            Traffic::Uniform => (0..self.pages).for_each(|_| {
                let page = self.random.random_range(0..self.pages);
                self.write(page);
            }),
            Traffic::Skewed { writes, pages } => {
                let hot_pages = (f64::from(self.pages) * pages) as u32;
                for _ in 0..self.pages {
                    let hot = self.random.random_bool(writes);
                    let range = if hot { 0..hot_pages } else { hot_pages..self.pages };
                    let page = self.random.random_range(range);
                    self.write(page);
                }
            }
            Traffic::Trimmed { trims } => (0..self.pages).for_each(|_| {
                if self.random.random_bool(trims) {
                    self.trim();
                } else {
                    let page = self.random.random_range(0..self.pages);
                    self.write(page);
                }
            }),
        }
    }

    #[inline]
    fn write(&mut self, page: u32) {
        self.map.write(page, 1, 0, &mut self.pending);
        self.pending.forget_works();
    }

    fn trim(&mut self) {
        loop {
            let page = self.random.random_range(0..self.pages);
            if self.map.find(page).is_some() {
                return self.map.trim(page, &mut self.pending);
            }
        }
    }
}

#[cfg(test)]
mod tests;
