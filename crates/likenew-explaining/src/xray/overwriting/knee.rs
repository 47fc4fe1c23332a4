//! Where the cost of scattered overwrites rises for good.

use std::ops::Range;

use likenew_stats::summary::{mean, median, quantile};

use super::super::writing::WriteProgress;

/// Cost of one window over that of writing alone, as a ratio, from which collection may begin there. Chosen:
/// above the spread of single windows.
const BEGINS: f64 = 1.5;
/// The same for the mean of the windows that follow. Chosen: less than `BEGINS`, because some of them cost
/// nothing.
const COSTLY: f64 = 1.35;
/// Number of windows that follow. All dies may collect at the same time, so windows in between cost nothing.
const FOLLOWING: usize = 32;
/// This many windows are level if the middle 80% of their costs stay within `LEVEL`: collection goes block by
/// block and is less even than writing alone.
const LEVEL_WINDOWS: usize = 24;
/// Spread of the costs of level windows, as a share of their median, at most. Chosen: writing alone stays
/// below it, collection above.
const LEVEL: f64 = 0.25;
/// Windows before which the first level has begun, because a write buffer is full by then; and the next level
/// after the one before.
const LEVEL_BEGINS: usize = 24;
const NEXT_BEGINS: usize = 64;
/// Windows cheaper than this share of the last level belong to an earlier one. Chosen: below the spread of a
/// level.
const SAME_LEVEL: f64 = 0.7;
/// Ratio of the level after a cache to the one in it, at least. Chosen: a smaller rise may be the cost of
/// erasing.
const HIGHER: f64 = 1.4;
/// Ratio of two levels up to which they are the same. Chosen: levels repeat to a few percent.
const NO_HIGHER: f64 = 1.1;
/// Cost of a level over that of collection, as a ratio, at most, for the level to be writing without a cache.
/// Chosen: to leave room for errors of both.
const BELOW_COLLECTION: f64 = 0.6;
/// Pages that the emptiest blocks have lost over those of an average block, as a ratio, when collection
/// begins. Chosen: for a choice among all blocks.
const EMPTIEST: f64 = 1.6;

/// The point of the rise.
#[derive(Clone, Copy, Debug)]
pub(super) struct Knee {
    /// Windows before it.
    pub(super) at: usize,
    /// Bytes before it.
    pub(super) begins: f64,
    /// Nanoseconds per byte at the end.
    pub(super) after: f64,
}

impl Knee {
    /// The knee of scattered writes that cost `alone` without collection.
    pub(super) fn find(progress: &WriteProgress, alone: f64) -> Option<Self> {
        let costs = progress.costs();
        let begins = |at: &usize| {
            costs[*at] > BEGINS * alone
                && mean_cost(&costs, *at..*at + FOLLOWING) > COSTLY * alone
                && costs.len() - at >= FOLLOWING / 2
        };
        let at = (2..costs.len()).find(begins)?;
        let after = mean_cost(&costs, costs.len().saturating_sub(FOLLOWING).max(at)..costs.len());
        Some(Self { at, begins: progress.marks[at - 1].bytes, after })
    }
}

/// Cost of scattered writes over the span without garbage collection, in nanoseconds per byte: the last level
/// before collection, which has none itself. A full cache ends a level at once, or die by die. `None` without
/// a level at the beginning.
pub(super) fn level(progress: &WriteProgress, span: f64) -> Option<f64> {
    let costs = progress.costs();
    let stretches = stretches(&costs);
    let (first, rest) = stretches.split_first().filter(|(first, _)| first.start < LEVEL_BEGINS)?;
    let (mut end, mut level) = (first.end, level_of(&costs[first.clone()])?);
    for next in rest {
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
    let of = |windows: &[f64], share| quantile(windows, share).unwrap_or(0.0);
    let mut stretches: Vec<Range<usize>> = Vec::new();
    let mut before = f64::INFINITY;
    for (at, windows) in costs.windows(LEVEL_WINDOWS).enumerate() {
        let middle = of(windows, 0.5);
        if of(windows, 0.9) - of(windows, 0.1) >= LEVEL * middle {
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

#[cfg(test)]
mod tests {
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
}
