//! Knees and zones: where a series changes its level along its order.
//!
//! Work is on the logarithms, because it is ratios of speeds and latencies that matter. Values that stand alone are
//! moved in to their neighbours, so that a hiccup makes no level. Then the series is cut where the squares around the
//! levels, plus a penalty for each, are least; the penalty grows with the noise and with how much neighbours depend on
//! one another. A part that a line explains better than a staircase is one sloping level. `docs/method.md` has the
//! formulas and the counted errors.

use std::ops::Range;

use crate::interval::{Interval, mean_interval, window_interval};
use crate::summary::{mean, median};

mod noise;
mod partition;

use noise::{LongRun, without_hiccups};
use partition::{Segment, Sums, partition};

/// A stretch of a series at one level, or along one slope.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Indices of its values.
    pub range: Range<usize>,
    /// Median, in the unit of the values.
    pub median: f64,
    /// Mean, in the unit of the values.
    pub mean: f64,
    /// The interval of the mean at 95 %.
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
    /// The change lies, at 95 %, not before this index …
    pub at_low: usize,
    /// … and not after this one.
    pub at_high: usize,
}

/// A smaller change than this share of the level is no knee to whoever waits for the drive.
pub const LEAST_CHANGE: f64 = 0.05;
/// The zones of a disk differ by a few percent.
pub const LEAST_CHANGE_OF_ZONES: f64 = 0.01;
/// A level has at least so many values: one or two that stand apart are a hiccup.
pub const LEVEL_MIN: usize = 3;

const CONFIDENCE: f64 = 0.95;
/// Any seed will do, as long as it is always the same.
const SEED: u64 = 0x004c_4556_454c;

/// The levels of a series, in order; one level means that there is no change point. A change counts if it is significant
/// and at least [`LEAST_CHANGE`] of the level. A slope is one level, whether straight or bent.
///
/// Of no values there is no level.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn levels(values: &[f64]) -> Vec<Level> {
    found(values, LEAST_CHANGE)
}

/// As [`levels`], with changes from [`LEAST_CHANGE_OF_ZONES`] on: the zones of a disk, when the noise is much smaller than
/// the steps between them. Otherwise the disk slopes, and is one level here, too.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn zones(values: &[f64]) -> Vec<Level> {
    found(values, LEAST_CHANGE_OF_ZONES)
}

/// The changes between the [`levels`] of a series, and how well their places are known.
///
/// # Panics
/// When a value is negative or not a finite number.
pub fn knees(values: &[f64]) -> Vec<Knee> {
    let search = Search::of(values);
    let segments = search.segments(LEAST_CHANGE);
    segments.windows(2).map(|pair| search.knee(values, &pair[0], &pair[1])).collect()
}

fn found(values: &[f64], least_change: f64) -> Vec<Level> {
    Search::of(values).segments(least_change).iter().map(|segment| level(values, segment)).collect()
}

fn level(values: &[f64], segment: &Segment) -> Level {
    let of = &values[segment.range.clone()];
    let interval = window_interval(of, CONFIDENCE, SEED).or_else(|| mean_interval(of, CONFIDENCE));
    Level {
        range: segment.range.clone(),
        median: median(of).expect("a level has values"),
        mean: mean(of).expect("a level has values"),
        interval,
    }
}

/// A series made ready to be cut.
struct Search {
    sums: Sums,
    long_run: LongRun,
}

impl Search {
    fn of(values: &[f64]) -> Self {
        assert!(
            values.iter().all(|value| *value >= 0.0 && value.is_finite()),
            "a level is of numbers of at least zero"
        );
        let cleaned = without_hiccups(values);
        Self { long_run: LongRun::of(&cleaned), sums: Sums::of(&cleaned) }
    }

    fn segments(&self, least_change: f64) -> Vec<Segment> {
        partition(&self.sums, self.long_run.penalty(self.sums.count()), least_change)
    }

    /// The places of the change that the likelihood does not tell apart from the best one: the region of Hansen, "Sample
    /// splitting and threshold estimation", Econometrica 68 (2000) 575–603, for which 2·ln of the ratio is at most
    /// −2·ln(1 − √0.95) = 7.35.
    fn knee(&self, values: &[f64], before: &Segment, after: &Segment) -> Knee {
        let at = after.range.start;
        let squares = |at: usize| {
            self.sums.squares_around(before.range.start..at, before)
                + self.sums.squares_around(at..after.range.end, after)
        };
        let limit = squares(at) - 2.0 * (1.0 - CONFIDENCE.sqrt()).ln() * self.long_run.variance;
        let mut inside = (before.range.start + 1..after.range.end).filter(|at| squares(*at) <= limit);
        let at_low = inside.next().unwrap_or(at).min(at);
        let at_high = inside.next_back().unwrap_or(at).max(at);
        let level = |of: &Segment| median(&values[of.range.clone()]).expect("a level has values");
        Knee { at, before: level(before), after: level(after), at_low, at_high }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn series(count: usize, value: impl Fn(usize) -> f64) -> Vec<f64> {
        (0..count).map(value).collect()
    }

    fn ranges(levels: &[Level]) -> Vec<Range<usize>> {
        levels.iter().map(|level| level.range.clone()).collect()
    }

    #[test]
    fn an_exact_change_is_found_where_it_is() {
        let values = series(40, |index| if index < 17 { 500.0 } else { 190.0 });
        assert_eq!(knees(&values), [Knee { at: 17, before: 500.0, after: 190.0, at_low: 17, at_high: 17 }]);
        let found = levels(&values);
        assert_eq!(ranges(&found), [0..17, 17..40]);
        assert_eq!((found[0].median, found[1].mean), (500.0, 190.0));
        assert_eq!(found[1].interval, Some(Interval { low: 190.0, high: 190.0 }));
    }

    #[test]
    fn hiccups_make_no_level_and_do_not_hide_one() {
        let mut values = series(60, |index| 76.0 + (index * 7 % 5) as f64 * 0.4);
        (values[0], values[20], values[21], values[40], values[59]) = (3.0, 9.0, 0.0, 700.0, 5.0);
        assert_eq!(ranges(&levels(&values)), [0..60]);
        (30..60).for_each(|index| values[index] /= 2.0);
        assert_eq!(ranges(&levels(&values)), [0..30, 30..60]);
    }

    #[test]
    fn a_line_is_one_level_and_steps_are_zones() {
        for count in [20, 50, 240, 1000] {
            let line = series(count, |index| 100.0 - 50.0 * index as f64 / count as f64);
            assert_eq!((levels(&line).len(), zones(&line).len()), (1, 1), "{count}");
        }
        let sixteen = series(240, |index| 100.0 - (index / 15 * 3) as f64);
        let expected: Vec<Range<usize>> = (0..16).map(|zone| zone * 15..zone * 15 + 15).collect();
        assert_eq!(ranges(&zones(&sixteen)), expected);
        assert_eq!(levels(&sixteen).len(), 1);
    }

    #[test]
    fn few_or_vanishing_values() {
        assert_eq!(levels(&[]), []);
        assert_eq!((ranges(&levels(&[5.0])), knees(&[1.0, 100.0])), (vec![0..1], vec![]));
        assert_eq!(ranges(&levels(&[0.0; 30])), [0..30]);
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
            prop_assert!(found.windows(2).all(|pair| pair[0].range.end == pair[1].range.start));
            prop_assert_eq!(found.iter().map(|level| level.range.len()).sum::<usize>(), values.len());
            let scaled: Vec<f64> = values.iter().map(|value| value * 1024.0).collect();
            prop_assert_eq!(ranges(&levels(&scaled)), ranges(&found));
            for knee in knees(&values) {
                prop_assert!(knee.at_low <= knee.at && knee.at <= knee.at_high);
            }
        }
    }
}
