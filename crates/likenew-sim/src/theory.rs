//! What mathematics says a translation layer must do: formulas that simulations are compared with, and that comparison.
//!
//! Each is a pure function of the division of the flash. Write amplification is pages programmed over pages
//! that the host wrote, in the steady state.

pub mod log;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::flash::FlashGeometry;
use crate::flash::page_map::PageMap;
use crate::flash::policies::{Collection, PageMapParameters, Policies, Streams};
use crate::flash::translation_layer::{Counts, PendingWork, TranslationLayer as _};

// Write amplification of page-mapped flash in the limit of many blocks.
//
// `alpha` is always T/U: flash pages that take part over pages that hold data, without reserve and open
// blocks (see
// [`PageMapParameters::closed_pages`](crate::flash::policies::PageMapParameters::closed_pages)).
// The spare share (T − U)/T is 1 − 1/α. All functions but the last two take writes that hit every page with
// equal probability.

/// Steps of a bisection: each halves an interval that starts at 1 or less, until the precision of `f64`.
const STEPS: u32 = 60;

/// The x in an interval where a falling function falls to zero.
fn fall(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
    (low + high) / 2.0
}

/// Collection of a random block: α/(α − 1), because a victim is as full as the flash.
pub fn random(alpha: f64) -> f64 {
    check(alpha);
    alpha / (alpha - 1.0)
}

/// Collection in the order of closing, for blocks of any size; also the limit of greedy collection for large blocks.
///
/// The share u of pages that are still valid when their block's turn comes solves u = exp(−α(1 − u)), and
/// 1/(1 − u) is the write amplification: α/(α + W₀(−α e^−α)) in terms of Lambert's function (Desnoyers,
/// "Analytic models of SSD write performance", ACM Transactions on Storage 10(2), 2014).
pub fn fifo(alpha: f64) -> f64 {
    fifo_of_classes(&[Class { writes: 1.0, pages: 1.0 }], alpha)
}

/// Greedy collection, exact for blocks of any number of pages n.
///
/// Victims hold one of two successive numbers m and m − 1 of valid pages (Bux and Iliadis, "Performance of
/// greedy garbage collection in flash-based solid-state drives", Performance Evaluation 67, 2010), the latter
/// with a frequency q. As many blocks pass from each number of valid pages to the next lower as victims are
/// collected, so with harmonic numbers H α = n (H(n) − H(m) + q/m) / (n − m + q), and the write amplification
/// is n / (n − m + q).
pub fn greedy(pages_per_block: u32, alpha: f64) -> f64 {
    check(alpha);
    let pages = f64::from(pages_per_block);
    let harmonic_above = |m: u32| (m + 1..=pages_per_block).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let gained = |m: u32, q: f64| pages - f64::from(m) + q;
    let alpha_of = |m: u32, q: f64| pages * (harmonic_above(m) + q / f64::from(m)) / gained(m, q);
    // More valid pages in victims need less spare. With m = 1 the emptiest block holds nothing, which is all
    // there is to gain.
    let Some(m) = (1..pages_per_block).rev().find(|m| alpha_of(*m, 1.0) >= alpha) else {
        return 1.0;
    };
    let q = fall(0.0, 1.0, |q| alpha - alpha_of(m, q));
    pages / gained(m, q)
}

/// Collection of the emptiest of some random blocks, exact for blocks of any number of pages n.
///
/// With S(k) the share of blocks that hold at least k valid pages, a victim holds at least k with probability
/// S(k)^d. As many blocks leave S(k) by losing a page as come back full, so S(k) − S(k + 1) = c (1 −
/// S(k)^d)/k with c such that the pages that hold data are Σ S(k) = n/α; the write amplification is n / (n −
/// Σ S(k)^d) (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based
/// solid state drives", SIGMETRICS 2013).
pub fn choices(pages_per_block: u32, count: u32, alpha: f64) -> f64 {
    check(alpha);
    assert!(count > 0, "one block at least is drawn");
    let pages = f64::from(pages_per_block);
    let exponent = i32::try_from(count).expect("a reasonable number of choices");
    // Valid pages per block: of all blocks, and of victims.
    let valid = |c: f64| {
        let mut share = 0.0;
        (1..=pages_per_block).rev().fold((0.0, 0.0), |(blocks, victims), k| {
            let (above, flow) = (share, c / f64::from(k));
            share = fall(above, 1.0, |share| above + flow * (1.0 - share.powi(exponent)) - share);
            (blocks + share, victims + share.powi(exponent))
        })
    };
    let mut high = 1.0;
    while valid(high).0 < pages / alpha {
        high *= 2.0;
    }
    let c = fall(0.0, high, |c| pages / alpha - valid(c).0);
    pages / (pages - valid(c).1)
}

/// Pages that are written equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Their share of the writes.
    pub writes: f64,
    /// Their share of all pages that hold data.
    pub pages: f64,
}

impl Class {
    /// Hot pages and the others.
    pub fn hot_and_cold(writes: f64, pages: f64) -> [Self; 2] {
        [Self { writes, pages }, Self { writes: 1.0 - writes, pages: 1.0 - pages }]
    }
}

/// Collection in the order of closing, where all pages share their blocks: A = Σ rᵢ / (1 − exp(−α rᵢ / (A
/// fᵢ))), where rᵢ of the writes go to fᵢ of the pages (Desnoyers 2014: between two turns of a block the host
/// writes α/A times the pages that hold data, and rᵢ/fᵢ of it falls on each page of a class). Pages that are
/// never written are moved in every turn.
pub fn fifo_of_classes(classes: &[Class], alpha: f64) -> f64 {
    check(alpha);
    let needed = |amplification: f64| {
        let of_class = |class: &Class| {
            let turn = alpha / (amplification * class.pages);
            if class.writes > 0.0 { class.writes / -(-turn * class.writes).exp_m1() } else { 1.0 / turn }
        };
        classes.iter().map(of_class).sum::<f64>()
    };
    // In terms of 1/A, which is between 0 and 1.
    1.0 / fall(0.0, 1.0, |inverse| 1.0 / inverse - needed(1.0 / inverse))
}

/// The spare share that remains when a share of all operations trims a random page that holds data and the
/// others write any page with equal probability.
///
/// Of the pages that the host can address (1 − 2q)/(1 − q) hold data in the steady state (Frankie, Hughes and
/// Kreutz-Delgado, "Analysis of trim commands on overprovisioning and write amplification in solid state
/// drives", arXiv 1210.5975).
pub fn spare_share_with_trim(spare_share: f64, trims: f64) -> f64 {
    1.0 - held_share_with_trim(trims) * (1.0 - spare_share)
}

/// The share of the pages that the host can address which hold data; see [`spare_share_with_trim`].
pub fn held_share_with_trim(trims: f64) -> f64 {
    assert!((0.0..0.5).contains(&trims), "fewer pages are trimmed than written");
    (1.0 - 2.0 * trims) / (1.0 - trims)
}

fn check(alpha: f64) {
    assert!(alpha > 1.0, "there is more flash than data");
}

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
                .then(|| self.in_order(alpha, &Class::hot_and_cold(writes, pages))),
            (Collection::CostBenefit, _) | (_, Traffic::Skewed { .. }) => None,
            (Collection::Fifo, _) => Some(self.in_order(alpha, &[Class { writes: 1.0, pages: 1.0 }])),
            (Collection::Greedy, _) => Some(greedy(self.pages_per_block, alpha)),
            (Collection::Choices(count), _) => Some(choices(self.pages_per_block, count, alpha)),
        }
    }

    /// Where blocks are collected in order, the formula counts the writes between the program of a page and the turn of its
    /// block. A block's collected pages are programmed at once, the host's one after the other: the last of those waits a
    /// block of the host's writes less than the first, on average half of that less than a collected page. They are 1/A of
    /// what is programmed, so all pages wait as if there were 1/(2A) of a block less.
    fn in_order(&self, alpha: f64, classes: &[Class]) -> f64 {
        let about = fifo_of_classes(classes, alpha);
        let younger = f64::from(self.pages_per_block) / (2.0 * about);
        fifo_of_classes(classes, alpha * (1.0 - younger / self.parameters().closed_pages()))
    }

    fn held_share(&self) -> f64 {
        match self.traffic {
            Traffic::Trimmed { trims } => held_share_with_trim(trims),
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
