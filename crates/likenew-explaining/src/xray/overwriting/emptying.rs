//! How much of a drive's spare held no valid data when garbage collection began, and was used up as it
//! continued.
//!
//! Firmware that takes the emptiest of a few randomly chosen blocks sometimes misses those that hold nothing,
//! the more often the fewer are left, and relocates what others hold. The cost of that is computed for every
//! possible start, weighted by how well it agrees with the measurement.

use std::ops::Range;

use super::super::writing::WriteProgress;
use super::knee::Knee;

/// Windows whose mean is one value: this many if collection begins late, and at least this many if it begins
/// early.
const BIN: usize = 8;
const BIN_LEAST: usize = 2;
/// Values before collection, if they were that long.
const BINS_BEFORE: usize = 16;
/// Number of blocks among which the emptiest is chosen, how many standard deviations it lies below the mean
/// (the smallest of that many normal values), and its prior probability: all blocks, or a few.
const CHOICES: [(f64, f64, f64); 6] = [
    (f64::INFINITY, 0.0, 0.5),
    (20.0, 1.87, 0.1),
    (14.0, 1.70, 0.1),
    (10.0, 1.54, 0.1),
    (7.0, 1.35, 0.1),
    (5.0, 1.16, 0.1),
];
/// Pages of a block: many, some, few. Chosen: to span the designs in use.
const PAGES: [f64; 3] = [f64::INFINITY, 512.0, 128.0];
/// Empty blocks when collection began, in shares of the span: none, or one of this many shares at equal
/// ratios. Chosen: from less than one block to more than any drive's spare.
const FREE_SHARE_RANGE: Range<f64> = 0.003..0.45;
const LEFTS: usize = 44;
/// Cost of a relocated page over that of a page of the host, as a ratio, and the standard deviation of its
/// logarithm: both are programmed by dies that work in parallel.
const PRICE: f64 = 0.9;
/// Standard deviation of the logarithm of `PRICE`. Chosen: reads hide in the programs of other dies more or
/// less.
const PRICE_SPREAD: f64 = 0.13;
/// Prices that are tried, as multiples of the cost of writing alone. Chosen: three deviations to either side
/// of `PRICE`.
const PRICES: Range<f64> = 0.6..1.35;
const PRICE_STEPS: usize = 9;
/// Errors of neighboring values are alike, so two of them are worth one. Chosen: half.
const WORTH: f64 = 0.5;
/// Smallest error of a value, as a share. Chosen: the model itself is no better.
const EXACT: f64 = 0.03;

/// The empty blocks that were left.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeSpaceFit {
    /// Bytes in empty blocks when collection began: the median of the weighted starts.
    pub(super) remaining: f64,
    /// The ends of the 90% interval.
    pub(super) low: f64,
    pub(super) high: f64,
}

impl FreeSpaceFit {
    /// From scattered writes over the whole span, starting where their cost rises, in multiples of their cost
    /// `alone`. `None` if there are too few.
    pub(super) fn fit(progress: &WriteProgress, knee: &Knee, alone: f64, span: f64) -> Option<Self> {
        let marks = progress.marks.get(knee.at - 1..)?;
        let each = (knee.at / BINS_BEFORE).clamp(BIN_LEAST, BIN);
        let ends: Vec<_> = marks.iter().step_by(each).collect();
        let bins = ends.windows(2);
        let bins = bins.map(|two| Bin {
            from: two[0].bytes / span,
            to: two[1].bytes / span,
            cost: ((two[1].ns - two[0].ns) / (two[1].bytes - two[0].bytes) / alone).ln(),
        });
        let bins: Vec<Bin> = bins.collect();
        if bins.len() < 2 {
            return None;
        }
        let lefts: Vec<f64> = std::iter::once(0.0).chain(spaced_values(FREE_SHARE_RANGE, LEFTS)).collect();
        let prices: Vec<f64> = spaced_values(PRICES, PRICE_STEPS).collect();
        let mut weights: Vec<(usize, f64)> = Vec::new();
        for (index, left) in lefts.iter().enumerate() {
            for (pages, (choices, deviations, likely)) in
                PAGES.into_iter().flat_map(|pages| CHOICES.map(|of| (pages, of)))
            {
                let moved = Blocks::new(bins[0].from, *left, choices, deviations, pages).moved_shares(&bins);
                weights
                    .extend(prices.iter().map(|price| (index, weight(&bins, &moved, *price) + likely.ln())));
            }
        }
        let highest = weights.iter().map(|(_, weight)| *weight).fold(f64::NEG_INFINITY, f64::max);
        let mut by_left = vec![0.0; lefts.len()];
        weights.iter().for_each(|(index, weight)| by_left[*index] += (weight - highest).exp());
        let at = |share| span * place(&lefts, &by_left, share);
        Some(Self { remaining: at(0.5), low: at(0.05), high: at(0.95) })
    }
}

/// A stretch of scattered writes.
struct Bin {
    /// Shares of the span overwritten before and after it.
    from: f64,
    to: f64,
    /// Logarithm of its cost over that of writing alone.
    cost: f64,
}

/// Numbers at equal ratios.
fn spaced_values(range: Range<f64>, count: usize) -> impl Iterator<Item = f64> {
    let ratio = (range.end / range.start).ln() / (count - 1) as f64;
    (0..count).map(move |index| range.start * (ratio * index as f64).exp())
}

/// The blocks of a drive written sequentially once and then overwritten at random; all in shares of the span.
struct Blocks {
    /// Empty blocks.
    remaining: f64,
    closed: f64,
    choices: f64,
    deviations: f64,
    pages: f64,
    /// Erased blocks of the first filling.
    erased: f64,
    /// Programmed since the filling, and written by the host, at the end of each bin.
    programmed: Vec<(f64, f64)>,
}

impl Blocks {
    fn new(written: f64, remaining: f64, choices: f64, deviations: f64, pages: f64) -> Self {
        let programmed = vec![(0.0, 0.0), (written, written)];
        Self { remaining, closed: 1.0 + remaining, choices, deviations, pages, erased: 0.0, programmed }
    }

    /// Pages relocated for each page of the host, by bin.
    fn moved_shares(mut self, bins: &[Bin]) -> Vec<f64> {
        bins.iter().map(|bin| self.step(bin)).collect()
    }

    /// A share q of the erased blocks holds nothing; others have lost a share l of their pages. So a block
    /// erased gains g = q + (1 − q)·l, of which q empties one for good, and relocates (1 − q)(1 − l).
    fn step(&mut self, bin: &Bin) -> f64 {
        let share = bin.to - bin.from;
        let is_greedy = self.choices.is_infinite();
        let empty = match is_greedy {
            true => (self.remaining / share).min(1.0),
            false => 1.0 - (1.0 - self.remaining / self.closed).powf(self.choices),
        };
        let of_first = match is_greedy {
            true => f64::from(u8::from(self.erased < 1.0)),
            false => 1.0 - (1.0 - (1.0 - self.erased).max(0.0) / self.closed).powf(self.choices),
        };
        let lost = self.lost_pages(bin, of_first);
        let gained = empty + (1.0 - empty) * lost;
        let moved = (1.0 - empty) * (1.0 - lost) / gained;
        self.remaining = (self.remaining - empty * share / gained).max(0.0);
        // Greedy collection continues with the blocks written next.
        self.erased += if is_greedy { 1.0 } else { of_first } * (1.0 - empty) * share / gained;
        let (programmed, _) = self.programmed[self.programmed.len() - 1];
        self.programmed.push((programmed + share * (1.0 + moved), bin.to));
        moved
    }

    /// The share of pages that the chosen blocks have lost: a block that was full when y was written has lost
    /// 1 − exp(−(x − y)) at x, and the emptiest ones more.
    fn lost_pages(&self, bin: &Bin, of_first: f64) -> f64 {
        let now = (bin.from + bin.to) / 2.0;
        let first = 1.0 - (-now).exp();
        let later = |programmed: f64| 1.0 - (-(now - self.written_at(programmed)).max(0.0)).exp();
        let (last, _) = self.programmed[self.programmed.len() - 1];
        let usual = match self.choices.is_infinite() {
            true if of_first > 0.0 => first,
            true => later(self.erased - 1.0),
            false => of_first * first + (1.0 - of_first) * later(last / (self.choices + 1.0)),
        };
        let deviations = match self.choices.is_infinite() {
            true if of_first > 0.0 => integral_above(self.erased),
            true => 0.0,
            false => self.deviations,
        };
        (usual + deviations * (usual * (1.0 - usual) / self.pages).sqrt()).clamp(0.005, 0.95)
    }

    /// What the host had written when this much was programmed.
    fn written_at(&self, programmed: f64) -> f64 {
        let next = self.programmed.partition_point(|(before, _)| *before < programmed);
        let next = next.clamp(1, self.programmed.len() - 1);
        let ((from, start), (to, end)) = (self.programmed[next - 1], self.programmed[next]);
        let part = ((programmed - from) / (to - from).max(1e-12)).clamp(0.0, 1.0);
        start + part * (end - start)
    }
}

/// The normal quantile with this share of all above it, and zero below the mean (Abramowitz and Stegun 1964,
/// 26.2.22, to 0.003).
fn integral_above(share: f64) -> f64 {
    let root = (-2.0 * share.clamp(1e-3, 0.5).ln()).sqrt();
    (root - (2.30753 + 0.27061 * root) / (1.0 + root * (0.99229 + root * 0.04481))).max(0.0)
}

/// Log likelihood of all costs for this price of a relocated page, whatever their error; and of that price.
fn weight(bins: &[Bin], moved: &[f64], price: f64) -> f64 {
    let error = |(bin, moved): (&Bin, &f64)| (bin.cost - (1.0 + price * moved).ln()).powi(2);
    let squares: f64 = bins.iter().zip(moved).map(error).sum();
    let count = bins.len() as f64;
    let unlikely = (price / PRICE).ln() / PRICE_SPREAD;
    -0.5 * WORTH * count * (squares + count * EXACT * EXACT).ln() - 0.5 * unlikely * unlikely
}

/// The value below which this share of the weight lies, interpolated between the middles of the values'
/// weights.
fn place(values: &[f64], weights: &[f64], share: f64) -> f64 {
    let all: f64 = weights.iter().sum();
    let mut below = 0.0;
    let mut last: Option<(f64, f64)> = None;
    for (value, weight) in values.iter().zip(weights) {
        let middle = (below + weight / 2.0) / all;
        below += weight;
        if middle >= share {
            return last
                .map_or(*value, |(before, at)| at + (value - at) * (share - before) / (middle - before));
        }
        last = Some((middle, *value));
    }
    last.map_or(0.0, |(_, value)| value)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::super::super::writing;
    use super::*;

    const PAGES: usize = 256;
    const HOST_BLOCKS: usize = 160;
    const SPARE: usize = 40;
    /// Blocks that are erased or open.
    const KEPT_BLOCKS: usize = 3;
    const WINDOW: usize = 40;

    /// A die of blocks of pages, whose addresses were all written sequentially, and which keeps two blocks
    /// erased. The last of its spare are empty, but not erased yet.
    struct Die {
        host: Vec<usize>,
        valid: Vec<usize>,
        content: Vec<Vec<usize>>,
        erased: Vec<usize>,
        open: usize,
        random: Xoshiro256PlusPlus,
    }

    impl Die {
        fn new(spare: usize, unerased: usize) -> Self {
            let content: Vec<Vec<usize>> = (0..HOST_BLOCKS)
                .map(|block| (block * PAGES..(block + 1) * PAGES).collect())
                .chain((0..spare).map(|_| Vec::new()))
                .collect();
            Self {
                host: (0..HOST_BLOCKS * PAGES).map(|page| page / PAGES).collect(),
                valid: content.iter().map(Vec::len).collect(),
                erased: (HOST_BLOCKS + 1..HOST_BLOCKS + spare - unerased).collect(),
                open: HOST_BLOCKS,
                content,
                random: Xoshiro256PlusPlus::seed_from_u64(7),
            }
        }

        fn draw(&mut self, below: usize) -> usize {
            self.random.random_range(0..below)
        }

        fn put(&mut self, page: usize) {
            if self.content[self.open].len() == PAGES {
                self.open = self.erased.pop().unwrap();
            }
            self.content[self.open].push(page);
            self.host[page] = self.open;
            self.valid[self.open] += 1;
        }

        /// Pages programmed for one random page of the host.
        fn write(&mut self, choices: Option<usize>) -> usize {
            let page = self.draw(self.host.len());
            let old = self.host[page];
            self.valid[old] -= 1;
            self.host[page] = usize::MAX;
            self.put(page);
            let mut moved = 0;
            while self.erased.len() < 2 {
                let closed: Vec<usize> = (0..self.valid.len())
                    .filter(|block| *block != self.open && !self.erased.contains(block))
                    .collect();
                let drawn: Vec<usize> = match choices {
                    None => closed,
                    Some(count) => (0..count).map(|_| closed[self.draw(closed.len())]).collect(),
                };
                let victim = drawn.into_iter().min_by_key(|block| self.valid[*block]).unwrap();
                let pages = std::mem::take(&mut self.content[victim]);
                self.valid[victim] = 0;
                let held = pages.into_iter().filter(|page| self.host[*page] == victim);
                // A page overwritten within its block is found twice there.
                let held: std::collections::BTreeSet<usize> = held.collect();
                moved += held.len();
                held.into_iter().for_each(|page| self.put(page));
                self.erased.insert(0, victim);
            }
            1 + moved
        }
    }

    /// The estimate of what went to empty blocks, and the ends of its interval, in blocks.
    fn estimate(unerased: usize, choices: Option<usize>, windows: usize) -> [f64; 3] {
        let mut die = Die::new(SPARE, unerased);
        let mut ns = 0.0;
        let marks = (0..windows).map(|window| {
            ns += (0..WINDOW).map(|_| die.write(choices)).sum::<usize>() as f64;
            writing::Mark { bytes: (WINDOW * (window + 1)) as f64, ns }
        });
        let progress = WriteProgress { marks: marks.collect() };
        let knee = Knee::find(&progress, 1.0).unwrap();
        let span = (HOST_BLOCKS * PAGES) as f64;
        let FreeSpaceFit { remaining, low, high } = FreeSpaceFit::fit(&progress, &knee, 1.0, span).unwrap();
        [remaining, low, high].map(|remaining| (knee.begins + remaining) / PAGES as f64)
    }

    #[test]
    fn a_drive_that_takes_the_emptiest_block_shows_its_spare_at_once() {
        let [value, low, high] = estimate(0, None, 300);
        let spare = (SPARE - KEPT_BLOCKS) as f64;
        assert!((value / spare - 1.0).abs() < 0.08 && low <= value && value <= high, "{low} {value} {high}");
    }

    #[test]
    fn a_drive_that_chooses_among_a_few_shows_it_by_and_by() {
        for choices in [5, 10] {
            let [value, low, high] = estimate(25, Some(choices), 360);
            let spare = (SPARE - KEPT_BLOCKS) as f64;
            assert!(
                (value / spare - 1.0).abs() < 0.15 && low <= value && value <= high,
                "{low} {value} {high}"
            );
        }
    }
}
