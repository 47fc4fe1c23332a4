//! Knees and zones: where a series changes its level along its order.
//!
//! All work is on the logarithms, because ratios of speeds and latencies are what matters. Single outliers
//! are moved in to their neighbors, so that a hiccup makes no level. Then the series is cut where the squares
//! around the levels, plus a penalty for each, are least; the penalty grows with the noise and with the
//! correlation of neighbors. A part that a line explains better than a staircase is one sloping level.
//! `docs/explanation/method.md` has the formulas and the counted errors.

use std::ops::Range;

use crate::interval::{CONFIDENCE_95, Interval, mean_interval, window_interval};
use crate::summary::{mean, median};

mod noise;
mod partition;
mod sums;

use noise::{long_run_variance, penalty, without_hiccups};
use partition::partition;
use sums::Sums;

/// A stretch of a series at one level, or along one slope.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Indices of its values.
    pub range: Range<usize>,
    /// Median, in the unit of the values.
    pub median: f64,
    /// Mean, in the unit of the values.
    pub mean: f64,
    /// The interval of the mean at 95 %: [`window_interval`], or [`mean_interval`] below ten values. Of a
    /// slope, whose values have no common mean, it is wide. `None` of one value.
    pub interval: Option<Interval>,
}

/// Where one level ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// Index of the first value of the new level.
    pub at: usize,
    /// Median of the level before it.
    pub before: f64,
    /// Median of the level from it on.
    pub after: f64,
    /// The change is, at 95%, not before this index …
    pub at_low: usize,
    /// … and not after this one.
    pub at_high: usize,
}

/// A smaller change than this share of the level is no knee. Chosen: a user of the drive would not notice it.
pub const LEAST_CHANGE: f64 = 0.05;
/// The same for the zones of a disk. Chosen: they differ by a few percent.
pub const LEAST_CHANGE_OF_ZONES: f64 = 0.01;
/// Values of a level, at least: one or two that stand apart are a hiccup.
pub const LEVEL_MIN: usize = 3;

/// A longer series is reduced to the medians of equal pieces, because all pairs of places are tried.
const PIECES_MAX: usize = 5_000;

/// The levels of a series, from its start; one level means that there is no change point. A change counts if
/// it is significant and at least [`LEAST_CHANGE`] of the level. A slope is one level, whether straight or
/// bent, and so is a staircase of steps too small to count; a flat part and the slope after it are two.
///
/// Of no values there is no level. Above 5 000 values, places are known to the length of one of 5 000 pieces.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn levels(values: &[f64]) -> Vec<Level> {
    find_levels(values, LEAST_CHANGE)
}

/// As [`levels`], with changes from [`LEAST_CHANGE_OF_ZONES`] on: the zones of a disk, when the noise is much
/// smaller than the steps between them. Otherwise the disk slopes, and is one level here, too.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn zones(values: &[f64]) -> Vec<Level> {
    find_levels(values, LEAST_CHANGE_OF_ZONES)
}

/// The changes between the [`levels`] of a series, and how well their places are known.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn knees(values: &[f64]) -> Vec<Knee> {
    let search = Search::new(values);
    let ranges = search.ranges(LEAST_CHANGE);
    ranges.windows(2).map(|pair| search.knee(values, &pair[0], &pair[1])).collect()
}

fn find_levels(values: &[f64], least_change: f64) -> Vec<Level> {
    let search = Search::new(values);
    search.ranges(least_change).iter().map(|range| level(values, search.indices(range))).collect()
}

fn level(values: &[f64], range: Range<usize>) -> Level {
    let of = &values[range.clone()];
    let interval = window_interval(of, CONFIDENCE_95).or_else(|| mean_interval(of, CONFIDENCE_95));
    let (median, mean) = (median(of).expect("a level has values"), mean(of).expect("a level has values"));
    Level { range, median, mean, interval }
}

/// A series made ready to be cut.
struct Search {
    /// Values in the series.
    count: usize,
    /// Values in each of its pieces.
    width: usize,
    /// Logarithms of the pieces.
    logs: Vec<f64>,
    sums: Sums,
    long_run_variance: f64,
}

impl Search {
    fn new(values: &[f64]) -> Self {
        let all_have_a_level = values.iter().all(|value| *value >= 0.0 && value.is_finite());
        assert!(all_have_a_level, "a level is of finite numbers of at least zero");
        let width = values.len().div_ceil(PIECES_MAX).max(1);
        let pieces = values.chunks(width).map(|piece| median(piece).expect("a piece has values"));
        let logs = without_hiccups(&pieces.collect::<Vec<_>>());
        let (sums, long_run_variance) = (Sums::new(&logs), long_run_variance(&logs));
        Self { count: values.len(), width, logs, sums, long_run_variance }
    }

    /// The levels, in pieces.
    fn ranges(&self, least_change: f64) -> Vec<Range<usize>> {
        let penalty = penalty(self.long_run_variance, self.logs.len());
        partition(&self.logs, &self.sums, penalty, least_change)
    }

    /// The values of some pieces.
    fn indices(&self, pieces: &Range<usize>) -> Range<usize> {
        pieces.start * self.width..(pieces.end * self.width).min(self.count)
    }

    /// The places of the change that the likelihood cannot distinguish from the best one: the region of
    /// Hansen, "Sample splitting and threshold estimation", Econometrica 68 (2000) 575–603, where twice the
    /// logarithm of the ratio is at most −2·ln(1 − √0.95) = 7.35.
    fn knee(&self, values: &[f64], before: &Range<usize>, after: &Range<usize>) -> Knee {
        let (own, next) = (self.sums.mean(before), self.sums.mean(after));
        let squares = |at: usize| {
            self.sums.squares_around(&(before.start..at), own)
                + self.sums.squares_around(&(at..after.end), next)
        };
        let limit = squares(after.start) - 2.0 * (1.0 - CONFIDENCE_95.sqrt()).ln() * self.long_run_variance;
        let possible = |at: &usize| squares(*at) <= limit;
        let at_low = (before.start + 1..=after.start).find(possible).expect("the place itself is possible");
        let at_high = (after.start..after.end).rfind(possible).expect("the place itself is possible");
        let level = |of: &Range<usize>| median(&values[self.indices(of)]).expect("a level has values");
        Knee {
            at: after.start * self.width,
            before: level(before),
            after: level(after),
            at_low: at_low * self.width,
            at_high: at_high * self.width,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    /// Where levels end.
    fn ends(levels: &[Level]) -> Vec<usize> {
        assert!(levels.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
        levels.iter().map(|level| level.range.end).collect()
    }

    #[test]
    fn an_exact_change_is_found_where_it_is() {
        let values = series(40, |index| if index < 17 { 500.0 } else { 190.0 });
        assert_eq!(knees(&values), [Knee { at: 17, before: 500.0, after: 190.0, at_low: 17, at_high: 17 }]);
        let found = levels(&values);
        assert_eq!(ends(&found), [17, 40]);
        assert_eq!((found[0].median, found[1].mean), (500.0, 190.0));
        assert_eq!(found[1].interval, Some(Interval { low: 190.0, high: 190.0 }));
    }

    #[test]
    fn hiccups_make_no_level_and_do_not_hide_one() {
        let mut values = series(60, |index| 76.0 + (index * 7 % 5) as f64 * 0.4);
        (values[0], values[20], values[21], values[40], values[59]) = (3.0, 9.0, 0.0, 700.0, 5.0);
        assert_eq!(ends(&levels(&values)), [60]);
        (30..60).for_each(|index| values[index] /= 2.0);
        assert_eq!(ends(&levels(&values)), [30, 60]);
    }

    #[test]
    fn a_line_is_one_level_and_steps_are_zones() {
        for count in [20, 50, 240, 1000] {
            let line = series(count, |index| 100.0 - 50.0 * index as f64 / count as f64);
            assert_eq!((levels(&line).len(), zones(&line).len()), (1, 1), "{count}");
        }
        let sixteen = series(240, |index| 100.0 - (index / 15 * 3) as f64);
        assert_eq!(ends(&zones(&sixteen)), (1..=16).map(|zone| zone * 15).collect::<Vec<_>>());
        assert_eq!(levels(&sixteen).len(), 1);
    }

    #[test]
    fn slopes_bends_and_waves_are_one_level() {
        let disk = series(300, |index| 200.0 * (1.0 - 0.75 * index as f64 / 300.0).sqrt());
        let wave = series(300, |index| 100.0 + 20.0 * (index as f64 / 2.0).sin());
        assert_eq!((levels(&disk).len(), levels(&wave).len()), (1, 1));
        let mut after_a_cache = disk.clone();
        (0..40).for_each(|index| after_a_cache[index] = 600.0);
        assert_eq!(ends(&levels(&after_a_cache)), [40, 300]);
    }

    #[test]
    fn a_long_series_is_cut_to_the_piece() {
        let values = series(23_000, |index| if index < 8_000 { 90.0 } else { 60.0 } + (index % 7) as f64);
        let found = knees(&values);
        assert!(found.len() == 1 && found[0].at.abs_diff(8_000) <= 5, "{found:?}");
        assert_eq!(levels(&values)[1].range.end, 23_000);
    }

    #[test]
    fn few_or_vanishing_values() {
        assert_eq!(levels(&[]), []);
        assert_eq!((ends(&levels(&[5.0])), knees(&[1.0, 100.0])), (vec![1], vec![]));
        assert_eq!(ends(&levels(&[0.0; 30])), [30]);
        assert_eq!(levels(&[5.0])[0].interval, None);
    }

    #[test]
    #[should_panic(expected = "at least zero")]
    fn a_negative_value_is_a_mistake() {
        let _ = levels(&[-1.0; 20]);
    }

    proptest! {
        #[test]
        fn levels_cover_the_series_and_the_unit_does_not_matter(values in prop::collection::vec(prop_oneof![1.0..2.0f64, 20.0..30.0f64], 0..60)) {
            let found = levels(&values);
            prop_assert_eq!(ends(&found).last().copied().unwrap_or(0), values.len());
            let scaled: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
            prop_assert_eq!(ends(&levels(&scaled)), ends(&found));
            for knee in knees(&values) {
                prop_assert!(knee.at_low <= knee.at && knee.at <= knee.at_high);
            }
        }
    }
}
