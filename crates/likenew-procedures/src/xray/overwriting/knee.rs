//! Where the cost of overwriting scattered places rises for good, and how much went to blocks that held nothing valid until then.

use std::ops::Range;

use super::super::writing::Course;

/// One window costs at least so much more than writing alone where collection begins, and all that follow do on average.
const BEGINS: f64 = 1.5;
const COSTLY: f64 = 1.35;
/// Windows that follow. All dies may collect at the same time, so that windows in between cost nothing.
const FOLLOWING: usize = 32;
/// By chance some blocks have lost more pages than others; the emptiest of them so many times what is usual.
const EMPTIEST: f64 = 1.6;
/// What scattered places cost at last is at least this share of what collecting such blocks does, and from so many times that on half
/// as many windows show that it rises no more.
const SHARP: f64 = 0.9;
const SURE: f64 = 1.2;
/// It goes on rising while so many windows cost so many times what as many before them did.
const RISES: f64 = 1.15;
/// Nothing is empty any more where it costs this share of what it does at last.
const FULL: f64 = 0.85;

/// Where it rises.
#[derive(Clone, Copy)]
pub(super) struct Knee {
    /// Bytes until it begins to.
    pub(super) begins: f64,
    /// Bytes that went to blocks which held nothing valid, if it is settled.
    pub(super) fed: f64,
    /// Nanoseconds a byte at last.
    pub(super) after: f64,
    /// Whether it costs as much as it does on a drive all of whose blocks hold something valid, and rises no more.
    pub(super) is_settled: bool,
    /// Whether it costs so much more that no choice of blocks by chance explains it.
    pub(super) is_sure: bool,
}

impl Knee {
    /// Of scattered writes all over a span, which cost `alone` without collection.
    pub(super) fn of(course: &Course, alone: f64, span: f64) -> Option<Self> {
        let costs = course.costs();
        let begins = |at: &usize| {
            costs[*at] > BEGINS * alone
                && mean(&costs, *at..*at + FOLLOWING) > COSTLY * alone
                && costs.len() - at >= FOLLOWING / 2
        };
        let at = (2..costs.len()).find(begins)?;
        // It rises for a while: not all dies come to their last empty block at once, and a drive that does not always take the
        // emptiest blocks takes others before.
        let level = |end: usize| mean(&costs, end - FOLLOWING..end);
        let rests = |end: usize, over: usize| {
            end >= at + 2 * over
                && mean(&costs, end - over..end) < RISES * mean(&costs, end - 2 * over..end - over)
        };
        let expected =
            |end: usize| alone / (EMPTIEST * lost(course.marks[end - 1].bytes, span)).clamp(0.01, 0.9);
        let is_level = |end: &usize| {
            level(*end) > SURE * expected(*end) && rests(*end, FOLLOWING / 2)
                || level(*end) > SHARP * expected(*end) && rests(*end, FOLLOWING)
        };
        let end = (at + FOLLOWING..=costs.len()).find(is_level);
        let last = end.unwrap_or(costs.len());
        let after = mean(&costs, last.saturating_sub(FOLLOWING).max(at)..last);
        // The first blocks that are moved are those that happen to hold least, and cost less than what follows.
        let is_full = |at: &usize| mean(&costs, *at..*at + FOLLOWING / 2) > FULL * after;
        let full = (at..last).find(is_full).unwrap_or(last);
        let lost_at_last = lost(course.marks[last - 1].bytes, span);
        // What a write costs beyond itself moves valid pages. At last, all room comes from moving so many of them; when blocks have
        // lost less, each that is moved gains less.
        let fed = |(step, cost): (Range<f64>, &f64)| {
            let moved = ((cost - alone) / (after - alone)).max(0.0);
            (step.end - step.start) * (1.0 - moved * lost(step.end, span) / lost_at_last)
        };
        let fed = course.steps().zip(&costs).take(full).map(fed).sum();
        let is_sure = end.is_some_and(|end| level(end) > SURE * expected(end));
        Some(Self { begins: course.marks[at - 1].bytes, fed, after, is_settled: end.is_some(), is_sure })
    }
}

/// The mean of those of a range that there are.
fn mean(costs: &[f64], range: Range<usize>) -> f64 {
    let costs = &costs[range.start..range.end.min(costs.len())];
    costs.iter().sum::<f64>() / costs.len() as f64
}

/// The share of its pages that a block has lost when so many bytes of a span were overwritten at random: a share k of the addresses
/// hits 1 − exp(−k) of them. To gain a block costs one over what it has lost.
fn lost(bytes: f64, span: f64) -> f64 {
    1.0 - (-bytes / span).exp()
}

#[cfg(test)]
mod tests {
    use super::super::super::writing;
    use super::*;

    /// In windows of 1000 bytes at these costs, of a span of a million, which cost 2 without collection.
    fn found(costs: &[f64]) -> Option<Knee> {
        let mut ns = 0.0;
        let marks = costs.iter().enumerate().map(|(index, cost)| {
            ns += 1000.0 * cost;
            writing::Mark { bytes: 1000.0 * (index + 1) as f64, ns }
        });
        Knee::of(&Course { marks: marks.collect() }, 2.0, 1e6)
    }

    #[test]
    fn it_is_found_where_dies_pause_together() {
        let costs: Vec<f64> =
            (0..160).map(|index| if index >= 100 && index % 5 == 0 { 130.0 } else { 2.0 }).collect();
        let knee = found(&costs).unwrap();
        assert!((knee.begins - 100_000.0).abs() < 1500.0 && knee.is_settled);
        assert!((knee.fed - 100_000.0).abs() < 2500.0, "{}", knee.fed);
    }

    #[test]
    fn what_it_rises_through_counts_by_what_it_costs() {
        // Half of the dies run out 40 windows before the others.
        let costs: Vec<f64> = (0..240)
            .map(|index| match index {
                ..100 => 2.0,
                100..140 => 9.0,
                _ => 16.0,
            })
            .collect();
        let knee = found(&costs).unwrap();
        assert!((knee.begins - 100_000.0).abs() < 1500.0 && knee.is_settled);
        assert!((120_000.0..130_000.0).contains(&knee.fed), "{}", knee.fed);
    }

    #[test]
    fn hiccups_are_none_and_a_slope_is_not_settled() {
        let hiccups: Vec<f64> = (0..160).map(|index| if index % 40 == 7 { 9.0 } else { 2.0 }).collect();
        assert!(found(&hiccups).is_none());
        let slope: Vec<f64> = (0..160).map(|index| 2.0 * (1.0 + 0.02 * f64::from(index))).collect();
        assert!(found(&slope).is_none_or(|knee| !knee.is_settled));
    }
}
