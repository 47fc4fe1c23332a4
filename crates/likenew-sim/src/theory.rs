//! Write amplification of FTLs by theory, and the comparison of simulations with it.
//!
//! Each formula is a pure function of the flash geometry. Write amplification is pages programmed over pages
//! that the host wrote, in the steady state.

pub mod log;

use rand::{RngExt as _, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::flash::FlashGeometry;
use crate::flash::page_map::PageMap;
use crate::flash::policies::{Collection, PageMapParameters, Policies, Streams};
use crate::flash::translation_layer::{Counts, PendingWork, TranslationLayer as _};

// Page-mapped flash, in the limit of many blocks.
//
// `alpha` is always T/U: flash pages over pages that hold data, reserve and open blocks excluded (see
// [`PageMapParameters::closed_pages`](crate::flash::policies::PageMapParameters::closed_pages)). The spare
// share (T − U)/T is 1 − 1/α. All functions but the last two assume uniform random writes.

/// Steps of a bisection: enough to reduce an interval of length 1 to the precision of `f64`.
const STEPS: u32 = 60;

/// The x in an interval at which a falling function reaches zero.
fn bisect(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
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

/// Collection in the order of closing (FIFO), for blocks of any size; also the limit of greedy collection for
/// large blocks.
///
/// The share u of pages that are still valid when their block is collected solves u = exp(−α(1 − u)), and the
/// write amplification is 1/(1 − u). With Lambert's function it is α/(α + W₀(−α e^−α)) (Desnoyers, "Analytic
/// models of SSD write performance", ACM Transactions on Storage 10(2), 2014).
pub fn fifo(alpha: f64) -> f64 {
    fifo_of_classes(&[Class { writes: 1.0, pages: 1.0 }], alpha)
}

/// Greedy collection, exact for blocks of any number of pages n.
///
/// Victims hold one of two successive numbers m and m − 1 of valid pages (Bux and Iliadis, "Performance of
/// greedy garbage collection in flash-based solid-state drives", Performance Evaluation 67, 2010), the latter
/// with a frequency q. As many blocks pass from each number of valid pages to the next lower as victims are
/// collected. With harmonic numbers H this means α = n (H(n) − H(m) + q/m) / (n − m + q), and the write
/// amplification is n / (n − m + q).
pub fn greedy(pages_per_block: u32, alpha: f64) -> f64 {
    check(alpha);
    let pages = f64::from(pages_per_block);
    let harmonic_above = |m: u32| (m + 1..=pages_per_block).map(|i| 1.0 / f64::from(i)).sum::<f64>();
    let gained = |m: u32, q: f64| pages - f64::from(m) + q;
    let alpha_of = |m: u32, q: f64| pages * (harmonic_above(m) + q / f64::from(m)) / gained(m, q);
    // The more valid pages in victims, the less spare. With m = 1 the emptiest block is empty, the best case.
    let Some(m) = (1..pages_per_block).rev().find(|m| alpha_of(*m, 1.0) >= alpha) else {
        return 1.0;
    };
    let q = bisect(0.0, 1.0, |q| alpha - alpha_of(m, q));
    pages / gained(m, q)
}

/// Collection of the emptiest of some random blocks, exact for blocks of any number of pages n.
///
/// If S(k) is the share of blocks with at least k valid pages, a victim has at least k with probability
/// S(k)^d. As many blocks leave S(k) by losing a page as return full, so S(k) − S(k + 1) = c (1 − S(k)^d)/k.
/// The constant c is such that the pages with data are Σ S(k) = n/α. The write amplification is n / (n − Σ
/// S(k)^d) (Van Houdt, "A mean field model for a class of garbage collection algorithms in flash-based solid
/// state drives", SIGMETRICS 2013).
pub fn choices(pages_per_block: u32, count: u32, alpha: f64) -> f64 {
    check(alpha);
    assert!(count > 0, "one block at least is drawn");
    let pages = f64::from(pages_per_block);
    let exponent = i32::try_from(count).expect("a reasonable number of choices");
    // Valid pages per block, for all blocks and for victims.
    let valid = |c: f64| {
        let mut share = 0.0;
        (1..=pages_per_block).rev().fold((0.0, 0.0), |(blocks, victims), k| {
            let (above, flow) = (share, c / f64::from(k));
            share = bisect(above, 1.0, |share| above + flow * (1.0 - share.powi(exponent)) - share);
            (blocks + share, victims + share.powi(exponent))
        })
    };
    let mut high = 1.0;
    while valid(high).0 < pages / alpha {
        high *= 2.0;
    }
    let c = bisect(0.0, high, |c| pages / alpha - valid(c).0);
    pages / (pages - valid(c).1)
}

/// A class of pages that are written equally often.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Class {
    /// Their share of the writes.
    pub writes: f64,
    /// Their share of all pages with data.
    pub pages: f64,
}

impl Class {
    /// Hot pages and all others.
    pub fn hot_and_cold(writes: f64, pages: f64) -> [Self; 2] {
        [Self { writes, pages }, Self { writes: 1.0 - writes, pages: 1.0 - pages }]
    }
}

/// FIFO collection with all classes of pages in the same blocks: A = Σ rᵢ / (1 − exp(−α rᵢ / (A fᵢ))), where
/// rᵢ of the writes go to fᵢ of the pages. Desnoyers 2014: between two turns of a block, the host writes α/A
/// times the pages with data, and each page of a class gets rᵢ/fᵢ of that. Pages that are never written are
/// relocated in every turn.
pub fn fifo_of_classes(classes: &[Class], alpha: f64) -> f64 {
    check(alpha);
    let needed = |amplification: f64| {
        let of_class = |class: &Class| {
            let turn = alpha / (amplification * class.pages);
            if class.writes > 0.0 { class.writes / -(-turn * class.writes).exp_m1() } else { 1.0 / turn }
        };
        classes.iter().map(of_class).sum::<f64>()
    };
    // Solved for 1/A, which is between 0 and 1.
    1.0 / bisect(0.0, 1.0, |inverse| 1.0 / inverse - needed(1.0 / inverse))
}

/// The spare share that remains if a share of all operations trims a random page with data, and the others
/// are uniform random writes.
///
/// In the steady state, (1 − 2q)/(1 − q) of the addressable pages hold data (Frankie, Hughes and
/// Kreutz-Delgado, "Analysis of trim commands on overprovisioning and write amplification in solid state
/// drives", arXiv 1210.5975).
pub fn spare_share_with_trim(spare_share: f64, trims: f64) -> f64 {
    1.0 - held_share_with_trim(trims) * (1.0 - spare_share)
}

/// The share of addressable pages that hold data; see [`spare_share_with_trim`].
pub fn held_share_with_trim(trims: f64) -> f64 {
    assert!((0.0..0.5).contains(&trims), "fewer pages are trimmed than written");
    (1.0 - 2.0 * trims) / (1.0 - trims)
}

fn check(alpha: f64) {
    assert!(alpha > 1.0, "there is more flash than data");
}

/// A step that visits every page once.
const SCATTER_PRIME: u64 = 4_294_967_291;

/// The host's random operations, page by page.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Traffic {
    /// Uniform random writes.
    Uniform,
    /// Writes that prefer the first pages.
    Skewed {
        /// Share of the writes that go to these pages.
        writes: f64,
        /// Their share of all pages.
        pages: f64,
    },
    /// Uniform random writes, and trims of random pages with data.
    Trimmed {
        /// Share of trims.
        trims: f64,
    },
}

/// A die with its policies, and the host's traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Which block is collected.
    pub collection: Collection,
    /// Which pages share a block.
    pub streams: Streams,
    /// Pages per erase block.
    pub pages_per_block: u32,
    /// Erase blocks.
    pub blocks: u32,
    /// Share of the flash that the host cannot address, reserve and open blocks excluded.
    pub spare_share: f64,
    /// The host's traffic.
    pub traffic: Traffic,
    /// Passes before the measurement, after one fill. A pass has as many operations as addressable pages.
    pub passes_before: u32,
    /// Passes in the measurement.
    pub passes: u32,
    /// Seed of the traffic.
    pub seed: u64,
}

/// A measurement of write amplification in the steady state.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyWriteAmplification {
    /// Write amplification in each pass.
    pub passes: Vec<f64>,
    /// Write amplification over all passes.
    pub write_amplification: f64,
    /// The theoretical value, if there is a theory.
    pub theory: Option<f64>,
}

impl PageMapParameters {
    /// Flash pages that theory counts: those of closed blocks at the moment when a victim is chosen.
    ///
    /// At that moment, the reserve is erased except for one block, which has just been opened. The open block
    /// of any other stream is half full on average.
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

    /// Theoretical write amplification for the actual spare.
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

    /// FIFO theory, corrected for the size of blocks. The formula counts the writes between the program of a
    /// page and its block's turn. A block's relocated pages are programmed at once, its host pages one after
    /// another. The last host page waits a block of host writes less than the first, and the average one half
    /// of that. Host pages are 1/A of all programs, so all pages wait as if there were 1/(2A) of a block less.
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

    /// Runs the traffic and measures its write amplification.
    ///
    /// # Panics
    /// A page map of this shape cannot work, or a pass writes nothing.
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

/// A host with random traffic on a page map.
struct Host {
    map: PageMap,
    random: Xoshiro256PlusPlus,
    traffic: Traffic,
    pages: u32,
    pending: PendingWork,
}

impl Host {
    /// Fills the drive, and trims as much of it as in the steady state.
    fn new(setting: &Setting) -> Self {
        let map = PageMap::new(setting.parameters());
        let pages = map.user_pages();
        let random = Xoshiro256PlusPlus::seed_from_u64(setting.seed);
        let mut host = Self { map, random, traffic: setting.traffic, pages, pending: PendingWork::default() };
        // In scattered order: otherwise hot pages would share blocks, which would be collected in waves.
        let scattered = |step| (u64::from(step) * SCATTER_PRIME % u64::from(pages)) as u32;
        (0..pages).for_each(|step| host.write(scattered(step)));
        let mapped_count = (f64::from(pages) * setting.held_share()) as u32;
        (mapped_count..pages).for_each(|_| host.trim());
        host
    }

    fn pass(&mut self) {
        for _ in 0..self.pages {
            let range = match self.traffic {
                Traffic::Uniform => 0..self.pages,
                Traffic::Skewed { writes, pages } => {
                    let hot_pages = (f64::from(self.pages) * pages) as u32;
                    let hot = self.random.random_bool(writes);
                    if hot { 0..hot_pages } else { hot_pages..self.pages }
                }
                Traffic::Trimmed { trims } if self.random.random_bool(trims) => {
                    self.trim();
                    continue;
                }
                Traffic::Trimmed { .. } => 0..self.pages,
            };
            let page = self.random.random_range(range);
            self.write(page);
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
