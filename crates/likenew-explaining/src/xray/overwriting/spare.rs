//! Finds the over-provisioning: at scattered addresses, a full drive takes its spare, less what it never
//! uses, before it must relocate valid data.

use std::ops::Range;

use likenew_core::findings::{Line, Mark, Series, Shape};
use likenew_core::quantity::Factor;
use likenew_core::segment::Segment;
use likenew_procedure_support::series::axis;
use likenew_stats::summary::{mean, median, quantile};

use super::super::experiment::{Cliff, Context};
use super::super::property::{Key, Property};
use super::super::wording::{self, ScatteredWrites};
use super::super::writing::WriteProgress;
use super::NATIVE;

/// Least ratio of the cost of scattered writes to that of overwriting in place, if no cache is certain.
/// Chosen: cheaper ones went to a cache.
const LIKE_IN_PLACE: f64 = 0.6;
/// Least ratio of what a cache saves for scattered writes to what it saves for sequential ones. Chosen: half
/// is more than noise.
const SAVED_SHARE: f64 = 0.5;
/// Mean number of erase blocks of each die that never hold overwrites: two to four are kept erased, one to
/// three are open. Fitted.
const KEPT_BLOCKS: f64 = 3.3;
/// Error of `KEPT_BLOCKS`, in blocks; fitted.
const KEPT_ERROR: f64 = 1.3;
/// These blocks as a share of the spare, if the erase unit is unknown: a die has some dozens of spare ones.
/// Chosen: `KEPT_BLOCKS` of thirty.
const KEPT_SHARE: f64 = 0.11;
/// Overwriting ends once the bytes in empty blocks are known to this share and this many windows follow the
/// rise; or after so many windows that more would describe the drive as it became. Chosen: more writes would
/// narrow it only slowly.
const NARROW: f64 = 0.14;
const FOLLOWING: usize = 24;
const FOLLOWING_MOST: usize = 112;
/// Share of both errors together within which nine of ten drives lie; fitted.
const NINE_OF_TEN: f64 = 0.87;
/// Error of the spare, as a share of it, above which confidence is lower. Chosen: it still tells 7% from 28%.
const SURE: f64 = 0.15;
/// Error of the spare, as a share of it, above which nothing is claimed. Chosen: the interval would span a
/// factor of two.
const VAGUE: f64 = 0.4;
/// Largest ratio of the cost of scattered writes to that of sequential ones, without misses of the mapping
/// cache. Chosen: random programs use the dies less evenly.
const LIKE_ORDER: f64 = 1.8;
/// Largest such ratio with misses of the mapping cache. Chosen: a miss reads and writes part of the table.
const FETCHING: f64 = 3.5;

/// Cost of scattered overwrites as they continue.
pub(super) struct Spare {
    progress: WriteProgress,
    span: f64,
    /// Nanoseconds per byte without collection, and of sequential writes.
    alone: f64,
    in_order: f64,
    /// Whether scattered writes reached a level of their own.
    is_level: bool,
    /// Bytes that are in a cache when collection begins, and not in the spare.
    cached: f64,
    knee: Option<Knee>,
}

impl Spare {
    /// Analyzes scattered writes, with the cost of writes in place if that shows the flash.
    pub(super) fn new(context: &Context<'_>, scattered: &[&Segment], native: Option<f64>) -> Self {
        let (cache, cliff) = (context.slc_cache(), context.cliff());
        let progress = WriteProgress::from_segments(scattered.iter().copied());
        let level = level(&progress, context.span as f64);
        // Nanoseconds per byte of sequential writes: after the cache, or in place, or in the last part of the fill,
        // because pieces after a rest may have gone to a cache.
        let last_cost = context.shared.fill.map_or(0.0, |fill| fill.last_cost);
        let in_order = cache.map(|cache| cache.after).or(native).unwrap_or(last_cost);
        // If a cache takes all writes until collection begins, there is no level without it.
        let least = match cache {
            Some(cache) => NATIVE * cache.after,
            None => native.map_or(0.0, |native| LIKE_IN_PLACE * native),
        };
        let is_native = |level: &f64| *level > least;
        let level = level.filter(is_native);
        let alone = level.unwrap_or(in_order);
        let knee = Knee::find(&progress, alone);
        // Erases alone explain a cost in place that is only a little above that before the drop.
        let may_cache = |cache: &Cliff| native.is_none_or(|native| cache.before < LIKE_IN_PLACE * native);
        let cached = match (cliff.filter(may_cache), knee) {
            (Some(cache), Some(knee)) => {
                let saves = native.unwrap_or(cache.after).min(alone) - cache.before;
                scattered_writes(&progress, alone, saves, knee.begins)
            }
            _ => 0.0,
        };
        Self { progress, span: context.span as f64, alone, in_order, is_level: level.is_some(), cached, knee }
    }

    /// Whether the drive has started to collect.
    pub(super) fn has_begun(&self) -> bool {
        self.knee.is_some()
    }

    /// Whether more writes would add little.
    pub(super) fn is_settled(&self) -> bool {
        let Some(knee) = &self.knee else { return false };
        let following = self.progress.marks.len() - knee.at;
        let is_narrow = || self.feed_rate().is_some_and(|[fed, low, high]| high - low < 2.0 * NARROW * fed);
        following >= FOLLOWING_MOST || following >= FOLLOWING && is_narrow()
    }

    /// Bytes that went to blocks without valid data, and the ends of the 90% interval.
    fn feed_rate(&self) -> Option<[f64; 3]> {
        let knee = self.knee.as_ref()?;
        let FreeSpaceFit { remaining, low, high } =
            FreeSpaceFit::fit(&self.progress, knee, self.alone, self.span)?;
        Some([remaining, low, high].map(|remaining| knee.begins - self.cached + remaining))
    }

    /// Over-provisioning in percent, with the erase units of each die that never hold overwrites.
    pub(super) fn property(&self, context: &Context<'_>, unit: &Property) -> Property {
        let key = Key::OverProvisioningPercent;
        let Some((knee, [fed, low, high])) = self.knee.zip(self.feed_rate()) else {
            return Property::undecided(key, wording::never_collected());
        };
        let reason = wording::scattered_writes(&ScatteredWrites {
            before: knee.begins,
            slower: Factor(knee.after / self.alone),
            to_empty_blocks: fed,
            to_cache: self.cached,
        });
        let fetches = context.number(Key::MapCacheBytes).is_some();
        let like_order = self.alone < self.in_order * if fetches { FETCHING } else { LIKE_ORDER };
        // With misses of the mapping cache, only a level shows what they cost.
        if !like_order || fed <= 0.0 || fetches && !self.is_level {
            return Property::undecided(key, reason.how(wording::GRADUAL_COLLECTION));
        }
        let cell = self.progress.bytes() / self.progress.marks.len() as f64;
        let (kept, kept_error) = match unit.value() {
            Some(unit) => (KEPT_BLOCKS * unit, KEPT_ERROR * unit + cell),
            None => (KEPT_SHARE * fed, KEPT_SHARE * fed + cell),
        };
        let spare = fed + kept;
        let (below, above) = (kept_error.hypot(fed - low), kept_error.hypot(high - fed));
        if below + above > 2.0 * VAGUE * spare || kept > spare / 3.0 {
            return Property::undecided(key, reason.but(wording::UNCERTAIN_SPARE));
        }
        let is_sure = self.is_level && below + above < 2.0 * SURE * spare && unit.value().is_some();
        let percent = |bytes: f64| 100.0 * bytes / self.span;
        let interval = (percent(spare - NINE_OF_TEN * below), percent(spare + NINE_OF_TEN * above));
        let confidence = if is_sure { 0.95 } else { 0.8 };
        Property::number(key, percent(spare), interval, confidence, reason)
            .caveat(wording::KEPT_BLOCKS_ASSUMED)
    }

    pub(super) fn picture(&self) -> Option<Series> {
        let points = self.progress.speeds(512).into_iter().map(|[bytes, speed]| [bytes, 1e9 / speed]);
        let points: Vec<[f64; 2]> = points.collect();
        if points.is_empty() {
            return None;
        }
        let (overwritten, cost) = (axis("overwritten", "bytes"), axis("time of a byte", "ns"));
        let mark = self.knee.map(|knee| Mark { x: knee.begins, label: "garbage collection begins".into() });
        let series = Series::new(wording::COST_OF_OVERWRITING, Shape::Line, overwritten, cost);
        Some(series.lines([Line::new("scattered writes", points)]).marks(mark))
    }
}

/// Bytes of the first scattered writes that a cache took. Each saved what the cache `saves` for sequential
/// writes; misses of the mapping cache add the same to both.
fn scattered_writes(progress: &WriteProgress, alone: f64, saves: f64, until: f64) -> f64 {
    if saves <= 0.0 {
        return 0.0;
    }
    let steps = progress.steps().zip(progress.costs()).take_while(|(step, _)| step.end <= until);
    let saved = steps.map(|(step, cost)| (step, ((alone - cost) / saves).clamp(0.0, 1.0)));
    saved.filter(|(_, share)| *share > SAVED_SHARE).map(|(step, share)| (step.end - step.start) * share).sum()
}

// Where the cost of scattered overwrites rises for good.

/// Cost of one window over that of writing alone, as a ratio, from which collection may begin there. Chosen:
/// above the spread of single windows.
const BEGINS: f64 = 1.5;
/// Least ratio of these costs for the mean of the windows that follow. Chosen: less than `BEGINS`, because
/// some of them cost nothing.
const COSTLY: f64 = 1.35;
/// Number of windows that follow. All dies may collect at the same time, so windows in between cost nothing.
const FOLLOWING_WINDOWS: usize = 32;
/// This many windows are level if the middle 80% of their costs stay within `LEVEL`: collection goes block by
/// block and is less even than writing alone.
const LEVEL_WINDOWS: usize = 24;
/// Most that the costs of level windows spread, as a share of their median. Chosen: writing alone stays below
/// it, collection above.
const LEVEL: f64 = 0.25;
/// The first level begins within this many windows, because a write buffer is full by then; and the next one
/// within [`NEXT_BEGINS`] of the one before.
const LEVEL_BEGINS: usize = 24;
const NEXT_BEGINS: usize = 64;
/// Windows cheaper than this share of the last level belong to an earlier one. Chosen: below the spread of a
/// level.
const SAME_LEVEL: f64 = 0.7;
/// Least ratio of the level after a cache to the one in it. Chosen: a smaller rise may be the cost of
/// erasing.
const HIGHER: f64 = 1.4;
/// Ratio of two levels up to which they are the same. Chosen: levels repeat to a few percent.
const NO_HIGHER: f64 = 1.1;
/// Most that a level of writing without a cache costs, as a share of the cost of collection. Chosen: to leave
/// room for errors of both.
const BELOW_COLLECTION: f64 = 0.6;
/// Pages that the emptiest blocks have lost over those of an average block, as a ratio, when collection
/// begins. Chosen: for a choice among all blocks.
const EMPTIEST: f64 = 1.6;

/// The window from which scattered overwrites cost more for good.
#[derive(Clone, Copy, Debug)]
struct Knee {
    /// Windows before it.
    at: usize,
    /// Bytes before it.
    begins: f64,
    /// Nanoseconds per byte at the end.
    after: f64,
}

impl Knee {
    /// The knee of scattered writes that cost `alone` without collection.
    fn find(progress: &WriteProgress, alone: f64) -> Option<Self> {
        let costs = progress.costs();
        let begins = |at: &usize| {
            costs[*at] > BEGINS * alone
                && mean_cost(&costs, *at..*at + FOLLOWING_WINDOWS) > COSTLY * alone
                && costs.len() - at >= FOLLOWING_WINDOWS / 2
        };
        let at = (2..costs.len()).find(begins)?;
        let after = mean_cost(&costs, costs.len().saturating_sub(FOLLOWING_WINDOWS).max(at)..costs.len());
        Some(Self { at, begins: progress.marks[at - 1].bytes, after })
    }
}

/// Cost of scattered writes over the span without garbage collection, in nanoseconds per byte: the last level
/// before collection, which itself has no level. A full cache ends a level at once, or die by die. `None`
/// without a level at the beginning.
fn level(progress: &WriteProgress, span: f64) -> Option<f64> {
    let costs = progress.costs();
    let stretches = stretches(&costs);
    let (first, later) = stretches.split_first().filter(|(first, _)| first.start < LEVEL_BEGINS)?;
    let (mut end, mut level) = (first.end, level_of(&costs[first.clone()])?);
    for next in later {
        let higher = level_of(&costs[next.clone()])?;
        let overwritten = progress.marks[next.start].bytes / span;
        let collecting = level / (EMPTIEST * (1.0 - (-overwritten).exp()));
        let is_same = (1.0 / NO_HIGHER..NO_HIGHER).contains(&(higher / level));
        let is_native = higher > HIGHER * level && higher < BELOW_COLLECTION * collecting;
        if next.start > end + NEXT_BEGINS || !(is_same || is_native) {
            break;
        }
        (end, level) = (next.end, higher);
    }
    Some(level)
}

/// Stretches whose windows are all level, without a step upwards.
fn stretches(costs: &[f64]) -> Vec<Range<usize>> {
    let quantile_of = |windows: &[f64], share| quantile(windows, share).unwrap_or(0.0);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut before = f64::INFINITY;
    for (at, windows) in costs.windows(LEVEL_WINDOWS).enumerate() {
        let middle = quantile_of(windows, 0.5);
        if quantile_of(windows, 0.9) - quantile_of(windows, 0.1) >= LEVEL * middle {
            continue;
        }
        match stretches.last_mut() {
            Some(last) if at <= last.end && middle <= HIGHER * before => last.end = at + LEVEL_WINDOWS,
            _ => stretches.push(at..at + LEVEL_WINDOWS),
        }
        before = middle;
    }
    stretches
}

/// The last level of a stretch, from all of its windows that are on it.
fn level_of(costs: &[f64]) -> Option<f64> {
    let last = median(&costs[costs.len() - LEVEL_WINDOWS..])?;
    let on_it: Vec<f64> = costs.iter().copied().filter(|cost| *cost > SAME_LEVEL * last).collect();
    median(&on_it)
}

/// The mean of the costs that exist in a range.
fn mean_cost(costs: &[f64], range: Range<usize>) -> f64 {
    mean(&costs[range.start..range.end.min(costs.len())]).unwrap_or(f64::NAN)
}

// How much of a drive's spare held no valid data when garbage collection began, and was used up as it
// continued.
//
// Firmware that takes the emptiest of a few randomly chosen blocks sometimes misses those that hold nothing,
// the more often the fewer are left, and relocates what others hold. The cost of that is computed for every
// possible start, weighted by how well it agrees with the measurement.

/// Windows that are averaged to one value: this many if collection begins late, and at least [`BIN_LEAST`] if
/// it begins early.
const BIN: usize = 8;
const BIN_LEAST: usize = 2;
/// Number of values before collection, where [`BIN`] allows it.
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

/// Empty blocks that were left when collection began.
#[derive(Clone, Copy, Debug)]
struct FreeSpaceFit {
    /// Bytes in empty blocks when collection began: the median of the weighted starts.
    remaining: f64,
    /// The ends of the 90% interval.
    low: f64,
    high: f64,
}

impl FreeSpaceFit {
    /// Fits scattered writes over the whole span, from where their cost rises, in multiples of their cost
    /// `alone`. `None` if there are too few.
    fn fit(progress: &WriteProgress, knee: &Knee, alone: f64, span: f64) -> Option<Self> {
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
                PAGES.into_iter().flat_map(|pages| CHOICES.map(|choice| (pages, choice)))
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
        let empty = if is_greedy {
            (self.remaining / share).min(1.0)
        } else {
            1.0 - (1.0 - self.remaining / self.closed).powf(self.choices)
        };
        let of_first = if is_greedy {
            f64::from(u8::from(self.erased < 1.0))
        } else {
            1.0 - (1.0 - (1.0 - self.erased).max(0.0) / self.closed).powf(self.choices)
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
        let (mean, deviations) = if !self.choices.is_infinite() {
            (of_first * first + (1.0 - of_first) * later(last / (self.choices + 1.0)), self.deviations)
        } else if of_first > 0.0 {
            (first, integral_above(self.erased))
        } else {
            (later(self.erased - 1.0), 0.0)
        };
        (mean + deviations * (mean * (1.0 - mean) / self.pages).sqrt()).clamp(0.005, 0.95)
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
    let total: f64 = weights.iter().sum();
    let mut below = 0.0;
    let mut last: Option<(f64, f64)> = None;
    for (value, weight) in values.iter().zip(weights) {
        let middle = (below + weight / 2.0) / total;
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

    /// Windows of 1000 bytes at these costs.
    fn progress(costs: &[f64]) -> WriteProgress {
        let mut ns = 0.0;
        let marks = costs.iter().enumerate().map(|(index, cost)| {
            ns += 1000.0 * cost;
            writing::Mark { bytes: 1000.0 * (index + 1) as f64, ns }
        });
        WriteProgress { marks: marks.collect() }
    }

    #[test]
    fn it_is_found_where_dies_pause_together() {
        let costs: Vec<f64> =
            (0..160).map(|index| if index >= 100 && index % 5 == 0 { 130.0 } else { 2.0 }).collect();
        let progress = progress(&costs);
        assert_eq!(level(&progress, 1e6), Some(2.0));
        let knee = Knee::find(&progress, 2.0).unwrap();
        assert!((knee.begins - 100_000.0).abs() < 1500.0 && knee.at == 100, "{knee:?}");
    }

    #[test]
    fn hiccups_are_none() {
        let hiccups: Vec<f64> = (0..160).map(|index| if index % 40 == 7 { 9.0 } else { 2.0 }).collect();
        assert!(Knee::find(&progress(&hiccups), 2.0).is_none());
    }

    #[test]
    fn what_comes_after_a_cache_is_the_level_and_collection_is_none() {
        let instant_drop: Vec<f64> = (0..200).map(|index| if index < 60 { 2.0 } else { 8.0 }).collect();
        assert_eq!(level(&progress(&instant_drop), 1e6), Some(8.0));
        let die_by_die: Vec<f64> = (0..200)
            .map(|index| match index {
                ..60 => 2.0,
                60..90 => 2.0 + 0.2 * f64::from(index - 60),
                _ => 8.0,
            })
            .collect();
        assert_eq!(level(&progress(&die_by_die), 1e6), Some(8.0));
        // After a fifth of the span is overwritten, blocks have lost 18% of their pages.
        let collecting: Vec<f64> = (0..300).map(|index| if index < 200 { 2.0 } else { 9.0 }).collect();
        let collected = progress(&collecting[..230]);
        assert_eq!(level(&collected, 1e6), Some(2.0));
        let never: Vec<f64> = (0..200).map(|index| 2.0 + 8.0 * f64::from(index * 7 % 11)).collect();
        assert_eq!(level(&progress(&never), 1e6), None);
    }

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
