//! How much of a drive's spare held nothing valid when collection set in, and was used up while it went on.
//!
//! Whoever takes the emptiest of a few blocks that were drawn at random misses those that hold nothing now and then, the more often the
//! fewer are left, and moves what others hold. What that costs is computed for every possible start, and weighed by how well it
//! agrees with what was measured.

use std::ops::Range;

use super::super::writing::WriteProgress;
use super::knee::Knee;

/// Windows whose mean counts as one value: so many where collection sets in late, and at least so many where it does early.
const BIN: usize = 8;
const BIN_LEAST: usize = 2;
/// Values before collection, if they were that long.
const BINS_BEFORE: usize = 16;
/// Blocks among which the emptiest is chosen, how many standard deviations it lies below the mean (of so many normal values the
/// least), and how likely that is beforehand: all of them, or a few.
const CHOICES: [(f64, f64, f64); 6] = [
    (f64::INFINITY, 0.0, 0.5),
    (20.0, 1.87, 0.1),
    (14.0, 1.70, 0.1),
    (10.0, 1.54, 0.1),
    (7.0, 1.35, 0.1),
    (5.0, 1.16, 0.1),
];
/// Pages of a block: many, some, few.
const PAGES: [f64; 3] = [f64::INFINITY, 512.0, 128.0];
/// What was empty when collection set in, in shares of the span: nothing, or one of so many shares at equal ratios.
const FREE_SHARE_RANGE: Range<f64> = 0.003..0.45;
const LEFTS: usize = 44;
/// A page that is moved costs about so many times what a page of the host does, give or take this in its logarithm: both are programmed, by
/// dies that work side by side.
const PRICE: f64 = 0.9;
const PRICE_SPREAD: f64 = 0.13;
const PRICES: Range<f64> = 0.6..1.35;
const PRICE_STEPS: usize = 9;
/// Errors of neighbouring values are alike, so that two of them are worth one; and none is known better than to this share.
const WORTH: f64 = 0.5;
const EXACT: f64 = 0.03;

/// What was left.
#[derive(Clone, Copy, Debug)]
pub(super) struct FreeSpaceFit {
    /// Bytes in empty blocks when collection set in: the median of what they may be.
    pub(super) remaining: f64,
    /// The ends of a 90 % interval.
    pub(super) low: f64,
    pub(super) high: f64,
}

impl FreeSpaceFit {
    /// Of scattered writes all over a span, from where their cost rises on, in times of what they cost `alone`. `None` of too few.
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
    /// Shares of the span that were overwritten before and after it.
    from: f64,
    to: f64,
    /// The logarithm of what it cost in times of writing alone.
    cost: f64,
}

/// Numbers at equal ratios.
fn spaced_values(range: Range<f64>, count: usize) -> impl Iterator<Item = f64> {
    let ratio = (range.end / range.start).ln() / (count - 1) as f64;
    (0..count).map(move |index| range.start * (ratio * index as f64).exp())
}

/// The blocks of a drive whose addresses were written in order once, and are overwritten at random; all in shares of the span.
struct Blocks {
    /// In empty blocks.
    remaining: f64,
    closed: f64,
    choices: f64,
    deviations: f64,
    pages: f64,
    /// In blocks of the first filling that were erased.
    erased: f64,
    /// What had been programmed since the filling, and what the host had written, at the end of each bin.
    programmed: Vec<(f64, f64)>,
}

impl Blocks {
    fn new(written: f64, remaining: f64, choices: f64, deviations: f64, pages: f64) -> Self {
        let programmed = vec![(0.0, 0.0), (written, written)];
        Self { remaining, closed: 1.0 + remaining, choices, deviations, pages, erased: 0.0, programmed }
    }

    /// Pages that are moved for each of the host's, bin by bin.
    fn moved_shares(mut self, bins: &[Bin]) -> Vec<f64> {
        bins.iter().map(|bin| self.step(bin)).collect()
    }

    /// A share q of the blocks that are erased holds nothing; others have lost a share l of their pages. So a block erased gains
    /// g = q + (1 − q)·l, of which q empties one for good, and moves (1 − q)(1 − l).
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
        // Whoever takes the emptiest of all goes on with what was written next.
        self.erased += if is_greedy { 1.0 } else { of_first } * (1.0 - empty) * share / gained;
        let (programmed, _) = self.programmed[self.programmed.len() - 1];
        self.programmed.push((programmed + share * (1.0 + moved), bin.to));
        moved
    }

    /// What the blocks that are taken have lost: of a block that was full when y was written, 1 − exp(−(x − y)) at x, and more of the
    /// emptiest ones.
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

    /// What the host had written when so much was programmed.
    fn written_at(&self, programmed: f64) -> f64 {
        let next = self.programmed.partition_point(|(before, _)| *before < programmed);
        let next = next.clamp(1, self.programmed.len() - 1);
        let ((from, start), (to, end)) = (self.programmed[next - 1], self.programmed[next]);
        let part = ((programmed - from) / (to - from).max(1e-12)).clamp(0.0, 1.0);
        start + part * (end - start)
    }
}

/// The normal quantile with this share of all above it, and nothing below the mean (Abramowitz and Stegun 1964, 26.2.22, to 0.003).
fn integral_above(share: f64) -> f64 {
    let root = (-2.0 * share.clamp(1e-3, 0.5).ln()).sqrt();
    (root - (2.30753 + 0.27061 * root) / (1.0 + root * (0.99229 + root * 0.04481))).max(0.0)
}

/// The logarithm of how likely all costs are where a page moved costs so much, whatever their error is; and of how likely that price is.
fn weight(bins: &[Bin], moved: &[f64], price: f64) -> f64 {
    let error = |(bin, moved): (&Bin, &f64)| (bin.cost - (1.0 + price * moved).ln()).powi(2);
    let squares: f64 = bins.iter().zip(moved).map(error).sum();
    let count = bins.len() as f64;
    let unlikely = (price / PRICE).ln() / PRICE_SPREAD;
    -0.5 * WORTH * count * (squares + count * EXACT * EXACT).ln() - 0.5 * unlikely * unlikely
}

/// The place below which this share of the weight lies, interpolated between the middles of the values' weights.
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

    /// A die of blocks of pages, all of whose addresses were written in order, and which keeps two blocks erased. The last of its spare
    /// are empty, but not erased yet.
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

        /// Pages that were programmed for one of the host's at random.
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
                // What was overwritten within its block is found twice there.
                let held: std::collections::BTreeSet<usize> = held.collect();
                moved += held.len();
                held.into_iter().for_each(|page| self.put(page));
                self.erased.insert(0, victim);
            }
            1 + moved
        }
    }

    /// What went to empty blocks as it is told, and the ends of its interval, in blocks.
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
